/// Graphs of attention, and what of their kernels is swept, as text.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "dsl/variants/attention.h"
#include "tests/codegen/planned.h"

namespace attune {

inline void output_rows(Graph& g, const Attention& a, Value x) { g.output("out", x, {a.batch, a.heads, a.queries, a.value_depth}); }

inline Graph graph_of(void (*make)(Graph&, const Attention&)) {
  Graph g;
  make(g, Attention(g));
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

/// "r - 5 <= keys <= r"
inline std::string text_of(const Band& band, const std::string& columns) {
  const auto side = [](const Band::Side& of) {
    std::string text = of.constant == 0 ? "r" : of.constant < 0 ? "r - " + std::to_string(-of.constant) : "r + " + std::to_string(of.constant);
    if (!of.plus.empty()) text += " + " + of.plus + " - " + of.minus;
    return text;
  };
  return (band.first ? side(*band.first) + " <= " : "") + columns + (band.last ? " <= " + side(*band.last) : "");
}

/// "1 to 3: heads, queries" of each sweep.
inline std::vector<std::string> sweeps_of(void (*make)(Graph&, const Attention&)) {
  const Graph graph = graph_of(make);
  const Planned planned(graph);
  std::vector<std::string> texts;
  for (const Sweep& sweep : planned.plan.sweeps) {
    std::string text = std::to_string(sweep.first + 1) + " to " + std::to_string(sweep.first + sweep.count) + ":";
    for (const SweptDim& dim : sweep.dims)
      if (dim.band) text += " " + text_of(*dim.band, dim.whole);
      else text += " " + dim.whole;
    texts.push_back(text);
  }
  return texts;
}

}  // namespace attune
