#include "schedules/shared_keys/shared_keys.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "schedules/common/scores.h"
#include "schedules/common/tiles.h"
#include "schedules/online_softmax/online_softmax.h"
#include "schedules/pointwise/pointwise.h"

using Halide::Expr;
using Halide::Var;

namespace attune {
namespace {

constexpr const char* rows_dim = "rows of shared keys";  // no dim of a graph has such a name

/// Heads and queries as one dim of rows: a body over rows from one over heads and queries.
class RowsOfHeads {
 public:
  RowsOfHeads(const OnlineSoftmax& body, const Extents& extents) : dims_(dims_of_rows(body)), rows_(dims_, extents) {
    Coordinates at;
    rows_.place(row_, at);
    std::vector<Expr> places;
    for (const std::string& dim : dims_) places.push_back(at.at(dim));
    place_(row_) = Halide::Tuple(places);
    place_.compute_root();
    for (const std::string& dim : dims_) extents_.push_back(extents.at(dim));
  }

  Expr extent() const { return rows_.extent(); }
  Expr index(const Coordinates& at) const { return rows_.index(at); }

  /// Coordinates of heads and queries from those that have the row.
  Coordinates placed(Coordinates at) const {
    const auto row = at.find(rows_dim);
    if (row == at.end()) return at;
    for (std::size_t n = 0; n < dims_.size(); ++n) at[dims_[n]] = within(place_(row->second)[static_cast<int>(n)], extents_[n]);
    at.erase(rows_dim);
    return at;
  }
  /// A block of rows may be any queries of any head.
  Block placed(Block block) const {
    for (std::size_t n = 0; n < dims_.size(); ++n) block[dims_[n]] = {0, extents_[n] - 1};
    block.erase(rows_dim);
    return block;
  }

 private:
  std::vector<std::string> dims_;
  std::vector<Expr> extents_;
  Flat rows_;
  Var row_{"row-"};
  Halide::Func place_{"place"};  ///< [row] of heads and queries
};

using Shared = std::shared_ptr<const RowsOfHeads>;

/// A function of coordinates, the last of its arguments.
template <class Result, class... Arguments>
void place(std::function<Result(Arguments...)>& f, const Shared& rows) {
  if (!f) return;
  f = [f, rows](Arguments... arguments) {
    std::tuple<std::decay_t<Arguments>...> of_rows(std::forward<Arguments>(arguments)...);
    auto& at = std::get<sizeof...(Arguments) - 1>(of_rows);
    at = rows->placed(std::move(at));
    return std::apply(f, of_rows);
  };
}

void place(Piece& piece, const Shared& rows, const std::vector<std::string>& of_rows) {
  if (!piece) return;
  const auto is_of_rows = [&](const std::string& dim) { return std::ranges::find(of_rows, dim) != of_rows.end(); };
  const auto first = std::ranges::find_if(piece.dims, is_of_rows);
  if (first == piece.dims.end()) return;
  *first = rows_dim;
  std::erase_if(piece.dims, is_of_rows);  // the others
  place(piece.element, rows);
}

OnlineSoftmax over_rows(OnlineSoftmax body, const Shared& rows) {
  const std::vector<std::string> of_rows = dims_of_rows(body);
  body.batch = dims_of_keys(body);
  body.queries = rows_dim;
  body.out = body.batch;
  body.out.insert(body.out.end(), {rows_dim, body.value_depth});
  for (Piece* piece : {&body.query, &body.score}) place(*piece, rows, of_rows);
  place(body.combine, rows);
  place(body.change, rows);
  place(body.visible, rows);
  place(body.visibility, rows);
  place(body.weight, rows);
  place(body.of_total, rows);
  place(body.finish, rows);
  return body;
}

}  // namespace

std::vector<Parameter> shared_keys_parameters(const Machine& machine, SizeClass size) { return softmax_tile_parameters("shared_keys", machine, size); }

std::string shared_keys_problem(const Machine& machine, const std::vector<Parameter>& values) {
  return softmax_tile_problem("shared_keys", machine, SizeClass::shared, values);
}

/// A block of rows may be any queries of any head.
BlockSizes shared_keys_blocks(const std::vector<Parameter>& values) {
  const BlockSizes tiles = online_softmax_blocks(values);
  return {.key_tile = tiles.key_tile, .edge_tile = tiles.edge_tile};
}

std::string shared_keys_refusal(const OnlineSoftmax& body, const Extents&, const Machine&) {
  if (dims_of_rows(body).size() < 2) return "no heads share their keys";
  if (body.log_sum_exp || body.row_maximum || body.row_total) return "numbers of rows are stored beside the result";
  return {};
}

Stored shared_keys(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  const Shared rows = std::make_shared<RowsOfHeads>(body, extents);
  Extents with_rows = extents;
  with_rows[rows_dim] = rows->extent();
  Stored result = online_softmax(over_rows(body, rows), with_rows, machine, values);
  const auto element = [result, rows](Coordinates at) {
    at[rows_dim] = rows->index(at);
    return Lowered{element_of(result, at)};
  };
  Stored apart = pointwise({{body.out, element}, body.out}, extents, machine, pointwise_parameters(machine, SizeClass::large));
  apart.numbers = std::move(result.numbers);
  return apart;
}

}  // namespace attune
