#include "schedules/gpu/devices.h"

#include <algorithm>
#include <vector>

#include "schedules/common/softmax_math.h"

using Halide::Expr;

namespace attune {
namespace {

/// A function of reals by its name in the language of the device's compiler.
Expr call(const char* function, const std::vector<Expr>& arguments) {
  return Halide::Internal::Call::make(Halide::Float(32), function, arguments, Halide::Internal::Call::PureExtern);
}

struct DeviceRow {
  Device device;
  Expr (*power_of_2)(const Expr& x);
  Expr (*maximum)(const Expr& a, const Expr& b);
  std::int64_t shared_bytes;  // that every such device grants a block without being asked for more
};
constexpr DeviceRow rows[] = {
    {Device::cuda, [](const Expr& x) { return call("llvm.nvvm.ex2.approx.ftz.f", {x}); },
     [](const Expr& a, const Expr& b) {
       return call("llvm.maxnum.f32", {a, b});
     },
     48 << 10},
    {Device::opencl, [](const Expr& x) { return call("native_exp2", {x}); },
     [](const Expr& a, const Expr& b) {
       return call("fmax", {a, b});
     },
     32 << 10},
    // Its exponential has the base e.
    {Device::vulkan, [](const Expr& x) { return Halide::exp(x * ln_2); }, [](const Expr& a, const Expr& b) { return Halide::max(a, b); }, 32 << 10},
};

const DeviceRow& row_of(Device device) { return *std::ranges::find(rows, device, &DeviceRow::device); }

}  // namespace

Expr power_of_2_on(Device device, const Expr& x) { return row_of(device).power_of_2(x); }

Expr maximum_on(Device device, const Expr& a, const Expr& b) { return row_of(device).maximum(a, b); }

std::string shared_memory_problem(std::string_view schedule, Device device, std::int64_t elements) {
  const std::int64_t bytes = elements * 4, granted = row_of(device).shared_bytes;
  if (bytes <= granted) return {};
  return "schedule '" + std::string(schedule) + "': a block of threads would share " + std::to_string(bytes) + " bytes of memory, and the device grants " +
         std::to_string(granted) + "; make a block, what a thread has, or a chunk smaller";
}

}  // namespace attune
