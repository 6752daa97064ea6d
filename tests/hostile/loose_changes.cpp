#include "tests/hostile/loose_manifest.h"

#include <array>
#include <cstddef>
#include <limits>

namespace attune {
namespace {

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

}  // namespace

void LooseManifest::change(Random& random) {
  switch (random.below(7)) {
    case 0:
      return change_kernel(random);
    case 4: {
      const std::size_t view = random.below(2);
      return change_view(views_[view], view, random);
    }
    case 5:
      return change_sweep(random);
    case 1:
      return change_dim(dims_[random.below(10)], random);
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
  std::int32_t* const counts[] = {&kernel_.dim_count, &kernel_.tensor_count, &kernel_.stored_count, &kernel_.step_count, &kernel_.view_count, &kernel_.sweep_count};
  const char** const texts[] = {&kernel_.name, &kernel_.variant, &kernel_.parameters, &kernel_.hash};
  switch (random.below(4)) {
    case 0:
      *counts[random.below(std::size(counts))] = some_number(random);
      break;
    case 1:
      *texts[random.below(std::size(texts))] = some_text(random);
      break;
    case 2:
      kernel_.abi_version = static_cast<std::uint32_t>(some_number(random));
      break;
    default:
      take_table(random.below(5));
  }
}

void LooseManifest::take_table(std::size_t number) {
  if (number == 0) kernel_.dims = nullptr;
  if (number == 1) kernel_.tensors = nullptr;
  if (number == 2) kernel_.steps = nullptr;
  if (number == 3) kernel_.views = nullptr;
  if (number == 4) kernel_.sweeps = nullptr;
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

void LooseManifest::change_view(attune_view_v1& view, std::size_t number, Random& random) {
  switch (random.below(6)) {
    case 0:
      view.tensor = some_number(random);
      break;
    case 1:
      view.rank = some_number(random);
      break;
    case 2:
      view_dims_[number][random.below(3)] = some_number(random);
      break;
    case 3:
      view_parts_[number][random.below(2)] = some_number(random);
      break;
    case 4:
      view.parts = nullptr;
      break;
    default:
      view.dims = nullptr;
  }
}

void LooseManifest::change_sweep(Random& random) {
  attune_sweep_v1& sweep = sweeps_[0];
  switch (random.below(7)) {
    case 0:
      sweep.first_step = some_number(random);
      break;
    case 1:
      sweep.step_count = some_number(random);
      break;
    case 2:
      sweep.dim_count = some_number(random);
      break;
    case 3:
      blocks_[0] = some_number(random);
      break;
    case 4:
      starts_[0] = some_number(random);
      break;
    case 5:
      sweep.blocks = nullptr;
      break;
    default:
      sweep.starts = nullptr;
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
