#include "codegen/tensor_cores/split_launch.h"

#include <fmt/format.h>

namespace attune::tensor_cores {

std::string split_slots() { return "  %splits.place = alloca i32\n  %states = alloca %buffer\n  %states.dims = alloca %dimension\n"; }

std::string split_counts(const Launch::Splits& splits, const std::string& extent, const std::string& rows) {
  constexpr int f32_type = 2 | 32 << 8 | 1 << 16, element_bytes = 4;  // halide_type_t: code, bits, lanes
  std::string text;
  const auto line = [&](const std::string& one) { text += "  " + one + "\n"; };
  line(fmt::format("%splits.rest = add i32 {}, {}\n  %splits.most = udiv i32 %splits.rest, {}", extent, splits.least - 1, splits.least));
  line(fmt::format("%splits.wanted = udiv i32 {}, {}", splits.blocks, rows));
  line("%splits.fitting = call i32 @llvm.umin.i32(i32 %splits.most, i32 %splits.wanted)");
  line("%splits = call i32 @llvm.umax.i32(i32 %splits.fitting, i32 1)");
  line(fmt::format("%blocks = mul i32 {}, %splits\n  store i32 %splits, ptr %splits.place", rows));
  line("store %buffer zeroinitializer, ptr %states\n  store %dimension zeroinitializer, ptr %states.dims");
  const auto set = [&](const std::string& of, const std::string& type, int field, const std::string& value) {
    line(fmt::format("%{0}.field{2} = getelementptr {1}, ptr %{0}, i32 0, i32 {2}\n  store {3}, ptr %{0}.field{2}", of, type, field, value));
  };
  line(fmt::format("%states.size = mul i32 %blocks, {}", splits.state_bytes / element_bytes));
  set("states", "%buffer", field_of_type, fmt::format("i32 {}", f32_type));
  set("states", "%buffer", field_of_rank, "i32 1");
  set("states", "%buffer", field_of_dims, "ptr %states.dims");
  set("states.dims", "%dimension", field_of_extent, "i32 %states.size");
  set("states.dims", "%dimension", field_of_stride, "i32 1");
  return text;
}

}  // namespace attune::tensor_cores
