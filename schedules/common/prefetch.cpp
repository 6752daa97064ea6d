#include "schedules/common/prefetch.h"

#include <algorithm>

#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

namespace attune {
namespace {

constexpr int most_unrolled_lines = 16;

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Variable;

Expr prefetch_element(const Halide::Parameter& memory, const std::vector<Expr>& place, PrefetchInto cache) {
  Expr offset = 0;
  for (std::size_t d = 0; d < place.size(); ++d) {
    const auto of = [&](const char* what) { return Variable::make(Halide::Int(32), memory.name() + what + std::to_string(d), memory); };
    offset += (place[d] - of(".min.")) * of(".stride.");
  }
  return prefetch_line(cache, memory.type(), Variable::make(Halide::Handle(), memory.name(), memory), offset);
}

/// Prefetches what an expression reads.
class LinesOf : public Halide::Internal::IRGraphVisitor {
 public:
  LinesOf(const PrefetchedReads& reads, PrefetchInto cache) : reads_(reads), cache_(cache) {}
  Expr all;

 private:
  using IRGraphVisitor::visit;
  void visit(const Call* call) override {
    IRGraphVisitor::visit(call);
    const Halide::Parameter memory = memory_of(call);
    if (!memory.defined() || !is_wanted(call->args)) return;
    const Expr line = prefetch_element(memory, call->args, cache_);
    all = all.defined() ? all + line : line;
  }

  bool is_wanted(const std::vector<Expr>& place) const {
    const auto depends = [](const Expr& index, const std::string& on) { return Halide::Internal::expr_uses_var(index, on); };
    const std::string &along = reads_.along.name(), &rows = reads_.rows;
    if (!reads_.may_be_gathered && std::ranges::any_of(place, reads_memory)) return false;
    const auto is_along = [&](const Expr& index) { return depends(index, along) && (rows.empty() || !depends(index, rows)); };
    const auto is_by_row = [&](const Expr& index) { return depends(index, rows) && !depends(index, along); };
    return std::ranges::any_of(place, is_along) && (rows.empty() || std::ranges::any_of(place, is_by_row));
  }

  /// An ImageParam is called through a Func of its own, whose value is the element.
  static Halide::Parameter memory_of(const Call* call) {
    if (call->call_type != Call::Halide || !call->func.defined()) return {};
    const Halide::Internal::Function function(call->func);
    const auto* element = function.has_pure_definition() && function.values().size() == 1 ? function.values()[0].as<Call>() : nullptr;
    return element != nullptr && element->call_type == Call::Image ? element->param : Halide::Parameter();
  }

  const PrefetchedReads& reads_;
  const PrefetchInto cache_;
};

}  // namespace

Expr rows_ahead(const Expr& extent) { return 4096 / Halide::max(extent, 1); }

RowLines::RowLines(const Expr& extent, int element_bytes, const std::string& name)
    : elements_(cache_line_bytes / element_bytes), lines_(0, tiles_of(extent, elements_), name) {}

void RowLines::unroll_few(Halide::Stage update) const {
  if (fixed_value(lines_.x.extent()).value_or(most_unrolled_lines + 1) <= most_unrolled_lines) update.unroll(lines_.x);
}

Expr prefetch(const std::shared_ptr<const Load>& load, PrefetchInto cache) {
  if (cache == PrefetchInto::nowhere || !load || std::ranges::any_of(load->place, reads_memory)) return {};
  return prefetch_element(load->memory, load->place, cache);
}

Expr prefetch_all(const Expr& element, const PrefetchedReads& reads, PrefetchInto cache) {
  if (cache == PrefetchInto::nowhere) return {};
  LinesOf lines(reads, cache);
  element.accept(&lines);
  return lines.all;
}

Expr after(const Expr& prefetch, const Expr& value) {
  return prefetch.defined() ? Call::make(value.type(), Call::return_second, {prefetch, value}, Call::Intrinsic) : value;
}

}  // namespace attune
