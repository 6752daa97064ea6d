/// Variants whose keys and values lie in caches, pages, packed rows or short vectors, against plain loops over the same numbers by heads.
#include "dsl/variants.h"
#include "tests/dsl/by_heads.h"

namespace attune {
namespace {

/// The array of these extents whose elements `element(index)` gives.
template <class Element>
Array arranged(std::vector<Size> extents, Element element) {
  Array x = plain::zeros(extents);
  std::vector<Size> index(extents.size());
  for (double& value : x.data) {
    value = element(index);
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == extents[d];) index[d] = 0;
  }
  return x;
}
using Place = const std::vector<Size>&;

/// [a, b, c, d] as [a, b, 1, c, d].
Array with_group(Array x) {
  x.extents.insert(x.extents.begin() + 2, 1);
  return x;
}
/// [1, heads, tokens, width] as [tokens, heads, width].
Array packed(const Array& x) {
  return arranged({x.extents[2], x.extents[1], x.extents[3]}, [&](Place i) { return at(x, {0, i[1], i[0], i[2]}); });
}

}  // namespace

TEST_CASE("cached writes new rows to its caches and sees them and what stands before, by steps as at once", "[variants]") {
  // a sequence in steps of 3, 1 and 1 tokens over one cache, whose other rows are poison
  const Size tokens = 5, capacity = 7;
  const Arrays all = by_heads(tokens, tokens);
  for (const Size window : {0, 2}) {
    const Array wanted = expected(all, where([&](Size, Size i, Size j) { return j <= i && (window == 0 || i - j < window); })).out;
    Array k_cache = arranged({batch, heads, capacity, depth}, [](Place) { return 1e6; });
    Array v_cache = arranged({batch, heads, capacity, value_depth}, [](Place) { return 1e6; });
    Size first = 0;
    for (const Size count : {3, 1, 1}) {
      const auto rows = [&](const Array& x) {
        return arranged({batch, heads, count, x.extents[3]}, [&](Place i) { return at(x, {i[0], i[1], first + i[2], i[3]}); });
      };
      const Arrays inputs = {{"q", with_group(rows(all.at("q")))},
                             {"k", rows(all.at("k"))},
                             {"v", rows(all.at("v"))},
                             {"k_cache", k_cache},
                             {"v_cache", v_cache},
                             {"position", array({batch}, std::vector<double>(batch, static_cast<double>(first)))}};
      const Arrays got = outputs_of(build(Cached{.window = window}), inputs);
      check_close(got.at("out"), with_group(rows(wanted)), allowed);
      k_cache = got.at("k_cache");
      v_cache = got.at("v_cache");
      first += count;
    }
    check_close(k_cache, arranged(k_cache.extents, [&](Place i) { return i[2] < tokens ? at(all.at("k"), {i[0], i[1], i[2], i[3]}) : 1e6; }));
    CHECK(at(v_cache, {1, 2, tokens, 0}) == 1e6);
  }
}

TEST_CASE("past_present sees past and new keys, and gives them one behind the other", "[variants]") {
  const Size past = 3;
  const Arrays all = by_heads(keys - past, keys);
  const auto part = [&](const Array& x, Size first, Size count) {
    return arranged({batch, heads, count, x.extents[3]}, [&](Place i) { return at(x, {i[0], i[1], first + i[2], i[3]}); });
  };
  const Arrays inputs = {{"q", with_group(all.at("q"))}, {"k", part(all.at("k"), past, keys - past)}, {"v", part(all.at("v"), past, keys - past)},
                         {"past_k", part(all.at("k"), 0, past)}, {"past_v", part(all.at("v"), 0, past)}};
  const Arrays got = outputs_of(build(PastPresent{}), inputs);
  check_close(got.at("out"), with_group(expected(all, where([&](Size, Size i, Size j) { return j <= i + past; })).out), allowed);
  check_close(got.at("present_k"), all.at("k"));
  check_close(got.at("present_v"), all.at("v"));
  check_close(out_of(PastPresent{.causal = false}, inputs), with_group(expected(all).out), allowed);
}

TEST_CASE("paged finds the rows of a sequence by its table, whatever stands elsewhere", "[variants]") {
  const Size page = 2, slots = 4, pages = 9;
  const std::vector<Size> length = {7, 3}, table = {8, 0, 5, 2, 3, 6, -1, 1000};
  const Arrays all = by_heads(2, keys);
  const Array wanted = with_group(expected(all, where([&](Size b, Size i, Size j) { return j <= length[static_cast<std::size_t>(b)] - 2 + i; })).out);
  for (const Paged::Layout layout : {Paged::Layout::nhd, Paged::Layout::hnd}) {
    const bool is_nhd = layout == Paged::Layout::nhd;
    const auto in_pages = [&](const Array& x, double elsewhere) {
      const Size width = x.extents[3];
      return arranged(is_nhd ? std::vector<Size>{pages, page, heads, width} : std::vector<Size>{pages, heads, page, width}, [&](Place i) {
        const Size row = is_nhd ? i[1] : i[2], head = is_nhd ? i[2] : i[1];
        for (Size b = 0; b < batch; ++b)
          for (Size j = row; j < length[static_cast<std::size_t>(b)]; j += page)
            if (table[static_cast<std::size_t>(b * slots + j / page)] == i[0]) return at(x, {b, head, j, i[3]});
        return elsewhere;
      });
    };
    const Arrays inputs = {
        {"q", with_group(all.at("q"))},
        {"k_pages", in_pages(all.at("k"), quiet_nan)},
        {"v_pages", in_pages(all.at("v"), 1e6)},
        {"table", arranged({batch, slots}, [&](Place i) { return static_cast<double>(table[static_cast<std::size_t>(i[0] * slots + i[1])]); })},
        {"lengths", array({batch}, {7, 3})}};
    check_close(out_of(Paged{.page = page, .layout = layout}, inputs), wanted, allowed);
  }
}

TEST_CASE("ragged sequences attend each to itself, an empty one among them", "[variants]") {
  const std::vector<Size> first = {0, 3, 3, 5}, key_first = {0, 2, 2, 7};
  const auto sequence = [](const std::vector<Size>& starts, Size token) {
    std::size_t b = 0;
    while (starts[b + 1] <= token) ++b;
    return b;
  };
  const Array offsets = array({4}, {0, 3, 3, 5}), key_offsets = array({4}, {0, 2, 2, 7});
  for (const bool causal : {false, true})
    for (const bool cross : {false, true}) {
      Arrays all = by_heads(5, cross ? 7 : 5);
      for (auto& [name, x] : all) x = arranged({1, heads, x.extents[2], x.extents[3]}, [&](Place i) { return at(x, {0, i[1], i[2], i[3]}); });
      const std::vector<Size>& of_keys = cross ? key_first : first;
      const Array wanted = expected(all, where([&](Size, Size i, Size j) {
                                      const std::size_t b = sequence(first, i);
                                      return b == sequence(of_keys, j) && (!causal || of_keys[b + 1] - j >= first[b + 1] - i);
                                    })).out;
      Arrays inputs = {{"q", packed(all.at("q"))}, {"k", packed(all.at("k"))}, {"v", packed(all.at("v"))}, {"offsets", offsets}};
      if (cross) inputs["key_offsets"] = key_offsets;
      check_close(out_of(Ragged{.causal = causal, .cross = cross}, inputs), packed(wanted), allowed);
    }
}

TEST_CASE("packed_qkv takes queries, keys and values out of one tensor", "[variants]") {
  Arrays all = by_heads(queries, queries);
  all["v"] = plain::random({batch, heads, queries, depth}, 3);
  const Array qkv = arranged({batch, queries, 3, heads, depth}, [&](Place i) {
    const char* names[] = {"q", "k", "v"};
    return at(all.at(names[i[2]]), {i[0], i[3], i[1], i[4]});
  });
  for (const bool causal : {false, true}) {
    const Array wanted = expected(all, where([&](Size, Size i, Size j) { return !causal || j <= i; })).out;
    check_close(out_of(PackedQkv{.causal = causal}, {{"qkv", qkv}}),
                arranged({batch, queries, heads, depth}, [&](Place i) { return at(wanted, {i[0], i[2], i[1], i[3]}); }), allowed);
  }
}

TEST_CASE("mla is attention over keys and values that are made of latent vectors, absorbed or not", "[variants]") {
  const Size width = 3, rope = 2;
  const Arrays inputs = {{"q", plain::random({batch, heads, queries, depth}, 1)},   {"q_rope", plain::random({batch, heads, queries, rope}, 2)},
                         {"latent", plain::random({batch, keys, width}, 3)},        {"k_rope", plain::random({batch, keys, rope}, 4)},
                         {"wk", plain::random({heads, depth, width}, 5, 0.5)},      {"wv", plain::random({heads, value_depth, width}, 6, 0.5)}};
  const Array k = plain::projected(inputs.at("latent"), inputs.at("wk"), nullptr),
              v = plain::projected(inputs.at("latent"), inputs.at("wv"), nullptr);
  const Array all_q = arranged({batch, heads, queries, depth + rope}, [&](Place i) {
    return i[3] < depth ? at(inputs.at("q"), {i[0], i[1], i[2], i[3]}) : at(inputs.at("q_rope"), {i[0], i[1], i[2], i[3] - depth});
  });
  const Array all_k = arranged({batch, heads, keys, depth + rope}, [&](Place i) {
    return i[3] < depth ? at(k, {i[0], i[1], i[2], i[3]}) : at(inputs.at("k_rope"), {i[0], i[2], i[3] - depth});
  });
  const Array wanted = plain::attention(all_q, all_k, v, where([](Size, Size i, Size j) { return j <= i + keys - queries; })).out;
  for (const bool absorbed : {false, true}) check_close(out_of(Mla{.absorbed = absorbed}, inputs), wanted, 10 * allowed);
}

}  // namespace attune
