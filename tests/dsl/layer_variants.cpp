/// Variants with projections against plain loops: layers, cross attention, embeddings.
#include "dsl/variants.h"
#include "tests/dsl/by_heads.h"

namespace attune {
namespace {

constexpr Size model = 8, tokens = 5, memory_tokens = 7;

Arrays layer_inputs(bool biases) {
  Arrays inputs = {{"x", plain::random({batch, tokens, model}, 4)},
                   {"wq", plain::random({heads, depth, model}, 5, 0.5)},
                   {"wk", plain::random({heads, depth, model}, 6, 0.5)},
                   {"wv", plain::random({heads, value_depth, model}, 7, 0.5)},
                   {"wo", plain::random({model, heads, value_depth}, 8, 0.5)}};
  if (!biases) return inputs;
  inputs["bq"] = plain::random({heads, depth}, 9);
  inputs["bk"] = plain::random({heads, depth}, 10);
  inputs["bv"] = plain::random({heads, value_depth}, 11);
  inputs["bo"] = plain::random({model}, 12);
  return inputs;
}

/// [a, b, c] as [a, c, b].
Array turned(const Array& x) {
  Array result = plain::zeros({x.extents[0], x.extents[2], x.extents[1]});
  for (Size i = 0; i < x.extents[0]; ++i)
    for (Size j = 0; j < x.extents[1]; ++j)
      for (Size k = 0; k < x.extents[2]; ++k) at(result, {i, k, j}) = at(x, {i, j, k});
  return result;
}

/// The same layer, its weights in panels, those of wo of `column` columns.
Arrays in_panels(Arrays inputs, Size column) {
  for (const char* weight : {"wq", "wk", "wv"}) inputs[weight] = turned(inputs[weight]);
  Array wo = inputs["wo"];
  wo.extents = {model / column, column, heads * value_depth};
  wo = turned(wo);
  wo.extents = {model / column, heads, value_depth, column};
  inputs["wo"] = wo;
  inputs["bo"].extents = {model / column, column};
  return inputs;
}

}  // namespace

TEST_CASE("multi_head projects, attends and projects back, with and without biases", "[variants]") {
  for (const bool biases : {false, true}) {
    const Arrays inputs = layer_inputs(biases);
    const Arrays got = outputs_of(build(MultiHead{.biases = biases, .weights = true}), inputs);
    const plain::Result wanted = plain::layer(inputs, inputs.at("x"), inputs.at("x"));
    check_close(got.at("out"), wanted.out, allowed);
    check_close(got.at("weights"), wanted.weights, allowed);
  }
}

TEST_CASE("a layer whose weights lie in panels is the same", "[variants]") {
  const Arrays inputs = layer_inputs(true);
  Arrays with_memory = inputs;
  with_memory["memory"] = plain::random({batch, memory_tokens, model}, 15);
  for (const Size column : {1, 2, 8}) {
    CAPTURE(column);
    const auto as_model = [](Array out) {
      out.extents = {batch, tokens, model};
      return out;
    };
    const Array self = out_of(MultiHead{.biases = true, .panels = true}, in_panels(inputs, column));
    check_close(as_model(self), out_of(MultiHead{.biases = true}, inputs), allowed);
    const Array cross = out_of(Cross{.biases = true, .panels = true}, in_panels(with_memory, column));
    check_close(as_model(cross), out_of(Cross{.biases = true}, with_memory), allowed);
  }
}

TEST_CASE("a layer's weights may be (in x out), its result is added to the tokens, and the heads may be left side by side", "[variants]") {
  Arrays inputs = layer_inputs(true), in_out = inputs;
  for (const char* weight : {"wq", "wk", "wv", "wo"}) {  // [a, b, c] as [c, a, b], and wo as [b, c, a]
    Array& w = in_out[weight];
    const std::vector<Size> e = w.extents;
    const bool is_back = std::string_view(weight) == "wo";
    w.extents = is_back ? std::vector<Size>{1, e[0], e[1] * e[2]} : std::vector<Size>{1, e[0] * e[1], e[2]};
    w = turned(w);
    w.extents = is_back ? std::vector<Size>{e[1], e[2], e[0]} : std::vector<Size>{e[2], e[0], e[1]};
  }
  Array wanted = plain::layer(inputs, inputs.at("x"), inputs.at("x")).out;
  check_close(out_of(MultiHead{.biases = true, .in_out = true}, in_out), wanted, allowed);
  for (std::size_t i = 0; i < wanted.data.size(); ++i) wanted.data[i] += inputs.at("x").data[i];
  check_close(out_of(MultiHead{.biases = true, .residual = true}, inputs), wanted, allowed);
  check_close(out_of(MultiHead{.biases = true, .panels = true, .residual = true}, in_panels(inputs, 2)), wanted, allowed);

  // without wo: that with a wo of ones on the diagonal, whose width is that of the heads
  const auto identity = [](Size width) {
    Array wo = plain::zeros({width, heads, width / heads});
    for (Size m = 0; m < width; ++m) wo.data[static_cast<std::size_t>(m * width + m)] = 1;
    return wo;
  };
  const Size width = heads * value_depth;
  Arrays wide = {{"x", plain::random({batch, tokens, width}, 4)}, {"wo", identity(width)}, {"bo", plain::zeros({width})}};
  for (const char* weight : {"wq", "wk", "wv"})
    wide[weight] = plain::random({heads, std::string_view(weight) == "wv" ? value_depth : depth, width}, 5, 0.3);
  for (const char* bias : {"bq", "bk", "bv"}) wide[bias] = inputs.at(bias);
  Array whole = out_of(MultiHead{.biases = true, .residual = true}, wide);
  wide.erase("wo"), wide.erase("bo");
  check_close(out_of(MultiHead{.biases = true, .projected = false, .residual = true}, wide), whole, allowed);
  Array by_head = out_of(MultiHead{.biases = true, .projected = false}, wide);
  CHECK(by_head.extents == std::vector<Size>{batch, tokens, heads, value_depth});
  for (std::size_t i = 0; i < by_head.data.size(); ++i) by_head.data[i] += wide.at("x").data[i];
  by_head.extents = whole.extents;
  check_close(by_head, whole, allowed);
  wide["x"] = plain::random({batch, tokens, width + 1}, 4);
  CHECK_FALSE(interpret(build(MultiHead{.biases = true, .projected = false, .residual = true}), wide).problem.empty());
}

TEST_CASE("multi_head multiplies the scores, then hides what mask and lengths say", "[variants]") {
  Arrays inputs = layer_inputs(false);
  const Array factors = plain::random({batch, heads, tokens, tokens}, 14), mask = random_mask({batch, tokens, tokens});
  const auto change = [&](Size b, Size h, Size i, Size j, double score) {
    const bool is_visible = at(mask, {b, i, j}) != 0 && static_cast<double>(j) < at(lengths, {b});
    return is_visible ? score * at(factors, {b, h, i, j}) : -infinity;
  };
  const plain::Result wanted = plain::layer(inputs, inputs.at("x"), inputs.at("x"), change);
  inputs["score_weights"] = factors;
  inputs["mask"] = mask;
  inputs["lengths"] = lengths;
  check_close(out_of(MultiHead{.score_weights = true, .mask = true, .lengths = true}, inputs), wanted.out, allowed);
}

TEST_CASE("multi_head drops weights of the sum, not of the second output", "[variants]") {
  Arrays inputs = layer_inputs(false);
  const plain::Result whole = plain::layer(inputs, inputs.at("x"), inputs.at("x"));
  inputs["seed"] = scalar(3);
  inputs["offset"] = scalar(4);
  const Arrays got = outputs_of(build(MultiHead{.dropout = 0.5, .weights = true}), inputs);
  check_close(got.at("weights"), whole.weights, allowed);
  double distance = 0;
  for (std::size_t i = 0; i < whole.out.data.size(); ++i) distance += std::abs(got.at("out").data[i] - whole.out.data[i]);
  CHECK(distance > 1);
}

TEST_CASE("cross attends from x to the memory", "[variants]") {
  Arrays inputs = layer_inputs(true);
  inputs["memory"] = plain::random({batch, memory_tokens, model}, 15);
  const plain::Result wanted = plain::layer(inputs, inputs.at("x"), inputs.at("memory"));
  const Arrays got = outputs_of(build(Cross{.biases = true, .weights = true}), inputs);
  check_close(got.at("out"), wanted.out, allowed);
  check_close(got.at("weights"), wanted.weights, allowed);

  const Array mask = random_mask({batch, tokens, memory_tokens});
  const plain::Result hidden = plain::layer(inputs, inputs.at("x"), inputs.at("memory"), where([&](Size b, Size i, Size j) {
    return at(mask, {b, i, j}) != 0 && static_cast<double>(j) < at(lengths, {b});
  }));
  inputs["mask"] = mask;
  inputs["lengths"] = lengths;
  check_close(out_of(Cross{.biases = true, .mask = true, .lengths = true}, inputs), hidden.out, allowed);
}

TEST_CASE("embedded adds positions to the embeddings, attends, and adds the result to the embeddings", "[variants]") {
  const Size vocabulary = 11;
  for (const bool is_learned : {false, true})
    for (const bool has_lengths : {false, true}) {
      Arrays inputs = layer_inputs(true);
      inputs.erase("x");
      inputs["tokens"] = array({batch, tokens}, {3, 0, 10, 3, 1, 7, 7, 2, 9, 4});
      inputs["embedding"] = plain::random({vocabulary, model}, 16);
      if (is_learned) inputs["positions"] = plain::random({tokens, model}, 17);
      if (has_lengths) inputs["lengths"] = lengths;
      Array e = plain::zeros({batch, tokens, model}), x = e;
      for (Size b = 0; b < batch; ++b)
        for (Size t = 0; t < tokens; ++t)
          for (Size m = 0; m < model; ++m) {
            const double angle = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(m / 2 * 2) / model);
            const double position = is_learned ? at(inputs["positions"], {t, m}) : m % 2 == 0 ? std::sin(angle) : std::cos(angle);
            at(e, {b, t, m}) = at(inputs["embedding"], {static_cast<Size>(at(inputs["tokens"], {b, t})), m});
            at(x, {b, t, m}) = at(e, {b, t, m}) + position;
          }
      Array wanted = plain::layer(inputs, x, x, where([&](Size b, Size, Size j) {
                       return !has_lengths || static_cast<double>(j) < at(lengths, {b});
                     })).out;
      for (std::size_t i = 0; i < wanted.data.size(); ++i) wanted.data[i] += e.data[i];
      const Positions positions = is_learned ? Positions::learned : Positions::sinusoidal;
      check_close(out_of(Embedded{.positions = positions, .biases = true, .lengths = has_lengths}, inputs), wanted, allowed);
    }
}

}  // namespace attune
