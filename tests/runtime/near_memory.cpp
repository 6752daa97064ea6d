#include "runtime/near_memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace attune {

TEST_CASE("near memory gives aligned blocks that are apart and is whole again when none is in use", "[near_memory]") {
  const auto memory = std::make_unique<NearMemory>();
  auto* first = static_cast<char*>(memory->take(1));
  auto* second = static_cast<char*>(memory->take(1000));
  REQUIRE((first != nullptr && second != nullptr));
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 128 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(second) % 128 == 0);
  CHECK(second - first >= 1 + 8);
  CHECK((memory->holds(first) && memory->holds(second + 999)));
  CHECK_FALSE(memory->holds(&memory));
  memory->give_back();
  CHECK(memory->take(1) != first);
  memory->give_back();
  memory->give_back();
  CHECK(memory->take(1) == first);
}

TEST_CASE("near memory refuses what does not fit", "[near_memory]") {
  const auto memory = std::make_unique<NearMemory>();
  CHECK(memory->take(SIZE_MAX) == nullptr);
  CHECK(memory->take(1 << 20) == nullptr);
  REQUIRE(memory->take(20000) != nullptr);
  CHECK(memory->take(20000) == nullptr);
  CHECK(memory->take(1000) != nullptr);
}

TEST_CASE("threads never share a block of near memory", "[near_memory]") {
  const auto memory = std::make_unique<NearMemory>();
  std::vector<std::thread> threads;
  std::atomic<int> spoilt = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = static_cast<std::size_t>(64 + (i * 37 + t) % 3000);
        auto* block = static_cast<unsigned char*>(memory->take(bytes));
        if (block == nullptr) continue;
        std::memset(block, t, bytes);
        for (std::size_t b = 0; b < bytes; ++b) spoilt += block[b] != t;
        memory->give_back();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(spoilt == 0);
}

}  // namespace attune
