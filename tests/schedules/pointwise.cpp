#include "schedules/pointwise/pointwise.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "schedules/pointwise/turned_rows.h"
#include "tests/schedules/host.h"
#include "tests/schedules/stage_case.h"

using namespace attune;

namespace {

std::vector<std::string> first_dims(std::size_t rank) {
  const std::vector<std::string> all = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank)};
}

}  // namespace

TEST_CASE("elements of every rank, with an operand of fewer dims", "[pointwise]") {
  const Machine machine = host_machine();
  for (std::size_t rank = 0; rank <= 8; ++rank) {
    const std::vector<std::string> dims = first_dims(rank);
    StageCase stage(dims);
    const auto x = stage.operand("x", dims), row = stage.operand("row", first_dims(rank == 0 ? 0 : 1));
    Piece sum = x->piece();
    sum.element = [x, row](const Coordinates& at) { return Lowered{x->piece().at(at) * 2.f + row->piece().at(at)}; };
    const auto expected = [&](const Index& index) { return 2.0 * x->at(index) + row->at(index); };
    stage.compile(pointwise({sum, dims}, stage.extents(), machine, pointwise_parameters(machine, SizeClass::large)));
    for (const int innermost : {1, 5, 37, 0, 64}) {
      Sizes sizes;
      for (std::size_t n = 0; n < rank; ++n) sizes.push_back(n + 1 == rank ? innermost : 1 + static_cast<int>(n * 2 % 3));
      stage.run(sizes, 5);
      CAPTURE(rank, sizes);
      CHECK(stage.difference(expected, [](const Index&) { return 1e-6; }) == "");
      CHECK(stage.stray_writes() == 0);
    }
  }
}

TEST_CASE("elements in another order, in more tasks than one, and of known extents", "[pointwise]") {
  const Machine machine = host_machine();
  for (const bool is_fixed : {false, true}) {
    StageCase stage({"tokens", "model"}, is_fixed ? std::map<std::string, int>{{"tokens", 1000}, {"model", 77}} : std::map<std::string, int>{});
    const auto x = stage.operand("x", {"model", "tokens"});
    for (const Parameter& parameter : pointwise_parameters(machine, SizeClass::small)) {
      const auto values = with_values(pointwise_parameters(machine, SizeClass::small), {{parameter.name, {}, parameter.legal.front()}});
      stage.compile(pointwise({x->piece(), {"tokens", "model"}}, stage.extents(), machine, values));
      for (const Sizes& sizes : {Sizes{1000, 77}, {3, 5000}, {129, 1}, {0, 5}, {5, 0}}) {
        if (is_fixed && sizes[0] != 1000) continue;
        stage.run(sizes, 5);
        CAPTURE(is_fixed, sizes);
        CHECK(stage.difference([&](const Index& index) { return x->at(index); }, [](const Index&) { return 0.0; }) == "");
        CHECK(stage.stray_writes() == 0);
      }
    }
  }
}

TEST_CASE("an index is an element", "[pointwise]") {
  StageCase stage({"queries", "keys"});
  const auto x = stage.operand("x", {"queries", "keys"});
  Piece age = x->piece();
  age.element = [x](const Coordinates& at) { return Lowered{x->piece().at(at) + Halide::cast<float>(at.at("queries") - at.at("keys"))}; };
  const Machine machine = host_machine();
  stage.compile(pointwise({age, {"queries", "keys"}}, stage.extents(), machine, pointwise_parameters(machine, SizeClass::large)));
  stage.run({37, 129}, 5);
  CHECK(stage.difference([&](const Index& i) { return static_cast<double>(x->at(i)) + i[0] - i[1]; }, [](const Index&) { return 1e-5; }) == "");
}

TEST_CASE("rows that lie across memory are turned in squares", "[pointwise]") {
  const Machine machine = host_machine();
  StageCase stage({"batch", "model", "heads", "tokens"});
  const auto x = stage.operand("x", {"batch", "tokens", "heads", "model"}), scale = stage.operand("scale", {"model"});
  Piece scaled{{"batch", "tokens", "heads", "model"}, [x, scale](const Coordinates& at) { return Lowered{x->piece().at(at) * scale->piece().at(at)}; }};
  const std::vector<std::string> out = {"batch", "model", "heads", "tokens"};
  CHECK(turned_dim({scaled, out}) == std::optional<std::string>("model"));
  stage.compile(pointwise({scaled, out}, stage.extents(), machine, pointwise_parameters(machine, SizeClass::large)));
  for (const Sizes& sizes : {Sizes{1, 1, 1, 1}, {2, 37, 3, 129}, {3, 8, 1, 16}, {1, 129, 2, 5}, {2, 16, 5, 37}, {1, 5, 3, 1}, {0, 5, 3, 7}, {1, 0, 3, 7}, {1, 5, 3, 0}}) {
    stage.run(sizes, 5);
    CAPTURE(sizes);
    CHECK(stage.difference([&](const Index& index) { return static_cast<double>(x->at(index)) * scale->at(index); }, [](const Index&) { return 1e-6; }) == "");
    CHECK(stage.stray_writes() == 0);
  }
  CHECK(turned_dim({scaled, {"batch", "tokens", "heads", "model"}}) == std::nullopt);  // they lie along
  CHECK(turned_dim({scale->piece(), out}) == std::nullopt);                             // one element of memory for all of a row
}
