/// The stage template of a recurrence.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// `chunk`: tokens that are taken together in products; 1 goes token by token; of a decay by channel it is 16 where
/// vectors have as many elements, and else token by token, as of a decay by column and
/// where others than the key are asked and erased. `vectors`: of the columns
/// of a state how many a task has; `register_rows` x `register_vectors` sums of a product are in registers at once. `prefetch`: where the rows
/// of the next chunk are prefetched into (PrefetchInto).
std::vector<Parameter> chunked_scan_parameters(const Machine& machine, SizeClass size);
/// `vectors` is a multiple of `register_vectors`.
std::string chunked_scan_problem(const Machine& machine, const std::vector<Parameter>& values);

/// The result and the last state, scheduled and stored whole. All extents may be 0 and unknown.
Stored chunked_scan(const RecurrenceBody& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
