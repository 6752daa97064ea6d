/// What each instruction computes, by the manual of PTX (ISA 7.0, "Instruction Set").
#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "tests/ptx/arithmetic.h"
#include "tests/ptx/conversions.h"
#include "tests/ptx/module.h"

namespace attune::ptx {
namespace {

using namespace arithmetic;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// The same computation of each lane.
template <std::size_t operand_count, auto compute>
void on_lanes(const Lanes* const* operands, std::uint32_t lanes, Lanes& result) {
  const auto of_lane = [&](std::size_t lane) {
    u64 x[operand_count];
    for (std::size_t i = 0; i < operand_count; ++i) x[i] = (*operands[i])[lane];
    return compute(x);
  };
  if (lanes != ~0U) {
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      if ((lanes >> lane & 1) != 0) result[lane] = of_lane(lane);
    return;
  }
  Lanes results;  // apart from the operands, so that lanes are computed side by side
  for (std::size_t lane = 0; lane < warp_size; ++lane) results[lane] = of_lane(lane);
  result = results;
}
template <std::size_t operand_count, auto compute>
constexpr Rule rule(std::string_view name) {
  static_assert(operand_count <= most_operands);
  return {name, operand_count, compute, on_lanes<operand_count, compute>};
}

// Shifts stand in parentheses: GCC 12 takes ">>" in a template's arguments for their end.
constexpr Rule rules[] = {
    rule<1, of<float, size_of_real>>("abs.f32"),
    rule<1, of<s32, size_of_integer>>("abs.s32"),
    rule<1, of<s64, size_of_integer>>("abs.s64"),
    rule<2, of<float, add>>("add.f32"),
    rule<2, of<float, add>>("add.rn.f32"),
    rule<2, of<std::uint16_t, add>>("add.s16"),
    rule<2, of<u32, add>>("add.s32"),
    rule<2, of<u64, add>>("add.s64"),
    rule<2, of<std::uint16_t, both>>("and.b16"),
    rule<2, of<u32, both>>("and.b32"),
    rule<2, of<u64, both>>("and.b64"),
    rule<2, of<u64, both>>("and.pred"),
    rule<3, signed_field<u32>>("bfe.s32"),
    rule<3, signed_field<u64>>("bfe.s64"),
    rule<3, field<u32>>("bfe.u32"),
    rule<3, field<u64>>("bfe.u64"),
    rule<2, of<float, with_sign>>("copysign.f32"),
    rule<1, widened<bfloat16>>("cvt.f32.bf16"),
    rule<1, widened<float16>>("cvt.f32.f16"),
    rule<1, [](const u64* x) { return bits_of(std::floor(as<float>(x[0]))); }>("cvt.rmi.f32.f32"),
    rule<1, [](const u64* x) { return bits_of(std::floor(flushed(as<float>(x[0])))); }>("cvt.rmi.ftz.f32.f32"),
    rule<1, narrowed<bfloat16>>("cvt.rn.bf16.f32"),
    rule<2, narrowed_pair<bfloat16>>("cvt.rn.bf16x2.f32"),
    rule<1, narrowed<float16>>("cvt.rn.f16.f32"),
    rule<2, narrowed_pair<float16>>("cvt.rn.f16x2.f32"),
    rule<1, converted<float, std::int16_t>>("cvt.rn.f32.s16"),
    rule<1, converted<float, s32>>("cvt.rn.f32.s32"),
    rule<1, converted<float, s64>>("cvt.rn.f32.s64"),
    rule<1, converted<float, std::uint16_t>>("cvt.rn.f32.u16"),
    rule<1, converted<float, u32>>("cvt.rn.f32.u32"),
    rule<1, converted<float, u64>>("cvt.rn.f32.u64"),
    rule<1, truncated<s32>>("cvt.rzi.s32.f32"),
    rule<1, truncated<s64>>("cvt.rzi.s64.f32"),
    rule<1, converted<s32, std::int16_t>>("cvt.s32.s16"),
    rule<1, converted<s64, s32>>("cvt.s64.s32"),
    rule<1, converted<std::uint16_t, u32>>("cvt.u16.u32"),
    rule<1, converted<u32, std::uint16_t>>("cvt.u32.u16"),
    rule<1, converted<u32, u64>>("cvt.u32.u64"),
    rule<1, converted<u64, std::uint16_t>>("cvt.u64.u16"),
    rule<1, converted<u64, u32>>("cvt.u64.u32"),
    rule<1, of<u64, same>>("cvta.to.global.u64"),
    rule<2, of<float, divide>>("div.rn.f32"),
    rule<2, of<s32, quotient>>("div.s32"),
    rule<2, of<s64, quotient>>("div.s64"),
    rule<2, of<u32, quotient>>("div.u32"),
    rule<2, of<u64, quotient>>("div.u64"),
    rule<1, of<float, power_of_2_of_any>>("ex2.approx.f32"),
    rule<1, of<float, power_of_2>>("ex2.approx.ftz.f32"),
    rule<3, of<float, fused>>("fma.rn.f32"),
    rule<1, [](const u64* x) { return (x[0] >> 16 & 0xffff); }>("high half of mov.b32"),
    rule<1, [](const u64* x) { return (x[0] >> 32); }>("high half of mov.b64"),
    rule<1, [](const u64* x) { return x[0] & 0xffff; }>("low half of mov.b32"),
    rule<1, [](const u64* x) { return x[0] & 0xffffffff; }>("low half of mov.b64"),
    rule<3, of<u32, multiply_add>>("mad.lo.s32"),
    rule<3, of<u64, multiply_add>>("mad.lo.s64"),
    rule<2, of<float, greatest_or_nan>>("max.NaN.f32"),
    rule<2, of<float, greatest_number>>("max.f32"),
    rule<2, of<s32, greatest>>("max.s32"),
    rule<2, of<s64, greatest>>("max.s64"),
    rule<2, of<std::uint16_t, greatest>>("max.u16"),
    rule<2, of<u32, greatest>>("max.u32"),
    rule<2, of<u64, greatest>>("max.u64"),
    rule<2, of<float, least_or_nan>>("min.NaN.f32"),
    rule<2, of<float, least_number>>("min.f32"),
    rule<2, of<s32, least>>("min.s32"),
    rule<2, of<s64, least>>("min.s64"),
    rule<2, of<std::uint16_t, least>>("min.u16"),
    rule<2, of<u32, least>>("min.u32"),
    rule<2, of<u64, least>>("min.u64"),
    rule<1, of<u64, same>>("mov.b16"),
    rule<1, of<u64, same>>("mov.b32"),
    rule<1, of<u64, same>>("mov.b64"),
    rule<1, of<u64, same>>("mov.pred"),
    rule<1, of<u64, same>>("mov.u32"),
    rule<2, of<float, multiply>>("mul.f32"),
    rule<2, multiply_high<s64, s32>>("mul.hi.s32"),
    rule<2, multiply_high<__int128, s64>>("mul.hi.s64"),
    rule<2, multiply_high<u32, std::uint16_t>>("mul.hi.u16"),
    rule<2, multiply_high<u64, u32>>("mul.hi.u32"),
    rule<2, multiply_high<unsigned __int128, u64>>("mul.hi.u64"),
    rule<2, of<std::uint16_t, multiply>>("mul.lo.s16"),
    rule<2, of<u32, multiply>>("mul.lo.s32"),
    rule<2, of<u64, multiply>>("mul.lo.s64"),
    rule<2, multiply_wide<std::int32_t, std::int16_t>>("mul.wide.s16"),
    rule<2, multiply_wide<std::int64_t, std::int32_t>>("mul.wide.s32"),
    rule<2, multiply_wide<u32, std::uint16_t>>("mul.wide.u16"),
    rule<2, multiply_wide<std::uint64_t, std::uint32_t>>("mul.wide.u32"),
    rule<2, of<float, multiply>>("mul.rn.f32"),
    rule<1, of<float, negative>>("neg.f32"),
    rule<1, of<u32, negative>>("neg.s32"),
    rule<1, of<u64, negative>>("neg.s64"),
    rule<1, of<u32, inverse>>("not.b32"),
    rule<1, of<u64, inverse>>("not.b64"),
    rule<1, [](const u64* x) { return u64{x[0] == 0}; }>("not.pred"),
    rule<2, of<std::uint16_t, either>>("or.b16"),
    rule<2, of<u32, either>>("or.b32"),
    rule<2, of<u64, either>>("or.b64"),
    rule<2, of<u64, either>>("or.pred"),
    rule<2, [](const u64* x) { return (x[1] & 0xffff) << 16 | (x[0] & 0xffff); }>("pair of mov.b32"),
    rule<2, [](const u64* x) { return x[1] << 32 | (x[0] & 0xffffffff); }>("pair of mov.b64"),
    rule<1, of<float, flushed_reciprocal>>("rcp.approx.ftz.f32"),
    rule<1, of<float, reciprocal>>("rcp.rn.f32"),
    rule<2, of<s32, remainder_of>>("rem.s32"),
    rule<2, of<s64, remainder_of>>("rem.s64"),
    rule<2, of<u32, remainder_of>>("rem.u32"),
    rule<2, of<u64, remainder_of>>("rem.u64"),
    rule<3, select>("selp.b16"),
    rule<3, select>("selp.b32"),
    rule<3, select>("selp.b64"),
    rule<3, select>("selp.f32"),
    rule<2, whether<std::uint16_t, is_equal>>("setp.eq.b16"),
    rule<2, whether<u32, is_equal>>("setp.eq.b32"),
    rule<2, whether<u64, is_equal>>("setp.eq.b64"),
    rule<2, whether<float, is_equal>>("setp.eq.f32"),
    rule<2, [](const u64* x) { return u64{as<float>(x[0]) == as<float>(x[1]) || is_unordered(as<float>(x[0]), as<float>(x[1]))}; }>("setp.equ.f32"),
    rule<2, whether<float, is_greater_or_equal>>("setp.ge.f32"),
    rule<2, whether<std::uint16_t, is_greater_or_equal>>("setp.ge.u16"),
    rule<2, whether<s32, is_greater_or_equal>>("setp.ge.s32"),
    rule<2, whether<s64, is_greater_or_equal>>("setp.ge.s64"),
    rule<2, whether<u32, is_greater_or_equal>>("setp.ge.u32"),
    rule<2, whether<u64, is_greater_or_equal>>("setp.ge.u64"),
    rule<2, [](const u64* x) { return u64{!(as<float>(x[0]) < as<float>(x[1]))}; }>("setp.geu.f32"),
    rule<2, whether<float, is_greater>>("setp.gt.f32"),
    rule<2, whether<s32, is_greater>>("setp.gt.s32"),
    rule<2, whether<s64, is_greater>>("setp.gt.s64"),
    rule<2, whether<std::uint16_t, is_greater>>("setp.gt.u16"),
    rule<2, whether<u32, is_greater>>("setp.gt.u32"),
    rule<2, whether<u64, is_greater>>("setp.gt.u64"),
    rule<2, [](const u64* x) { return u64{!(as<float>(x[0]) <= as<float>(x[1]))}; }>("setp.gtu.f32"),
    rule<2, whether<float, is_less_or_equal>>("setp.le.f32"),
    rule<2, whether<s32, is_less_or_equal>>("setp.le.s32"),
    rule<2, whether<s64, is_less_or_equal>>("setp.le.s64"),
    rule<2, whether<std::uint16_t, is_less_or_equal>>("setp.le.u16"),
    rule<2, whether<u32, is_less_or_equal>>("setp.le.u32"),
    rule<2, whether<u64, is_less_or_equal>>("setp.le.u64"),
    rule<2, [](const u64* x) { return u64{!(as<float>(x[0]) > as<float>(x[1]))}; }>("setp.leu.f32"),
    rule<2, whether<float, is_less>>("setp.lt.f32"),
    rule<2, whether<s32, is_less>>("setp.lt.s32"),
    rule<2, whether<s64, is_less>>("setp.lt.s64"),
    rule<2, whether<std::uint16_t, is_less>>("setp.lt.u16"),
    rule<2, whether<u32, is_less>>("setp.lt.u32"),
    rule<2, whether<u64, is_less>>("setp.lt.u64"),
    rule<2, [](const u64* x) { return u64{!(as<float>(x[0]) >= as<float>(x[1]))}; }>("setp.ltu.f32"),
    rule<2, whether<float, is_unordered>>("setp.nan.f32"),
    rule<2, whether<std::uint16_t, is_other_or_unordered>>("setp.ne.b16"),
    rule<2, whether<u32, is_other_or_unordered>>("setp.ne.b32"),
    rule<2, whether<u64, is_other_or_unordered>>("setp.ne.b64"),
    rule<2, whether<float, is_other>>("setp.ne.f32"),
    rule<2, whether<float, is_other_or_unordered>>("setp.neu.f32"),
    rule<2, whether<float, is_ordered>>("setp.num.f32"),
    rule<3, of<u32, funnel_left>>("shf.l.wrap.b32"),
    rule<2, of<u32, shift_left>>("shl.b32"),
    rule<2, shift_left_wide>("shl.b64"),
    rule<2, shift_right_signed>("shr.s32"),
    rule<2, [](const u64* x) { return bits_of(as<s64>(x[0]) >> std::min(as<u32>(x[1]), 63U)); }>("shr.s64"),
    rule<2, [](const u64* x) { return (u64{as<std::uint16_t>(x[0])} >> std::min(as<u32>(x[1]), 16U)); }>("shr.u16"),
    rule<2, of<u32, shift_right<u32>>>("shr.u32"),
    rule<2, [](const u64* x) { return shift_right<u64>(x[0], as<u32>(x[1])); }>("shr.u64"),
    rule<1, [](const u64* x) { return bits_of(std::sqrt(as<float>(x[0]))); }>("sqrt.rn.f32"),
    rule<2, of<float, subtract>>("sub.f32"),
    rule<2, of<float, subtract>>("sub.rn.f32"),
    rule<2, of<std::uint16_t, subtract>>("sub.s16"),
    rule<2, of<u32, subtract>>("sub.s32"),
    rule<2, of<u64, subtract>>("sub.s64"),
    rule<2, of<std::uint16_t, one_of_both>>("xor.b16"),
    rule<2, of<u32, one_of_both>>("xor.b32"),
    rule<2, of<u64, one_of_both>>("xor.b64"),
    rule<2, of<u64, one_of_both>>("xor.pred"),
};

using Kind = Instruction::Kind;
constexpr OrderRule order_rules[] = {
    {"bar.sync", 1, Kind::barrier},
    {"barrier.sync", 1, Kind::barrier},
    {"cp.async.commit_group", 0, Kind::end_group},
    {"cp.async.wait_group", 1, Kind::wait},
    {"exit", 0, Kind::end},
    {"fence.proxy.async", 0, Kind::fence_async},
    {"fence.proxy.async.shared::cta", 0, Kind::fence_async},
    {"ret", 0, Kind::end},
    {"trap", 0, Kind::trap},
    {"wgmma.commit_group.sync.aligned", 0, Kind::end_products},
    {"wgmma.fence.sync.aligned", 0, Kind::fence_products},
    {"wgmma.wait_group.sync.aligned", 1, Kind::wait_products},
};

}  // namespace

const OrderRule* find_order_rule(std::string_view name) {
  for (const OrderRule& rule : order_rules)
    if (rule.name == name) return &rule;
  return nullptr;
}

const Rule* find_rule(std::string_view name) {
  for (const Rule& rule : rules)
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace attune::ptx
