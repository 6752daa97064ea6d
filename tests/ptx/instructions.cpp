/// Single instructions beside values worked out from the manual of PTX (ISA 7.0).
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/ptx/module.h"

namespace attune::ptx {
namespace {

/// Operands and results as bits: reals are given as floats.
std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits(int x) { return static_cast<std::uint32_t>(x); }
std::uint64_t bits(unsigned x) { return x; }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::uint64_t bits(std::uint64_t x) { return x; }

template <class... Operands>
std::uint64_t result_of(std::string_view name, Operands... operands) {
  INFO(std::string(name));
  const Rule* rule = find_rule(name);
  REQUIRE(rule != nullptr);
  REQUIRE(rule->operands == static_cast<int>(sizeof...(operands)));
  const std::uint64_t values[] = {bits(operands)...};
  return rule->compute(values);
}

template <class Result, class... Operands>
void check(std::string_view name, Result expected, Operands... operands) {
  INFO(std::string(name));
  CHECK(result_of(name, operands...) == bits(expected));
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
constexpr int largest = std::numeric_limits<int>::max(), smallest = std::numeric_limits<int>::min();

}  // namespace

TEST_CASE("integers wrap around, and their products are wide or in halves", "[ptx]") {
  check("add.s16", 1U, 0xffffU, 2U);
  check("add.s32", smallest, largest, 1);
  check("sub.s32", largest, smallest, 1);
  check("add.s64", std::int64_t{-1}, std::int64_t{1}, std::int64_t{-2});
  check("mul.lo.s32", 0x7ffffffa, 0x40000001, -6);
  check("mul.wide.s32", std::int64_t{-6}, -2, 3);
  check("mul.wide.u32", std::int64_t{0xfffffffeLL * 3}, -2, 3);
  check("mul.hi.s32", -2, -3, 0x7fffffff);
  check("mul.hi.u32", 0xfffffffeU, 0xffffffffU, 0xffffffffU);
  check("mul.hi.s64", std::int64_t{-1}, std::int64_t{-3}, std::int64_t{1} << 60);
  check("mul.hi.s64", std::int64_t{3}, std::int64_t{3} << 40, std::int64_t{1} << 24);
  check("mul.hi.u64", std::uint64_t{0xfffffffffffffffe}, std::int64_t{-1}, std::int64_t{-1});
  check("mad.lo.s32", 5, 3, 4, -7);
  check("mad.lo.s64", std::int64_t{-1} << 33, std::int64_t{1} << 33, std::int64_t{-2}, std::int64_t{1} << 33);
  check("div.s32", -3, -7, 2);
  check("rem.s32", -1, -7, 2);
  check("div.u32", 0x7fffffffU, 0xffffffffU, 2U);
  check("rem.u32", 15U, 0xffffffffU, 16U);
  check("div.s64", std::int64_t{-3}, std::int64_t{-7}, std::int64_t{2});
  check("rem.s64", std::int64_t{-1}, std::int64_t{-7}, std::int64_t{2});
  check("div.u64", std::uint64_t{0x7fffffffffffffff}, std::int64_t{-1}, std::int64_t{2});
  check("rem.u64", std::uint64_t{15}, std::int64_t{-1}, std::int64_t{16});
  check("max.u64", std::int64_t{-1}, std::int64_t{-1}, std::int64_t{1});
  check("min.u64", std::int64_t{1}, std::int64_t{-1}, std::int64_t{1});
  check("shr.s64", std::int64_t{-1}, std::int64_t{-7}, 70U);
  check("shr.s64", std::int64_t{-7}, std::int64_t{-7} << 40, 40U);
  check("neg.s64", std::int64_t{-7} << 40, std::int64_t{7} << 40);
  check("not.b64", std::int64_t{-8}, std::int64_t{7});
  check("abs.s32", 7, -7);
  check("abs.s64", std::int64_t{7} << 40, std::int64_t{-7} << 40);
  check("neg.s32", -7, 7);
  check("min.s32", -1, -1, 1);
  check("min.u32", 1U, 0xffffffffU, 1U);
  check("min.u16", 1U, 0x1ffffU, 0x50001U);
  check("max.u16", 0xffffU, 0xffffU, 1U);
  check("max.s64", std::int64_t{3}, std::int64_t{-3}, std::int64_t{3});
}

TEST_CASE("bits are shifted, taken out and joined", "[ptx]") {
  check("shl.b32", 0, 1, 32);
  check("shl.b32", 0x80, 1, 7);
  check("shr.u32", 0x0fffffffU, 0xffffffffU, 4U);
  check("shr.s32", -1, -8, 40);
  check("shr.s32", -4, -8, 1);
  check("shr.u64", std::uint64_t{1}, std::uint64_t{1} << 63, 63U);
  check("shr.u64", std::uint64_t{0}, std::uint64_t{1} << 63, 64U);
  check("shf.l.wrap.b32", 3U, 0x80000001U, 1U, 1U);
  check("shf.l.wrap.b32", 5U, 0xffffffffU, 5U, 32U);
  check("bfe.u32", 0x56U, 0x12345678U, 8U, 8U);
  check("bfe.u32", 0U, 0x12345678U, 8U, 0U);
  check("bfe.u32", 0x12U, 0x12345678U, 24U, 32U);
  check("bfe.u32", 0U, 0x12345678U, 40U, 8U);
  check("bfe.s32", -2, 0xe0U, 4U, 4U);
  check("bfe.s32", 6, 0x60U, 4U, 4U);
  check("bfe.s32", 0, 0xe0U, 4U, 0U);
  check("bfe.s32", -1, 0x80000000U, 40U, 8U);
  check("bfe.s32", -8, 0x80000000U, 28U, 8U);
  check("bfe.s64", std::int64_t{-2}, std::int64_t{0xe} << 40, 40U, 4U);
  check("bfe.s64", std::int64_t{6}, std::int64_t{0x6} << 40, 40U, 4U);
  check("bfe.u64", std::uint64_t{0x2345}, std::uint64_t{0x123456789}, 16U, 16U);
  check("bfe.u64", std::uint64_t{0x12345}, std::uint64_t{0x123456789}, 16U, 64U);
  check("and.b16", 0x10U, 0x70011U, 0x70032U);
  check("and.b32", 0x10U, 0x11U, 0x32U);
  check("or.b32", 0x33U, 0x11U, 0x32U);
  check("xor.b16", 0x23U, 0x70011U, 0x70032U);
  check("xor.b32", 0x23U, 0x11U, 0x32U);
  check("not.b32", 0xfffffff0U, 0xfU);
  check("not.pred", 0, 1);
  check("not.pred", 1, 0);
  check("low half of mov.b32", 0x5678U, 0x12345678U);
  check("high half of mov.b32", 0x1234U, 0x12345678U);
  check("shl.b64", std::uint64_t{5} << 40, std::uint64_t{5}, 40U);
  check("shl.b64", std::uint64_t{0}, std::uint64_t{5}, 64U);
  check("pair of mov.b32", 0x12345678U, 0x5678U, 0x1234U);
  check("pair of mov.b64", (std::uint64_t{9} << 32) + 0xffffffffU, -1, 9);
  check("high half of mov.b64", 9U, (std::uint64_t{9} << 32) + 7);
}

TEST_CASE("reals are rounded once, and NaN is the other one's of a minimum", "[ptx]") {
  const float near_one = 1 + 0x1p-12F;
  check("fma.rn.f32", 0x1p-24F, near_one, near_one, -(1 + 0x1p-11F));
  check("mul.f32", 1 + 0x1p-11F, near_one, near_one);  // 2^-24 more is a tie, and goes to the even one
  check("mul.rn.f32", 1 + 0x1p-11F, near_one, near_one);
  check("sub.rn.f32", 16777216.0F, 16777216.0F, -1.0F);
  check("add.f32", 16777216.0F, 16777216.0F, 1.0F);
  check("div.rn.f32", 1.0F / 3, 1.0F, 3.0F);
  check("rcp.rn.f32", infinity, 0.0F);
  check("rcp.approx.ftz.f32", 0.25F, 4.0F);
  check("rcp.approx.ftz.f32", 0.0F, infinity);
  check("rcp.approx.ftz.f32", -infinity, -0x1p-130F);
  check("rcp.approx.ftz.f32", 0.0F, 0x1p127F);
  check("sqrt.rn.f32", 1.5F, 2.25F);
  check("ex2.approx.ftz.f32", 0.125F, -3.0F);
  check("ex2.approx.ftz.f32", 0x1p-126F, -126.0F);
  check("ex2.approx.ftz.f32", 0.0F, -126.5F);
  check("ex2.approx.ftz.f32", 0.0F, -infinity);
  check("ex2.approx.ftz.f32", 1.0F, 0x1p-130F);
  check("min.f32", 1.0F, nan, 1.0F);
  check("max.f32", 1.0F, 1.0F, nan);
  check("copysign.f32", -2.0F, -1.0F, 2.0F);
  check("abs.f32", 2.0F, -2.0F);
  check("neg.f32", -0.0F, 0.0F);
}

TEST_CASE("numbers become others as the rounding says", "[ptx]") {
  check("cvt.rn.f32.s32", 16777216.0F, 16777217);
  check("cvt.rn.f32.s32", 16777220.0F, 16777219);
  check("cvt.rn.f32.s16", -128.0F, std::int16_t{-128});
  check("cvt.rn.f32.u16", 65535.0F, std::uint16_t{0xffff});
  check("cvt.s32.s16", -2, std::int16_t{-2});
  check("cvt.rn.f32.u32", 4294967296.0F, 0xffffffffU);
  check("cvt.rn.f32.s64", -0x1p40F, -(std::int64_t{1} << 40));
  check("cvt.rn.f32.u64", 0x1p64F, ~std::uint64_t{0});
  check("cvt.rzi.s32.f32", 2, 2.9F);
  check("cvt.rmi.f32.f32", -3.0F, -2.1F);
  check("cvt.rzi.s32.f32", -2, -2.9F);
  check("cvt.rzi.s32.f32", 0, nan);
  check("cvt.rzi.s32.f32", largest, 3e9F);
  check("cvt.rzi.s32.f32", smallest, -infinity);
  check("cvt.rzi.s64.f32", -(std::int64_t{5} << 40), -0x5p40F);
  check("cvt.rzi.s64.f32", std::numeric_limits<std::int64_t>::max(), 0x1p63F);
  check("cvt.rzi.s64.f32", std::numeric_limits<std::int64_t>::min(), nan);
  check("cvt.s64.s32", std::int64_t{-5}, -5);
  check("cvt.u64.u16", std::uint64_t{0xfffe}, std::uint16_t{0xfffe});
  check("cvt.u64.u32", std::uint64_t{0xfffffffbU}, -5);
  check("cvt.u32.u16", 0xfffeU, std::uint16_t{0xfffe});
  check("cvt.u32.u64", 7U, (std::uint64_t{9} << 32) + 7);
}

TEST_CASE("integers of 16 bits wrap around and compare without their neighbours", "[ptx]") {
  check("sub.s16", 0xffffU, 0x70001U, 0x50002U);
  check("mul.lo.s16", 0xfffaU, 0xfffeU, 3U);
  check("mul.hi.u16", 0xfffeU, 0xffffU, 0xffffU);
  check("mul.wide.u16", 0xfffe0001U, 0x7ffffU, 0x5ffffU);
  check("mul.wide.s16", -98301, 0x5fffdU, 0x27fffU);
  check("shr.u16", 0xfU, 0x7ffffU, 12U);
  check("shr.u16", 0U, 0xffffU, 16U);
  check("or.b16", 0x33U, 0x70011U, 0x50022U);
  check("setp.lt.u16", 1, 0x70001U, 0x50002U);
  check("setp.lt.u16", 0, 0xffffU, 2U);
  check("setp.gt.u16", 1, 0xffffU, 2U);
  check("setp.ge.u16", 1, 0x70002U, 0x50002U);
  check("setp.le.u16", 0, 0xffffU, 2U);
  check("cvt.u16.u32", 0x5678U, 0x12345678U);
  check("cvt.u32.u16", 0x5678U, 0x12345678U);
}

TEST_CASE("reals of 16 bits are rounded to the nearest, in pairs the first operand into the high half", "[ptx]") {
  check("cvt.rn.f16.f32", 0x3c00U, 1 + 0x1p-11F);  // a tie, to the even one
  check("cvt.rn.f16.f32", 0x3c02U, 1 + 3 * 0x1p-11F);
  check("cvt.rn.f16.f32", 0x7c00U, 65520.0F);
  check("cvt.rn.bf16.f32", 0x3f80U, 1 + 0x1p-8F);
  check("cvt.rn.bf16.f32", 0xbf82U, -(1 + 3 * 0x1p-8F));
  check("cvt.rn.f16x2.f32", 0x3c00c000U, 1.0F, -2.0F);
  check("cvt.rn.bf16x2.f32", 0x3f80c000U, 1.0F, -2.0F);
  check("cvt.f32.bf16", -1.5F, 0xbfc0U);
  check("cvt.f32.f16", -0x1p-24F, 0x8001U);
  check("cvt.f32.f16", 65504.0F, 0x7bffU);
  check("ex2.approx.f32", 0x1p-130F, -130.0F);
  check("max.NaN.f32", 2.0F, 1.0F, 2.0F);
  CHECK(std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(result_of("max.NaN.f32", nan, 2.0F)))));
  CHECK(std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(result_of("min.NaN.f32", 1.0F, nan)))));
}

TEST_CASE("comparisons with NaN hold only where they say unordered", "[ptx]") {
  for (const char* name : {"setp.lt.f32", "setp.le.f32", "setp.gt.f32", "setp.ge.f32", "setp.eq.f32", "setp.ne.f32", "setp.num.f32"}) check(name, 0, nan, 1.0F);
  for (const char* name : {"setp.neu.f32", "setp.nan.f32", "setp.ltu.f32", "setp.leu.f32", "setp.gtu.f32", "setp.geu.f32", "setp.equ.f32"}) check(name, 1, 1.0F, nan);
  check("setp.ne.f32", 1, 1.0F, 2.0F);
  check("setp.ltu.f32", 0, 1.0F, 1.0F);
  check("setp.leu.f32", 1, 1.0F, 1.0F);
  check("setp.gtu.f32", 0, 1.0F, 1.0F);
  check("setp.geu.f32", 1, 1.0F, 1.0F);
  check("setp.equ.f32", 0, 1.0F, 2.0F);
  check("setp.eq.f32", 1, 0.0F, -0.0F);
  check("setp.lt.s32", 1, -1, 0);
  check("setp.lt.u32", 0, -1, 0);
  check("setp.eq.b16", 1, 0x70001, 0x50001);
  check("selp.b32", 3, 3, 4, 1);
  check("selp.b32", 4, 3, 4, 0);
}

TEST_CASE("pieces of assembly stand in braces, over several lines, with registers of their own", "[ptx]") {
  const auto parsed = [](const std::string& body) {
    return parse(".version 8.0\n.target sm_90a\n.visible .entry k(\n)\n{\n\t.reg .b32 \t%r<9>;\n" + body + "\tret;\n}\n").at("k");
  };
  const Entry entry = parsed(
      "\t{\n.reg .pred p, q;\nsetp.eq.b32 p, %r1, 0; setp.eq.b32 q,\n %r1, 1; // one\n@p mov.b32 %r2, 1;\n}\n\n{ .reg .pred p; mov.pred p, 1; }\n");
  REQUIRE(entry.instructions.size() == 5);
  CHECK(entry.instructions[1].text == "setp.eq.b32 q, %r1, 1;");
  CHECK(entry.instructions[1].line == 9);
  CHECK(entry.instructions[0].results[0] == entry.instructions[2].guard);
  CHECK(entry.instructions[0].results[0] != entry.instructions[1].results[0]);
  CHECK(entry.instructions[0].results[0] != entry.instructions[3].results[0]);
  for (const char* sink : {"\t{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r1; }\n", "\tmov.b32 \t{_, %rs1}, %r1;\n"})
    CHECK(parsed(sink).instructions.size() == 2);
  CHECK_THROWS_WITH(parsed("{ .reg .pred p; }\n\tmov.pred \tp, 1;\n"), Catch::EndsWith("has something else than a register where a result is"));
  CHECK_THROWS_WITH(parsed("\tbar.sync \t1, 128;\n"), Catch::EndsWith("has another number of operands"));
}

TEST_CASE("shared memory that a launch adds stands behind what a module declares", "[ptx]") {
  const std::string begin = ".version 8.0\n.target sm_90a\n", rest = ".extern .shared .align 1024 .b8 rest[];\n";
  const std::string own = ".shared .align 16 .b8 own[48];\n",
                    kernel = ".visible .entry k(\n)\n{\n\tret;\n}\n";
  CHECK(parse(begin + own + rest + kernel).at("k").shared_bytes == 1024);
  CHECK(parse(begin + rest + own + kernel).at("k").shared_bytes == 1024);
  // Arrays of a kernel are no other kernel's.
  std::string with_own = kernel, other = kernel;
  with_own.insert(with_own.find("\tret"), "\t.shared .align 16 .b8 own[48];\n\tmov.b32 \t%r1, own;\n\tmov.b32 \t%r2, rest;\n");
  other.replace(other.find(" k("), 3, " other(");
  const auto several = parse(begin + rest + with_own + other);
  CHECK(several.at("k").shared_bytes == 1024);
  CHECK(several.at("k").instructions[0].operands[0].value == 0);
  CHECK(several.at("k").instructions[1].operands[0].value == 1024);
  CHECK(several.at("other").shared_bytes == 0);
}

TEST_CASE("an instruction that no kernel of Attune contains is refused by its name", "[ptx]") {
  const std::string begin = ".version 7.0\n.target sm_80\n.visible .entry k(\n)\n{\n", end = "\tret;\n}\n";
  CHECK(parse(begin + end).at("k").instructions.size() == 1);
  CHECK_THROWS_WITH(parse(begin + "\ttex.2d.v4.f32.f32 \t{%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}];\n" + end),
                    "PTX, line 6: 'tex.2d.v4.f32.f32 \t{%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}];' is none of the instructions that kernels of Attune contain");
  CHECK_THROWS_WITH(parse(begin + "\tld.b32 \t%r1, [%rd1];\n" + end), Catch::EndsWith("is none of the instructions that kernels of Attune contain"));
  CHECK_THROWS_WITH(parse(begin + "\tadd.s32 \t%r1, %r2;\n" + end), Catch::EndsWith("has another number of operands"));
  CHECK_THROWS_WITH(parse(begin + "\tmov.b32 \t%r1, nowhere;\n" + end), Catch::EndsWith("names 'nowhere', which is neither a register nor a number"));
  CHECK_THROWS_WITH(parse(begin + "\tld.param.b32 \t%r1, [k_param_0];\n" + end), Catch::EndsWith("reads what is no parameter"));
  CHECK_THROWS_WITH(parse(begin + "\tbra \t$L__BB0_1;\n" + end), "PTX, kernel 'k': no instruction has the label '$L__BB0_1'");
}

}  // namespace attune::ptx
