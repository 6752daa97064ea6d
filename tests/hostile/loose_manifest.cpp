#include "tests/hostile/loose_manifest.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "runtime/signature.h"

namespace attune {
namespace {

/// The manifest that is called: a kernel's code is not told how many arguments it has.
const attune_kernel_v3* called = nullptr;

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

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();

std::int32_t some_number(Random& random) {
  if (random.one_in(2)) return static_cast<std::int32_t>(random.below(10));
  return random.one_of(std::array{-1, 0, 1, 8, 9, 63, 64, 65, 4097, most, least});
}

std::int64_t some_wide_number(Random& random) {
  if (random.one_in(2)) return some_number(random);
  return random.one_of(std::array{std::int64_t{1} << 30, (std::int64_t{1} << 30) + 1, std::int64_t{1} << 32,
                                  std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
}

const char* some_text(Random& random) {
  return random.one_of(std::array<const char*, 7>{nullptr, "", "x", "%s%n", "two words", "\n\x01\xff", "avx2 fma no_such_feature"});
}

enum { heads, depth, keys, four, model, all, half };

}  // namespace

LooseManifest::LooseManifest() {
  for (std::size_t i = 0; i < room; ++i) dims_[i].operands = operands_[i].data();
  for (std::size_t i = 0; i < most_tensors; ++i) tensors_[i].dims = tensor_dims_[i].data();
  for (StepTables& tables : tables_)
    for (std::size_t i = 0; i < room; ++i) tables.codes[i].conditions = tables.conditions[i].data();
  define_dims();
  define_tensors();
  define_steps();
  kernel_ = {ATTUNE_ABI_VERSION, "loose", "loose", "", "0000000000000000", 7, 4, 1, 2, dims_.data(), tensors_.data(), steps_.data()};
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
}

void LooseManifest::define_tensors() {
  const auto tensor = [&](std::size_t number, const char* name, attune_storage storage, bool is_output,
                          std::initializer_list<std::int32_t> dims) {
    std::ranges::copy(dims, tensor_dims_[number].begin());
    tensors_[number] = {name, storage, is_output ? 1 : 0, static_cast<std::int32_t>(dims.size()), tensor_dims_[number].data()};
  };
  tensor(0, "x", attune_f32, false, {heads, depth});
  tensor(1, "y", attune_i64, false, {keys, four});
  tensor(2, "joined", attune_bf16, true, {model});
  tensor(3, "rest", attune_i32, true, {all, half});
  tensor(4, "stored", attune_f64, false, {model, keys});
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
  step(1, 2, {4, 0, 2, 3}, touch_tensors<1>);
}

void LooseManifest::change(Random& random) {
  switch (random.below(5)) {
    case 0:
      return change_kernel(random);
    case 1:
      return change_dim(dims_[random.below(7)], random);
    case 2:
      return change_tensor(tensors_[random.below(5)], random);
    case 3:
      return change_step(random.below(2), random);
    default: {
      const std::size_t step = random.below(2);
      return change_code(step, tables_[step].codes[random.below(2)], random);
    }
  }
}

void LooseManifest::change_kernel(Random& random) {
  switch (random.below(12)) {
    case 0:
      kernel_.abi_version = static_cast<std::uint32_t>(some_number(random));
      break;
    case 1:
      kernel_.name = some_text(random);
      break;
    case 2:
      kernel_.variant = some_text(random);
      break;
    case 3:
      kernel_.parameters = some_text(random);
      break;
    case 4:
      kernel_.hash = some_text(random);
      break;
    case 5:
      kernel_.dim_count = some_number(random);
      break;
    case 6:
      kernel_.tensor_count = some_number(random);
      break;
    case 7:
      kernel_.step_count = some_number(random);
      break;
    case 11:
      kernel_.stored_count = some_number(random);
      break;
    case 8:
      kernel_.dims = nullptr;
      break;
    case 9:
      kernel_.tensors = nullptr;
      break;
    default:
      kernel_.steps = nullptr;
  }
}

void LooseManifest::change_dim(attune_dim_v1& dim, Random& random) {
  switch (random.below(6)) {
    case 0:
      dim.name = some_text(random);
      break;
    case 1:
      dim.formula = some_number(random);
      break;
    case 2:
      dim.operand_count = some_number(random);
      break;
    case 3:
      operands_[static_cast<std::size_t>(&dim - dims_.data())][random.below(3)] = some_number(random);
      break;
    case 4:
      dim.value = some_wide_number(random);
      break;
    default:
      dim.operands = nullptr;
  }
}

void LooseManifest::change_tensor(attune_tensor_v1& tensor, Random& random) {
  switch (random.below(6)) {
    case 0:
      tensor.name = some_text(random);
      break;
    case 1:
      tensor.storage = some_number(random);
      break;
    case 2:
      tensor.role = some_number(random);
      break;
    case 3:
      tensor.rank = some_number(random);
      break;
    case 4:
      tensor_dims_[static_cast<std::size_t>(&tensor - tensors_.data())][random.below(3)] = some_number(random);
      break;
    default:
      tensor.dims = nullptr;
  }
}

void LooseManifest::change_step(std::size_t number, Random& random) {
  attune_step_v1& step = steps_[number];
  switch (random.below(9)) {
    case 0:
      step.stage = some_text(random);
      break;
    case 1:
      step.input_count = some_number(random);
      break;
    case 2:
      step.output_count = some_number(random);
      break;
    case 3:
      tables_[number].tensors[random.below(4)] = some_number(random);
      break;
    case 4:
      step.dim_count = some_number(random);
      break;
    case 5:
      step.code_count = some_number(random);
      break;
    case 6:
      tables_[number].dims[random.below(2)] = some_number(random);
      break;
    case 7:
      step.tensors = nullptr;
      break;
    default:
      if (random.one_in(2)) step.dims = nullptr;
      else step.codes = nullptr;
  }
}

void LooseManifest::change_code(std::size_t step, attune_code_v3& code, Random& random) {
  StepTables& tables = tables_[step];
  attune_condition_v1& condition = tables.conditions[static_cast<std::size_t>(&code - tables.codes.data())][random.below(2)];
  switch (random.below(10)) {
    case 0:
      code.target = some_text(random);
      break;
    case 1:
      code.schedule = some_text(random);
      break;
    case 2:
      code.features = some_text(random);
      break;
    case 3:
      code.device = some_number(random);
      break;
    case 4:
      code.condition_count = some_number(random);
      break;
    case 5:
      condition.dim = some_number(random);
      break;
    case 6:
      condition.minimum = some_wide_number(random);
      break;
    case 7:
      condition.maximum = some_wide_number(random);
      break;
    case 8:
      code.conditions = nullptr;
      break;
    default:
      code.run = nullptr;
  }
}

}  // namespace attune
