#include "tests/hostile/loose_manifest.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "runtime/signature.h"

namespace attune {
namespace {

/// The manifest that is called: a kernel's code is not told how many arguments it has.
const attune_kernel_v5* called = nullptr;

/// Reads the element, or writes it.
void touch(const halide_buffer_t& buffer, std::ptrdiff_t offset, bool is_output) {
  volatile std::uint8_t* element = buffer.host + offset * buffer.type.bytes();
  for (int byte = 0; byte < buffer.type.bytes(); ++byte) {
    const std::uint8_t read = element[byte];
    if (is_output) element[byte] = static_cast<std::uint8_t>(read + 1);
  }
}

void touch_all(const halide_buffer_t& buffer, int dim, std::ptrdiff_t offset, bool is_output) {
  if (dim < 0) return touch(buffer, offset, is_output);
  for (int i = 0; i < buffer.dim[dim].extent; ++i)
    touch_all(buffer, dim - 1, offset + static_cast<std::ptrdiff_t>(i) * buffer.dim[dim].stride, is_output);
}

template <std::size_t number>
int touch_tensors(void** arguments) {
  const attune_step_v1& step = steps_of(*called)[number];
  const std::size_t first_dim = 1 + inputs_of(step).size(), first_output = first_dim + dims_of(step).size();
  for (std::size_t place = 1; place < first_output + outputs_of(step).size(); ++place) {
    if (place >= first_dim && place < first_output) {
      if (*static_cast<const std::int32_t*>(arguments[place]) < 0) return -1;
      continue;
    }
    const auto& buffer = *static_cast<const halide_buffer_t*>(arguments[place]);
    touch_all(buffer, buffer.dimensions - 1, 0, place >= first_output);
  }
  return 0;
}

enum { heads, depth, keys, four, model, all, half, joined, some_heads, first_head };

}  // namespace

LooseManifest::LooseManifest() {
  for (std::size_t i = 0; i < room; ++i) dims_[i].operands = operands_[i].data();
  for (std::size_t i = 0; i < most_tensors; ++i) tensors_[i].dims = tensor_dims_[i].data();
  for (StepTables& tables : tables_)
    for (std::size_t i = 0; i < room; ++i) tables.codes[i].conditions = tables.conditions[i].data();
  define_dims();
  define_tensors();
  define_views();
  define_sweeps();
  define_steps();
  kernel_ = {ATTUNE_ABI_VERSION, "loose", "loose", "", "0000000000000000", 10, 4, 1, 2, dims_.data(), tensors_.data(), steps_.data(), 2, views_.data(), 1, sweeps_.data()};
  called = &kernel_;
}

void LooseManifest::define_dims() {
  const auto dim = [&](std::size_t number, const char* name, attune_formula formula, std::int64_t value,
                       std::initializer_list<std::int32_t> operands) {
    std::ranges::copy(operands, operands_[number].begin());
    dims_[number] = {name, formula, static_cast<std::int32_t>(operands.size()), operands_[number].data(), value};
  };
  dim(heads, "heads", attune_free, 1, {});
  dim(depth, "depth", attune_free, 1, {});
  dim(keys, "keys", attune_free, 1, {});
  dim(four, "four", attune_fixed, 4, {});
  dim(model, "model", attune_product, 2, {heads, depth});
  dim(all, "all", attune_sum, 1, {heads, keys});
  dim(half, "half", attune_quotient, 2, {depth});
  dim(joined, "joined", attune_product, 1, {heads, depth});
  dim(some_heads, "some_heads", attune_block, 2, {heads, depth});
  dim(first_head, "first_head", attune_start, 1, {some_heads});
}

void LooseManifest::define_tensors() {
  const auto tensor = [&](std::size_t number, const char* name, attune_storage storage, bool is_output,
                          std::initializer_list<std::int32_t> dims) {
    std::ranges::copy(dims, tensor_dims_[number].begin());
    tensors_[number] = {name, storage, is_output ? 1 : 0, static_cast<std::int32_t>(dims.size()), tensor_dims_[number].data()};
  };
  tensor(0, "x", attune_f32, false, {heads, depth});
  tensor(1, "y", attune_i64, false, {keys, four});
  tensor(2, "joined", attune_bf16, true, {keys, joined});
  tensor(3, "rest", attune_i32, true, {all, half});
  tensor(4, "stored", attune_f64, false, {model, keys});
}

void LooseManifest::define_views() {
  for (std::size_t i = 0; i < views_.size(); ++i) views_[i] = {0, 0, view_dims_[i].data(), view_parts_[i].data()};
  view_dims_[0][0] = keys;
  view_dims_[0][1] = heads;
  view_dims_[0][2] = depth;
  view_parts_[0][0] = 1;
  view_parts_[0][1] = 2;
  views_[0] = {2, 3, view_dims_[0].data(), view_parts_[0].data()};
  view_dims_[1][0] = some_heads;
  view_dims_[1][1] = depth;
  view_parts_[1][0] = view_parts_[1][1] = 1;
  views_[1] = {0, 2, view_dims_[1].data(), view_parts_[1].data()};
}

void LooseManifest::define_sweeps() {
  for (attune_sweep_v1& sweep : sweeps_) sweep = {0, 0, 0, blocks_.data(), starts_.data()};
  blocks_[0] = some_heads;
  starts_[0] = first_head;
  sweeps_[0] = {1, 1, 1, blocks_.data(), starts_.data()};
}

void LooseManifest::define_steps() {
  const auto step = [&](std::size_t number, std::int32_t inputs, std::initializer_list<std::int32_t> all, int (*run)(void**)) {
    StepTables& tables = tables_[number];
    std::ranges::copy(all, tables.tensors.begin());
    tables.dims[0] = heads;
    tables.dims[1] = model;
    tables.conditions[0][0] = {keys, 0, 3};
    tables.codes[0] = {"any", "short", attune_cpu, 1, tables.conditions[0].data(), "", "", run, nullptr};
    tables.codes[1] = {"any", "long", attune_cpu, 0, tables.conditions[1].data(), "", "", run, nullptr};
    steps_[number] = {"touch", inputs, static_cast<std::int32_t>(all.size()) - inputs, tables.tensors.data(), 2, 2, tables.dims.data(), tables.codes.data()};
  };
  step(0, 2, {0, 1, 4}, touch_tensors<0>);
  step(1, 2, {4, 6, 5, 3}, touch_tensors<1>);
  tables_[1].dims[1] = first_head;
}

}  // namespace attune
