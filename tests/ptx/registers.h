/// The registers of a block's threads, which know who may touch them: those that a thread never set hold nothing, and those that a product
/// of a warpgroup has in flight nobody else touches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/ptx/fault.h"
#include "tests/ptx/module.h"
#include "tests/ptx/product_registers.h"

namespace attune::ptx {

/// A warp's lanes are named by bits, and asked together.
class ThreadRegisters {
 public:
  /// Of a kernel without products of warpgroups, they have none in flight.
  ThreadRegisters(int registers, std::size_t warps, bool has_products)
      : has_products_(has_products),
        in_products_(has_products ? static_cast<std::size_t>(registers) : 0, warps),
        warps_(warps),
        values_(std::make_unique_for_overwrite<Lanes[]>(static_cast<std::size_t>(registers) * warps)),
        set_(static_cast<std::size_t>(registers) * warps) {}

  /// Nobody has set any.
  void forget() {
    std::ranges::fill(set_, 0);
    in_products_.forget();
  }

  /// The lanes' values. Throws Fault.
  const Lanes& read(int number, std::size_t warp, std::uint32_t lanes) const {
    check_not_in_flight(number, warp, lanes);
    return held(number, warp, lanes);
  }
  /// Where the lanes' values are put: they count as set. Throws Fault.
  Lanes& write(int number, std::size_t warp, std::uint32_t lanes) {
    check_not_in_flight(number, warp, lanes);
    if (has_products_) in_products_.write(static_cast<std::size_t>(number), warp);
    return hold(number, warp, lanes);
  }

  /// The same behind the back of who checks what products have in flight.
  const Lanes& held(int number, std::size_t warp, std::uint32_t lanes) const {
    const std::uint32_t missing = lanes & ~set_[place_of(number, warp)];
    if (missing != 0) throw Fault{"reads a register that the thread never set", thread_of(warp, missing)};
    return values_[place_of(number, warp)];
  }
  Lanes& hold(int number, std::size_t warp, std::uint32_t lanes) {
    set_[place_of(number, warp)] |= lanes;
    return values_[place_of(number, warp)];
  }

  ProductRegisters& in_products() { return in_products_; }

 private:
  static std::size_t thread_of(std::size_t warp, std::uint32_t lanes) {
    return warp * warp_size + static_cast<std::size_t>(std::countr_zero(lanes));
  }
  std::size_t place_of(int number, std::size_t warp) const { return static_cast<std::size_t>(number) * warps_ + warp; }
  void check_not_in_flight(int number, std::size_t warp, std::uint32_t lanes) const {
    if (has_products_ && in_products_.is_in_flight(static_cast<std::size_t>(number), warp))
      throw Fault{"touches a register that a product of matrices has in flight, with no wgmma.wait_group between", thread_of(warp, lanes)};
  }

  bool has_products_;
  ProductRegisters in_products_;
  std::size_t warps_;
  std::unique_ptr<Lanes[]> values_;  // by register, then by warp
  std::vector<std::uint32_t> set_;
};

}  // namespace attune::ptx
