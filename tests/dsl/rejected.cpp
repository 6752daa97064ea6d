/// The sentences of tests/rejected, where the compiler says them, are those that a graph built at run time has.
#include <fstream>

#include "tests/dsl/rejected_programs.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

/// The sentence that the first line of a program expects.
std::string expectation(const std::string& file) {
  std::ifstream program(std::string(ATTUNE_REJECTED) + "/" + file);
  std::string line;
  std::getline(program, line);
  const std::string prefix = "// expect: ";
  REQUIRE(line.starts_with(prefix));
  return line.substr(prefix.size());
}

}  // namespace

TEST_CASE("a wrong graph has the same sentence at run time, and its twin has none", "[rejected]") {
  REQUIRE(rejected_programs().size() > 100);
  for (const RejectedProgram& program : rejected_programs()) {
    INFO(program.file);
    CHECK(text(program.wrong().problem()) == expectation(program.file));
    CHECK(text(program.valid().problem()) == "");
  }
}

namespace {
bool has_program(std::string_view operation) {
  for (const RejectedProgram& program : rejected_programs())
    if (std::string_view(program.file).starts_with(std::string(operation) + "_")) return true;
  return false;
}
}  // namespace

TEMPLATE_LIST_TEST_CASE("an operation that can be refused has a rejected program", "[rejected]", AnyOp) {
  const bool takes_anything = std::is_same_v<TestType, ToReal> || std::is_same_v<TestType, ToI64>;
  CHECK(has_program(TestType::name) != takes_anything);
}

}  // namespace attune
