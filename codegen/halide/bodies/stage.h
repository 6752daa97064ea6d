/// The interface between the compiler and the stage templates: a stage's body as composable pieces of Halide expressions.
#pragma once

#include <Halide.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/halide/bodies/piece.h"

namespace attune {

/// out[batch.., rows.., columns..] = finish( sum over `over` of a * b, coordinates ).
/// `a` has batch, rows and over; `b` has batch, columns and over (any may be missing in one operand: it is broadcast).
struct Gemm {
  static constexpr std::string_view name = "gemm";
  Piece a, b;
  std::vector<std::string> batch, rows, columns, over;
  std::function<Halide::Expr(Halide::Expr sum, const Coordinates&)> finish;  ///< bias, activation...; may be empty
  std::vector<std::string> out;  ///< order of the result's dims, outermost first
  Element products = Element::f32;  ///< bf16: a and b may be rounded to it
};

/// p = exp(x - max) / sum along `along`; zeros where no element is above -inf, NaN where one is visible.
struct RowSoftmax {
  static constexpr std::string_view name = "row_softmax";
  Piece x;
  std::string along;
  std::vector<std::string> out;
  std::function<Halide::Expr(Halide::Expr p, const Coordinates&)> finish;  ///< what is stored of p: a cast; may be empty
  std::optional<RowResult> log_sum_exp = {};  ///< max + ln sum: -inf where no element is above -inf
};

/// out[batch.., queries, value..] = sum_j weight(softmax_j(score)) * value[.., j, ..], with scores never stored whole.
///   score(i, j) = visible(i, j) ? change(sum over `over` of combine(query, key), coordinates) : -inf
/// Without a softmax the weights are the scores, or `weight` of them: there is neither a running maximum nor a division, and the score of what is
/// hidden is `hidden`, of which weight and term are 0.
///   out[batch.., queries, value..] = of_total(sum_j weight(score(i, j)) * value[.., j, ..], sum_j term(score(i, j)))
/// Without a value the result is a number of each row: out[batch.., queries] = sum_j score(i, j) or max_j score(i, j), as `fold` says; with a softmax
/// ln sum_j exp(score(i, j)).
struct OnlineSoftmax {
  static constexpr std::string_view name = "online_softmax";
  bool has_softmax = true;
  bool is_of_rows = false;           ///< there is no value; templates get a column of ones in its place, which nothing needs
  enum class Fold { sum, maximum } fold = Fold::sum;  ///< of a row's scores, without a value and a softmax
  std::vector<std::string> batch;    ///< outer dims: all dims of the result but queries and value_depth (keys may lack some: grouped heads)
  std::string queries, keys, value_depth;
  std::vector<std::string> over;     ///< contracted by the scores' product; may be empty
  Piece query, key;                  ///< operands of the product, constant factors already folded in
  /// What is summed over `over`: query * key if empty; additive attention: w(h) * tanh(query + key). Coordinates include `over`.
  /// A piece that it does not need may be empty; those that it gets are packed so that vectors run along keys.
  std::function<Halide::Expr(Halide::Expr query, Halide::Expr key, const Coordinates&)> combine;
  Piece score;                       ///< the raw score at (batch, queries, keys) if there is one: then query, key, over and combine are not used
  std::function<Halide::Expr(Halide::Expr score, const Coordinates&)> change;   ///< scale, bias, soft-cap ...; empty if nothing
  std::function<Halide::Expr(const Coordinates&)> visible;                      ///< empty if everything is visible
  std::function<Visibility(const Block&)> visibility;                           ///< of a block of queries x keys at exact batch coordinates
  /// A change of the softmax, linear in it (dropout), or without one of the score; empty if nothing.
  std::function<Halide::Expr(Halide::Expr weight, const Coordinates&)> weight;
  std::function<Halide::Expr(Halide::Expr score)> term = {};  ///< without a softmax: what the total sums of a score; empty: the score
  float hidden = 0;                                           ///< without a softmax
  Piece value;                       ///< [batch.., keys, value_depth]; templates get one in any case
  /// What the sum becomes that needs the total of the weights, without a softmax alone; empty if nothing does: then no total is kept.
  std::function<Halide::Expr(Halide::Expr sum, Halide::Expr total, const Coordinates&)> of_total = {};
  std::function<Halide::Expr(Halide::Expr result, const Coordinates&)> finish;  ///< what is stored of the result: a cast, a gate; may be empty
  std::vector<std::string> out;
  std::optional<RowResult> log_sum_exp = {};  ///< ln sum_j exp(score(i, j)), -inf where nothing is visible
  std::optional<RowResult> row_maximum = {};  ///< max_j score(i, j), likewise; stored behind log_sum_exp
  std::optional<RowResult> row_total = {};    ///< without a softmax: sum_j term(score(i, j))
  Element products = Element::f32;            ///< bf16: queries, keys, weights and values may be rounded to it
};

/// Where the rows of a piece are written in memory that holds more: row `rows` at place(..) along `along`,
/// if is_written(..). Coordinates are of the piece.
struct RowPlaces {
  std::string along, rows;
  std::function<Halide::Expr(const Coordinates&)> place, is_written;
};

/// A walk along each row of a piece, first to last element: values = step(values, element), from `initial`. The result beside an element is
/// result(values before it, element), finished.
struct RowWalk {
  using Values = std::vector<Halide::Expr>;
  std::string along;
  Values initial;
  std::function<Values(const Values&, const Halide::Expr& element)> step;
  std::function<Halide::Expr(const Values&, const Halide::Expr& element)> result;
  std::function<Halide::Expr(Halide::Expr result, const Coordinates&)> finish = {};  ///< a cast; may be empty
};

/// Of each row of a piece of unsigned integers its `count` greatest elements, of equals the first ones. The result is whether an element is one of them,
/// finished; or, with a list, has `into` in place of `along`: their positions in ascending order, or the greatest element's first, and -1 behind them.
struct RowChoice {
  struct List {
    std::string into;
    bool is_sorted = false;
  };
  std::string along;
  int count = 1;
  std::optional<List> list = {};

  /// The dim of the result that its rows run along.
  const std::string& result_dim() const { return list ? list->into : along; }
  std::function<Halide::Expr(Halide::Expr result, const Coordinates&)> finish = {};  ///< a cast; may be empty
};

/// For each token t along `along`, with S the state over batch, columns and `over`:
///   S' = e^log_decay[t] S      S = S' + key[t] (value[t] - beta[t] sum over `over` of S' * key[t])      out[t] = finish( sum over `over` of S * query[t] )
/// or, with `asked` and `erased`, S = S' + key[t] value[t] - erased[t] beta[t] sum over `over` of S' * asked[t].
struct RecurrenceBody {
  static constexpr std::string_view name = "recurrence";
  std::string along, over;
  std::vector<std::string> batch;    ///< dims of the state that key, log_decay, beta or query have, too, but for those of a decay by column
  std::vector<std::string> columns;  ///< its other dims: a state is carried on for each column in the same way
  std::vector<std::string> group;    ///< dims that the query alone has
  Piece query;                       ///< empty: `out` is of the state after the last token
  Piece key, value;
  Piece log_decay, beta;             ///< empty where they are 0
  Piece asked, erased;               ///< empty where both are the key
  bool has_channel_decay = false;    ///< log_decay has `over`
  bool has_column_decay = false;     ///< log_decay has dims of `columns`, and perhaps `over`
  Piece initial;
  std::function<Halide::Expr(Halide::Expr result, const Coordinates&)> finish;  ///< may be empty
  std::vector<std::string> out;
  std::optional<RowResult> state = {};  ///< after the last token, beside a result
};

/// Everything elementwise, sums included: one Func over `out`.
struct Pointwise {
  static constexpr std::string_view name = "pointwise";
  Piece x;
  std::vector<std::string> out;
  bool adds_up = false;  ///< reads the elements that it writes: each may be written once
  std::optional<RowPlaces> places = {};  ///< then only these rows of the Func are stored, and x is over `out` with rows in place of along
  std::optional<RowWalk> walk = {};      ///< then the Func is over results of a walk along rows of x
  std::optional<RowChoice> choice = {};  ///< then the Func is over what is chosen of rows of x
};

/// What templates take.
using StageBody = std::variant<OnlineSoftmax, Gemm, RowSoftmax, RecurrenceBody, Pointwise>;

}  // namespace attune
