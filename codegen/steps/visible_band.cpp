#include "codegen/steps/visible_band.h"

#include <llvm/ADT/DenseMap.h>

#include <algorithm>
#include <limits>
#include <map>

#include "codegen/dialect/import.h"
#include "runtime/abi.h"

namespace attune {
namespace {

/// row * index of rows + column * index of columns + constant + factors * extents.
struct Line {
  std::int64_t row = 0, column = 0, constant = 0;
  std::map<std::string, std::int64_t, std::less<>> extents = {};

  Line times(std::int64_t factor) const {
    Line line{row * factor, column * factor, constant * factor, extents};
    for (auto& [dim, own] : line.extents) own *= factor;
    return line;
  }
  Line plus(const Line& other) const {
    Line line{row + other.row, column + other.column, constant + other.constant, extents};
    for (const auto& [dim, factor] : other.extents) line.extents[dim] += factor;
    std::erase_if(line.extents, [](const auto& term) { return term.second == 0; });
    return line;
  }
};

/// What is known of a value of pairs outside of a band.
struct Hidden {
  enum class Is { unknown, zero, lowest } is = Is::unknown;
  Band band = {};
};

class BandFinder {
 public:
  BandFinder(const std::vector<StageOp>& stages, const std::string& rows, const std::string& columns) : stages_(stages), rows_(rows), columns_(columns) {}

  std::optional<Band> find() {
    for (StageOp stage : stages_) visit(stage);
    return is_right_ ? found_ : std::nullopt;
  }

 private:
  void visit(StageOp stage) {
    const Graph graph = to_graph(stage);
    std::vector<Hidden> hidden;
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      const Node& node = graph.nodes()[n];
      const bool is_operand = std::holds_alternative<Input>(node.op);
      const auto known = is_operand ? values_.find(stage->getOperand(static_cast<unsigned>(n))) : values_.end();
      hidden.push_back(known != values_.end() ? known->second : is_operand ? Hidden{} : hidden_of(graph, node, hidden));
      if (!is_of_pairs(node)) hidden.back() = {};
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i)
      values_[stage->getResult(static_cast<unsigned>(i))] = hidden[static_cast<std::size_t>(graph.outputs()[i].node)];
  }

  Hidden hidden_of(const Graph& graph, const Node& node, const std::vector<Hidden>& hidden) {
    const auto of = [&](std::size_t operand) -> const Hidden& { return hidden[static_cast<std::size_t>(node.inputs[operand])]; };
    return std::visit(
        [&]<class Op>(const Op& op) -> Hidden {
          if constexpr (std::is_same_v<Op, Index> || std::is_same_v<Op, Extent>) {
            return {};
          } else if constexpr (std::is_same_v<Op, Matmul> || std::is_same_v<Op, ReduceSum>) {
            const bool is_over_pairs = op.over.has(rows_) || op.over.has(columns_);
            Hidden sum;  // of zeros
            for (std::size_t i = 0; i < node.operands().size(); ++i) {
              if (is_over_pairs && is_of_pairs(graph.node(node.inputs[i]))) needs(of(i), Hidden::Is::zero);
              if (of(i).is == Hidden::Is::zero) sum = of(i);
            }
            return sum;
          } else if constexpr (std::is_same_v<Op, Softmax> || std::is_same_v<Op, LogSumExp>) {
            if (op.over != columns_) return {};
            needs(of(0), Hidden::Is::lowest);
            return {Hidden::Is::zero, of(0).band};
          } else if constexpr (std::is_same_v<Op, Select>) {
            return chosen(graph, node, of(1), of(2));
          } else if constexpr (std::is_same_v<Op, Multiply>) {
            return of(0).is == Hidden::Is::zero ? of(0) : of(1).is == Hidden::Is::zero ? of(1) : Hidden{};
          } else if constexpr (std::is_same_v<Op, Add> || std::is_same_v<Op, Subtract>) {
            return is_zero_in_both(of(0), of(1)) ? of(0) : Hidden{};
          } else if constexpr (std::is_same_v<Op, Divide> || std::is_same_v<Op, Negate>) {
            return of(0).is == Hidden::Is::zero ? of(0) : Hidden{};
          } else {
            if (names_dim(op, columns_)) is_right_ = false;
            return {};
          }
        },
        node.op);
  }

  static bool is_zero_in_both(const Hidden& a, const Hidden& b) { return a.is == Hidden::Is::zero && b.is == Hidden::Is::zero && a.band == b.band; }

  Hidden chosen(const Graph& graph, const Node& select, const Hidden& shown, const Hidden& other) {
    if (is_zero_in_both(shown, other)) return shown;
    const auto* constant = std::get_if<Constant>(&graph.node(select.inputs[2]).op);
    const std::optional<Band> band = constant == nullptr ? std::nullopt : band_of(graph, select.inputs[0]);
    if (!band) return {};
    if (constant->value == 0) return {Hidden::Is::zero, *band};
    return constant->value == -std::numeric_limits<double>::infinity() ? Hidden{Hidden::Is::lowest, *band} : Hidden{};
  }

  void needs(const Hidden& value, Hidden::Is what) {
    is_right_ = is_right_ && value.is == what && (!found_ || *found_ == value.band);
    found_ = value.band;
  }

  bool is_of_pairs(const Node& node) const { return node.type.dims.has(rows_) && node.type.dims.has(columns_); }

  /// Where the predicate may hold; of several that all have to, the first on each side.
  std::optional<Band> band_of(const Graph& graph, int id) const {
    const Node& node = graph.node(id);
    if (std::holds_alternative<And>(node.op)) {
      const std::optional<Band> a = band_of(graph, node.inputs[0]), b = band_of(graph, node.inputs[1]);
      if (!a || !b) return a ? a : b;
      return Band{a->first ? a->first : b->first, a->last ? a->last : b->last};
    }
    const bool is_less = std::holds_alternative<Less>(node.op), is_greater = std::holds_alternative<Greater>(node.op);
    if (!is_less && !is_greater && !std::holds_alternative<LessEqual>(node.op) && !std::holds_alternative<GreaterEqual>(node.op)) return std::nullopt;
    const std::optional<Line> a = line_of(graph, node.inputs[0]), b = line_of(graph, node.inputs[1]);
    if (!a || !b) return std::nullopt;
    const bool is_first_smaller = is_less || std::holds_alternative<LessEqual>(node.op);
    Line room = is_first_smaller ? b->plus(a->times(-1)) : a->plus(b->times(-1));  // 0 at least
    if (is_less || is_greater) --room.constant;
    return band_within(room);
  }

  /// The columns where the line is 0 at least.
  static std::optional<Band> band_within(const Line& room) {
    if (room.row * room.column != -1) return std::nullopt;
    const Line bound = room.column < 0 ? room : room.times(-1);  // minus the column, and what it is beyond the row
    Band::Side side{bound.constant, {}, {}};
    for (const auto& [dim, factor] : bound.extents) {
      std::string& place = factor > 0 ? side.plus : side.minus;
      if (!place.empty() || (factor != 1 && factor != -1)) return std::nullopt;
      place = dim;
    }
    if (side.plus.empty() != side.minus.empty()) return std::nullopt;
    return room.column < 0 ? Band{std::nullopt, side} : Band{side, std::nullopt};
  }

  std::optional<Line> line_of(const Graph& graph, int id) const {
    const Node& node = graph.node(id);
    const auto of = [&](std::size_t operand) { return line_of(graph, node.inputs[operand]); };
    if (const auto* index = std::get_if<Index>(&node.op)) {
      if (index->dim == rows_) return Line{1, 0, 0};
      return index->dim == columns_ ? std::optional(Line{0, 1, 0}) : std::nullopt;
    }
    if (const auto* extent = std::get_if<Extent>(&node.op)) return Line{0, 0, 0, {{std::string(extent->dim), 1}}};
    if (const auto* constant = std::get_if<Constant>(&node.op)) {
      const bool is_small = node.type.kind == Kind::i64 && constant->value >= -ATTUNE_MAX_EXTENT && constant->value <= ATTUNE_MAX_EXTENT;
      return is_small ? std::optional(Line{0, 0, static_cast<std::int64_t>(constant->value)}) : std::nullopt;
    }
    const bool is_difference = std::holds_alternative<Subtract>(node.op);
    if (!is_difference && !std::holds_alternative<Add>(node.op)) return std::nullopt;
    const std::optional<Line> a = of(0), b = of(1);
    return a && b ? std::optional(a->plus(is_difference ? b->times(-1) : *b)) : std::nullopt;
  }

  const std::vector<StageOp>& stages_;
  const std::string &rows_, &columns_;
  llvm::DenseMap<mlir::Value, Hidden> values_;  // results of stages
  std::optional<Band> found_;
  bool is_right_ = true;
};

}  // namespace

std::optional<Band> visible_band(const std::vector<StageOp>& stages, const std::string& rows, const std::string& columns) {
  return BandFinder(stages, rows, columns).find();
}

}  // namespace attune
