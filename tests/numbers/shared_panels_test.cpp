#include "codegen/shared_panels.h"

#include <catch2/catch.hpp>
#include <vector>

namespace {

int copied = 0;

}  // namespace

extern "C" int attune_test_copied(int x) {
  ++copied;
  return x;
}

namespace attune {
namespace {

constexpr int extent = 8;

/// `factor` times a panel of the row that begins at `first`, an element at a time.
Panel reader(int first, int factor) {
  const Halide::Var i("i");
  Panel panel{Halide::Func("panel"), Halide::Func("reader")};
  panel.func(i) = Halide::Internal::Call::make(Halide::Int(32), "attune_test_copied", {i + first}, Halide::Internal::Call::Extern);
  panel.reader(i) = 0;
  panel.reader(i) += factor * panel.func(i);
  panel.func.compute_at(panel.reader, i);
  return panel;
}

/// The readers' results, one behind the other, and how many elements were copied for them.
struct Results {
  std::vector<int> elements;
  int copied;
};
Results results(const std::vector<Panel>& readers) {
  SharedPanels panels;
  std::vector<Halide::Func> funcs;
  for (const Panel& panel : readers) {
    panels.add(panel);
    funcs.push_back(panel.reader);
  }
  copied = 0;
  Halide::Realization all = Halide::Pipeline(funcs).realize({extent});
  Results found{{}, copied};
  for (int n = 0; n < static_cast<int>(all.size()); ++n) {
    const Halide::Buffer<int> result = all[n];
    found.elements.insert(found.elements.end(), result.begin(), result.end());
  }
  return found;
}

}  // namespace

TEST_CASE("panels with the same definition are computed once for all their readers", "[shared_panels]") {
  const Results three = results({reader(1, 1), reader(1, 10), reader(1, 100)});
  CHECK(three.copied == extent);
  CHECK(three.elements == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40, 50, 60, 70, 80, 100, 200, 300, 400, 500, 600, 700, 800});
}

TEST_CASE("panels of other elements are kept apart", "[shared_panels]") {
  const Results three = results({reader(1, 1), reader(2, 1), reader(1, 2)});
  CHECK(three.copied == 2 * extent);
  CHECK(three.elements == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 9, 2, 4, 6, 8, 10, 12, 14, 16});
}

}  // namespace attune
