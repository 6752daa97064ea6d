#include "codegen/steps/stage_key.h"

#include <fmt/format.h>

#include <map>

namespace attune {
namespace {

/// Writes a body, giving names to its dims as they appear; with `is_exact` each number as it is, else names for them, too.
class Writer {
 public:
  Writer(const Graph& graph, const KnownExtents& known, bool is_exact) : graph_(graph), known_(known), is_exact_(is_exact) {
    for (const Node& node : graph.nodes()) is_number_.push_back(!is_exact && is_number(node));
  }

  std::string body(std::span<const WrittenAs> written, std::string_view queries) {
    for (std::size_t id = 0; id < graph_.nodes().size(); ++id)
      if (!is_number_[id]) line(static_cast<int>(id));
    for (std::size_t i = 0; i < written.size(); ++i)
      text_ += fmt::format("out {}: [{}]\n", operand(graph_.outputs()[i].node), names(written[i].dims));
    if (!queries.empty()) text_ += fmt::format("queries: {}\n", name(queries));
    return text_;
  }

  /// In the order of their names.
  const std::vector<std::string>& dims() const { return order_; }

  /// " d0=64": the extents that are known.
  std::string known_text() const {
    std::string text;
    for (const std::string& dim : order_)
      if (const auto extent = known_.find(dim); extent != known_.end()) text += fmt::format(" {}={}", dims_.find(dim)->second, extent->second);
    return text;
  }

  /// The buckets of the dims and numbers that are known.
  std::map<std::string, std::int64_t> extents() const {
    std::map<std::string, std::int64_t> buckets = numbers_;
    for (const auto& [dim, name] : dims_)
      if (const auto extent = known_.find(dim); extent != known_.end()) buckets.emplace(name, bucket_of(extent->second));
    return buckets;
  }

 private:
  bool is_number(const Node& node) const {
    if (std::holds_alternative<Input>(node.op) || !node.type.dims.empty()) return false;
    for (const int operand : node.operands())
      if (!is_number_[static_cast<std::size_t>(operand)]) return false;
    return true;
  }

  std::string name(std::string_view dim) {
    const auto place = dims_.find(dim);
    if (place != dims_.end()) return place->second;
    order_.emplace_back(dim);
    return dims_.emplace(dim, fmt::format("d{}", dims_.size())).first->second;
  }

  template <class List>
  std::string names(const List& dims) {
    std::string text;
    for (const auto& dim : dims) text += (text.empty() ? "" : ", ") + name(dim);
    return text;
  }

  template <class T>
  std::string value(const T& field) {
    if constexpr (std::is_same_v<T, Names>) return fmt::format("[{}]", names(field));
    else if constexpr (std::is_same_v<T, Name>) return name(field);
    else if constexpr (std::is_same_v<T, Kind>) return std::string(name_of(field));
    else if constexpr (std::is_floating_point_v<T>) return is_exact_ ? fmt::format("{:a}", field) : "number";
    else if constexpr (requires { field.size(); }) return fmt::format("[{}]", fmt::join(field, ", "));
    else return fmt::format("{}", field);
  }

  std::string operand(int id) {
    const Node& node = graph_.node(id);
    if (!is_number_[static_cast<std::size_t>(id)]) return fmt::format("%{}", lines_.at(id));
    if (node.type.kind == Kind::real || node.type.kind == Kind::boolean) return "number";
    const auto [place, is_fresh] = whole_.try_emplace(id, fmt::format("n{}", whole_.size()));
    if (const auto* constant = std::get_if<Constant>(&node.op)) numbers_[place->second] = bucket_of(static_cast<std::int64_t>(constant->value));
    return place->second;
  }

  void line(int id) {
    const Node& node = graph_.node(id);
    std::string operands, fields;
    for (const int i : node.operands()) operands += (operands.empty() ? "" : ", ") + operand(i);
    const std::string op = std::visit(
        [&]<class Op>(const Op& o) {
          if constexpr (!std::is_same_v<Op, Input>)
            std::apply([&](const auto&... field) { ((fields += fmt::format(" {}={}", field.name, value(o.*field.member))), ...); }, Op::fields);
          return std::string(Op::name);
        },
        node.op);
    lines_.emplace(id, lines_.size());
    text_ += fmt::format("%{} = {}({}){}: {} [{}]\n", lines_.at(id), op, operands, fields, name_of(node.type.kind), names(node.type.dims));
  }

  const Graph& graph_;
  const KnownExtents& known_;
  const bool is_exact_;
  std::vector<bool> is_number_;  // by node
  std::map<int, std::size_t> lines_;
  std::map<std::string, std::string, std::less<>> dims_;
  std::vector<std::string> order_;
  std::map<int, std::string> whole_;
  std::map<std::string, std::int64_t> numbers_;
  std::string text_;
};

}  // namespace

StageText text_of(std::string_view kind, const Graph& graph, std::span<const Element> read, std::span<const WrittenAs> written,
                  const KnownExtents& known, std::string_view queries) {
  StageText text;
  Writer writer(graph, known, false), exact(graph, known, true);
  text.key.body = writer.body(written, queries);
  text.key.stage = stage_name(kind, text.key.body);
  for (const Element element : read) text.key.types += fmt::format("{}{}", text.key.types.empty() ? "" : " ", name_of(element));
  text.key.types += " ->";
  for (const WrittenAs& result : written) text.key.types += fmt::format(" {}", name_of(result.element));
  text.key.extents = writer.extents();
  const std::string body = exact.body(written, queries);
  text.identity = fmt::format("{}\n{}{}{}", kind, body, text.key.types, exact.known_text());
  text.dims = exact.dims();
  return text;
}

}  // namespace attune
