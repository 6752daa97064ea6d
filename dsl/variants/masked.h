/// Attention where a tensor of booleans says which key each query sees.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input mask boolean, of those of [batch, heads, queries, keys] that are asked for; where the scores have more dims it is the same along
/// them. True where the query sees the key, as in ONNX, JAX and PyTorch's scaled_dot_product_attention; with `hides` where it does not, as
/// in PyTorch's nn.MultiheadAttention. A mask of padding [batch, 1, keys] is that with queries=false.
struct Masked {
  bool batch = true, heads = false, queries = true;  ///< dims of the mask before its keys
  bool hides = false;                                ///< true hides the key
  ScoreOutput scores = ScoreOutput::none;            ///< another output, scores [batch, heads, queries, keys]: which they are

  static constexpr std::string_view
      name = "masked",
      meaning = "out = softmax(q k^T / sqrt(depth), where mask[batch, i, j]) v, or not mask with hides; also by head, or by key alone";
  static constexpr auto fields = std::tuple{Field{"batch", &Masked::batch}, Field{"heads", &Masked::heads},
                                            Field{"queries", &Masked::queries}, Field{"hides", &Masked::hides}, Field{"scores", &Masked::scores}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    Names dims;
    for (const auto& [is_there, dim] : {std::pair{batch, a.batch}, {heads, a.heads}, {queries, a.queries}, {true, a.keys}})
      if (is_there) dims.add(dim.name);
    const Value given = g.input("mask", dims, Kind::boolean);
    const Value scaled = a.scores();
    a.output({scaled, scaled, mask(scaled, hides ? !given : given)}, scores);
  }
};

}  // namespace attune
