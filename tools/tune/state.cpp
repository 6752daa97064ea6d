#include "tools/tune/state.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "codegen/files/whole_file.h"

namespace attune {

using Json = nlohmann::ordered_json;

namespace {

/// Names of files need not be UTF-8, which JSON is: other texts stand in it with these bytes as \xHH.
std::string in_json(const std::string& text) {
  try {
    return Json(text).dump().empty() ? std::string() : text;
  } catch (const Json::type_error&) {
    std::string escaped;
    for (const char c : text) escaped += static_cast<unsigned char>(c) < 0x80 ? std::string(1, c) : fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    return escaped;
  }
}

/// What keeps a number of a state from being one that a run wrote; empty if nothing does.
std::string number_problem(const TuneState& state) {
  constexpr double longest_s = 1e9;
  if (!(state.elapsed_s >= 0 && state.elapsed_s <= longest_s)) return fmt::format("'elapsed_s' is {}; it must be from 0 to {}", state.elapsed_s, longest_s);
  for (const std::vector<Try>& tries : state.tries)
    for (const Try& tried : tries) {
      const int outcome = static_cast<int>(tried.outcome);
      if (outcome < 0 || outcome > static_cast<int>(Outcome::failed)) return fmt::format("an 'outcome' is {}; it must be 0, 1 or 2", outcome);
      if (!std::isfinite(tried.ratio) || tried.ratio < 0 || (tried.ratio == 0 && tried.outcome == Outcome::won))
        return fmt::format("a 'ratio' is {}; it must be 0 or more, and above 0 where the try won", tried.ratio);
    }
  return {};
}

}  // namespace

TuneStateAnswer read_state(const std::string& path, const std::string& run) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {{}, fmt::format("'{}': is a folder; a tuning run keeps its state in a file of this name", path)};
  std::ifstream file(path, std::ios::binary);
  if (!file) return {{run, 0, {}}, {}};
  std::stringstream text;
  text << file.rdbuf();
  TuneState state;
  try {
    const Json json = Json::parse(text.str());
    state.run = json.at("run").get<std::string>();
    state.elapsed_s = json.at("elapsed_s").get<double>();
    for (const Json& task : json.at("tasks")) {
      state.tries.emplace_back();
      for (const Json& tried : task)
        state.tries.back().push_back(
            {tried.at("point").get<Point>(), static_cast<Outcome>(tried.at("outcome").get<int>()), tried.at("ratio").get<double>()});
    }
  } catch (const Json::exception&) {
    return {{}, fmt::format("'{}': is not the state of a tuning run; remove it to begin anew", path)};
  }
  if (const std::string problem = number_problem(state); !problem.empty()) return {{}, fmt::format("'{}': {}; remove the file to begin anew", path, problem)};
  if (state.run != in_json(run))
    return {{}, fmt::format("'{}': is the state of another run, '{}'; finish that, remove the file, or name another --out", path, state.run)};
  state.run = run;
  return {std::move(state), {}};
}

std::string write_state(const std::string& path, const TuneState& state) {
  Json tasks = Json::array();
  for (const std::vector<Try>& tries : state.tries) {
    Json task = Json::array();
    for (const Try& tried : tries) task.push_back({{"point", tried.point}, {"outcome", static_cast<int>(tried.outcome)}, {"ratio", tried.ratio}});
    tasks.push_back(std::move(task));
  }
  return write_whole(path, {Json{{"run", in_json(state.run)}, {"elapsed_s", state.elapsed_s}, {"tasks", tasks}}.dump(1) + "\n"});
}

}  // namespace attune
