/// ScoreMask: the masks of one softmax, or of weights that none makes, for known extents and inputs,
/// as a truth value over boxes of queries, keys and outer dims.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codegen/plan/score_masks.h"
#include "dsl/interpret.h"
#include "dsl/interval.h"
#include "tools/measure/example.h"
#include "tools/measure/portion.h"

namespace attune {

/// What is known of all elements of a box.
struct Seen {
  bool certainly = false;  ///< every element is visible
  bool possibly = true;    ///< some element may be
};

/// How much of the inputs an analysis may look at.
enum class Insight {
  kernel,  ///< what a kernel looks up before it visits a block: of inputs of integers and truth values the least and greatest, else single elements
  ranges,  ///< of all others, too, the least and greatest along a dim
};

/// Scores, or weights that no softmax makes, and what hides them.
struct MaskedScores {
  int score = -1;  ///< with its masks
  Name keys;
  double hidden = 0;
};
/// Of a softmax, or of weights that a matmul or a sum over one dim reads: nodes of an expanded graph, whose composites are gone.
MaskedScores masked_scores(const Graph& graph, int node);
/// Every softmax, and weights with masks that none makes, in the order of the graph. A select in a hidden layer hides no pair.
std::vector<int> nodes_with_masks(const Graph& graph);
/// The masks of such a node.
inline PeeledScore masks_of(const Graph& graph, int node) {
  const MaskedScores masked = masked_scores(graph, node);
  return peel_masks(graph, masked.score, masked.hidden);
}

/// Its boxes are of queries, keys, then the outer dims in the order of outer().
class ScoreMask {
 public:
  /// Of a node as masked_scores takes it; `inputs` holds at least mask_inputs(graph). `queries` is the dim that rows of boxes run along; that of the
  /// keys is the other.
  ScoreMask(const Graph& graph, int node, Name queries, const Shape& extents, const Arrays& inputs);

  /// Nothing is masked.
  bool is_empty() const { return steps_.empty(); }
  /// The other dims that the masks depend on.
  const Names& outer() const { return outer_; }

  /// Always sound; exact for boxes of one element.
  Seen over(const IndexBox& box, Insight insight) const;
  /// Whether the operations, whatever the extents, can tell of any block that all of it is visible: not where a real or a
  /// computed element decides that lies along the queries or keys.
  bool may_know_whole_blocks() const;
  /// The visible elements of a box.
  Portion count(const IndexBox& box) const;
  /// Calls `show` with rectangles of queries and keys that are together the visible elements of a box, none of them twice. The box has one index of
  /// each outer dim.
  using Show = std::function<void(const IndexRange& queries, const IndexRange& keys)>;
  void each_visible(const IndexBox& box, const Show& show) const;

 private:
  static constexpr std::size_t row_slot = 0, column_slot = 1, first_outer_slot = 2;  // of a box
  enum class Source { constant, index, data, operation };
  /// A value of a mask; operands are earlier steps.
  struct Step {
    Source source = Source::constant;
    Kind kind = Kind::real;
    double value = 0;                   // constant
    std::size_t slot = 0;               // index: which range of a box
    bool is_stored = false;             // data: an input, or what another stage stores
    Array data;                         // data, with
    std::vector<std::int64_t> strides;  // elements from one index of a slot to the next
    AnyOp op;                           // operation
    std::vector<std::size_t> operands;  // of data that is gathered: the places, of one table in another
    std::vector<std::size_t> single;    // of data that is gathered: the slots of the table itself
    bool has_rows = false, has_columns = false;  // depends on the query, on the key
  };
  class Builder;  // score_mask_builder.cpp
  struct Tile;

  Interval<double> interval_of(const Step& step, const IndexBox& box, Insight insight, std::span<const Interval<double>> values) const;
  static bool has_neighbours(const Step& step, std::span<const Interval<double>> values);
  static std::optional<Interval<double>> range_of(const Step& step, const IndexBox& box, std::span<const std::size_t> walked);
  void evaluate(const Step& step, const IndexBox& box, std::span<const Tile> tiles, Tile& tile) const;
  std::int64_t count_tile(const IndexBox& box, std::vector<Tile>& tiles) const;
  void show_part(const IndexBox& box, std::vector<Tile>& tiles, const Show& show) const;
  void show_tile(const IndexBox& box, std::vector<Tile>& tiles, const Show& show) const;

  Names outer_;
  std::vector<Step> steps_;  // the last one is the mask
};

/// The inputs whose elements decide what masks of the graph let through.
std::vector<std::string> mask_inputs(const Graph& graph);

}  // namespace attune
