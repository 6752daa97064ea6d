#include "schedules/common/row_search.h"
#include "schedules/common/tiles.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/gpu/gpu_grid.h"

using Halide::Expr;
using Halide::Func;
using Halide::select;

namespace attune {
namespace {

class GpuRowChoice {
 public:
  GpuRowChoice(const Pointwise& body, const Extents& extents, const GpuTile& tile)
      : body_(body), choice_(*body.choice), extents_(extents), tile_(tile), rows_(rows_of_choice(body)), search_(element(vars_at(body.x.dims)).type(), choice_.count) {}

  Stored build() {
    found_ = found();
    const std::vector<std::string>& out = body_.out;
    if (choice_.list) list_ = choice_.list->is_sorted ? sorted(listed()) : listed();
    const Coordinates at = vars_at(out);
    const Expr value = choice_.list ? Halide::cast<std::int64_t>(list_(innermost_first(out, at))) : is_chosen(at);
    Func result("chosen");
    result(vars_of_memory(out)) = choice_.finish ? choice_.finish(value, at) : value;
    run_on_gpu(result, gpu_grid(out), extents_, tile_);
    return {result, out};
  }

 private:
  Expr element(const Coordinates& at) const { return body_.x.at(at); }

  /// (the element of rank `count`, how many are greater, the last of its equals that is chosen) of each row, which a thread walks once for each bit and
  /// once more for the equals.
  Func found() const {
    const std::string pass = "pass-";  // no dim of a graph has such a name
    Extents all = extents_;
    all[pass] = search_.passes() + 1;
    const Exprs initial = search_.initial(0);  // how many are left is of no use to threads that cannot stop
    const auto step = [this, pass](const Exprs& before, const Coordinates& at) {
      const Expr& position = at.at(choice_.along);
      const Expr now = at.at(pass), bit = Halide::min(now, search_.passes() - 1), is_search = now < search_.passes();
      const Expr is_last = position == extents_.at(choice_.along) - 1, x = element(at);
      const Exprs known = {before[0], before[1], 0};
      const Expr counts = select(is_search, x >= search_.tried(known, bit), x == known[0]), counted = before[2] + Halide::cast<std::int32_t>(counts);
      const Exprs learned = search_.learned(known, counted, bit);
      const Expr is_end = is_last && is_search, is_chosen = !is_search && counts && counted <= search_.chosen_of_equals(known);
      return Exprs{select(is_end, learned[0], known[0]), select(is_end, learned[1], known[1]), select(is_end, 0, counted), select(is_chosen, position, before[3])};
    };
    const auto same = [](const Exprs& values, const Coordinates&) { return Exprs{values[0], values[1], values[3]}; };
    return reduced_on_gpu({"found", gpu_grid(rows_), {pass, choice_.along}, {initial[0], 0, 0, RowSearch::last_of_none()}, step, same}, all, tile_);
  }

  Expr is_chosen(const Coordinates& at) const {
    const Exprs found = values_of(found_, innermost_first(rows_, at));
    return RowSearch::is_chosen(found, found[2], element(at), at.at(choice_.along));
  }

  /// Of each place of a list the position behind as many others that are chosen.
  Func listed() const {
    std::vector<std::string> all = rows_;
    all.push_back(choice_.along);
    const auto count = [this](const Exprs& before, const Coordinates& at) { return Exprs{before[0] + Halide::cast<std::int32_t>(is_chosen(at))}; };
    const Func rank = running_on_gpu({"rank", all, choice_.along, {0}, count}, extents_, tile_);
    const auto position_of = [=, this](const Exprs& found, const Coordinates& at) {
      const Expr is_there = is_chosen(at) && values_of(rank, innermost_first(all, at))[0] == at.at(choice_.list->into);
      return Exprs{select(is_there, at.at(choice_.along), found[0])};
    };
    return reduced_on_gpu({"list", gpu_grid(body_.out), {choice_.along}, {-1}, position_of, same}, extents_, tile_);
  }

  /// Of each place the position that as many others precede.
  Func sorted(const Func& list) const {
    const std::string other = "other-", &into = choice_.list->into;
    Extents all = extents_;
    all[other] = extents_.at(into);
    const auto position = [=, this](const Coordinates& at, const Expr& slot) {
      Coordinates place = at;
      place[into] = slot;
      return values_of(list, innermost_first(body_.out, place))[0];
    };
    const auto listed_element = [=, this](Coordinates at, const Expr& position) {
      at[choice_.along] = clamped(Halide::max(position, 0), extents_.at(choice_.along), false);
      return element(at);
    };
    const auto count = [=](const Exprs& before, const Coordinates& at) {
      const Expr own = position(at, at.at(into)), others = position(at, at.at(other));
      const Expr precedes = RowSearch::precedes(listed_element(at, others), at.at(other), listed_element(at, own), at.at(into));
      return Exprs{before[0] + Halide::cast<std::int32_t>(others >= 0 && precedes)};
    };
    const Func order = reduced_on_gpu({"order", gpu_grid(body_.out), {other}, {0}, count, same}, all, tile_);
    const auto position_of = [=, this](const Exprs& found, const Coordinates& at) {
      Coordinates place = at;
      place[into] = at.at(other);
      const Expr listed = position(at, at.at(other)), is_there = listed >= 0 && values_of(order, innermost_first(body_.out, place))[0] == at.at(into);
      return Exprs{select(is_there, listed, found[0])};
    };
    return reduced_on_gpu({"sorted", gpu_grid(body_.out), {other}, {-1}, position_of, same}, all, tile_);
  }
  static Exprs same(const Exprs& values, const Coordinates&) { return values; }

  const Pointwise& body_;
  const RowChoice& choice_;
  const Extents& extents_;
  const GpuTile& tile_;
  const std::vector<std::string> rows_;
  const RowSearch search_;
  Func found_, list_;
};

}  // namespace

Stored gpu_row_choice(const Pointwise& body, const Extents& extents, const GpuTile& tile) { return GpuRowChoice(body, extents, tile).build(); }

}  // namespace attune
