/// What the lanes of a warp do together, lane by lane: products and loads of matrices, shuffles, copies behind a thread's back. Which lane has which
/// element is written down as the manual of PTX (ISA 7.0) says it of element i of a fragment.
#include <bit>
#include <random>

#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "tests/ptx/small_kernel.h"

namespace attune::ptx {
namespace {

using Matrix = std::vector<std::vector<float>>;  // rows

/// Small whole numbers: products and their sums are exact.
Matrix random_matrix(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 random(seed);
  Matrix matrix(rows, std::vector<float>(columns));
  for (auto& row : matrix)
    for (float& element : row) element = static_cast<float>(static_cast<int>(random() % 17) - 8);
  return matrix;
}

float product(const Matrix& a, const Matrix& b, const Matrix& c, std::size_t row, std::size_t column) {
  float sum = c[row][column];
  for (std::size_t k = 0; k < b.size(); ++k) sum += a[row][k] * b[k][column];
  return sum;
}

template <class T>
std::uint32_t pair(float low, float high) {
  return T(low).bits | static_cast<std::uint32_t>(T(high).bits) << 16;
}

/// Row and column of element i of a lane.
struct Place {
  std::size_t row, column;
};
Place of_a(std::size_t lane, std::size_t i) { return {i / 2 % 2 == 0 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2 + (i < 4 ? 0 : 8)}; }
Place of_b(std::size_t lane, std::size_t i) { return {lane % 4 * 2 + i % 2 + (i < 2 ? 0 : 8), lane / 4}; }
Place of_c(std::size_t lane, std::size_t i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2}; }
float at(const Matrix& matrix, const Place& place) { return matrix[place.row][place.column]; }

/// Registers %r10 on are loaded from the input, 32 lanes side by side for each.
std::string loaded(int count) {
  std::string text = addresses(4);
  for (int i = 0; i < count; ++i) text += "\tld.global.b32 \t%r" + std::to_string(10 + i) + ", [%rd3+" + std::to_string(128 * i) + "];\n";
  return text;
}
std::string stored(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "\tst.global.b32 \t[%rd4+" + std::to_string(128 * i) + "], %r" + std::to_string(first + i) + ";\n";
  return text;
}

template <class T>
void check_product(const std::string& type) {
  const Matrix a = random_matrix(16, 16, 1), b = random_matrix(16, 8, 2), c = random_matrix(16, 8, 3);
  std::vector<std::uint32_t> in(10 * warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    for (std::size_t r = 0; r < 4; ++r) in[32 * r + lane] = pair<T>(at(a, of_a(lane, 2 * r)), at(a, of_a(lane, 2 * r + 1)));
    for (std::size_t r = 0; r < 2; ++r) in[32 * (4 + r) + lane] = pair<T>(at(b, of_b(lane, 2 * r)), at(b, of_b(lane, 2 * r + 1)));
    for (std::size_t i = 0; i < 4; ++i) in[32 * (6 + i) + lane] = std::bit_cast<std::uint32_t>(at(c, of_c(lane, i)));
  }
  const std::string multiply =
      "\tmma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type +
      ".f32\n\t\t{%r20, %r21, %r22, %r23},\n\t\t{%r10, %r11, %r12, %r13},\n\t\t{%r14, %r15},\n\t\t{%r16, %r17, %r18, %r19};\n";
  const Ran ran = run_block(kernel(loaded(10) + multiply + stored(20, 4)), 32, in);
  CHECK(ran.problem == "");
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t i = 0; i < 4; ++i) {
      const Place place = of_c(lane, i);
      CHECK(std::bit_cast<float>(ran.out[32 * i + lane]) == product(a, b, c, place.row, place.column));
    }
}

/// Input words are copied to shared memory, 32 lanes side by side.
std::string shared_words(int count) {
  std::string text = loaded(count) + "\tshl.b32 \t%r3, %r2, 2;\n";
  for (int i = 0; i < count; ++i) text += "\tst.shared.b32 \t[%r3+" + std::to_string(128 * i) + "], %r" + std::to_string(10 + i) + ";\n";
  return text + "\tbar.sync \t0;\n";
}

/// Of the fragments of both operands and of the sums before, in this order.
std::string product_of_tf32() {
  return kernel(loaded(10) +
                "\tmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32\n\t\t{%r20, %r21, %r22, %r23},\n\t\t{%r10, %r11, %r12, %r13},\n\t\t{%r14, %r15},\n"
                "\t\t{%r16, %r17, %r18, %r19};\n" +
                stored(20, 4));
}

}  // namespace

TEST_CASE("products of matrices in the fragments of a warp are those of whole matrices", "[ptx]") {
  check_product<float16>("f16");
  check_product<bfloat16>("bf16");
}

TEST_CASE("a product of matrices of TF32 is that of whole matrices, and low bits of operands do not count", "[ptx]") {
  const Matrix a = random_matrix(16, 8, 6), b = random_matrix(8, 8, 7), c = random_matrix(16, 8, 8);
  const auto below = [](float x) { return std::bit_cast<std::uint32_t>(x) | 0x1fffU; };
  std::vector<std::uint32_t> in(10 * warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    for (std::size_t r = 0; r < 4; ++r) in[32 * r + lane] = below(a[lane / 4 + 8 * (r % 2)][lane % 4 + 4 * (r / 2)]);
    for (std::size_t r = 0; r < 2; ++r) in[32 * (4 + r) + lane] = below(b[lane % 4 + 4 * r][lane / 4]);
    for (std::size_t i = 0; i < 4; ++i) in[32 * (6 + i) + lane] = std::bit_cast<std::uint32_t>(at(c, of_c(lane, i)));
  }
  const Ran ran = run_block(product_of_tf32(), 32, in);
  CHECK(ran.problem == "");
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(std::bit_cast<float>(ran.out[32 * i + lane]) == product(a, b, c, of_c(lane, i).row, of_c(lane, i).column));
}

TEST_CASE("sums of a product of TF32 are rounded towards zero", "[ptx]") {
  const auto sum_of = [](float c, float small) {
    std::vector<std::uint32_t> in(10 * warp_size);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      for (std::size_t r = 0; r < 4; ++r) in[32 * r + lane] = std::bit_cast<std::uint32_t>(small);
      for (std::size_t r = 0; r < 2; ++r) in[32 * (4 + r) + lane] = std::bit_cast<std::uint32_t>(r == 0 && lane % 4 == 0 ? 1.0F : 0.0F);
      for (std::size_t i = 0; i < 4; ++i) in[32 * (6 + i) + lane] = std::bit_cast<std::uint32_t>(c);
    }
    const Ran ran = run_block(product_of_tf32(), 32, in);
    CHECK(ran.problem == "");
    return std::bit_cast<float>(ran.out[0]);
  };
  CHECK(sum_of(1, 3 * 0x1p-25F) == 1);
  CHECK(sum_of(-1, -3 * 0x1p-25F) == -1);
  CHECK(sum_of(1, 5 * 0x1p-24F) == 1 + 0x1p-22F);
  CHECK(sum_of(std::numeric_limits<float>::infinity(), 1) == std::numeric_limits<float>::infinity());
}

TEST_CASE("matrices are loaded from shared memory as their lanes name rows, as they stand or transposed", "[ptx]") {
  // Half h of shared memory is h; lane l names the 16 bytes from 16 (l ^ 5) on: row r of matrix n begins at half 8 ((8 n + r) ^ 5).
  std::vector<std::uint32_t> in(4 * warp_size);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = 2 * i | (2 * i + 1) << 16;
  const std::string begin = shared_words(4) + "\txor.b32 \t%r4, %r2, 5;\n\tshl.b32 \t%r4, %r4, 4;\n";
  for (const bool is_transposed : {false, true})
    for (const std::uint32_t count : {2U, 4U}) {
      const std::string name = "\tldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (is_transposed ? ".trans" : "") + ".shared.b16 ";
      const Ran ran = run_block(
          kernel(begin + name + (count == 2 ? "{%r20, %r21}" : "{%r20, %r21, %r22, %r23}") + ", [%r4];\n" + stored(20, static_cast<int>(count)),
                 shared_array),
          32, in);
      CHECK(ran.problem == "");
      CHECK(ran.counts.bank_conflicts == 0);
      for (std::uint32_t n = 0; n < count; ++n)
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          const auto element = [&](std::uint32_t row, std::uint32_t column) { return 8 * ((8 * n + row) ^ 5U) + column; };
          const std::uint32_t i = lane / 4, j = lane % 4 * 2;
          CHECK(ran.out[32 * n + lane] == (is_transposed ? element(j, i) | element(j + 1, i) << 16 : element(i, j) | element(i, j + 1) << 16));
        }
    }
}

TEST_CASE("rows of matrices that begin in the same banks are conflicts", "[ptx]") {
  const auto conflicts = [](int row_bytes) {
    std::string text = "\tmul.lo.s32 \t%r3, %r2, " + std::to_string(row_bytes) + ";\n";
    text += "\tmov.b32 \t%r4, 0;\n\tst.shared.v4.b32 \t[%r3], {%r4, %r4, %r4, %r4};\n\tbar.sync \t0;\n";
    const std::string load = "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r3];\n";
    const Ran ran = run_block(kernel(text + load, shared_array), 32, 1);
    CHECK(ran.problem == "");
    const auto found = ran.counts.conflicts_of.find("ldmatrix.sync.aligned.m8n8.x4.shared.b16");
    return found == ran.counts.conflicts_of.end() ? 0 : found->second;
  };
  CHECK(conflicts(16) == 0);
  CHECK(conflicts(16 + 64) == 0);
  CHECK(conflicts(128) == 4 * 7);
  CHECK(conflicts(64) == 4 * 3);
}

TEST_CASE("a product of matrices that stand by rows in shared memory", "[ptx]") {
  // a: 16 rows of 32 bytes; b behind it, 16 rows of 16 bytes, loaded transposed, since a fragment of it runs along k.
  const Matrix a = random_matrix(16, 16, 4), b = random_matrix(16, 8, 5), none(16, std::vector<float>(8));
  std::vector<std::uint32_t> in(7 * warp_size);
  for (std::size_t i = 0; i < 128; ++i) in[i] = pair<float16>(a[i / 8][2 * (i % 8)], a[i / 8][2 * (i % 8) + 1]);
  for (std::size_t i = 0; i < 64; ++i) in[128 + i] = pair<float16>(b[i / 4][2 * (i % 4)], b[i / 4][2 * (i % 4) + 1]);
  // Matrices of a: rows 0 to 7 and 8 to 15 at columns 0 to 7, then the same at columns 8 to 15.
  const std::string text =
      shared_words(7) +
      "\tand.b32 \t%r4, %r2, 15;\n\tshl.b32 \t%r4, %r4, 5;\n\tand.b32 \t%r5, %r2, 16;\n\tadd.s32 \t%r4, %r4, %r5;\n"
      "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r4];\n"
      "\tand.b32 \t%r5, %r2, 15;\n\tshl.b32 \t%r5, %r5, 4;\n\tldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r24, %r25}, [%r5+512];\n"
      "\tmov.b32 \t%r6, 0f00000000;\n\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r26, %r27, %r28, %r29}, {%r20, %r21, %r22, %r23}, {%r24, "
      "%r25}, "
      "{%r6, %r6, %r6, %r6};\n" +
      stored(26, 4);
  const Ran ran = run_block(kernel(text, shared_array), 32, in);
  CHECK(ran.problem == "");
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(std::bit_cast<float>(ran.out[32 * i + lane]) == product(a, b, none, of_c(lane, i).row, of_c(lane, i).column));
}

TEST_CASE("lanes get each other's registers, within their segments", "[ptx]") {
  const auto shuffled = [](const std::string& operands) {
    const Ran ran = run_block(kernel(addresses(4) + "\tshfl.sync." + operands + ";\n\tst.global.b32 \t[%rd4], %r3;\n"), 32, 32);
    CHECK(ran.problem == "");
    return ran.out;
  };
  const auto butterfly = shuffled("bfly.b32 \t%r3, %r2, 2, 31, -1"), down = shuffled("down.b32 \t%r3, %r2, 3, 31, -1"),
             index = shuffled("idx.b32 \t%r3, %r2, 5, 31, -1");
  // 7171 = 0x1c03: segments of four lanes, whose last is the third beyond its first.
  const auto first_of_four = shuffled("idx.b32 \t%r3, %r2, 0, 7171, -1"), down_in_four = shuffled("down.b32 \t%r3, %r2, 1, 7171, -1");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    CHECK(butterfly[lane] == (lane ^ 2U));
    CHECK(down[lane] == (lane + 3 < 32 ? lane + 3 : lane));
    CHECK(index[lane] == 5);
    CHECK(first_of_four[lane] == lane / 4 * 4);
    CHECK(down_in_four[lane] == (lane % 4 < 3 ? lane + 1 : lane));
  }
}

TEST_CASE("an instruction of a whole warp that some lanes do not execute is a fault", "[ptx]") {
  const std::string some = "\tsetp.gt.u32 \t%p1, %r2, 9;\n\t@%p1 ";
  CHECK_THAT(run_block(kernel(some + "shfl.sync.bfly.b32 \t%r3, %r2, 1, 31, -1;\n"), 32, 1).problem,
             Catch::Contains("thread (10, 0, 0)") && Catch::EndsWith("is executed by other lanes than its mask says"));
  CHECK(run_block(kernel(some + "shfl.sync.bfly.b32 \t%r3, %r2, 1, 31, -1024;\n"), 32, 1).problem == "");
  CHECK(run_block(kernel("\tbar.warp.sync \t-1;\n"), 32, 1).problem == "");
  CHECK_THAT(run_block(kernel(some + "bar.warp.sync \t-1;\n"), 32, 1).problem, Catch::EndsWith("is executed by other lanes than its mask says"));
  CHECK_THAT(run_block(kernel(some + "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [tile];\n", shared_array), 32, 1).problem,
             Catch::EndsWith("is executed by some lanes of the warp, and all have to"));
}

TEST_CASE("a barrier of a warp orders what its threads do to shared memory, and not what those of other warps do", "[ptx]") {
  const auto problem = [](const std::string& between, const std::string& other, const std::string& more = "") {
    const std::string text = "\tshl.b32 \t%r3, %r2, 2;\n\tst.shared.b32 \t[%r3], %r2;\n" + between + "\t" + other +
                             ";\n\tld.shared.b32 \t%r5, [%r4];\n" + more;
    return run_block(kernel(addresses(4) + text, shared_array), 64, 64).problem;
  };
  const std::string of_warp = "\tbar.warp.sync \t-1;\n", of_block = "\tbar.sync \t0;\n", of_own_warp = "xor.b32 \t%r4, %r3, 4",
                    of_first_warp = "and.b32 \t%r4, %r3, 124";  // which reads its own, and whose bytes the second one reads
  const auto writes = Catch::EndsWith("writes, with no barrier between"), reads = Catch::EndsWith("reads, with no barrier between");
  CHECK_THAT(problem("", of_own_warp), writes);
  CHECK(problem(of_warp, of_own_warp) == "");
  CHECK_THAT(problem(of_warp, of_first_warp), writes);
  CHECK(problem(of_block, of_first_warp) == "");
  const std::string write = "\tst.shared.b32 \t[%r3], %r5;\n";
  CHECK_THAT(problem(of_warp, of_own_warp, write), reads);
  CHECK(problem(of_warp, of_own_warp, of_warp + write) == "");
  CHECK_THAT(problem(of_block, of_first_warp, of_warp + write), writes);
}

TEST_CASE("copies to shared memory fill with zeros, and are there behind a wait and a barrier", "[ptx]") {
  // Thread t copies 16 bytes, of which it reads 4 t at most; the next thread reads them.
  const auto copied = [](const std::string& between, const std::string& more = "") {
    const std::string text =
        addresses(16) +
        "\tshl.b32 \t%r3, %r2, 4;\n\tshl.b32 \t%r4, %r2, 2;\n\tcp.async.cg.shared.global [%r3], [%rd3], 16, %r4;\n\tcp.async.commit_group;\n" + more +
        between +
        "\txor.b32 \t%r3, %r3, 16;\n\tld.shared.v4.b32 \t{%r5, %r6, %r7, %r8}, [%r3];\n\tst.global.v4.b32 \t[%rd4], {%r5, %r6, %r7, %r8};\n";
    std::vector<std::uint32_t> in(64);
    std::iota(in.begin(), in.end(), 1U);
    return run_block(kernel(text, shared_array), 4, in);
  };
  const std::string wait = "\tcp.async.wait_group \t0;\n", barrier = "\tbar.sync \t0;\n";
  const Ran ran = copied(wait + barrier);
  CHECK(ran.problem == "");
  CHECK(ran.counts.global_accesses == 2);
  for (std::uint32_t t = 0; t < 4; ++t)
    for (std::uint32_t i = 0; i < 4; ++i) CHECK(ran.out[4 * t + i] == (i < (t ^ 1U) ? 4 * (t ^ 1U) + i + 1 : 0));
  CHECK_THAT(copied(barrier).problem, Catch::EndsWith("of shared memory, which thread (1, 0, 0) copies to, and has not waited for"));
  CHECK_THAT(copied(wait).problem, Catch::EndsWith("of shared memory, which thread (1, 0, 0) writes, with no barrier between"));
  CHECK_THAT(copied("\tcp.async.wait_group \t1;\n" + barrier).problem, Catch::EndsWith("copies to, and has not waited for"));
  const std::string later = "\tcp.async.ca.shared.global [%r3+64], [%rd1], 8;\n\tcp.async.commit_group;\n";
  CHECK(copied("\tcp.async.wait_group \t1;\n" + barrier, later).problem == "");
  CHECK_THAT(copied("\tld.shared.b32 \t%r5, [%r3];\n").problem,
             Catch::Contains("thread (0, 0, 0)") && Catch::EndsWith("thread (0, 0, 0) copies to, and has not waited for"));
}

TEST_CASE("a copy to what others read since the last barrier, from outside of arrays or to a place that is not aligned is a fault", "[ptx]") {
  const std::string begin = "\tmov.b32 \t%r3, 0;\n\tst.shared.v4.b32 \t[tile], {%r3, %r3, %r3, %r3};\n";
  const auto problem = [&](const std::string& text, std::uint32_t threads) {
    return run_block(kernel(addresses(16) + text, shared_array), threads, 64).problem;
  };
  const std::string read =
      "\tsetp.eq.b32 \t%p1, %r2, 0;\n\t@%p1 mov.b32 \t%r3, 0;\n\t@%p1 st.shared.b32 \t[tile], %r3;\n\tbar.sync \t0;\n\t@!%p1 ld.shared.b32 \t%r3, "
      "[tile];\n";
  CHECK_THAT(problem(read + "\t@%p1 cp.async.cg.shared.global [tile], [%rd3], 16;\n", 2),
             Catch::EndsWith("which thread (1, 0, 0) reads, with no barrier between"));
  CHECK(problem(begin + "\tcp.async.cg.shared.global [tile], [%rd3], 16;\n", 1) == "");
  CHECK_THAT(problem("\tcp.async.cg.shared.global [tile], [%rd3+248], 16;\n", 1), Catch::EndsWith("is no multiple of 16 bytes"));
  CHECK_THAT(problem("\tcp.async.cg.shared.global [tile+8], [%rd3], 16;\n", 1), Catch::EndsWith("the address 8 is no multiple of 16 bytes"));
  CHECK_THAT(problem("\tcp.async.cg.shared.global [tile], [%rd3+256], 16;\n", 1),
             Catch::EndsWith("touches 16 bytes of global memory that no array holds"));
  CHECK(problem("\tmov.b32 \t%r3, 0;\n\tcp.async.cg.shared.global [tile], [%rd3+256], 16, %r3;\n", 1) == "");
  CHECK_THROWS_WITH(problem("\tcp.async.cg.shared.global [tile], [%rd3], 8;\n", 1), Catch::EndsWith("copies no such number of bytes"));
}

}  // namespace attune::ptx
