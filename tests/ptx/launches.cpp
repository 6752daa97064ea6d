/// Small kernels by hand: what they give, what is counted, and the faults that are found.
#include <catch2/catch.hpp>

#include "tests/ptx/small_kernel.h"

namespace attune::ptx {
namespace {

const std::string copied = "\tsetp.ge.u32 \t%p1, %r2, %r1;\n\t@%p1 bra \t$L__BB0_1;\n" + addresses(4) +
                           "\tld.global.nc.b32 \t%r3, [%rd3];\n\tst.global.b32 \t[%rd4], %r3;\n$L__BB0_1:\n";

/// Through shared memory, in the opposite order; `between` stands where a barrier belongs.
std::string turned(const std::string& between) {
  return addresses(4) + "\tshl.b32 \t%r4, %r2, 2;\n\tld.global.b32 \t%r3, [%rd3];\n\tmov.b32 \t%r5, tile;\n\tadd.s32 \t%r6, %r5, %r4;\n\tst.shared.b32 \t[%r6], %r3;\n" + between +
         "\tsub.s32 \t%r7, 252, %r4;\n\tadd.s32 \t%r7, %r5, %r7;\n\tld.shared.b32 \t%r3, [%r7];\n\tst.global.b32 \t[%rd4], %r3;\n";
}

}  // namespace

TEST_CASE("threads copy elements, and each sector that a warp touches counts once", "[ptx]") {
  const Ran ran = run_block(kernel(copied), 64, 40);
  CHECK(ran.problem == "");
  for (std::uint32_t i = 0; i < 40; ++i) CHECK(ran.out[i] == i);
  CHECK(ran.counts.instructions.at("ld.global.nc.b32") == 2);
  CHECK(ran.counts.global_accesses == 4);
  CHECK(ran.counts.global_sectors == 2 * (4 + 1));  // 32 elements of 4 bytes, and 8
  const Ran apart = run_block(kernel(addresses(32) + "\tld.global.b32 \t%r3, [%rd3];\n"), 32, 256);
  CHECK(apart.problem == "");
  CHECK(apart.counts.global_sectors == 32);
  const Ran wide = run_block(kernel(addresses(16) + "\tld.global.v4.b32 \t{%r3, %r4, %r5, %r6}, [%rd3];\n\tst.global.v4.b32 \t[%rd4], {%r3, %r4, %r5, %r6};\n"), 32, 128);
  CHECK(wide.problem == "");
  CHECK(wide.out[127] == 127);
  CHECK(wide.counts.global_sectors == 2 * 16);
}

TEST_CASE("lanes that went apart come together again", "[ptx]") {
  const std::string parted = "\tand.b32 \t%r3, %r2, 1;\n\tsetp.eq.b32 \t%p1, %r3, 0;\n\t@%p1 bra \t$L__BB0_1;\n\tmov.b32 \t%r4, 100;\n\tbra.uni \t$L__BB0_2;\n"
                             "$L__BB0_1:\n\tmov.b32 \t%r4, 200;\n$L__BB0_2:\n\tadd.s32 \t%r4, %r4, %r2;\n" +
                             addresses(4) + "\t@!%p1 st.global.b32 \t[%rd4], %r4;\n\t@%p1 st.global.b32 \t[%rd4], %r4;\n";
  const Ran ran = run_block(kernel(parted), 32, 32);
  CHECK(ran.problem == "");
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(ran.out[i] == (i % 2 == 0 ? 200 : 100) + i);
  CHECK(ran.counts.instructions.at("mov.b32") == 2);
  CHECK(ran.counts.instructions.at("add.s32") == 1);
  CHECK(ran.counts.instructions.at("st.global.b32") == 2);
}

TEST_CASE("an access outside of arrays, of what nobody wrote, or that is not aligned is a fault", "[ptx]") {
  const Ran outside = run_block(kernel(addresses(4) + "\tld.global.b32 \t%r3, [%rd3];\n"), 64, 40);
  CHECK(outside.problem == "kernel 'k', block (0, 0, 0), thread (40, 0, 0), line 23: 'ld.global.b32 \t%r3, [%rd3];' touches 4 bytes of global memory that no array holds");
  CHECK_THAT(run_block(kernel(copied), 64, 40, false).problem, Catch::EndsWith("reads byte 0 of an array of global memory, which nobody wrote"));
  CHECK_THAT(run_block(kernel(addresses(4) + "\tst.global.b32 \t[%rd4+2], %r2;\n"), 1, 40).problem, Catch::EndsWith("is no multiple of 4 bytes"));
  CHECK_THAT(run_block(kernel("\tst.shared.b32 \t[4096], %r2;\n", shared_array), 1, 1).problem, Catch::EndsWith("touches byte 4096 of shared memory, of which the block has 4096"));
  CHECK_THAT(run_block(kernel("\tld.shared.b32 \t%r3, [8];\n", shared_array), 1, 1).problem, Catch::EndsWith("reads byte 8 of shared memory, which nobody wrote"));
  const std::string local = "\t.local .align 4 .b8 own[8];\n";
  CHECK(run_block(kernel("\tmov.b32 \t%r3, own;\n\tst.local.b32 \t[%r3+4], %r2;\n\tld.local.b32 \t%r4, [%r3+4];\n", local), 64, 1).problem == "");
  CHECK_THAT(run_block(kernel("\tld.local.b32 \t%r3, [own];\n", local), 1, 1).problem, Catch::EndsWith("reads byte 0 of local memory, which it did not write"));
  CHECK_THAT(run_block(kernel("\tst.local.b32 \t[own+8], %r2;\n", local), 1, 1).problem, Catch::EndsWith("touches byte 8 of local memory, of which a thread has 8"));
}

TEST_CASE("what nobody wrote is not copied to the host", "[ptx]") {
  DeviceMemory memory;
  const std::uint64_t address = memory.allocate(8);
  std::uint64_t number = 7;
  CHECK(!memory.read(address, &number, 4));
  CHECK(memory.write(address, &number, 4));
  CHECK(memory.read(address, &number, 4));
  CHECK(!memory.read(address, &number, 8));
  CHECK(memory.write(address + 4, &number, 4));
  CHECK(memory.read(address, &number, 8));
  CHECK(number == 7 + (std::uint64_t{7} << 32));
  CHECK(!memory.read(address, &number, 9));
  CHECK(memory.free(address));
  CHECK(!memory.read(address, &number, 4));
}

TEST_CASE("threads that touch a byte of shared memory with no barrier between are a fault", "[ptx]") {
  const Ran right = run_block(kernel(turned("\tbar.sync \t0;\n"), shared_array), 64, 64);
  CHECK(right.problem == "");
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(right.out[i] == 63 - i);
  CHECK(right.counts.instructions.at("bar.sync") == 2);
  CHECK_THAT(run_block(kernel(turned(""), shared_array), 32, 64).problem, Catch::Contains("reads byte 252 of shared memory, which nobody wrote"));
  const std::string raced = run_block(kernel(turned("\tst.shared.b32 \t[%r6+128], %r3;\n"), shared_array), 32, 64).problem;
  CHECK_THAT(raced, Catch::Contains("thread (0, 0, 0)") && Catch::EndsWith("touches byte 252 of shared memory, which thread (31, 0, 0) writes, with no barrier between"));
  const std::string all_write = run_block(kernel("\tst.shared.b32 \t[tile], %r2;\n", shared_array), 2, 1).problem;
  CHECK_THAT(all_write, Catch::Contains("thread (1, 0, 0)") && Catch::EndsWith("touches byte 0 of shared memory, which thread (0, 0, 0) writes, with no barrier between"));
  const std::string read_first = "\tst.shared.b32 \t[tile], %r2;\n\tbar.sync \t0;\n\tld.shared.b32 \t%r3, [tile];\n\tst.shared.b32 \t[tile], %r3;\n";
  CHECK(run_block(kernel(read_first, shared_array), 1, 1).problem == "");
}

TEST_CASE("a register that a thread reads before it sets it is a fault", "[ptx]") {
  CHECK_THAT(run_block(kernel("\tadd.s32 \t%r3, %r4, 1;\n"), 1, 1).problem, Catch::EndsWith("'add.s32 \t%r3, %r4, 1;' reads a register that the thread never set"));
  const std::string some = "\tsetp.gt.u32 \t%p1, %r2, 9;\n\t@%p1 mov.b32 \t%r3, 1;\n\tadd.s32 \t%r4, %r3, 1;\n";
  CHECK_THAT(run_block(kernel(some), 32, 1).problem, Catch::Contains("thread (0, 0, 0)") && Catch::EndsWith("reads a register that the thread never set"));
}

TEST_CASE("a barrier that some threads end without is a fault", "[ptx]") {
  const std::string some = "\tsetp.gt.u32 \t%p1, %r2, 9;\n\t@%p1 bra \t$L__BB0_1;\n\tbar.sync \t0;\n$L__BB0_1:\n";
  CHECK(run_block(kernel(some), 10, 1).problem == "");
  CHECK_THAT(run_block(kernel(some), 64, 1).problem, Catch::Contains("'bar.sync \t0;'") && Catch::EndsWith("thread (10, 0, 0) ends without this barrier"));
}

TEST_CASE("lanes that want different words of a bank of shared memory are conflicts", "[ptx]") {
  const auto conflicts = [](int stride, const std::string& store) {
    const Ran ran = run_block(kernel("\tmul.lo.s32 \t%r3, %r2, " + std::to_string(stride) + ";\n" + store, shared_array), 32, 1);
    CHECK(ran.problem == "");
    return ran.counts.bank_conflicts;
  };
  CHECK(conflicts(4, "\tst.shared.b32 \t[%r3], %r2;\n") == 0);
  CHECK(conflicts(8, "\tst.shared.b32 \t[%r3], %r2;\n") == 1);
  CHECK(conflicts(128, "\tst.shared.b32 \t[%r3], %r2;\n") == 31);
  CHECK(conflicts(16, "\tst.shared.v4.b32 \t[%r3], {%r2, %r2, %r2, %r2};\n") == 0);
  CHECK(conflicts(32, "\tst.shared.v4.b32 \t[%r3], {%r2, %r2, %r2, %r2};\n") == 4);
}

}  // namespace attune::ptx
