#include <catch2/catch.hpp>

#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

Words mask_of(const std::string& variant, Words more) {
  Words words{"show", variant, "--mask", "--target", "x86-64-v3"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string drawing_of(const std::string& said) { return said.substr(said.find(" |")); }

}  // namespace

TEST_CASE("show draws a mask, and the blocks that its schedule visits", "[command line]") {
  const std::string causal = attune_says(mask_of("causal", {"--shape", "queries=5,keys=7"}));
  CHECK_THAT(causal, Catch::StartsWith("causal\n\nthe same along batch, heads\n15 of 35 pairs visible (42.9 %)\n"));
  CHECK(drawing_of(causal) == " |#......|\n1 |##.....|\n2 |###....|\n3 |####...|\n4 |#####..|\n");
  const std::string window = attune_says(mask_of("sliding_window", {"--param", "window=40", "--shape", "batch=1,heads=1,queries=129,keys=129"}));
  CHECK_THAT(window, Catch::Contains("4380 of 16641 pairs visible (26.3 %)") && Catch::Contains("online_softmax for large calls: ") &&
                         Catch::Contains("   |\n"));
  // The figures are those of explain.
  const std::string blocks = window.substr(window.find("calls: ") + 7), count = blocks.substr(0, blocks.find(" blocks"));
  CHECK_THAT(
      attune_says({"explain", "sliding_window", "--target", "x86-64-v3", "--param", "window=40", "--shape", "batch=1,heads=1,queries=129,keys=129"}),
      Catch::Contains("blocks      " + count + " visited"));
}

TEST_CASE("show draws the masks of given inputs, one for each place that is asked for", "[command line]") {
  const Folder folder;
  const std::vector<std::int64_t> lengths{3, 1, 3};
  REQUIRE(write_npy(folder / "lengths.npy", NpyArray::of<std::int64_t>({3}, lengths)));
  const Words given{"--shape", "batch=3,queries=2,keys=4", "--in", "lengths=" + (folder / "lengths.npy").string()};
  const auto padded = [&](const std::string& places) {
    Words words = mask_of("padded", given);
    if (!places.empty()) words.insert(words.end(), {"--at", places});
    return words;
  };
  CHECK(drawing_of(attune_says(padded(""))) == " |###.|\n1 |###.|\n");
  CHECK_THAT(attune_says(padded("batch=1,heads=2")), Catch::Contains("\nbatch 1; the same along heads\n") && Catch::EndsWith("0 |#...|\n1 |#...|\n"));
  const std::string all = attune_says(padded("all"));
  CHECK_THAT(all, Catch::Contains("\nbatch 0; ") && Catch::Contains("\nbatch 1; ") && !Catch::Contains("\nbatch 2; "));
  for (const auto& [places, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"batch=3", "--at batch=3: there are 3 positions; 0 to 2 are right"},
           {"depth=0", "--at depth=0: no masked scores have the dim 'depth'; beside queries and keys they have batch, heads"},
           {"batch", "--at: 'batch' is not 'all' or DIM=INDEX with an index from 0 to 2147483647"}}) {
    const Ran ran = run_attune(padded(places));
    CHECK(ran.status == 2);
    CHECK(ran.err == "attune: " + sentence + "\n");
  }
}

TEST_CASE("show says of a variant without a mask that it has none", "[command line]") {
  const std::string sentence = "soft_cap (cap=30,causal=false,scores=none): has no mask: no predicate hides a key of a softmax";
  CHECK(attune_says({"show", "soft_cap", "--mask"}) == sentence + "\n");
  const Ran ran = run_attune({"show", "soft_cap", "--mask", "--out", "mask.png"});
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: --out mask.png: nothing is drawn: " + sentence + "\n");
}

TEST_CASE("wrong options of a mask's picture are refused", "[command line]") {
  for (const auto& [words, sentence] : std::vector<std::pair<Words, std::string>>{
           {{"show", "causal", "--out", "x.png"}, "--out: is for the mask; --mask shows it"},
           {{"show", "causal", "--mask", "--stage", "mlir"}, "--mask: is shown instead of --stage mlir; one of them is right"},
           {{"show", "causal", "--mask", "--signature"}, "--mask: is shown instead of --signature; one of them is right"},
           {{"show", "causal", "--mask", "--shape", "keys=0"}, "--shape keys=0: leaves no pairs to draw; at least 1 is right"},
           {{"show", "causal", "--mask", "--shape", "queries=100000,keys=100000"}, "--shape: 100000 x 100000 pairs are too many to draw; up to 4294967296 are drawn"},
           {{"show", "causal", "--mask", "--out", "/dev/null/x.png"}, "--out '/dev/null/x.png': cannot be written: "}}) {
    const Ran ran = run_attune(words);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.err, Catch::StartsWith("attune: " + sentence));
  }
}

}  // namespace attune
