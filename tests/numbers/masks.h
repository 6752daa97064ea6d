/// Masks as they are said with the language's operations, over any number: what block predicates are tested with.
#pragma once

#include <string_view>
#include <tuple>

#include "dsl/graph.h"
#include "dsl/interval.h"

namespace attune {

// visible(i, j, c): whether query i sees key j; c(x) makes the constant x of the number N.
// `is_exact`: a block's predicate is what counting its pairs gives. `allowed_share` of blocks may otherwise be judged too carefully.

struct Causal {
  static constexpr std::string_view name = "causal";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*)(double)) {
    return i >= j;
  }
};
struct Window {
  static constexpr std::string_view name = "window";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return i - j >= c(0) && i - j < c(129);
  }
};
struct Prefix {
  static constexpr std::string_view name = "prefix";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return j < c(100) || i >= j;
  }
};
struct Chunked {
  static constexpr std::string_view name = "chunked";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return floor_div(i, c(77)) == floor_div(j, c(77)) && j <= i;
  }
};
struct BlockCausal {
  static constexpr std::string_view name = "block causal";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return floor_div(i, c(50)) >= floor_div(j, c(50));
  }
};
/// Exact because the reach is a multiple of the dilation.
struct Dilated {
  static constexpr std::string_view name = "dilated";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return mod(i - j, c(7)) == c(0) && Abs::apply(i - j) <= c(84);
  }
};
/// Not exact where a block holds the last of the first keys, and only some of the others lie in the window.
struct Sinks {
  static constexpr std::string_view name = "sinks";
  static constexpr bool is_exact = false;
  static constexpr double allowed_share = 0.01;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return (j < c(4) || i - j < c(200)) && j <= i;
  }
};
/// A neighbourhood of 5 x 5 on a canvas 32 wide.
struct Neighbourhood {
  static constexpr std::string_view name = "neighbourhood";
  static constexpr bool is_exact = false;
  static constexpr double allowed_share = 0.5;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    const N rows = floor_div(i, c(32)) - floor_div(j, c(32)), columns = mod(i, c(32)) - mod(j, c(32));
    return Abs::apply(rows) <= c(2) && Abs::apply(columns) <= c(2);
  }
};
struct Opposite {
  static constexpr std::string_view name = "opposite";
  static constexpr bool is_exact = true;
  static constexpr double allowed_share = 0;
  template <class N>
  static constexpr auto visible(N i, N j, N (*c)(double)) {
    return !Window::visible(i, j, c) && i != j + c(300);
  }
};

using Masks = std::tuple<Causal, Window, Prefix, Chunked, BlockCausal, Dilated, Sinks, Neighbourhood, Opposite>;

}  // namespace attune
