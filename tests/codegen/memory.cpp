/// Calls for which there is not enough memory, in workspaces and on the heap, in kernels of every kind: each ends with a sentence, and the
/// next one is right.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/attune.h"
#include "runtime/threads.h"
#include "tests/codegen/kernel_call.h"
#include "tests/skip.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);

namespace {

/// Allocations that the heap still gives while it `is_scarce`; it gives no other, or all but one.
std::atomic<bool> is_scarce = false, is_back_after_one = false;
std::atomic<int> allocations_left = 0, refused = 0;

bool is_refused() {
  if (!is_scarce.load()) return false;
  const int left = allocations_left.fetch_sub(1);
  if (left > 0 || (left < 0 && is_back_after_one.load())) return false;
  ++refused;
  return true;
}

}  // namespace

/// In place of the system's, for all of this program.
extern "C" void* malloc(std::size_t bytes) { return is_refused() ? nullptr : __libc_malloc(bytes); }
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return is_refused() ? nullptr : __libc_memalign(alignment, bytes);
}
#endif

namespace attune {
namespace {

const std::string no_memory = ": there is no memory for what it stores between its stages";

}  // namespace

namespace {

/// What a process of its own, which starts where this one is, returns from `body` as text; how it ended if not well.
std::string in_a_process(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = body();
    const bool is_written = write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char part[256];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? said : "ended with signal " + std::to_string(WTERMSIG(status));
}

/// Bytes of addresses that the process has.
std::size_t address_space() {
  std::size_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void limit_address_space(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_AS, &limit);
}

/// The result of `body` while no more addresses are given and the heap has no block of 32 kB left: the last ones are for sentences.
std::string with_full_heap(const std::function<std::string()>& body) {
  constexpr std::size_t block = 32 * 1024;
  struct Block {
    Block* next;
  };
  limit_address_space(address_space());
  Block* blocks = nullptr;
  while (void* memory = std::malloc(block)) blocks = new (memory) Block{blocks};
  std::string result = body();
  while (blocks != nullptr) std::free(std::exchange(blocks, blocks->next));
  limit_address_space(RLIM_INFINITY);
  return result;
}

}  // namespace

TEST_CASE("a process without memory for a kernel or for threads says so, and calls again when it has some", "[memory]") {
  if (is_sanitized) return skip("sanitizers reserve more addresses than a limit allows");
  KernelCall call({"multi_head", {}, "batch=4,tokens=128,heads=4,depth=16,value_depth=16,model=64"});
  for (const int threads : {1, 4}) {
    INFO(threads << " threads");
    const std::string said = in_a_process([&] {
      if (!set_num_threads(threads)) return std::string("no threads");
      const std::string refusal = with_full_heap([&] { return call(); });
      return refusal + "|" + call.problem_of_next();
    });
    CHECK(said == "kernel '" + std::string(call.kernel().name()) + "'" + no_memory + "|");
  }
  // Threads that the system refuses are missing, their loops run on the caller's; they come when they can.
  KernelCall small(calls_of_every_kind()[2]);
  CHECK(in_a_process([&] {
          if (!set_num_threads(4)) return std::string("no threads");
          limit_address_space(address_space() + 2 * 1024 * 1024);
          const std::string refusal = small();
          limit_address_space(RLIM_INFINITY);
          const std::string alone = refusal + small.difference();
          const std::string together = small.problem_of_next();
          std::size_t threads = 0;
          if (FILE* file = std::fopen("/proc/self/stat", "r")) {
            if (std::fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %zu", &threads) != 1)
              threads = 0;
            std::fclose(file);
          }
          return alone + "|" + together + "|" + std::to_string(threads);
        }) == "||4");
}

namespace {

/// Calls in workspaces of many sizes up to what measuring finds.
void refuse_short_workspaces(KernelCall& call, std::vector<std::byte>& memory, std::size_t peak, int threads) {
  int refusals = 0;
  for (std::size_t bytes = 0; bytes < peak; bytes += std::max<std::size_t>(peak / 40, 128)) {
    Workspace workspace{std::span(memory).first(bytes)};
    const std::string sentence = call(&workspace);
    INFO(bytes << " of " << peak << " bytes: " << sentence);
    REQUIRE((sentence.empty() ||
             sentence.find(": its workspace is too small: it has " + std::to_string(bytes) + " bytes; ") != std::string::npos));
    refusals += !sentence.empty();
    CHECK((bytes > 0 || refusals == 1));
  }
  CHECK(call.problem_of_next() == "");
  Workspace enough{std::span(memory).first(static_cast<std::size_t>(threads) * peak)};
  CHECK(call(&enough) == "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Calls of which the n-th allocation fails, or it and all after it, for every n until one makes no more than n.
void refuse_every_allocation(KernelCall& call, bool is_one, bool is_measured) {
  for (int n = 0;; ++n) {
    Workspace measuring;
    allocations_left = n;
    refused = 0;
    is_back_after_one = is_one;
    is_scarce = true;
    const std::string sentence = call(is_measured ? &measuring : nullptr);
    is_scarce = false;
    INFO("allocation " << n << (is_one ? "" : " and all after it") << (is_measured ? ", measuring" : ""));
    if (refused == 0) {
      CHECK(sentence == "");
      break;
    }
    // a sentence needs memory itself
    REQUIRE((sentence == "kernel '" + std::string(call.kernel().name()) + "'" + no_memory || (!is_one && sentence == "out of memory")));
  }
  CHECK(call.problem_of_next() == "");
}
#endif

}  // namespace

TEST_CASE("whatever memory a call lacks, it ends with a sentence and the next one is right", "[every_kind]") {
  for (const KernelCall::Choice& choice : calls_of_every_kind()) {
    KernelCall call(choice);
    INFO(call.name());
    REQUIRE(set_num_threads(1));
    Workspace measuring;
    REQUIRE(call(&measuring) == "");
    CHECK(call.problem_of_next() == "");
    std::vector<std::byte> memory(3 * measuring.peak_bytes());
    for (const int threads : {1, 3}) {
      INFO(threads << " threads");
      REQUIRE(set_num_threads(threads));
      CHECK(call.problem_of_next() == "");
      refuse_short_workspaces(call, memory, measuring.peak_bytes(), threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
      for (const bool is_one : {true, false})
        for (const bool is_measured : {true, false}) refuse_every_allocation(call, is_one, is_measured);
#endif
    }
  }
}

namespace {

/// p [queries, keys] is stored whole for the sum that reads it.
struct SumsOfSoftmax {
  void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    const Value p = softmax(g.input("x", {queries}) + g.input("y", {keys}), keys);
    g.output("out", sum(p, queries), {keys});
  }
};

}  // namespace

TEST_CASE("a tensor between stages with more elements than a kernel can index is refused, and one of 3 GB is not", "[memory]") {
  const Graph graph = build(SumsOfSoftmax{});
  std::vector<std::byte> memory(1 << 20);
  const auto said = [&](const std::string& shape) {
    KernelCall call(graph, "sums", shape);
    Workspace workspace(memory);
    return call(&workspace);
  };
  CHECK(said("queries=60000,keys=60000") ==
        "kernel 'sums': what it stores between its stages as [queries x keys] has 3600000000 elements; 2147483647 are the most");
  const std::string short_of_3_gb = said("queries=30000,keys=30000");
  INFO(short_of_3_gb);
  CHECK(short_of_3_gb.find("its workspace is too small: it has 1048576 bytes; this call takes at least 36") != std::string::npos);
}

TEST_CASE("attune_call_with_workspace refuses a workspace that is too small and says what is needed", "[memory]") {
  REQUIRE(set_num_threads(2));
  KernelCall call(calls_of_every_kind()[3]);
  attune_library* library = attune_link(&call.kernel().manifest());
  REQUIRE(library != nullptr);
  const struct attune_kernel* kernel = attune_find_kernel(library, std::string(call.kernel().name()).c_str());
  std::vector<attune_tensor> tensors;
  for (const Tensor& tensor : call.tensors())
    tensors.push_back({nullptr, tensor.data, tensor.storage, tensor.rank, tensor.extents.data(), tensor.strides.data()});
  const auto count = static_cast<std::int32_t>(tensors.size());
  std::vector<std::byte> memory(1000);
  std::size_t needed = 0;
  CHECK(attune_call_with_workspace(kernel, tensors.data(), count, memory.data(), memory.size(), &needed) == -1);
  CHECK(std::string(attune_last_error()).find("its workspace is too small: it has 1000 bytes; this call takes at least ") !=
        std::string::npos);
  CHECK(needed > 1000);
  CHECK(attune_call_with_workspace(kernel, tensors.data(), count, nullptr, 0, &needed) == 0);
  memory.resize(2 * needed);
  CHECK(attune_call_with_workspace(kernel, tensors.data(), count, memory.data(), memory.size(), nullptr) == 0);
  CHECK(call.difference() == "");
  attune_close(library);
}

TEST_CASE("kernels for OpenCL take no memory of the host, and say so where a device has too little", "[.full]") {
  const auto choice = [](const std::string& shape) {
    return KernelCall::Choice{"causal", {}, "batch=1,heads=1,depth=1," + shape, "f32", "opencl", false};
  };
  KernelCall call(choice("queries=37,keys=5"));
  if (!call.kernel_case().is_usable()) return skip("there is no OpenCL driver");
  if (const std::string problem = call.problem_of_next(); problem.find("clGet") != std::string::npos) return skip(problem);
  Workspace nothing{std::span<std::byte>()};
  CHECK(call(&nothing) == "");
  KernelCall large(choice("queries=46000,keys=46000"));  // 8.5 GB of scores
  const std::string sentence = large();
  INFO(sentence);
  CHECK((sentence.empty() || sentence.starts_with("kernel 'causal': its code for opencl stopped with Halide's error ")));
  CHECK(call.problem_of_next() == "");
}

}  // namespace attune
