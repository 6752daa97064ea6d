/// Products built by hand from buffers, for the tests of their schedule, and the same in plain loops over double.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "schedules/gemm/gemm.h"
#include "tests/schedules/host.h"
#include "tests/schedules/stage_case.h"

namespace attune {

/// A factor of a term of the sum, at the indices of the stage's dims.
using Term = std::function<double(const Index&)>;

/// A product, its operands' meaning, and what is done to the sum.
struct ProductCase {
  StageCase stage;
  Gemm body{};
  Term a{}, b{};
  std::function<double(double, const Index&)> finish = [](double sum, const Index&) { return sum; };
  std::function<void()> change{};
};

/// The operand as it lies in memory.
Term element(const std::shared_ptr<OperandTensor>& operand);

/// The product as it is stored, over all sizes; every `step`-th element is compared. A sum of n products in f32 is off by at most n + 2 roundings of the sum of
/// their magnitudes.
void check_stored(ProductCase& product, const Stored& stored, const std::vector<Sizes>& all, int step = 1);
/// The same of gemm's schedules for large and for small calls.
void check(ProductCase& product, const std::vector<Sizes>& all, const Machine& machine = host_machine(), int step = 1);

}  // namespace attune
