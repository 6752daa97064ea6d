#include <memory>

#include "codegen/halide/bodies/block_ranges.h"
#include "tests/schedules/attention_case.h"

using Halide::Expr;

namespace attune {

AttentionCase dense() { return {}; }

AttentionCase causal() {
  AttentionCase attention;
  attention.body.visible = [](const Coordinates& c) { return c.at("keys") <= c.at("queries"); };
  attention.body.visibility = [](const Block& b) {
    return Visibility{b.at("keys").last <= b.at("queries").first, b.at("keys").first <= b.at("queries").last};
  };
  attention.visible = [](const Arguments&, const Pair& p) { return p.j <= p.i; };
  return attention;
}

AttentionCase window(int size) {
  AttentionCase attention;
  attention.body.visible = [=](const Coordinates& c) {
    const Expr age = c.at("queries") - c.at("keys");
    return age >= 0 && age < size;
  };
  attention.body.visibility = [=](const Block& b) {
    const Expr least = b.at("queries").first - b.at("keys").last, most = b.at("queries").last - b.at("keys").first;
    return Visibility{least >= 0 && most < size, most >= 0 && least < size};
  };
  attention.visible = [=](const Arguments&, const Pair& p) { return p.i - p.j >= 0 && p.i - p.j < size; };
  return attention;
}

AttentionCase padded() {
  AttentionCase attention;
  attention.body.visible = [lengths = attention.lengths](const Coordinates& c) { return c.at("keys") < lengths(c.at("batch")); };
  attention.body.visibility = [lengths = attention.lengths](const Block& b) {
    const Expr length = lengths(b.at("batch").first);
    return Visibility{b.at("keys").last < length, b.at("keys").first < length};
  };
  attention.visible = [](const Arguments& a, const Pair& p) { return p.j < a.lengths(p.b); };
  return attention;
}

AttentionCase masked() {
  AttentionCase attention;
  attention.body.visible = [mask = attention.mask](const Coordinates& c) {
    return mask(c.at("keys"), c.at("queries"), c.at("batch")) != Halide::cast<std::uint8_t>(0);
  };
  attention.visible = [](const Arguments& a, const Pair& p) { return a.mask(p.j, p.i, p.b) != 0; };
  return attention;
}

AttentionCase masked_by_blocks() {
  AttentionCase attention = masked();
  const auto extents = std::make_shared<Extents>(attention.extents);
  const auto element = [mask = attention.mask](const Coordinates& c) {
    return Lowered{mask(c.at("keys"), c.at("queries"), c.at("batch")) != Halide::cast<std::uint8_t>(0)};
  };
  attention.body.visibility = [extents, known = block_ranges("mask", element, {"batch", "queries", "keys"}, *extents, host_machine())](
                                  const Block& b) {
    const std::optional<Interval<Lowered>> seen = known(b);
    return seen ? Visibility{seen->low.expr, seen->high.expr} : Visibility{Halide::Internal::const_false(), Halide::Internal::const_true()};
  };
  return attention;
}

AttentionCase biased() {
  AttentionCase attention;
  attention.body.change = [bias = attention.bias](const Expr& score, const Coordinates& c) {
    return score + bias(c.at("keys"), c.at("queries"));
  };
  attention.change = [](double score, const Arguments& a, const Pair& p) { return score + a.bias(p.j, p.i); };
  return attention;
}

}  // namespace attune
