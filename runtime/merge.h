/// Two partial results of attention, to different keys, as one to all of these keys.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

namespace attune {

/// A result [.., value_depth] of f32, bf16 or f16 and the logarithm of what its softmax divided by, f32 [..]: natural, -inf where a row saw no key.
struct Partial {
  Tensor out, lse;
};

/// With m = max(lse_a, lse_b), w = e^(lse - m) for each and s = w_a + w_b (Dao 2023, section 3.1):
///   out = (w_a out_a + w_b out_b) / s   lse = m + ln s
/// in f32; 0 and -inf for rows that saw no key of either, NaN where a logarithm is NaN or +inf. What a row without keys holds is not read.
/// Any strides. `result` may be one of the two, element by element in the same places; another overlap is refused, and so is what does not fit,
/// before anything is written. One thread does it; for many parts at once, or many rows on all threads, there is the variant merge_partials.
Result<void> merge_partials(const Partial& a, const Partial& b, const Partial& result);

}  // namespace attune
