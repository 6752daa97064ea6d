/// Variants by name and parameters from text, as tools use them.
#include <set>

#include "dsl/variant_by_name.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

std::string problem_of(std::string_view name, std::vector<std::string> settings) { return choose_variant(name, settings).problem; }

enum class Colour { red, green };
constexpr std::array<std::string_view, 2> enumerators(Colour) { return {"red", "green"}; }

struct Everything {
  std::int64_t integer = -3;
  int small = 4;
  double number = 0.1;
  float single = 2.5f;
  bool flag = false;
  Colour colour = Colour::green;
  static constexpr std::string_view name = "everything";
  static constexpr auto fields = std::tuple{Field{"integer", &Everything::integer}, Field{"small", &Everything::small},
                                            Field{"number", &Everything::number},   Field{"single", &Everything::single},
                                            Field{"flag", &Everything::flag},       Field{"colour", &Everything::colour}};
};

}  // namespace

TEST_CASE("the list of variants is by name and in order", "[parameters]") {
  const std::vector<std::string_view> names = variant_names();
  REQUIRE(names.size() == std::variant_size_v<AnyVariant>);
  CHECK(names[0] == "single_head");
  CHECK(names[1] == "scaled_dot_product");
  CHECK(std::set(names.begin(), names.end()).size() == names.size());
}

TEST_CASE("a variant is chosen by name, with its parameters from text", "[parameters]") {
  const std::vector<std::string> settings = {"window=512"};
  const ChosenVariant chosen = choose_variant("sliding_window", settings);
  REQUIRE(chosen.problem == "");
  CHECK(std::get<SlidingWindow>(chosen.variant).window == 512);
  CHECK(text(build_any(chosen.variant).problem()) == "");

  const std::vector<std::string> several = {"biases=true", "dropout=0.25", "weights=true", "biases=false"};
  const auto layer = std::get<MultiHead>(choose_variant("multi_head", several).variant);
  CHECK((!layer.biases && layer.dropout == 0.25 && layer.weights && !layer.mask));

  const std::vector<std::string> learned = {"positions=learned"};
  CHECK(std::get<Embedded>(choose_variant("embedded", learned).variant).positions == Positions::learned);
}

TEST_CASE("what is not a variant or a parameter is refused with the alternatives", "[parameters]") {
  CHECK(problem_of("sliding_window", {"windw=512"}) == "variant 'sliding_window': has no parameter 'windw'; it has window");
  CHECK(problem_of("multi_head", {"window=512"}) ==
        "variant 'multi_head': has no parameter 'window'; it has biases, score_weights, mask, head_mask, lengths, dropout, weights, panels, in_out, "
        "projected, residual");
  CHECK(problem_of("causal", {"window=512"}) == "variant 'causal': has no parameter 'window'; it has none");
  CHECK(problem_of("sliding_window", {"window"}) == "variant 'sliding_window': 'window' sets no parameter; NAME=VALUE does");
  std::string all;
  for (const std::string_view name : variant_names()) all += (all.empty() ? "" : ", ") + std::string(name);
  CHECK(problem_of("casual", {}) == "variant 'casual': there is none of that name; there are " + all);
}

TEST_CASE("a value of the wrong type is refused with what it must be", "[parameters]") {
  CHECK(problem_of("sliding_window", {"window=wide"}) == "variant 'sliding_window': window is 'wide'; it must be an integer");
  CHECK(problem_of("sliding_window", {"window=1.5"}) == "variant 'sliding_window': window is '1.5'; it must be an integer");
  CHECK(problem_of("sliding_window", {"window="}) == "variant 'sliding_window': window is ''; it must be an integer");
  CHECK(problem_of("sliding_window", {"window=9223372036854775808"}) ==
        "variant 'sliding_window': window is '9223372036854775808'; it must be an integer");
  CHECK(problem_of("soft_cap", {"cap=30,0"}) == "variant 'soft_cap': cap is '30,0'; it must be a number");
  CHECK(problem_of("multi_head", {"mask=1"}) == "variant 'multi_head': mask is '1'; it must be true or false");
  CHECK(problem_of("embedded", {"positions=rotary"}) == "variant 'embedded': positions is 'rotary'; it must be one of sinusoidal, learned");
}

TEST_CASE("a refused value leaves the parameter as it was", "[parameters]") {
  SlidingWindow variant{.window = 7};
  CHECK(set_parameter(variant, "window=x") != "");
  CHECK(variant.window == 7);
}

TEST_CASE("parameters of every type are listed as text that reads back", "[parameters]") {
  const Everything original{.integer = -9007199254740993, .small = 5, .number = 0.1 + 0.2, .single = 0.1f, .flag = true, .colour = Colour::red};
  Everything copy;
  std::vector<std::string> types;
  for (const Setting& setting : parameters_of(original)) {
    CHECK(set_parameter(copy, setting.name + "=" + setting.value) == "");
    types.push_back(setting.type);
  }
  CHECK((copy.integer == original.integer && copy.small == original.small && copy.number == original.number));
  CHECK((copy.single == original.single && copy.flag == original.flag && copy.colour == original.colour));
  CHECK(types == std::vector<std::string>{"an integer", "an integer", "a number", "a number", "true or false", "one of red, green"});
}

}  // namespace attune
