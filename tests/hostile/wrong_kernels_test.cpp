/// The positive controls: what the trials of this folder look for is done on purpose, and they must say so.
#include "tests/hostile/wrong_kernels.h"

#include <catch2/catch.hpp>
#include <regex>

#include "tests/hostile/placements.h"

namespace attune {
namespace {

/// What the trials find at the kernel that does this.
Found found_at(attune_wrong wrong) {
  const Kernel kernel = Kernel::from(*attune_wrong_kernel(wrong)).value();
  return watched(
      [&] {
        guard_own_scratch();
        Arrays inputs;
        Array& x = inputs["x"];
        x.extents = {5, 37};
        for (int i = 0; i < 5 * 37; ++i) x.data.push_back(i);
        return call_in_every_placement(kernel, nullptr, {{"rows", 5}, {"columns", 37}}, inputs, {[] {}, [] {}});
      },
      60);
}

}  // namespace

TEST_CASE("a kernel that does nothing wrong passes the trials", "[controls]") {
  const Found found = found_at(attune_right);
  CHECK(found.problem == "");
  CHECK(found.count == 4 * 2 * 2 + 3 + 3 + 4);
}

TEST_CASE("each kernel that is wrong on purpose is caught, and the sentence says what it did", "[controls]") {
  const auto [wrong, sentence] = GENERATE(table<attune_wrong, std::string>({
      {attune_reads_beyond,
       "^kernel 'reads_beyond', .*contiguous, last element at a guard page.*: reads 0 bytes beyond the end of input 'x'$"},
      {attune_reads_before, "^.*first element at a guard page.*: reads 4 bytes before the first byte of input 'x'$"},
      {attune_writes_beyond, "^.*: writes 0 bytes beyond the end of output 'out'$"},
      {attune_writes_before, "^.*: writes (byte -4 of|4 bytes before the first byte of) output 'out'.*$"},
      {attune_writes_between_rows, "^.*padded.*: writes byte 148 of output 'out', which is of no element.*$"},
      {attune_writes_to_its_input, "^.*: writes byte 0 of input 'x', which is read-only$"},
      {attune_leaves_an_element, "^.*memory filled with 60.*: output 0 differs from that of the first call at element 0 of 185.*$"},
      {attune_takes_placement_for_a_number, "^.*: output 0 differs from that of the first call at element 0 of 185.*$"},
      {attune_takes_scratch_for_zeros, "^.*memory filled with 60.*: output 0 differs from that of the first call at element 0 of 185.*$"},
      {attune_writes_beyond_scratch, "^.*: writes 0 bytes beyond the end of a scratch block of 148 bytes$"},
      {attune_writes_before_scratch, "^.*: writes 4 bytes before the first byte of a scratch block of 148 bytes$"},
      {attune_writes_far_beyond_scratch, "^.*: writes 8192 bytes beyond the end of scratch block 0 of 148 bytes$"},
      {attune_uses_scratch_after_its_end, "^.*: reads address .*$"},
      {attune_keeps_scratch, "^.*: keeps 5 scratch blocks after the call$"},
  }));
  const std::string problem = found_at(wrong).problem;
  INFO(problem);
  CHECK(std::regex_match(problem, std::regex(sentence)));
}

}  // namespace attune
