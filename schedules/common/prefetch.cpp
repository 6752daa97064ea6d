#include "schedules/common/prefetch.h"

#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

namespace attune {
namespace {

constexpr int most_unrolled_lines = 16;

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Variable;

/// The image that a Func reads at its own arguments, as that of an ImageParam does; null for another Func.
const Call* image_of(const Call* call) {
  const Halide::Internal::Function function(call->func);
  if (!function.has_pure_definition() || function.has_update_definition() || function.values().size() != 1) return nullptr;
  const Call* image = function.values()[0].as<Call>();
  if (image == nullptr || image->call_type != Call::Image || !image->param.defined()) return nullptr;
  for (std::size_t d = 0; d < image->args.size(); ++d) {
    const Variable* index = image->args[d].as<Variable>();
    if (index == nullptr || index->name != function.args()[d]) return nullptr;
  }
  return image;
}

bool has_load(const Expr& e) {
  class Loads : public Halide::Internal::IRVisitor {
   public:
    bool found = false;

   private:
    using IRVisitor::visit;
    void visit(const Call* call) override {
      found = found || call->call_type == Call::Halide || call->call_type == Call::Image;
      IRVisitor::visit(call);
    }
  };
  Loads loads;
  e.accept(&loads);
  return loads.found;
}

class InputLoads : public Halide::Internal::IRVisitor {
 public:
  explicit InputLoads(PrefetchInto cache) : cache_(cache) {}

  Expr line;  ///< for the last of them
  int count = 0;
  bool are_free = true;  ///< nothing is loaded for where they lie

 private:
  using IRVisitor::visit;
  void visit(const Call* call) override {
    IRVisitor::visit(call);
    const Call* image = call->call_type == Call::Halide ? image_of(call) : nullptr;
    if (image == nullptr) return;
    Expr offset = 0;
    for (std::size_t d = 0; d < call->args.size(); ++d) {
      const auto of = [&](const char* what) { return Variable::make(Halide::Int(32), image->name + what + std::to_string(d), image->param); };
      are_free = are_free && !has_load(call->args[d]);
      offset += (call->args[d] - of(".min.")) * of(".stride.");
    }
    const Expr base = Variable::make(Halide::Handle(), image->name, image->param);
    line = prefetch_line(cache_, image->type, base, offset);
    ++count;
  }

  PrefetchInto cache_;
};

}  // namespace

Expr rows_ahead(const Expr& extent) { return 4096 / Halide::max(extent, 1); }

RowLines::RowLines(const Expr& extent, int element_bytes, const std::string& name)
    : elements_(cache_line_bytes / element_bytes), lines_(0, tiles_of(extent, elements_), name) {}

void RowLines::unroll_few(Halide::Stage update) const {
  if (fixed_value(lines_.x.extent()).value_or(most_unrolled_lines + 1) <= most_unrolled_lines) update.unroll(lines_.x);
}

Expr prefetched(const Expr& element, PrefetchInto cache) {
  if (cache == PrefetchInto::nowhere) return {};
  InputLoads loads(cache);
  element.accept(&loads);
  return loads.count == 1 && loads.are_free ? loads.line : Expr();
}

}  // namespace attune
