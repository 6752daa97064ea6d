/// docs/language.md holds what the code says of every operation and variant; ATTUNE_UPDATE=1 writes it anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/parameters.h"
#include "dsl/variants.h"
#include "tests/dsl/values.h"
#include "tests/operation_examples.h"

namespace attune {
namespace {

std::string read(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream all;
  all << stream.rdbuf();
  return all.str();
}

/// "ReduceSum" of "reduce_sum".
std::string struct_name(std::string_view name) {
  std::string result;
  bool is_first = true;
  for (char c : name) {
    if (c != '_') result += is_first ? static_cast<char>(c - 'a' + 'A') : c;
    is_first = c == '_';
  }
  return result;
}

/// What the example of an operation returns, as it is written.
std::string example_of(std::string_view name) {
  static const std::string source = [] {
    std::string all = read(ATTUNE_SOURCE "/tests/operation_examples.h");
    for (const auto& file : std::filesystem::directory_iterator(ATTUNE_SOURCE "/tests/operation_examples")) all += read(file.path());
    return all;
  }();
  const std::string start = "example(const " + struct_name(name) + "&) { return ";
  const std::size_t begin = source.find(start);
  REQUIRE(begin != std::string::npos);
  const std::size_t first = begin + start.size();
  return source.substr(first, source.find("; }", first) - first);
}

std::string type_text(const Type& type) { return text(sentence(type.kind, " ", type.dims)); }

template <class Op>
std::string field_names() {
  std::string names;
  std::apply([&](const auto&... field) { ((names += (names.empty() ? "`" : ", `") + std::string(field.name) + "`"), ...); }, Op::fields);
  if (names.empty()) return "no fields";
  return (names.find(',') == std::string::npos ? "field " : "fields ") + names;
}

/// What its operands may be.
template <class Op>
std::string operands() {
  std::string counted = Op::arity < 0 ? "any number of operands" : std::to_string(Op::arity) + (Op::arity == 1 ? " operand" : " operands");
  if constexpr (PointwiseOp<Op>) {
    if (Op::signature == Signature::selection) return counted + ", a boolean and two of one kind";
    if (Op::signature == Signature::to_real || Op::signature == Signature::to_i64) return counted + " of any kind";
    return counted + (Op::arity > 1 ? ", all " : ", ") + std::string(detail::allowed_kinds(Op::signature));
  }
  return counted;
}

template <class Op>
std::string operation() {
  Graph g;
  const Value value = OperationExamples{g, OperationExamples::Use::page}.example(Op{});
  REQUIRE(text(g.problem()) == "");
  const bool is_shown = std::holds_alternative<Op>(g.node(value.id).op) || std::is_same_v<Op, Constant>;
  REQUIRE(is_shown);
  std::ostringstream page;
  page << "### " << Op::name << "\n\n"
       << Op::meaning << "\n\n"
       << "    " << example_of(Op::name) << "  // " << type_text(g.node(value.id).type) << "\n\n"
       << operands<Op>() << "; " << field_names<Op>() << "\n\n";
  return page.str();
}

std::string operations() {
  std::string primitives, elementwise, composites;
  [&]<class... Op>(const std::variant<Op...>*) {
    ((PointwiseOp<Op>    ? elementwise += operation<Op>()
      : CompositeOp<Op> ? composites += operation<Op>()
                         : primitives += operation<Op>()),
     ...);
  }(static_cast<const AnyOp*>(nullptr));
  return "## Operations with a shape of their own\n\n" + primitives + "## Elementwise operations\n\n" + elementwise +
         "## Operations made of others\n\n" + composites;
}

template <class Variant>
std::string variant(const Variant& shown) {
  const Graph g = build(shown);
  std::ostringstream page;
  page << "### " << Variant::name << "\n\n" << Variant::meaning << "\n\n";
  for (const Setting& setting : parameters_of(shown)) page << "- parameter `" << setting.name << " = " << setting.value << "`: " << setting.type << "\n";
  for (const Node& node : g.nodes())
    if (const auto* input = std::get_if<Input>(&node.op)) page << "- input `" << input->label << "`: " << type_text(input->type) << "\n";
  for (const Output& output : g.outputs()) page << "- output `" << output.name << "`: " << type_text({g.node(output.node).type.kind, output.dims}) << (output.is_in_place() ? ", written in place\n" : "\n");
  page << "\n";
  return page.str();
}

std::string variants() {
  std::string page;
  for_each_variant([&](const auto& shown) { page += variant(shown); });
  return page;
}

/// The page with `content` between the marks of a section.
std::string with_section(const std::string& page, const std::string& name, const std::string& content) {
  const std::string begin = "<!-- " + name + ": written by tests/dsl/language_page.cpp -->\n", end = "<!-- end of " + name + " -->\n";
  const std::size_t first = page.find(begin), last = page.find(end);
  REQUIRE(first != std::string::npos);
  REQUIRE(last != std::string::npos);
  return page.substr(0, first + begin.size()) + "\n" + content + page.substr(last);
}

}  // namespace

TEST_CASE("docs/language.md says what the code says, ATTUNE_UPDATE=1 updates it", "[language]") {
  const std::string file = ATTUNE_SOURCE "/docs/language.md", page = read(file);
  const std::string wanted = with_section(with_section(page, "operations", operations()), "variants", variants());
  if (std::getenv("ATTUNE_UPDATE") != nullptr && wanted != page) std::ofstream(file) << wanted;
  CHECK((page == wanted || std::getenv("ATTUNE_UPDATE") != nullptr));
}

}  // namespace attune
