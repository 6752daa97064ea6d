/// Kernels for arm64, in QEMU where this machine is another: every kind of stage, in every storage of reals, on odd shapes.
#include <catch2/catch.hpp>

#include <set>

#include "tests/skip.h"
#include "tests/thinned.h"
#include "tests/tools/program.h"
#include "tests/tools/rotary.h"
#include "tests/variant_graph.h"
#include "tools/measure/allowance.h"
#include "tools/measure/example.h"
#include "tools/measure/stored_array.h"

namespace attune {
namespace {

/// One kernel, with the words that make its stages take the schedule that it is there for.
struct Subject {
  std::string_view name;
  Words words;
  std::vector<Shape> shapes;
};

const std::vector<Subject> subjects = {
    {"masked", {"--size", "large"}, {{{"queries", 1}, {"keys", 37}, {"depth", 5}}, {{"queries", 37}, {"keys", 129}, {"depth", 37}}}},
    {"causal", {"--size", "large"}, {{{"queries", 5}, {"keys", 1}, {"depth", 1}}, {{"queries", 129}, {"keys", 129}, {"depth", 5}}}},
    {"grouped_query", {"--size", "few", "--schedule", "split_keys,size=few"}, {{{"queries", 1}, {"keys", 129}, {"depth", 37}}, {{"queries", 5}, {"keys", 37}, {"depth", 1}}}},
    {"sliding_window", {"--size", "tiny", "--param", "window=3"}, {{{"queries", 1}, {"keys", 1}, {"depth", 5}}, {{"queries", 5}, {"keys", 37}, {"depth", 37}}}},
    {"multi_head", {"--size", "large"}, {{{"tokens", 1}, {"depth", 5}, {"model", 37}}, {{"tokens", 37}, {"depth", 5}, {"model", 129}}}},
    {"soft_cap", {"--size", "large", "--schedule", "unfused"}, {{{"queries", 1}, {"keys", 1}, {"depth", 1}}, {{"queries", 37}, {"keys", 129}, {"depth", 5}}}},
    {"rotary", {"--size", "large"}, {{{"queries", 1}, {"pairs", 1}}, {{"queries", 37}, {"pairs", 5}}, {{"queries", 5}, {"pairs", 129}}}},
};

Graph graph_of(const Subject& subject) {
  if (subject.name == Rotary::name) return attune::build(Rotary{});
  std::vector<std::string> settings;
  for (std::size_t i = 0; i + 1 < subject.words.size(); ++i)
    if (subject.words[i] == "--param") settings.push_back(subject.words[i + 1]);
  return variant_graph(subject.name, settings);
}

void compile(const Subject& subject, const std::string& types, const Folder& folder) {
  Words words{"compile", std::string(subject.name)};
  if (subject.name == Rotary::name) words = {"compile", ATTUNE_SOURCE "/tests/tools/rotary.h", "--struct", "Rotary", "--name", "rotary"};
  words.insert(words.end(), subject.words.begin(), subject.words.end());
  words.insert(words.end(), {"--type", types, "--target", "arm64", "--shared", "-o", folder / "."});
  attune_says(words);
}

/// A tensor of a call as call_kernel takes it, and its file.
class Transfer {
 public:
  Transfer(const Folder& folder, std::string name, StoredArray array) : name_(std::move(name)), file_(folder / name_.c_str()), array_(std::move(array)) {}
  void write() const { std::ofstream(file_, std::ios::binary).write(reinterpret_cast<const char*>(array_.bytes.data()), static_cast<std::streamsize>(array_.bytes.size())); }
  std::vector<double> read() {
    const std::string bytes = contents(file_);
    REQUIRE(bytes.size() == array_.bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) array_.bytes[i] = static_cast<std::byte>(bytes[i]);
    return numbers(array_);
  }
  Words words(const char* direction) const {
    Words all{direction, name_, file_, std::to_string(array_.storage), std::to_string(array_.extents.size())};
    for (const std::int64_t extent : array_.extents) all.push_back(std::to_string(extent));
    return all;
  }
  /// As the kernel sees it.
  Array array() const {
    Array seen;
    seen.extents = array_.extents;
    seen.data = numbers(array_);
    return seen;
  }

 private:
  std::string name_, file_;
  StoredArray array_;
};

/// How the kernel is stored: integers and truth values as the language has them.
attune_storage storage_of(Kind kind, attune_storage reals) { return kind == Kind::real ? reals : kind == Kind::i64 ? attune_i64 : attune_boolean; }

void check_call(const Subject& subject, const Graph& graph, const Shape& given, attune_storage reals, const Words& caller, const Folder& folder) {
  const FilledShape filled = fill_shape(graph, given);
  REQUIRE(filled.problem == "");
  Words words = caller;
  const auto add = [&](const Transfer& tensor, const char* direction) {
    const Words more = tensor.words(direction);
    words.insert(words.end(), more.begin(), more.end());
  };
  Arrays inputs = random_inputs(graph, filled.extents, 7);
  Storages storages;
  for (auto& [name, array] : inputs) {
    const attune_storage storage = storage_of(array.type.kind, reals);
    storages.emplace(name, storage);
    const Transfer tensor(folder, name, stored(array.data, array.extents, storage));
    tensor.write();
    add(tensor, "in");
    array.data = tensor.array().data;
  }
  std::map<std::string, Transfer> outputs;
  for (const Output& output : graph.outputs()) {
    std::vector<std::int64_t> extents;
    for (const Name dim : output.dims) extents.push_back(filled.extents.find(dim)->second);
    const attune_storage storage = storage_of(graph.node(output.node).type.kind, reals);
    const std::string name(output.name);
    storages.emplace(name, storage);
    add(outputs.emplace(name, Transfer(folder, name, StoredArray(storage, extents))).first->second, "out");
  }
  const Ran ran = run_program(words);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Judge right = judge(graph, inputs, storages);
  REQUIRE(right.problem == "");
  for (auto& [name, tensor] : outputs) {
    const Difference difference = compare(tensor.read(), right.outputs.at(name), right.allowed.at(name));
    INFO(subject.name << ": " << name << ": " << describe(difference));
    CHECK(difference.elements > 0);
    CHECK(difference.differing == 0);
  }
}

/// A storage of all real tensors.
struct Reals {
  const char* type;
  attune_storage storage;
};
constexpr Reals sixteen_bits[] = {{"bf16", attune_bf16}, {"f16", attune_f16}};

/// Every kind of stage that `takes` says of its place in the list, in the storage.
template <class Takes>
void check_all(const Reals& reals, Takes takes) {
  const std::string emulator = find_program("qemu-aarch64");
  if (emulator.empty() || find_program("aarch64-linux-gnu-gcc").empty() || find_program("aarch64-linux-gnu-g++").empty())
    return skip("it needs aarch64-linux-gnu-g++ and qemu-aarch64");
  const Folder program;
  const std::string object = program / "call.o", caller = program / "call_kernel";
  REQUIRE(run_program({"aarch64-linux-gnu-gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" ATTUNE_SOURCE, "-c", ATTUNE_SOURCE "/tests/tools/call_kernel.c", "-o", object}).err == "");
  // the runtime is C++
  REQUIRE(run_program({"aarch64-linux-gnu-g++", object, ARM64_RUNTIME, "-ldl", "-lpthread", "-o", caller}).err == "");
  for (std::size_t row = 0; row < subjects.size(); ++row) {
    if (!takes(row)) continue;
    const Subject& subject = subjects[row];
    const Folder folder;
    compile(subject, reals.type, folder);
    const Graph graph = graph_of(subject);
    const std::string name(subject.name);
    for (const Shape& shape : subject.shapes) {
      CAPTURE(name);
      const Words call{emulator, "-L", "/usr/aarch64-linux-gnu", caller, folder / (name + ".so").c_str(), name};
      check_call(subject, graph, shape, reals.storage, call, folder);
    }
  }
}

void check_sixteen_bits(Tried tried) {
  for (std::size_t column = 0; column < std::size(sixteen_bits); ++column)
    check_all(sixteen_bits[column], [&](std::size_t row) { return is_tried(tried, row, column, std::size(sixteen_bits)); });
}

}  // namespace

TEST_CASE("kernels for arm64 of every kind of stage give the interpreter's numbers", "[arm64]") {
  check_all({"f32", attune_f32}, [](std::size_t) { return true; });
}

TEST_CASE("kernels for arm64 of every kind of stage in bf16 or f16 give the interpreter's numbers", "[arm64]") { check_sixteen_bits(Tried::part); }

TEST_CASE("kernels for arm64 of every kind of stage in bf16 and f16 give the interpreter's numbers", "[.full]") { check_sixteen_bits(Tried::whole); }

}  // namespace attune
