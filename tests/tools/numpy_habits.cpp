// Arrays as NumPy's users have them, saved by numpy.save and taken by attune run.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// Files of q, k, v and mask for the variant `masked`, saved by NumPy, and the kernel.
struct Masked {
  Folder folder;
  std::string kernel = folder / "masked.so";

  Masked() {
    attune_says({"compile", "masked", "--shared", "--size", "tiny", "-o", folder / "."});
    const std::string path = folder / "";
    const Ran ran = run_program({ATTUNE_PYTHON, "-c", R"(
import sys, numpy as np
folder = sys.argv[1]
save = lambda name, x: np.save(folder + name, x)
r = np.random.default_rng(1)
q, k, v = (r.standard_normal((1, 2, n, 8)) for n in (5, 7, 7))
mask = r.random((1, 5, 7)) < 0.6
f = lambda x: x.astype(np.float32)
save('q', f(q)); save('k', f(k)); save('v', f(v)); save('mask', mask)
save('q64', q); save('k_fortran', np.asfortranarray(f(k))); save('v_big', f(v).astype('>f4'))
save('v_view', f(v).swapaxes(1, 2).copy().swapaxes(1, 2))
save('mask_u8', mask.astype(np.uint8)); save('mask_i64', np.asfortranarray(mask.astype(np.int64)))
save('mask_2', mask.astype(np.uint8) * 2); save('mask_f', f(mask)); save('q_complex', q + 0j); save('q_text', np.array(['a', 'b']))
save('q_object', np.array([None])); save('q_huge', q * 1e300)
)", path});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
  }

  std::string at(const std::string& name) const { return folder / (name + ".npy").c_str(); }

  Words call(const std::string& q, const std::string& k, const std::string& v, const std::string& mask) const {
    return {"run", kernel, "--in", "q=" + at(q), "--in", "k=" + at(k), "--in", "v=" + at(v), "--in", "mask=" + at(mask)};
  }

  /// The bytes of the result, and what was said on stderr.
  std::vector<std::byte> result(Words words, std::string& said) const {
    words.insert(words.end(), {"--out", "out=" + at("out")});
    const Ran ran = run_attune(words);
    said = ran.err;
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(ran.out.empty());
    return read_npy(at("out"))->data;
  }
};

}  // namespace

TEST_CASE("arrays as NumPy's users have them give the same as f32 in C order", "[command line]") {
  const Masked files;
  std::string said;
  const auto expected = files.result(files.call("q", "k", "v", "mask"), said);
  CHECK(said.empty());
  for (const char* mask : {"mask_u8", "mask_i64"})
    for (const char* v : {"v_big", "v_view"}) {
      CHECK(files.result(files.call("q", "k_fortran", v, mask), said) == expected);
      CHECK(said.empty());
    }
  CHECK(files.result(files.call("q64", "k", "v", "mask"), said) == expected);
  CHECK(said == "attune: note: '" + files.at("q64") + "': 80 of 80 numbers are rounded to f32 for input 'q' of kernel 'masked'\n");
}

TEST_CASE("arrays that lose something are refused in one sentence", "[command line]") {
  const Masked files;
  const auto refusal = [&](const Words& words) {
    const Ran ran = run_attune(words);
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    return ran.err;
  };
  using Catch::Contains;
  CHECK_THAT(refusal(files.call("q", "k", "v", "mask_2")), Contains("is 2; input 'mask' of kernel 'masked' takes boolean, from 0 to 1"));
  CHECK_THAT(refusal(files.call("q", "k", "v", "mask_f")), Contains("mask_f.npy': holds f32; input 'mask' of kernel 'masked' takes boolean"));
  CHECK_THAT(refusal(files.call("mask", "k", "v", "mask")), Contains("holds boolean; input 'q' of kernel 'masked' takes f32"));
  CHECK_THAT(refusal(files.call("q_complex", "k", "v", "mask")), Contains("element type '<c16' is not supported; f32, f64, "));
  CHECK_THAT(refusal(files.call("q_text", "k", "v", "mask")), Contains("element type '<U1' is not supported; f32, f64, "));
  CHECK_THAT(refusal(files.call("q_object", "k", "v", "mask")), Contains("element type '|O' is not supported; f32, f64, "));
  CHECK_THAT(refusal(files.call("q_huge", "k", "v", "mask")), Contains("takes f32, where that is infinite"));
}

TEST_CASE("run without --out says what each result holds", "[command line]") {
  const Masked files;
  const std::string line = R"(^out: f32 \[1 x 2 x 5 x 8\], -?[0-9.]+ to [0-9.]+, mean -?[0-9.]+, 0 NaN, 0 infinite\n$)";
  CHECK_THAT(attune_says(files.call("q", "k", "v", "mask")), Catch::Matches(line.substr(1, line.size() - 2)));
  Words interpreted = files.call("q64", "k_fortran", "v", "mask_u8");
  interpreted[1] = "masked";
  interpreted.emplace_back("--interpret");
  CHECK_THAT(attune_says(interpreted), Catch::StartsWith("out: f64 [1 x 2 x 5 x 8], "));
}

}  // namespace attune
