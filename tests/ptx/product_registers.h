/// Which registers the products of warpgroups have in flight, and which were written since the last wgmma.fence: what the manual of PTX
/// (ISA 8.0, "wgmma.fence", "wgmma.wait_group") leaves undefined otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune::ptx {

class ProductRegisters {
 public:
  ProductRegisters(std::size_t registers, std::size_t warps) : uses_(registers * warps), fences_(warps) {}

  void forget() {
    std::ranges::fill(uses_, Use());
    std::ranges::fill(fences_, 0);
  }

  /// An ordinary instruction wrote the register in some lane of the warp.
  void write(std::size_t number, std::size_t warp) { use(number, warp).written = fences_[warp] + 1; }
  void fence(std::size_t warp) { ++fences_[warp]; }
  bool is_in_flight(std::size_t number, std::size_t warp) const { return use(number, warp).sums + use(number, warp).factors > 0; }

  /// Null, or why a product may not begin with the register as one of sums of so many columns, or with 0 columns, as one of the factor A.
  /// Products of the same shape follow each other in their sums, and share factors.
  const char* problem(std::size_t number, std::size_t warp, std::size_t columns) const {
    const Use& of = use(number, warp);
    if (fences_[warp] == 0) return "has no wgmma.fence before it";
    if (of.written == fences_[warp] + 1) return "has a register that was written since the last wgmma.fence";
    const bool is_free = columns == 0 ? of.sums == 0 : of.factors == 0 && (of.sums == 0 || of.columns == columns);
    return is_free ? nullptr : "has a register that a product of another shape has in flight, with no wgmma.wait_group between";
  }
  void begin(std::size_t number, std::size_t warp, std::size_t columns) {
    Use& of = use(number, warp);
    ++(columns == 0 ? of.factors : of.sums);
    if (columns != 0) of.columns = columns;
  }
  void end(std::size_t number, std::size_t warp, std::size_t columns) {
    --(columns == 0 ? use(number, warp).factors : use(number, warp).sums);
  }

 private:
  struct Use {
    std::uint32_t written = 0;            // fences before it, and one; 0: never
    std::uint32_t sums = 0, factors = 0;  // products in flight
    std::size_t columns = 0;              // of those with sums
  };
  Use& use(std::size_t number, std::size_t warp) { return uses_[number * fences_.size() + warp]; }
  const Use& use(std::size_t number, std::size_t warp) const { return uses_[number * fences_.size() + warp]; }

  std::vector<Use> uses_;              // by register, then by warp
  std::vector<std::uint32_t> fences_;  // by warp
};

}  // namespace attune::ptx
