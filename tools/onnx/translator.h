/// ONNX's elementwise operations, products and reshapes as operations of the language, for subgraphs of nodes and parts of models.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/interpret.h"
#include "tools/onnx/axes.h"
#include "tools/onnx/node.h"
#include "tools/onnx/width.h"

namespace attune {

/// An ONNX tensor in a graph. Dims have names and no order, so that transposing and reshaping a tensor changes its axes alone.
struct Term {
  Kind kind = Kind::real;                            ///< real, i64 or boolean
  std::vector<Axis> axes;
  std::optional<std::vector<double>> numbers;        ///< where they are known: of constants, shapes, and what follows from them
  std::vector<std::optional<Axis>> extents_of = {};  ///< of the numbers of a shape: the axes that they are the extents of
  std::optional<Value> value = {};                   ///< in the second round; numbers need none
  std::string constant = {};                         ///< of numbers: what they are known by
  bool follows_extents = false;                      ///< numbers of the extents that were given: calls of other extents have others
  bool is_part_of_constant = false;                  ///< that begins or ends where extents say
  bool is_index = false;                             ///< made of positions alone: those along another axis are no renaming
  bool is_weights = false;                           ///< of a softmax, which is never NaN for a row without a visible key
  Width width = {};                                  ///< of integers
};

/// Translates twice: the first round finds which axes are the same dims and emits nothing, the second emits. `walk` is called for both and does the
/// same in both. The first problem ends all.
class Translator {
 public:
  Translator(Graph& graph, std::deque<std::string>& names, Arrays& constants) : g(graph), names_(names), constants_(constants) {}

  void translate(const std::function<void(Translator&)>& walk);
  bool emits() const { return emits_; }
  const std::string& problem() const { return problem_; }
  void fail(std::string problem);

  AxisTable axes;
  /// An axis that consists of others one behind the other. Where two are the same positions, their parts are, too, as those of keys and values.
  struct Joined {
    Axis whole;
    std::vector<Axis> parts;
  };
  std::vector<Joined> joined;
  std::vector<Axis> taken;   ///< the axes of slices; where two are one dim, it follows from none of them
  std::vector<Axis> summed;  ///< the axes of products; those that nothing else names are the depth of heads
  Graph& g;

  /// A dim of its own; the same one in both rounds.
  int fresh(std::int64_t extent, std::string_view name = {}, AxisTable::Bound bound = AxisTable::Bound::no);
  std::vector<std::int64_t> extents(const Term& term) const;
  /// A constant tensor. Where it is no single number, and a value of it is needed, it becomes an input of the graph.
  Term constant(const std::string& name, const OnnxTensor& tensor);
  /// Numbers that are known, along one axis; a single one has none.
  Term numbers(std::vector<double> numbers, Kind kind);
  /// The results of the operation; the operands are its inputs, nullptr where one is left out. Nothing after a problem.
  std::vector<Term> results(const OnnxOperation& operation, std::span<const Term* const> operands, std::int64_t opset);
  /// The result of an operation that has one.
  Term apply(const OnnxOperation& operation, std::span<const Term* const> operands, std::int64_t opset);
  /// Whether the operator is one that `apply` knows.
  static bool knows(const OnnxOperation& operation);

  Names names_of(const Axis& axis);
  Name name_of(int dim);
  /// A name that lives as long as the graph; what a graph's names cannot have becomes _.
  Name keep(std::string_view name);
  /// The same that no input has.
  Name label_of(std::string_view name);
  Value value_of(const Term& term);
  /// A subgraph of one input and one output: its operations one by one. The output's term.
  Term run(const OnnxSubgraph& subgraph, const Term& input, std::int64_t opset);

  /// Operands with their axes brought together, and the axes of the result. A dim that would stand in two axes is renamed in the operand.
  std::vector<Axis> broadcast(std::vector<Term>& operands);
  /// How many positions an axis has, which may be several dims in a row.
  Value extent_along(const Axis& axis);
  /// The term at the only position of an axis, which a value may have as a dim of one.
  void take_only(Term& term, const Axis& axis);
  /// The operand with another dim in the place of one; the same decision in both rounds.
  bool rename_if(bool condition, Term& operand, Axis& axis);

  /// The answer of the first round, in both.
  bool decided(bool now);

 private:
  void unify_parts();
  std::optional<Value> of_positions(const Term& term);

  std::deque<std::string>& names_;
  Arrays& constants_;
  std::string problem_;
  bool emits_ = false;
  std::vector<int> fresh_;
  std::vector<bool> decisions_;
  std::size_t next_fresh_ = 0, next_decision_ = 0, scope_ = 0;
  std::map<std::string, Value, std::less<>> constant_values_;
};

/// One ONNX operator: what it makes of its operands.
struct TermRule {
  std::string_view op;
  int least = 1, most = 1;  ///< operands
  Term (*apply)(Translator&, const OnnxOperation&, std::span<const Term* const>, std::int64_t opset) = nullptr;
  /// In its place for one of several results: as many as the operation has outputs, or a problem.
  std::vector<Term> (*apply_all)(Translator&, const OnnxOperation&, std::span<const Term* const>, std::int64_t opset) = nullptr;
};
std::span<const TermRule> activation_rules();
std::span<const TermRule> cast_rules();
std::span<const TermRule> einsum_rules();
std::span<const TermRule> pointwise_rules();
std::span<const TermRule> product_rules();
std::span<const TermRule> row_rules();
std::span<const TermRule> selection_rules();
std::span<const TermRule> shape_rules();
std::span<const TermRule> split_rules();

/// Attributes of an operation.
double number_of(const OnnxOperation& operation, std::string_view attribute, double missing);
std::string text_of(const OnnxOperation& operation, std::string_view attribute);
std::vector<std::int64_t> integers_of(const OnnxOperation& operation, std::string_view attribute);

}  // namespace attune
