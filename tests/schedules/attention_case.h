/// Attention stages built by hand from buffers, for the tests of their schedules, and the same in plain loops over double.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/online_softmax/online_softmax.h"
#include "schedules/shared_keys/shared_keys.h"
#include "schedules/split_keys/split_keys.h"
#include "schedules/whole_rows/whole_rows.h"
#include "tests/jit_kernel.h"
#include "tests/schedules/host.h"

namespace attune {

struct Shape {
  int batch, heads, group, queries, keys, depth, value_depth;
};

/// The result's dims as the tests index them.
inline const std::vector<std::string> in_order = {"batch", "heads", "group", "queries", "value_depth"};

/// A pair of query and key, and its batch index.
struct Pair {
  int b, h, g, i, j;
};

/// What a call reads. Queries, keys and values are drawn from a normal distribution; every third element of `mask` is false.
struct Arguments {
  Arguments(const Shape& shape, unsigned seed);
  Shape shape;
  Halide::Buffer<float> q;               // [batch, heads, group, queries, depth]
  Halide::Buffer<float> k, v;            // [batch, heads, keys, depth], [batch, heads, keys, value_depth]
  Halide::Buffer<float> bias;            // [queries, keys]
  Halide::Buffer<std::uint8_t> mask;     // [batch, queries, keys]
  Halide::Buffer<std::int32_t> lengths;  // [batch]
  Halide::Buffer<float> wa;              // [depth]
};

/// A body of the template with all extents unknown, and its meaning. It starts as scaled dot-product attention.
struct AttentionCase {
  AttentionCase();

  Halide::ImageParam q{Halide::Float(32), 5, "q"}, k{Halide::Float(32), 4, "k"}, v{Halide::Float(32), 4, "v"};
  Halide::ImageParam bias{Halide::Float(32), 2, "bias"}, mask{Halide::UInt(8), 3, "mask"}, lengths{Halide::Int(32), 1, "lengths"};
  Halide::ImageParam wa{Halide::Float(32), 1, "wa"};
  OnlineSoftmax body;
  Extents extents;

  std::function<double(const Arguments&, const Pair&)> score;
  std::function<double(double score, const Arguments&, const Pair&)> change;
  std::function<bool(const Arguments&, const Pair&)> visible;
  std::function<double(double weight, const Arguments&, const Pair&)> weight;

  /// As a function of q, k, v, bias, mask, lengths, wa and the result.
  std::vector<Halide::Argument> arguments() const { return {q, k, v, bias, mask, lengths, wa}; }

  struct Row {
    std::vector<double> values;
    double largest_score;  ///< in magnitude, of those that are finite
  };
  /// Row (b, h, g, i) of the result.
  Row expected(const Arguments& a, Pair row) const;
};

AttentionCase dense();
AttentionCase causal();
AttentionCase window(int size);
/// Keys from lengths[b] on are not seen.
AttentionCase padded();
/// What is seen stands in the mask tensor; nothing is known of blocks.
AttentionCase masked();
/// The same, but the least and the greatest element of its blocks are looked up.
AttentionCase masked_by_blocks();
/// The bias is added to the score.
AttentionCase biased();

/// A template of the stage, and a size of calls that it has defaults for.
struct SoftmaxTemplate {
  std::string_view name;
  SizeClass size;
  Stored (*build)(const OnlineSoftmax&, const Extents&, const Machine&, const std::vector<Parameter>&);
  std::vector<Parameter> (*parameters)(const Machine&, SizeClass);
};
inline constexpr SoftmaxTemplate softmax_templates[] = {
    {"online_softmax", SizeClass::large, online_softmax, online_softmax_parameters},
    {"online_softmax", SizeClass::small, online_softmax, online_softmax_parameters},
    {"split_keys", SizeClass::few, split_keys, split_keys_parameters},
    {"whole_rows", SizeClass::tiny, whole_rows, whole_rows_parameters},
    {"shared_keys", SizeClass::shared, shared_keys, shared_keys_parameters},
};
/// Each template once, where its tiles do not matter: compiling is what these tests spend their time on.
inline constexpr SoftmaxTemplate each_template[] = {softmax_templates[0], softmax_templates[2]};

JitKernel compiled(const AttentionCase& attention, const Machine& machine, const std::vector<Parameter>& values,
                          const SoftmaxTemplate& by = softmax_templates[0], const Halide::Target& target = jit_target());
/// The kernel of the cases that `make` gives by a template with its defaults, on this machine: compiled once a process, for all tests in it.
const JitKernel& kernel_of(AttentionCase (*make)(), const SoftmaxTemplate& by);
/// With the template's defaults.
JitKernel compiled_by(const SoftmaxTemplate& by, const AttentionCase& attention, const Machine& machine, const Halide::Target& target = jit_target());
/// The result as [batch, heads, group, queries, value_depth], whatever its order in memory.
Halide::Buffer<float> computed(const JitKernel& kernel, Arguments& a, const std::vector<std::string>& order_in_memory = in_order);

/// What an element may differ by in f32: one rounding of the scores alone costs the second term (design: tolerance of attention).
double allowed_difference(double largest_score, double largest_value);

/// Compares `rows` rows of each batch index, spread from the first to the last, with what is expected; NaN must be NaN.
/// Gives a sentence about the worst element that differs by more than is allowed; empty if there is none.
std::string difference(const AttentionCase& attention, const Arguments& a, const Halide::Buffer<float>& result, int rows = 1 << 20);

}  // namespace attune
