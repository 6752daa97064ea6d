#include "tools/tune/state.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "codegen/whole_file.h"

namespace attune {

using Json = nlohmann::ordered_json;

TuneStateAnswer read_state(const std::string& path, const std::string& run) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {{run, 0, {}}, {}};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  TuneState state;
  try {
    const Json json = Json::parse(text);
    state.run = json.at("run").get<std::string>();
    state.elapsed_s = json.at("elapsed_s").get<double>();
    for (const Json& task : json.at("tasks")) {
      state.tries.emplace_back();
      for (const Json& tried : task)
        state.tries.back().push_back({tried.at("point").get<Point>(), static_cast<Outcome>(tried.at("outcome").get<int>()), tried.at("ratio").get<double>()});
    }
  } catch (const Json::exception&) {
    return {{}, fmt::format("'{}': is not the state of a tuning run; remove it to begin anew", path)};
  }
  if (state.run != run)
    return {{}, fmt::format("'{}': is the state of another run, '{}'; finish that, remove the file, or name another --out", path, state.run)};
  return {std::move(state), {}};
}

std::string write_state(const std::string& path, const TuneState& state) {
  Json tasks = Json::array();
  for (const std::vector<Try>& tries : state.tries) {
    Json task = Json::array();
    for (const Try& tried : tries) task.push_back({{"point", tried.point}, {"outcome", static_cast<int>(tried.outcome)}, {"ratio", tried.ratio}});
    tasks.push_back(std::move(task));
  }
  return write_whole(path, {Json{{"run", state.run}, {"elapsed_s", state.elapsed_s}, {"tasks", tasks}}.dump(1) + "\n"});
}

}  // namespace attune
