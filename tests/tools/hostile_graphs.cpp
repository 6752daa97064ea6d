/// Graphs that are meant to harm: text that wants to become code, and headers whose code does something else than describe a graph.
#include <catch2/catch.hpp>

#include "tests/tools/program.h"

namespace attune {
namespace {

/// A function with one input and one output, of these names and parameters.
std::string text_with(const std::string& function, const std::string& input, const std::string& parameters) {
  return "func.func @" + function + "(%x: !attn.tensor<n, real> {attn.name = \"" + input + "\"}) -> !attn.tensor<n, real> attributes {attn.parameters = {" + parameters +
         "}} {\n  %y = attn.negate %x : (!attn.tensor<n, real>) -> !attn.tensor<n, real>\n"
         "  attn.return %y {names = [\"out\"], dims = [[\"n\"]]} : !attn.tensor<n, real>\n}\n";
}

/// What compiling the text is refused with, behind the file's name; all of it where that is not named.
std::string refusal(const std::string& text, const Words& more = {}) {
  const Folder folder;
  Words words{"compile", folder.write("f.mlir", text), "-o", folder / "out"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run_attune(words);
  CHECK(ran.status == 2);
  CHECK(ran.out == "");
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK(folder.size() == 1);
  const std::size_t file = ran.err.find("f.mlir");
  return file == std::string::npos ? ran.err : ran.err.substr(file + 6);
}

/// Minds everything in the headers of the kernels, of which it reads all at once.
void check_headers(const Folder& folder, const Words& names) {
  const std::string include = std::string("-I") + ATTUNE_SOURCE;
  for (const Words& command : {Words{"cc", "-std=c11", "-x", "c"}, Words{"c++", "-std=c++20", "-x", "c++"}, Words{"c++", "-std=c++20", "-x", "c++", "-trigraphs"}}) {
    Words words = command;
    words.insert(words.end(), {"-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", include});
    for (const std::string& name : names) words.insert(words.end(), {"-include", folder / (name + (command[0] == "cc" ? ".h" : ".hpp")).c_str()});
    words.emplace_back("/dev/null");
    const Ran ran = run_program(words);
    INFO(ran.err);
    CHECK(ran.status == 0);
  }
}

/// What is left of a kernel's headers when a compiler has taken the comments away.
std::string code_of(const Folder& folder, const std::string& name) {
  std::string code;
  for (const char* suffix : {".h", ".hpp"})
    code += run_program({"cc", "-x", "c", "-fpreprocessed", "-dD", "-trigraphs", "-E", "-P", folder / (name + suffix).c_str()}).out;
  return code;
}

}  // namespace

TEST_CASE("no text of a graph becomes code of its headers", "[hostile graphs]") {
  const Folder folder, codes;
  Words names;
  std::string expected;
  for (const char* parameters : {R"(a = "1")", R"(a = "*/ int stolen; /*")", R"(a = "1\5C")", R"(a = "1??/")", R"(a = "/*")",
                                 R"(a = "\22; int stolen; //")", R"("*/ int stolen; /*" = "1")"}) {
    const std::string name = "name" + std::to_string(names.size());
    attune_says({"compile", folder.write("f.mlir", text_with(name, "x", parameters)), "--codes", codes / "", "-o", folder / ""});
    std::string code = code_of(folder, name);
    for (std::size_t at = 0; (at = code.find(name, at)) != std::string::npos;) code.replace(at, name.size(), "f");
    if (names.empty()) expected = code;
    CHECK(code == expected);
    names.push_back(name);
  }
  CHECK(expected.find("attune_kernel_v5_f") != std::string::npos);
  check_headers(folder, names);
}

TEST_CASE("tensors may have the names of what the headers use", "[hostile graphs]") {
  const Words names = {"kernel", "Tensor", "attune", "Result", "Kernel", "f", "kernels"};
  const std::string type = "!attn.tensor<n, real>";
  std::string arguments, body, sum = "%x0";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string x = "%x" + std::to_string(i), next = "%s" + std::to_string(i);
    arguments += (i == 0 ? "" : ", ") + x + ": " + type + " {attn.name = \"" + names[i] + "\"}";
    if (i == 0) continue;
    body += "  " + next + " = attn.add " + sum + ", " + x + " : (" + type + ", " + type + ") -> " + type + "\n";
    sum = next;
  }
  const std::string end = "  attn.return " + sum + " {names = [\"out\"], dims = [[\"n\"]]} : " + type + "\n}\n";
  const Folder folder;
  attune_says({"compile", folder.write("f.mlir", "func.func @f(" + arguments + ") -> " + type + " {\n" + body + end), "-o", folder / ""});
  check_headers(folder, {"f"});
  const std::string code = code_of(folder, "f");
  for (const std::string& name : names) CHECK(code.find("const ::attune::Tensor& " + name + ",") != std::string::npos);
}

TEST_CASE("names of functions and tensors that C++ could not declare are refused", "[hostile graphs]") {
  const auto of_function = [](const std::string& function) { return refusal(text_with(function, "x", "")); };
  CHECK(of_function("int") == "': function 'int': is a keyword of C or C++; the kernel's headers could not declare it\n");
  for (const char* name : {R"("x.y")", R"("a b")", R"("../../x")", R"("a\0Aint stolen;")", R"("a\22")"})
    CHECK_THAT(of_function(name), Catch::StartsWith("': function '") && Catch::EndsWith("': is not a name; letters, digits and _ are, and no digit first\n"));
  CHECK_THAT(of_function("a__b"), Catch::StartsWith("': function 'a__b': is kept for compilers"));
  CHECK_THAT(of_function(std::string(250, 'a')), Catch::EndsWith("has 250 letters; 200 are the most\n"));
  CHECK_THAT(refusal(text_with("f", "int", "")), Catch::Contains("kernel 'f': input 'int': is a keyword of C or C++"));
  CHECK_THAT(refusal(text_with("f", "x;", "")), Catch::Contains("x; is not a name"));
}

TEST_CASE("parameters that are no printable text, or would be read as several, are refused", "[hostile graphs]") {
  CHECK(refusal(text_with("f", "x", R"(a = "1\0A2")")) == "': its parameters are 'a=1\\x0A2'; printable text in UTF-8 is right\n");
  CHECK(refusal(text_with("f", "x", R"(a = "\FF")")) == "': its parameters are 'a=\\xFF'; printable text in UTF-8 is right\n");
  CHECK(refusal(text_with("f", "x", R"(a = "1,a=2")")) == "': parameter 'a' is '1,a=2'; a name without , and = and a value without , are right\n");
  CHECK(refusal(text_with("f", "x", "a = [1, 2]")) == "': parameter 'a' is '[1, 2]'; a name without , and = and a value without , are right\n");
}

TEST_CASE("more inputs than a kernel has are refused when it is compiled", "[hostile graphs]") {
  const std::string type = "!attn.tensor<n, f32>";
  std::string arguments = "%s0: " + type + " {attn.name = \"x0\"}", body;
  for (int i = 1; i < 64; ++i) {
    const std::string n = std::to_string(i);
    arguments += ", %x" + n + ": " + type + " {attn.name = \"x" + n + "\"}";
    body += "  %s" + n + " = attn.add %s" + std::to_string(i - 1) + ", %x" + n + " : (" + type + ", " + type + ") -> " + type + "\n";
  }
  CHECK(refusal("func.func @many(" + arguments + ") -> " + type + " {\n" + body + "  attn.return %s63 {names = [\"out\"], dims = [[\"n\"]]} : " + type + "\n}\n") ==
        "attune: kernel 'many': has 65 inputs and outputs; 64 are the most\n");
}

TEST_CASE("text that is nested without end is refused before it is parsed", "[hostile graphs]") {
  std::string deep;
  for (int i = 0; i < 50000; ++i) deep += "[";
  CHECK_THAT(refusal("module attributes {x.y = " + deep), Catch::StartsWith(": line 1: is nested deeper than 32 levels"));
  deep.clear();
  for (int i = 0; i < 50000; ++i) deep += "module { ";
  CHECK_THAT(refusal(deep), Catch::StartsWith(": line 1: is nested deeper than 32 levels"));
}

TEST_CASE("what a header's code does beside describing a graph ends no command", "[hostile graphs]") {
  const Folder folder;
  const std::string header = folder.write("moody.h", R"(#include "dsl/variants/attention.h"
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
inline int deeper(int n) {
  volatile char room[4096];
  room[0] = static_cast<char>(n);
  return n < 0 ? 0 : deeper(n + 1 - room[0] + room[0]) + room[0];
}
struct Moody {
  std::int64_t mood = 0;
  static constexpr std::string_view name = "moody";
  static constexpr auto fields = std::tuple{attune::Field{"mood", &Moody::mood}};
  constexpr void operator()(attune::Graph& g) const {
    const attune::Attention a(g);
    a.output(a.scores());
    if (mood == 1) throw std::runtime_error("not\ntoday");
    if (mood == 2) throw 3;
    if (mood == 3) deeper(1);
    if (mood == 4) std::exit(0);
    if (mood == 5) std::exit(7);
    if (mood == 6) std::abort();
  }
};
struct Named : Moody {
  static constexpr std::string_view name = "x.y";
  static constexpr auto fields = std::tuple{};
};
)");
  // a compiler that remembers, so that the header is compiled once for each struct
  std::filesystem::permissions(folder.write("remembers", "#!/bin/sh\nfor last; do :; done\nkept=\"$KEPT.$(cksum < \"${last%.so}.cpp\" | tr -d ' ')\"\n"
                                                         "[ -f \"$kept\" ] || \"$COMPILER\" \"$@\" || exit 1\n[ -f \"$kept\" ] && exec cp \"$kept\" \"$last\"\nexec cp \"$last\" \"$kept\"\n"),
                               std::filesystem::perms::owner_all);
  const auto show = [&](const char* name, const char* mood) {
    Words words{"show", header, "--struct", name};
    if (*mood != 0) words.insert(words.end(), {"--param", std::string("mood=") + mood});
    const Ran ran = run_attune(words, {{"CXX", folder / "remembers"}, {"COMPILER", own_compiler()}, {"KEPT", folder / "kept"}});
    CHECK(ran.status == (*mood == '0' ? 0 : 2));
    return ran.err;
  };
  CHECK(show("Moody", "0") == "");
  const std::string who = "attune: '" + header + "': building the graph of 'Moody' ", advice = "; a variant adds operations to its graph and nothing else\n";
  CHECK(show("Moody", "1") == who + "threw an exception: not\\x0Atoday\n");
  CHECK(show("Moody", "2") == who + "threw an exception\n");
  CHECK(show("Moody", "3") == who + "ended by a signal: Segmentation fault" + advice);
  CHECK(show("Moody", "4") == who + "ended the process" + advice);
  CHECK(show("Moody", "5") == who + "ended with status 7" + advice);
  CHECK(show("Moody", "6") == who + "ended by a signal: Aborted" + advice);
  CHECK(show("Named", "") == "attune: '" + header + "': variant 'x.y': is not a name; letters, digits and _ are, and no digit first\n");
}

}  // namespace attune
