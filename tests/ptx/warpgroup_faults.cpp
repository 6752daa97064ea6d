/// What a kernel may not do around products of a warpgroup is a fault in words.
#include <utility>

#include "tests/ptx/warpgroup_kernel.h"

namespace attune::ptx {
namespace {

/// The parts of a right kernel of one product of 64 x 8 elements, with its factors in shared memory, which the threads write; the sums are
/// then stored.
struct Parts {
  std::string written = copied_to_shared(2560);
  std::string between = until_all_is_written, sums = set_sums(4), fence = "\twgmma.fence.sync.aligned;\n";
  std::string product = product_of(8), behind, end = end_products, last;
  std::uint32_t threads = 128;

  static constexpr FactorLayout a{.width = 32, .depth = 16}, b{.width = 32, .start = 8192, .extent = 8, .depth = 16};
  static std::string product_of(std::size_t columns) {
    return product_text("k16.f32.f16.f16", columns, in_memory(a.descriptor(0)), b.descriptor(0), true);
  }
  static std::string product_of_registers() {
    return product_text("k16.f32.f16.f16", 8, registers_from(20, 4), b.descriptor(0), true, "1, 1, 0");
  }

  std::string problem() const {
    const std::string text = warpgroup_kernel(written + between + sums + fence + product + behind + end + stored_sums(4) + last, 10240);
    return run_block(text, threads, std::vector<std::uint32_t>(2560)).problem;
  }
};

/// A right kernel with some parts in the place of its own.
template <class Change>
std::string problem_with(const Change& change) {
  Parts parts;
  change(parts);
  return parts.problem();
}

const std::string some = "\tsetp.gt.u32 \t%p1, %r2, 95;\n";

}  // namespace

TEST_CASE("registers of a product of a warpgroup are nobody else's until it is waited for", "[ptx]") {
  CHECK(Parts{}.problem() == "");
  const auto in_flight = Catch::Contains("touches a register that a product of matrices has in flight, with no wgmma.wait_group between");
  CHECK_THAT(problem_with([](Parts& p) { p.behind = "\tmov.b32 \t%r5, %r103;\n"; }),
             in_flight && Catch::Contains("'mov.b32 \t%r5, %r103;'"));
  CHECK_THAT(problem_with([](Parts& p) {
               p.behind = "\tmov.b32 \t%r103, %r5;\n\tmov.b32 \t%r5, 0;\n";
               p.sums += "\tmov.b32 \t%r5, 0;\n";
             }),
             in_flight);
  CHECK_THAT(problem_with([](Parts& p) { p.end = "\twgmma.commit_group.sync.aligned;\n"; }), in_flight);
  CHECK_THAT(problem_with([](Parts& p) { p.end = "\twgmma.wait_group.sync.aligned \t0;\n"; }), in_flight);
  CHECK_THAT(problem_with([](Parts& p) { p.end = "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned \t1;\n"; }),
             in_flight);
  const std::string commit = "\twgmma.commit_group.sync.aligned;\n";
  CHECK(problem_with([&](Parts& p) { p.end = commit + commit + "\twgmma.wait_group.sync.aligned \t1;\n"; }) == "");
  const std::string factors = "\tmov.b32 \t%r20, 0;\n\tmov.b32 \t%r21, 0;\n\tmov.b32 \t%r22, 0;\n\tmov.b32 \t%r23, 0;\n";
  CHECK(problem_with([&](Parts& p) { p.sums += factors, p.product = Parts::product_of_registers(), p.behind = p.product; }) == "");
  CHECK_THAT(
      problem_with([&](Parts& p) { p.sums += factors, p.product = Parts::product_of_registers(), p.behind = "\tmov.b32 \t%r20, 0;\n"; }),
      in_flight);
}

TEST_CASE("a fence stands between what writes registers of a warpgroup's product and the product", "[ptx]") {
  CHECK_THAT(problem_with([](Parts& p) { p.fence = ""; }), Catch::EndsWith("has no wgmma.fence before it"));
  const auto written = Catch::EndsWith("has a register that was written since the last wgmma.fence");
  CHECK_THAT(problem_with([](Parts& p) { std::swap(p.sums, p.fence); }), written);
  CHECK_THAT(problem_with([](Parts& p) { p.last = set_sums(1) + p.product + p.end; }), written);
  CHECK(problem_with([](Parts& p) { p.last = set_sums(1) + p.fence + p.product + p.end; }) == "");
  CHECK(problem_with([](Parts& p) { p.last = p.product + p.end; }) == "");
  CHECK_THAT(problem_with([](Parts& p) { p.product = Parts::product_of_registers(), p.fence += "\tmov.b32 \t%r20, 0;\n"; }), written);
  CHECK(problem_with([](Parts& p) { p.behind = p.product; }) == "");
  CHECK_THAT(problem_with([](Parts& p) { p.sums = set_sums(8), p.behind = Parts::product_of(16); }),
             Catch::EndsWith("has a register that a product of another shape has in flight, with no wgmma.wait_group between"));
}

TEST_CASE("what threads write is there for a product of a warpgroup behind a fence of theirs and a barrier", "[ptx]") {
  CHECK_THAT(problem_with([](Parts& p) { p.between = "\tbar.sync \t0;\n"; }),
             Catch::Contains(
                 "reads byte 0 of shared memory, which thread (0, 0, 0) writes, with no fence.proxy.async between this and the barrier"));
  CHECK_THAT(problem_with([](Parts& p) { p.between = "\tbar.sync \t0;\n\tfence.proxy.async.shared::cta;\n"; }),
             Catch::Contains("with no fence.proxy.async between"));
  CHECK_THAT(problem_with(
                 [](Parts& p) { p.between = "\tsetp.gt.u32 \t%p1, %r2, 31;\n\t@!%p1 fence.proxy.async.shared::cta;\n\tbar.sync \t0;\n"; }),
             Catch::Contains("thread (36, 0, 0) writes, with no fence.proxy.async between"));
  CHECK_THAT(problem_with([](Parts& p) { p.between = "\tfence.proxy.async;\n"; }),
             Catch::Contains("thread (0, 0, 0) writes, with no barrier between"));
  CHECK_THAT(problem_with([](Parts& p) { p.written = addresses(4); }),
             Catch::EndsWith("reads byte 0 of shared memory, which nobody wrote"));
  const std::string copies = addresses(4) + "\tshl.b32 \t%r3, %r2, 4;\n\tcp.async.cg.shared.global [%r3], [%rd1], 16;\n",
                    wait = "\tcp.async.wait_group \t0;\n";
  const auto copied = [&](const std::string& between) {
    return problem_with([&](Parts& p) { p.written += "\tbar.sync \t0;\n" + copies, p.between = between; });
  };
  const std::string commit = "\tcp.async.commit_group;\n", all = until_all_is_written;
  CHECK(copied(commit + wait + all) == "");
  CHECK_THAT(copied(commit + all), Catch::EndsWith("copies to, and has not waited for"));
  CHECK_THAT(copied("\tfence.proxy.async;\n" + commit + wait + "\tbar.sync \t0;\n"), Catch::Contains("with no fence.proxy.async between"));
}

TEST_CASE("shared memory stays as it is until all warps have waited for the product of a warpgroup that reads it", "[ptx]") {
  const std::string write = "\tst.shared.b32 \t[%r3], %r2;\n", barrier = "\tbar.sync \t0;\n";
  const auto read =
      Catch::Contains("touches byte 0 of shared memory, which a product of matrices reads that not all its warps have waited for");
  CHECK_THAT(problem_with([&](Parts& p) { p.behind = write; }), read);
  CHECK_THAT(problem_with([&](Parts& p) { p.behind = barrier + write; }), read);
  CHECK_THAT(problem_with([&](Parts& p) { p.last = write; }), read);
  CHECK_THAT(problem_with([&](Parts& p) { p.last = some + "\t@%p1 st.shared.b32 \t[0], %r2;\n"; }),
             Catch::EndsWith("reads, with no barrier between"));
  CHECK(problem_with([&](Parts& p) { p.last = barrier + write; }) == "");
  CHECK(problem_with([&](Parts& p) { p.behind = "\tst.shared.b32 \t[%r3+8704], %r2;\n"; }) == "");
}

TEST_CASE("all warps of a warpgroup execute its products, with the same descriptors", "[ptx]") {
  CHECK_THAT(problem_with([](Parts& p) { p.product = some + "\t@%p1 bra \t$L_1;\n" + p.product + "$L_1:\n"; }),
             Catch::EndsWith("is executed by four warps together, and thread (96, 0, 0) does not come to it"));
  CHECK_THAT(problem_with([](Parts& p) {
               p.product = some + "\t@%p1 bra \t$L_1;\n" + p.product + "\tbra \t$L_2;\n$L_1:\n" + p.product + "$L_2:\n";
             }),
             Catch::EndsWith("is executed by four warps together, and thread (96, 0, 0) does not come to it"));
  CHECK_THAT(problem_with([](Parts& p) { p.threads = 96; }),
             Catch::Contains("is executed by a warpgroup of four warps, of which the block has 3"));
  const std::string other = "\tmov.b64 \t%rd8, 0;\n\tcvt.u64.u32 \t%rd8, %r2;\n";
  CHECK_THAT(problem_with([&](Parts& p) { p.product.insert(p.product.find("\t// begin"), other); }),
             Catch::EndsWith("has a descriptor or a predicate that is another one in another thread of the warpgroup"));
  CHECK_THAT(problem_with([](Parts& p) { p.fence = "\tsetp.gt.u32 \t%p1, %r2, 9;\n\t@%p1 wgmma.fence.sync.aligned;\n"; }),
             Catch::EndsWith("is executed by some lanes of the warp, and all have to"));
}

TEST_CASE("descriptors that mean nothing, and memory that the block does not have, are faults of a product of a warpgroup", "[ptx]") {
  const auto with_descriptor = [](std::uint64_t b) {
    return problem_with([&](Parts& p) { p.product = product_text("k16.f32.f16.f16", 8, in_memory(Parts::a.descriptor(0)), b, true); });
  };
  CHECK(with_descriptor(Parts::b.descriptor(0)) == "");
  CHECK_THAT(with_descriptor(Parts::b.descriptor(0) | 0x4000), Catch::EndsWith("has a descriptor with bits that mean nothing"));
  CHECK_THAT(with_descriptor(Parts::b.descriptor(0) | std::uint64_t{1} << 49),
             Catch::EndsWith("has a descriptor with a base offset, which is not interpreted"));
  CHECK_THAT(with_descriptor(10240 / 16), Catch::EndsWith("touches byte 10240 of shared memory, of which the block has 10240"));
}

TEST_CASE("products of a warpgroup that no kernel of Attune contains are refused", "[ptx]") {
  const auto parsed = [](const std::string& product, const std::string& target = "sm_90a") {
    std::string text = warpgroup_kernel(product, 64);
    parse(text.replace(text.find("sm_90a"), 6, target));
  };
  const std::string right = product_text("k16.f32.f16.f16", 8, "%rd1", 0, true);
  CHECK_NOTHROW(parsed(right));
  CHECK_THROWS_WITH(parsed(right, "sm_90"), Catch::EndsWith("needs the target sm_90a, and the module's is sm_90"));
  CHECK_THROWS_WITH(parsed(product_text("k16.f16.f16.f16", 8, "%rd1", 0, true)),
                    Catch::EndsWith("is none of the instructions that kernels of Attune contain"));
  CHECK_THROWS_WITH(parsed(product_text("k16.f32.f16.f16", 12, "%rd1", 0, true)),
                    Catch::EndsWith("is none of the instructions that kernels of Attune contain"));
  CHECK_THROWS_WITH(parsed(product_text("k16.f32.f16.f16", 8, "%rd1", 0, true, "1, 1, 0")),
                    Catch::EndsWith("has another number of operands"));
  CHECK_THROWS_WITH(parsed(product_text("k16.f32.f16.f16", 8, registers_from(20, 3), 0, true, "1, 1, 0")),
                    Catch::EndsWith("has another number of elements"));
  CHECK_THROWS_WITH(parsed(product_text("k16.f32.f16.f16", 8, "%rd1", 0, true, "0, 1, 0, 0")),
                    Catch::EndsWith("has the number 0 where it cannot be"));
}

}  // namespace attune::ptx
