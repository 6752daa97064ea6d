#include <catch2/catch.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/folder.h"
#include "tests/tools/program.h"

namespace attune {
namespace {

int count_lines(const std::string& text, const std::string& with) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(with) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("show prints every step from the graph to the machine's instructions", "[command line]") {
  const auto stage = [](const std::string& name) {
    return attune_says({"show", "causal", "--stage", name, "--target", "x86-64-v3", "--set", "depth=64"});
  };
  CHECK(stage("graph") == attune_says({"show", "causal"}));
  CHECK_THAT(stage("graph"), Catch::Contains("= softmax(") && Catch::Contains("real [batch x heads x queries x keys]"));
  CHECK_THAT(stage("mlir"), Catch::Contains("func.func @causal(") && Catch::Contains("attn.mask") && !Catch::Contains("attn.stage"));
  CHECK_THAT(stage("stages"), Catch::Contains("attn.stage") && Catch::Contains("depth=64"));
  CHECK_THAT(stage("loops"), Catch::Contains("for (") && Catch::Contains("attune_causal"));
  CHECK_THAT(stage("assembly"), Catch::Contains("vfmadd") && Catch::Contains("%ymm") && !Catch::Contains("%zmm"));
  CHECK(attune_says({"show", "causal", "--stage", "loops", "--size", "small"}) != attune_says({"show", "causal", "--stage", "loops"}));
}

TEST_CASE("attention computes nothing of blocks that its passes do not visit", "[command line]") {
  std::istringstream variants(attune_says({"list", "variants"}));
  int passes = 0;
  for (std::string line; std::getline(variants, line);) {
    if (line.find(" where ") == std::string::npos) continue;
    const std::string variant = line.substr(0, line.find(' '));
    std::vector<std::string> show = {"show", variant, "--stage", "loops", "--target", "zen5"};
    if (attune_says({"show", variant, "--signature"}).find("value_depth") != std::string::npos)
      show.insert(show.end(), {"--set", "depth=64", "--set", "value_depth=64"});
    std::istringstream loops(attune_says(show));
    CAPTURE(variant);
    // Where a block is refused behind what is computed of it, the loop over rows that changes their state asks.
    for (std::string loop, inside; std::getline(loops, loop);) {
      if (loop.find("for (state.s") == std::string::npos || loop.find(".row-,") == std::string::npos) continue;
      ++passes;
      std::getline(loops, inside);
      CHECK_THAT(inside, !Catch::Contains("if ("));
    }
  }
  CHECK(passes > 40);
}

TEST_CASE("products of bf16 pairs are instructions in every pass over keys", "[command line]") {
  for (const std::string variant : {"scaled_dot_product", "causal"}) {
    const std::string assembly =
        attune_says({"show", variant, "--type", "bf16", "--target", "zen4", "--set", "depth=64", "--set", "value_depth=64", "--stage", "assembly"});
    INFO(variant);
    CHECK(count_lines(assembly, "vdpbf16ps") == 3 * 2 * 16);
    // Of extents that are not known, with a loop for the vectors beyond the last group.
    const std::string of_any = attune_says({"show", variant, "--type", "bf16", "--target", "zen4", "--stage", "assembly"});
    CHECK(count_lines(of_any, "vdpbf16ps") == 3 * (2 * 16 + 4));
  }
}

TEST_CASE("products of layers of bf16 are instructions whose sums stay in registers", "[command line]") {
  const auto assembly = [](const std::string& target) {
    return attune_says({"show", "multi_head", "--type", "bf16", "--target", target, "--set", "model=64", "--stage", "assembly"});
  };
  // Projections of queries, and of keys and values: of a tile of rows whole words four at a time, and of last tiles that are a third of one, or two.
  CHECK(count_lines(assembly("zen4"), "vdpbf16ps") == 2 * (4 * 6 + 4 * 4 + 2 * 4 + 6 * 1 + 6 * 2) * 4);
  const std::string in_tiles = assembly("sapphirerapids-amx");
  constexpr int products = 2, tiles = 4;
  CHECK(count_lines(in_tiles, "tilezero") == products * tiles);
  CHECK(count_lines(in_tiles, "tdpbf16ps") == products * tiles);
  CHECK(count_lines(in_tiles, "tileloadd") == products * tiles);
}

TEST_CASE("products of bf16 in tiles are instructions in every pass over keys, whose sums stay in registers", "[command line]") {
  const auto check_counts = [](const std::string& variant, const std::vector<std::string>& known) {
    std::vector<std::string> words{"show", variant, "--type", "bf16", "--target", "sapphirerapids-amx", "--stage", "assembly"};
    words.insert(words.end(), known.begin(), known.end());
    const std::string assembly = attune_says(words);
    CAPTURE(variant, known);
    constexpr int products = 3 * 2;  // scores and sums of values, in blocks of three sizes
    constexpr int tiles = 4;         // of a product's sums
    CHECK(count_lines(assembly, "tilezero") == products * tiles);
    CHECK(count_lines(assembly, "tdpbf16ps") == products * tiles);
    CHECK(count_lines(assembly, "tileloadd") == products * (1 + tiles));
    CHECK(count_lines(assembly, "tilestored") == products * tiles);
  };
  for (const std::string variant : {"scaled_dot_product", "causal", "soft_cap"}) check_counts(variant, {"--set", "depth=64", "--set", "value_depth=64"});
  check_counts("scaled_dot_product", {});
  const auto explained = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"explain", "scaled_dot_product", "--target", "sapphirerapids-amx"};
    words.insert(words.end(), more.begin(), more.end());
    return attune_says(words);
  };
  const auto refusal = Catch::Contains("since AMX multiplies queries, keys and values that are tensors of bf16");
  CHECK_THAT(explained({"--type", "bf16"}), Catch::Contains("large     amx_online_softmax: ") && !refusal);
  CHECK_THAT(explained({}), Catch::Contains("large     online_softmax: ") && refusal);
}

TEST_CASE("later keys and values are prefetched, each line once", "[command line]") {
  const auto prefetched = [](const std::string& depth, const std::string& type, const std::string& target, const std::vector<std::string>& schedule,
                             const std::string& instruction = "prefetchnta") {
    std::vector<std::string> words{"show",  "grouped_query",        "--type",  type,       "--target", target, "--set", "depth=" + depth,
                                   "--set", "value_depth=" + depth, "--stage", "assembly", "--size"};
    words.insert(words.end(), schedule.begin(), schedule.end());
    return count_lines(attune_says(words), instruction);
  };
  const std::vector<std::string> with{"few", "--schedule", "split_keys,size=few,prefetch=1"},
      without{"few", "--schedule", "split_keys,size=few,prefetch=0"};
  CHECK(prefetched("64", "f32", "x86-64-v4", with) == 4 + 4);  // lines of a key, of a value
  CHECK(prefetched("64", "f32", "x86-64-v3", with) == 4 + 4);
  CHECK(prefetched("128", "f32", "x86-64-v4", with) == 8 + 8);
  CHECK(prefetched("64", "k=bf16,v=bf16", "x86-64-v4", with) == 2 + 2);
  CHECK(prefetched("64", "f32", "x86-64-v4", without) == 0);
  CHECK(prefetched("64", "f32", "zen5", {"few"}) == 4 + 4);  // where the machine's own prefetchers are slower
  CHECK(prefetched("64", "f32", "zen4", {"few"}) == 0);
  // A line of each key of a square; four lines of each query of a group, of six and on zen4 of four, in blocks of 128 and of 64 keys.
  CHECK(prefetched("64", "f32", "x86-64-v4", {"large", "--schedule", "online_softmax,prefetch=1"}) == 8 + 2 * 6 * 4);
  CHECK(prefetched("64", "f32", "x86-64-v4", {"large"}) == 0);
  // Keys into the second-level cache, where more of them can be on their way.
  CHECK(prefetched("64", "f32", "zen4", {"large"}, "prefetcht1") == 8);
  CHECK(prefetched("64", "f32", "zen4", {"large"}) == 2 * 4 * 4);
  CHECK(prefetched("64", "f32", "zen4", {"large", "--schedule", "online_softmax,prefetch=0"}, "prefetcht1") == 0);
}

TEST_CASE("stages that are the same are compiled once", "[command line]") {
  const Folder folder, codes;
  attune_says({"compile", "multi_head", "--target", "x86-64-v4", "--size", "large", "--codes", codes / "", "-o", folder / "kernel"});
  CHECK(codes.size() == 3 + 1);  // queries, which are scaled; keys and values; the layer that joins the heads; attention
}

TEST_CASE("a last tile of few rows multiplies no more than these", "[command line]") {
  std::istringstream lines(attune_says({"show", "multi_head", "--target", "x86-64-v4", "--stage", "assembly", "--size", "large"}));
  std::map<int, int> blocks;  // so many without a jump, by their products
  int products = 0;
  for (std::string line; std::getline(lines, line);) {
    products += line.find("vfmadd") != std::string::npos && line.find("%zmm") != std::string::npos;
    if (!line.starts_with(".LBB")) continue;
    ++blocks[products];
    products = 0;
  }
  for (const int rows : {2, 4, 6}) CHECK(blocks[4 * rows * 4] == 3);  // of three codes of layers, four vectors wide, four steps at once
}

TEST_CASE("a tile of columns of few rows is computed once, also where columns are several dims", "[command line]") {
  const std::string loops = attune_says({"show", "multi_head", "--stage", "loops", "--size", "small", "--target", "x86-64-v3"});
  // the number of a tile of columns has no loop of its own in what a tile computes
  CHECK_THAT(loops, Catch::Contains("produce sums {") && !Catch::Contains("for (sums.s0.jo-") && !Catch::Contains("for (sums.s1.jo-"));
}

TEST_CASE("the memory of products is prefetched, of those between stages, too", "[command line]") {
  const auto prefetched = [](const std::string& schedule) {
    return count_lines(attune_says({"show", "multi_head", "--target", "x86-64-v4", "--stage", "assembly", "--size", "large", "--schedule", schedule}),
                       "prefetcht1");
  };
  CHECK(prefetched("gemm,prefetch=1") >= 3 * 4);  // of three codes of layers, four vectors of a row
  CHECK(prefetched("gemm,prefetch=0") == 0);
}

TEST_CASE("tasks of queries that see more are taken first", "[command line]") {
  const auto is_last_first = [](const std::string& variant) {
    return attune_says({"show", variant, "--target", "x86-64-v4", "--stage", "assembly", "--size", "large"}).find("last_first") != std::string::npos;
  };
  for (const char* variant : {"causal", "prefix_lm"}) CHECK(is_last_first(variant));
  for (const char* variant : {"sinks", "document"}) CHECK_FALSE(is_last_first(variant));
}

TEST_CASE("MLIR text that show prints is a graph that show reads", "[command line]") {
  const Folder folder;
  const std::string text = attune_says({"show", "soft_cap", "--param", "cap=20", "--stage", "mlir"});
  const std::string file = folder.write("soft_cap.mlir", text);
  CHECK(attune_says({"show", file, "--stage", "mlir"}) == text);
}

}  // namespace attune
