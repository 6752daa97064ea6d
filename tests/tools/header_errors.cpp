#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/skip.h"
#include "tests/tools/program.h"

namespace attune {
namespace {

/// A header without faults; tests change a part of it.
constexpr std::string_view sound = R"(#include "dsl/variants/attention.h"
using namespace attune;

struct Mine {
  std::int64_t window = 4;
  static constexpr std::string_view name = "mine";
  static constexpr auto fields = std::tuple{Field{"window", &Mine::window}};
  constexpr void operator()(Graph& g) const {
    g.require(window >= 1, "window is ", window, "; it must be at least 1");
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value q = g.input("q", {queries, depth});
    Value k = g.input("k", {keys, depth});
    Value scores = mask(matmul(q, k, depth), index(queries) - index(keys) < window);
    Value weights = softmax(scores, keys);
    g.output("out", matmul(weights, k, keys), {queries, depth});
  }
};
)";
/// A part of the header, what stands there instead, and what GCC and Clang are understood to say. `is_checked`: the header ends with a graph
/// that must be right, as README's does, and the sentence of the graph follows that of C++.
struct Fault {
  std::string part, fault, gcc, clang;
  bool is_checked = true;
};

const std::vector<Fault> faults = {
    {"softmax(scores, keys)", "sofmax(scores, keys)", "line 14: 'sofmax' was not declared in this scope", "line 14: use of undeclared identifier 'sofmax'"},
    {"matmul(weights, k, keys)", "matmull(weights, k, keys)", "line 15: 'matmull' was not declared in this scope",
     "line 15: use of undeclared identifier 'matmull'"},
    {"[queries, keys, depth]", "[queries, keys]", "line 10: only 2 names provided for structured binding, in 'auto [queries, keys] = g.dims(",
     "but only 2 names were provided, in 'auto [queries, keys] = g.dims("},
    {"softmax(scores, keys);", "softmax(scores, keys)", "line 15: expected ',' or ';' before 'g', in 'g.output(",
     "line 14: expected ';' at end of declaration, in 'Value weights = softmax(scores, keys)'"},
    {"softmax(scores, keys)", "softmax(scores)", "line 14: no matching function for call to 'softmax(attune::Value&)': candidate expects",
     "line 14: no matching function for call to 'softmax': requires at least 2 arguments, but 1 was provided"},
    {"matmul(q, k, depth)", "matmul(q, \"k\", depth)", "no known conversion for argument 2 from 'const char [2]' to 'attune::Value', in 'Value scores",
     "line 13: no matching function for call to 'matmul': no known conversion from 'const char[2]' to 'Value' for 2nd argument, in 'Value scores"},
    {"index(queries) - index(keys) < window", "queries >= keys", "line 13: no match for 'operator>=' (operand types are 'attune::Dim' and 'attune::Dim')",
     "line 13: invalid operands to binary expression ('attune::Dim' and 'attune::Dim')"},
    {"Value weights", "if (scores > 0) scores = k;\n    Value weights", "line 14: a value has no number while its graph is built; select(condition, a, b) chooses in the kernel, in 'if (scores",
     "line 14: a value has no number while its graph is built; select(condition, a, b) chooses in the kernel, in 'if (scores"},
    {"Value weights", "for (;;) (void)index(keys);\n    Value weights", "building the graph does not end, or takes too many steps",
     "building the graph does not end, or takes too many steps"},
    {"g.output(", "g.ouput(", "line 15: 'class attune::Graph' has no member named 'ouput'", "line 15: no member named 'ouput' in 'attune::Graph'"},
    {"dsl/variants/attention.h", "dsl/nowhere.h", "line 1: dsl/nowhere.h: No such file or directory, in '#include \"dsl/nowhere.h\"'",
     "line 1: 'dsl/nowhere.h' file not found, in '#include \"dsl/nowhere.h\"'"},
    {"&Mine::window", "&Mine::widow", "line 7: incomplete type 'Mine' used in nested name specifier: it has no such member above this line, in 'static",
     "line 7: no member named 'widow' in 'Mine'"},
    {"  constexpr void operator", "  void operator", "line 8: call to non-'constexpr' function 'void Mine::operator()(attune::Graph&) const'",
     "line 8: non-constexpr function 'operator()' cannot be used in a constant expression", false},
    {"softmax(scores, keys)", "softmax(scores, depth)", "line 14: softmax: runs over depth, which x does not have: x is [queries x keys]\n",
     "line 14: softmax: runs over depth, which x does not have: x is [queries x keys]\n"},
    {"index(keys) < window", "index(depth) < window", "line 13: mask: the predicate has depth, which x does not have: x is [queries x keys]\n",
     "line 13: mask: the predicate has depth, which x does not have: x is [queries x keys]\n", false},
};

/// What `show` says of the header, compiled by this compiler, behind its path: a sentence of one line.
std::string refusal(const std::string& compiler, const std::string& header, const std::string& struct_name = "Mine") {
  const Ran ran = run_attune({"show", header, "--struct", struct_name}, {{"CXX", compiler}, {"LC_ALL", "de_DE.UTF-8"}});
  INFO(struct_name << ": " << ran.err);
  CHECK(ran.status == 2);
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  const std::string path = "attune: '" + header + "': ";
  CHECK_THAT(ran.err, Catch::StartsWith(path));
  return ran.err.substr(std::min(path.size(), ran.err.size()));
}

/// The first compiler of the names that is installed; where it is there, the one that has read the language's headers (tests/read_headers.cmake).
std::string compiler_of(std::initializer_list<const char*> names) {
  for (const std::string name : names) {
    if (find_program(name).empty()) continue;
    const std::string has_read = ATTUNE_COMPILERS "/" + name;
    return std::filesystem::exists(has_read) ? has_read : name;
  }
  return {};
}

void check_faults(const std::string& compiler, std::string Fault::* expected) {
  if (compiler.empty()) return skip("there is no such compiler");
  const Folder folder;
  for (const Fault& fault : faults) {
    std::string text(sound);
    text.replace(text.find(fault.part), fault.part.size(), fault.fault);
    if (fault.is_checked) text += "constexpr Graph checked = graph<Mine{}>;\n";
    CHECK_THAT(refusal(compiler, folder.write("mine.h", text)), Catch::Contains(fault.*expected));
  }
}

/// Structs that are variants, and others that are not.
constexpr std::string_view structs = R"(#include "dsl/variants/attention.h"
using namespace attune;
struct Merge {
  std::int64_t window = 4;
  static constexpr std::string_view name = "merged";
  static constexpr auto fields = std::tuple{Field{"window", &Merge::window}};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    a.output(mask(a.scores(), index(a.queries) - index(a.keys) < window));
  }
};
struct Sigmoid : ::Merge {};
struct Linear : ::Merge {
  bool more = false;
  static constexpr auto fields = std::tuple_cat(::Merge::fields, std::tuple{Field{"more", &Linear::more}});
};
namespace mine { struct Deep : ::Merge {}; }
template <int n> struct Window : ::Merge { constexpr Window() { window = n; } };
using Alias = Window<9>;
struct Fieldless { static constexpr std::string_view name = "fieldless"; };
struct Declared;
int number = 3;
)";

}  // namespace

TEST_CASE("the first error that GCC tells of a header is the sentence", "[command line]") { check_faults(compiler_of({"g++-12", "g++"}), &Fault::gcc); }

TEST_CASE("the first error that Clang tells of a header is the sentence", "[command line]") { check_faults(compiler_of({"clang++-22"}), &Fault::clang); }

TEST_CASE("structs with names of operations, bases, namespaces and templates are variants", "[command line]") {
  const Folder folder;
  const std::string header = folder.write("structs.h", structs);
  for (const auto& [name, said] : std::vector<std::pair<std::string, std::string>>{{"Merge", "merged (window=4)\n"},
                                                                                  {"Linear", "merged (more=false,window=4)\n"},
                                                                                  {"::mine::Deep", "merged (window=4)\n"},
                                                                                  {"Window<7>", "merged (window=7)\n"},
                                                                                  {"Alias", "merged (window=9)\n"}})
    CHECK_THAT(attune_says({"show", header, "--struct", name, "--signature"}), Catch::StartsWith(said));
  CHECK_THAT(attune_says({"show", header, "--struct", "Sigmoid", "--param", "window=5", "--signature"}), Catch::StartsWith("merged (window=5)\n"));
}

/// What else a struct may lack is in tests/dsl/variant_library.cpp.
TEST_CASE("a struct that is no variant is refused with what it lacks", "[command line]") {
  const Folder folder;
  const std::string header = folder.write("structs.h", structs);
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"Fieldless", "has no public fields; static constexpr auto fields = std::tuple{}; says that it has no parameters"},
      {"Declared", "is declared and not defined"},
      {"number", "is no struct there: "},
      {"Window", "is no struct there: "},
      {"Deep", "is no struct there: "},
      {"attune::Nope", "is no struct there: "},
  };
  const std::string gcc = compiler_of({"g++-12", "g++"}), clang = compiler_of({"clang++-22"});
  for (const auto& [name, said] : refused) {
    if (!gcc.empty()) CHECK_THAT(refusal(gcc, header, name), Catch::StartsWith("--struct " + name + ": " + said));
    const bool is_said_by_compiler = said.starts_with("is no struct there");
    if (!clang.empty() && is_said_by_compiler) CHECK_THAT(refusal(clang, header, name), Catch::StartsWith("--struct " + name + ": " + said));
  }
}

TEST_CASE("headers of another version than the program are refused with both", "[command line]") {
  const Folder folder;
  std::filesystem::create_directories(folder / "include/attune");
  std::filesystem::copy(ATTUNE_SOURCE "/dsl", folder / "include/attune/dsl", std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::copy_file(ATTUNE_PROGRAM, folder / "bin/attune");
  const std::string header = folder.write("mine.h", sound), beside = folder.write("include/attune/mine.h", sound);
  std::ofstream(folder / "include/attune/dsl/node.h", std::ios::app) << "\n";
  for (const Words& words : {Words{folder / "bin/attune", "show", header}, Words{ATTUNE_PROGRAM, "show", beside}}) {
    Words all = words;
    all.insert(all.end(), {"--struct", "Mine"});
    const Ran ran = run_program(all);
    CHECK(ran.status == 2);
    const std::string headers = "'" + (folder / "include/attune/dsl").string() + "'";
    CHECK_THAT(ran.err, Catch::StartsWith("attune: '" + words[2] + "': the headers in " + headers + " are of another version (") &&
                            Catch::Contains(") than this attune (") && Catch::EndsWith("); attune and its headers are installed together\n"));
  }
}

TEST_CASE("a parameter that makes no sense is refused in the words of the header", "[command line]") {
  const Folder folder;
  const std::string header = folder.write("mine.h", sound);
  const Ran ran = run_attune({"show", header, "--struct", "Mine", "--param", "window=0"});
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: '" + header + "': window is 0; it must be at least 1\n");
}

}  // namespace attune
