/// Rotary position embedding: pairs of elements turned by angles that grow with the position.
#pragma once

#include "dsl/ops/compare.h"
#include "dsl/ops/functions.h"
#include "dsl/ops/gather.h"
#include "dsl/ops/index.h"
#include "dsl/ops/logic.h"

namespace attune {

/// Which elements are a pair. `half_split`: i and pairs + i (GPT-NeoX, Llama in PyTorch; ONNX with interleaved = 0). `interleaved`: 2 i and 2 i + 1
/// (RoFormer, GPT-J, Llama's own code and GGUF files; ONNX with interleaved = 1).
enum class RotaryPairs { half_split, interleaved };

struct RotaryEmbedding {
  Name over, pairs;
  bool interleaved = false;

  static constexpr std::string_view name = "rotary_embedding",
                                    meaning = "the i-th pair (a, b) along `over` becomes (a cos - b sin, b cos + a sin), with cos and sin at i along `pairs`. A pair is "
                                              "the elements i and i + pairs (RotaryPairs::half_split), or 2 i and 2 i + 1 (RotaryPairs::interleaved); elements from 2 pairs on stay as they are. "
                                              "Su et al., 2021; ONNX's RotaryEmbedding, version 23";
  static constexpr int arity = 3;
  static constexpr auto fields =
      std::tuple{Field{"over", &RotaryEmbedding::over}, Field{"pairs", &RotaryEmbedding::pairs}, Field{"interleaved", &RotaryEmbedding::interleaved}};

  /// Refuses an x without `over` or with `pairs`, a cos or sin without `pairs` or with other dims that x lacks, and kinds other than real.
  constexpr Text check(std::span<const Type> in) const {
    constexpr std::array<Name, 3> roles = {"x", "cos", "sin"};
    for (std::size_t i = 0; i < 3; ++i)
      if (in[i].kind != Kind::real) return sentence(roles[i], " is ", in[i].kind, "; it must be real (to_real converts)");
    if (Text problem = refuse_missing({over}, "turns pairs along", "x", in[0]); !problem.empty()) return problem;
    if (in[0].dims.has(pairs)) return sentence("x has ", pairs, ", along which cos and sin lie: x is ", in[0].dims);
    for (std::size_t i = 1; i < 3; ++i) {
      if (Text problem = refuse_missing({pairs}, "takes angles along", roles[i], in[i]); !problem.empty()) return problem;
      if (in[i].dims.has(over)) return sentence(roles[i], " has ", over, ", along which x is turned: it is ", in[i].dims);
      for (Name dim : in[i].dims)
        if (dim != pairs && !in[0].dims.has(dim)) return sentence(roles[i], " has ", dim, ", which x does not have: x is ", in[0].dims);
    }
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const auto whole = [&](std::int64_t x) { return literal(in[0].graph, static_cast<double>(x), Kind::i64, at); };
    const Value place = call_in(in[0].graph, Index{over}, {}, at), count = call_in(in[0].graph, Extent{pairs}, {}, at);
    const Value step = interleaved ? whole(1) : count;  // from the first of a pair to the second
    const Value pair = interleaved ? call(FloorDiv{}, {place, whole(2)}, at) : call(Mod{}, {place, count}, at);
    const Value is_first = interleaved ? call(Equal{}, {call(Mod{}, {place, whole(2)}, at), whole(0)}, at) : call(Less{}, {place, count}, at);
    const Value other = call(Select{}, {is_first, call(Add{}, {place, step}, at), call(Subtract{}, {place, step}, at)}, at);
    const Value cosine = call(Gather{pairs}, {in[1], pair}, at), sine = call(Gather{pairs}, {in[2], pair}, at);
    const Value across = call(Multiply{}, {call(Gather{over}, {in[0], other}, at), sine}, at);
    const Value along = call(Multiply{}, {in[0], cosine}, at);
    const Value turned = call(Select{}, {is_first, call(Subtract{}, {along, across}, at), call(Add{}, {along, across}, at)}, at);
    const Value is_turned = call(Less{}, {place, call(Multiply{}, {count, whole(2)}, at)}, at);
    return call(Select{}, {is_turned, turned, in[0]}, at);
  }
  /// Turned back.
  constexpr void pull(auto& g) const {
    if (g.wanted[1] || g.wanted[2]) return g.refuse("its angles");
    const auto form = interleaved ? RotaryPairs::interleaved : RotaryPairs::half_split;
    g.add(0, [&] { return rotary_embedding(g.out, g.in(1), -g.in(2), g.dim(over), g.dim(pairs), form); });
  }
};

/// By tables of cosines and sines [.., pairs], as ONNX takes them. The part of x that is turned is twice as wide as `pairs`.
constexpr Value rotary_embedding(Value x, Value cosines, Value sines, Dim over, Dim pairs, RotaryPairs form, Here at = Here::current()) {
  return call(RotaryEmbedding{over.name, pairs.name, form == RotaryPairs::interleaved}, {x, cosines, sines}, at);
}
/// By angles [.., pairs] in radians: rotary_angle(positions, rotary_steps(pairs, base, width)) makes them of positions, an input's or `index`,
/// and of a base; frequencies of another kind are an input of steps.
constexpr Value rotary_embedding(Value x, Value angles, Dim over, Dim pairs, RotaryPairs form, Here at = Here::current()) {
  return rotary_embedding(x, call(Cos{}, {angles}, at), call(Sin{}, {angles}, at), over, pairs, form, at);
}

}  // namespace attune
