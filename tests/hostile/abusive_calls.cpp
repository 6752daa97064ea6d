/// Wrong calls through C and C++: each is refused in words, writes nothing, and does not disturb the right calls between them.
#include <array>
#include <catch2/catch.hpp>
#include <climits>

#include "runtime/words.h"
#include "tests/hostile/watched.h"
#include "tests/hostile/wrong_calls.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

constexpr std::array manifests = {&attune_kernel_v5_add, &attune_kernel_v5_linear, &attune_kernel_v5_formulas, &attune_kernel_v5_product};

/// What a caller has of one kernel.
struct Opened {
  const attune_kernel_v5* manifest;
  attune_library* library;
  const attune_kernel* from_c;
  Kernel from_cpp;
};

std::vector<Opened> opened_kernels() {
  std::vector<Opened> opened;
  for (const attune_kernel_v5* manifest : manifests) {
    attune_library* library = attune_link(manifest);
    opened.push_back({manifest, library, attune_find_kernel(library, manifest->name), Kernel::from(*manifest).value()});
  }
  return opened;
}

/// "kernel 'add': ...", without a period and without anything internal.
std::string sentence_problem(const std::string& sentence) {
  for (const char* start : {"kernel '", "tensor '", "attune_call: "})
    if (sentence.rfind(start, 0) == 0 && sentence.back() != '.' && sentence.size() < 2000) return {};
  return words("is refused with '", sentence, "'");
}

std::string wrong_call_problem(const Opened& kernel, Random& random) {
  PreparedCall call(*kernel.manifest, random);
  const Attempt attempt =
      random.one_in(2) ? call_wrongly_from_c(call, kernel.from_c, random) : call_wrongly_from_cpp(call, kernel.from_cpp, random);
  const std::string problem = attempt.is_refused ? sentence_problem(attempt.sentence) : "is not refused";
  const std::string written = call.written_output();
  return problem.empty() && written.empty() ? "" : words(kernel.manifest->name, ": a call with ", attempt.what, " ", problem, written);
}

std::string right_call_problem(const Opened& kernel, Random& random) {
  PreparedCall call(*kernel.manifest, random);
  say_before_faults(words("a right call of ", kernel.manifest->name));
  if (random.one_in(2)) {
    const std::vector<attune_tensor> table = call.for_c(random.one_in(2));
    if (attune_call(kernel.from_c, table.data(), static_cast<std::int32_t>(table.size())) != 0)
      return words("a right call is refused: ", attune_last_error());
  } else {
    const std::vector<Tensor> tensors = call.for_cpp();
    if (const Result<void> called = kernel.from_cpp.call(std::span<const Tensor>(tensors)); !called)
      return words("a right call is refused: ", called.error().message);
  }
  return call.wrong_output();
}

/// Wrong questions that are no calls.
std::string wrong_question_problem(const Opened& kernel, Random& random) {
  const int threads = random.one_of(std::array{0, -1, 257, INT_MAX, INT_MIN});
  if (attune_set_num_threads(threads) != -1) return words("attune_set_num_threads takes ", threads);
  if (attune_kernel_name(kernel.library, random.one_of(std::array{1, -1, INT_MAX, INT_MIN})) != nullptr)
    return "attune_kernel_name gives a name beyond the last";
  if (attune_find_kernel(kernel.library, random.one_of(std::array<const char*, 4>{nullptr, "", "nothing", "%n"})) != nullptr)
    return "attune_find_kernel finds what is not there";
  if (*attune_last_error() == 0) return "attune_find_kernel fails without a sentence";
  if (attune_open(random.one_of(std::array<const char*, 4>{nullptr, "", "/", "/no/such/file"})) != nullptr)
    return "attune_open opens nothing";
  return attune_link(nullptr) != nullptr || attune_manifest(nullptr) != nullptr ? "null is taken for a kernel" : "";
}

Found call_abusively(std::int64_t count, std::uint64_t seed) {
  return watched([&] {
    const std::vector<Opened> kernels = opened_kernels();
    Random random(seed);
    Found found;
    while (found.count < count && found.problem.empty()) {
      const Opened& kernel = kernels[random.below(kernels.size())];
      found.problem = wrong_call_problem(kernel, random);
      ++found.count;
      if (found.problem.empty() && random.one_in(8)) found.problem = right_call_problem(kernel, random);
      if (found.problem.empty() && random.one_in(100)) found.problem = wrong_question_problem(kernel, random);
    }
    if (!found.problem.empty()) found.problem += words("; call ", found.count, " of seed ", seed);
    for (const Opened& kernel : kernels) attune_close(kernel.library);
    return found;
  });
}

}  // namespace

TEST_CASE("wrong calls are refused in words, write nothing and disturb no right call", "[abuse]") {
  const Found found = call_abusively(5000, 1);
  CHECK(found.problem == "");
  tell("wrong calls", found.count);
}

TEST_CASE("very many wrong calls are refused in words, write nothing and disturb no right call", "[.hostile]") {
  std::int64_t count = 0;
  for (std::uint64_t seed = 2; seed <= 9; ++seed) {
    const Found found = call_abusively(60000, seed);
    CHECK(found.problem == "");
    count += found.count;
  }
  tell("wrong calls", count);
}

}  // namespace attune
