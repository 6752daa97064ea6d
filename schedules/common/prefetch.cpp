#include "schedules/common/prefetch.h"

#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

namespace attune {
namespace {

constexpr int most_unrolled_lines = 16;

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Variable;

}  // namespace

Expr rows_ahead(const Expr& extent) { return 4096 / Halide::max(extent, 1); }

RowLines::RowLines(const Expr& extent, int element_bytes, const std::string& name)
    : elements_(cache_line_bytes / element_bytes), lines_(0, tiles_of(extent, elements_), name) {}

void RowLines::unroll_few(Halide::Stage update) const {
  if (fixed_value(lines_.x.extent()).value_or(most_unrolled_lines + 1) <= most_unrolled_lines) update.unroll(lines_.x);
}

Expr prefetch(const std::shared_ptr<const Load>& load, PrefetchInto cache) {
  if (cache == PrefetchInto::nowhere || !load) return {};
  Expr offset = 0;
  for (std::size_t d = 0; d < load->place.size(); ++d) {
    if (reads_memory(load->place[d])) return {};
    const auto of = [&](const char* what) { return Variable::make(Halide::Int(32), load->memory.name() + what + std::to_string(d), load->memory); };
    offset += (load->place[d] - of(".min.")) * of(".stride.");
  }
  return prefetch_line(cache, load->memory.type(), Variable::make(Halide::Handle(), load->memory.name(), load->memory), offset);
}

Expr after(const Expr& prefetch, const Expr& value) {
  return prefetch.defined() ? Call::make(value.type(), Call::return_second, {prefetch, value}, Call::Intrinsic) : value;
}

}  // namespace attune
