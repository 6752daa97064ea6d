#include "dsl/variant_library.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "dsl/variants/attention.h"

namespace attune {
namespace {

struct Sound {
  std::int64_t window = 4;
  static constexpr std::string_view name = "sound";
  static constexpr auto fields = std::tuple{Field{"window", &Sound::window}};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    a.output(mask(a.scores(), index(a.queries) - index(a.keys) < window));
  }
};
struct Derived : Sound {};
struct More : Sound {
  bool more = false;
  static constexpr auto fields = std::tuple_cat(Sound::fields, std::tuple{Field{"more", &More::more}});
};
struct Nameless {
  static constexpr auto fields = std::tuple{};
};
struct Fieldless {
  static constexpr std::string_view name = "fieldless";
};
struct Single : Sound {
  static constexpr auto fields = Field{"window", &Sound::window};
};
struct Foreign : Sound {
  static constexpr auto fields = std::tuple{Field{"more", &More::more}};
};
struct Fixed : Sound {
  const int n = 3;
  static constexpr auto fields = std::tuple{Field{"n", &Fixed::n}};
};
struct Changing : Sound {
  constexpr void operator()(Graph& g) { Sound::operator()(g); }
};
struct Copying : Sound {
  constexpr void operator()(Graph g) const { Sound::operator()(g); }
};
struct Idle {
  static constexpr std::string_view name = "idle";
  static constexpr auto fields = std::tuple{};
};
struct Argued : Sound {
  constexpr explicit Argued(int) {}
};
struct Declared;

template <class Variant>
std::string lacks() {
  constexpr Text problem = variant_problem<Variant>();
  return std::string(problem.view());
}

}  // namespace

TEST_CASE("what a struct lacks to be a variant is said in words", "[variant library]") {
  using Catch::StartsWith;
  const std::string right = "; constexpr void operator()(attune::Graph& g) const is right";
  CHECK(lacks<Sound>() == "");
  CHECK(lacks<Derived>() == "");
  CHECK(lacks<More>() == "");
  CHECK(lacks<Nameless>() == "has no public name; static constexpr std::string_view name = \"my_attention\"; is one");
  CHECK(lacks<Fieldless>() == "has no public fields; static constexpr auto fields = std::tuple{}; says that it has no parameters");
  CHECK_THAT(lacks<Single>(), StartsWith("fields is no std::tuple; "));
  CHECK(lacks<Foreign>() == "field more is a member of another struct");
  CHECK_THAT(lacks<Fixed>(), StartsWith("field n is no parameter; an integer, "));
  CHECK(lacks<Changing>() == "operator() is not const" + right);
  CHECK(lacks<Copying>() == "operator() changes a copy of the graph" + right);
  CHECK(lacks<Idle>() == "has no public operator() that takes a graph" + right);
  CHECK(lacks<Argued>() == "cannot be made without arguments; a default for every member is right");
  CHECK(lacks<Declared>() == "is declared and not defined");
  CHECK(lacks<int>() == "is no struct");
}

}  // namespace attune
