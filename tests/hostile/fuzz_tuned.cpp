/// Tuned files, and the states of tuning runs.
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/targets/targets.h"
#include "schedules/records/tuned.h"
#include "tests/hostile/fuzz_sentence.h"
#include "tools/tune/state.h"

namespace attune {
namespace {

void read_tuned_file(std::string_view text) {
  const TunedFileAnswer answer = parse_tuned(text, "input");
  require_sentence(answer.problem);
  const TargetInfo* target = answer.problem.empty() ? find_target(answer.file.target) : nullptr;
  if (target == nullptr) return;
  require_sentence(tuned_problem(answer.file, machine_of(*target)));
  const std::string written = tuned_text(answer.file);
  const TunedFileAnswer again = parse_tuned(written, "input");
  if (!again.problem.empty() || tuned_text(again.file) != written) std::abort();
}

/// Of a file in memory.
void read_tuning_state(std::string_view text) {
  const int file = memfd_create("state", MFD_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  require_sentence(read_state("/proc/self/fd/" + std::to_string(file), "this run").problem);
  close(file);
}

}  // namespace
}  // namespace attune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attune::read_tuned_file(text);
  attune::read_tuning_state(text);
  return 0;
}
