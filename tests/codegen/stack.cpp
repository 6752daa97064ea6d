/// How much of its thread's stack a call takes.
#include "runtime/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "codegen/targets/targets.h"
#include "dsl/variants.h"
#include "runtime/threads.h"
#include "tests/codegen/kernel_call.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// Runs `body` in a thread with a stack of so many bytes, below which no page can be touched. Gives how many bytes of it were.
std::size_t bytes_touched(std::size_t stack_bytes, const std::function<void()>& body) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), guarded = 64 * page;
  void* pages = mmap(nullptr, guarded + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages, guarded, PROT_NONE) != 0) throw std::runtime_error("no memory for the stack of a test");
  unsigned char* const stack = static_cast<unsigned char*>(pages) + guarded;
  constexpr unsigned char untouched = 0xa5;
  std::memset(stack, untouched, stack_bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, stack_bytes);
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread;
  const int problem = pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body));
  if (problem == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const auto* first = std::find_if(stack, stack + stack_bytes, [](unsigned char byte) { return byte != untouched; });
  const auto touched = static_cast<std::size_t>(stack + stack_bytes - first);
  munmap(pages, guarded + stack_bytes);
  if (problem != 0) throw std::runtime_error("no thread for a test");
  return touched;
}

/// What a thread takes of its stack before it calls anything.
std::size_t bytes_of_thread() {
  return bytes_touched(stack_bytes_of_call, [] {});
}

}  // namespace

TEST_CASE("a call takes no more of the stack than it promises", "[every_kind]") {
  const std::size_t of_thread = bytes_of_thread();
  for (const KernelCall::Choice& choice : calls_of_every_kind()) {
    KernelCall call(choice);
    INFO(call.name());
    for (const int threads : {1, 4}) {
      REQUIRE(set_num_threads(threads));
      std::string sentence;
      const std::size_t touched = bytes_touched(of_thread + stack_bytes_of_call, [&] { sentence = call(); });
      CHECK(sentence == "");
      CHECK(call.difference() == "");
      CHECK(touched <= of_thread + stack_bytes_of_call);
    }
  }
}

TEST_CASE("a thread with too little stack is refused or its call is right", "[stack]") {
  REQUIRE(set_num_threads(2));
  for (const std::size_t choice : {std::size_t{0}, std::size_t{3}}) {
    KernelCall call(calls_of_every_kind()[choice]);
    INFO(call.name());
    int refused = 0;
    for (std::size_t stack_bytes = 32 * 1024; stack_bytes <= stack_bytes_of_call; stack_bytes += 16 * 1024) {
      INFO(stack_bytes << " bytes");
      std::string sentence;
      bytes_touched(stack_bytes, [&] { sentence = call(); });
      const std::string refusal = "kernel '" + std::string(call.kernel().name()) + "': too little is left of this thread's stack: ";
      CHECK((sentence.empty() || sentence.starts_with(refusal)));
      CHECK((sentence.empty() || stack_bytes < stack_bytes_of_call));
      refused += !sentence.empty();
      if (sentence.empty()) CHECK(call.difference() == "");
    }
    CHECK(refused >= 2);
  }
}

namespace {
void check_promise_of(std::string_view variant) {
  const std::size_t of_thread = bytes_of_thread();
  for (const TargetInfo& target : targets())
    for (const char* types : {"f32", "bf16"})
      for (const char* depth : {"7", "64", "128"}) {
        if (target.device != Device::cpu || !runs_here(target)) continue;
        const Graph graph = variant_graph(variant);
        std::string shape;
        for (const DimInfo& info : graph.dim_infos()) {
          if (info.derivation.formula != Formula::free) continue;
          const std::string name(info.name());
          const bool is_depth = name.find("depth") != std::string::npos || name == "hidden";
          const std::string extent = is_depth ? depth : name == "queries" || name == "keys" || name == "tokens" ? "300" : "2";
          shape += (shape.empty() ? "" : ",") + name + "=" + extent;
        }
        KernelCall call({std::string(variant), {}, shape, types, std::string(target.name)});
        INFO(call.name() << " for " << target.name << " in " << types);
        REQUIRE(set_num_threads(4));
        std::string sentence;
        const std::size_t touched = bytes_touched(of_thread + stack_bytes_of_call, [&] { sentence = call(); });
        CHECK(sentence == "");
        CHECK(touched <= of_thread + stack_bytes_of_call);
        WARN(touched - of_thread << " bytes: " << call.name() << " for " << target.name << " in " << types);
      }
}
}  // namespace

TEMPLATE_LIST_TEST_CASE("a variant's kernels for every CPU target and type keep the promise of the stack", "[.full]", AnyVariant) {
  check_promise_of(TestType::name);
}

}  // namespace attune
