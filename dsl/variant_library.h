/// A variant whose type a tool learns from its user: what its struct lacks, and what it describes with parameters set from text.
#pragma once

#include "dsl/graph.h"
#include "dsl/parameters.h"

namespace attune {

namespace detail {
template <class T>
inline constexpr bool is_parameter = !std::is_const_v<T> && (std::is_integral_v<T> || std::is_floating_point_v<T> || NamedEnum<T>);

/// What is wrong with one of the `fields`.
template <class Variant, class Owner, class T>
constexpr Text field_problem(const Field<Owner, T>& field) {
  if (!std::is_base_of_v<Owner, Variant>) return sentence("field ", field.name, " is a member of another struct");
  if (!is_parameter<T>)
    return sentence("field ", field.name, " is no parameter; an integer, a floating-point number, a bool, or an enum with enumerators(E), not const, is one");
  return {};
}
template <class Variant>
constexpr Text field_problem(const auto&) {
  return sentence("fields holds something else than Field; std::tuple{attune::Field{\"window\", &Mine::window}} names the parameter window of Mine");
}
template <class Variant, class... F>
constexpr Text fields_problem(const std::tuple<F...>& fields) {
  Text first;
  std::apply([&](const auto&... field) { ((first = first.empty() ? field_problem<Variant>(field) : first), ...); }, fields);
  return first;
}
template <class Variant>
constexpr Text fields_problem(const auto&) {
  return sentence("fields is no std::tuple; std::tuple{attune::Field{\"window\", &Mine::window}} names the parameter window of Mine");
}

template <class Variant>
constexpr Text operator_problem() {
  constexpr std::string_view right = "constexpr void operator()(attune::Graph& g) const is right";
  if constexpr (requires { static_cast<void (Variant::*)(Graph) const>(&Variant::operator()); }) return sentence("operator() changes a copy of the graph; ", right);
  else if constexpr (std::is_invocable_v<const Variant&, Graph&>) return {};
  else if constexpr (std::is_invocable_v<Variant&, Graph&>) return sentence("operator() is not const; ", right);
  else return sentence("has no public operator() that takes a graph; ", right);
}
}  // namespace detail

/// Empty, or what a struct lacks to be a variant that tools know by name and parameters.
template <class Variant>
constexpr Text variant_problem() {
  if constexpr (!std::is_class_v<Variant>) return sentence("is no struct");
  else if constexpr (!requires { sizeof(Variant); }) return sentence("is declared and not defined");
  else if constexpr (!std::is_default_constructible_v<Variant>) return sentence("cannot be made without arguments; a default for every member is right");
  else if constexpr (!requires { std::string_view(Variant::name); })
    return sentence("has no public name; static constexpr std::string_view name = \"my_attention\"; is one");
  else if constexpr (!requires { Variant::fields; })
    return sentence("has no public fields; static constexpr auto fields = std::tuple{}; says that it has no parameters");
  else if (const Text problem = detail::fields_problem<Variant>(Variant::fields); !problem.empty()) return problem;
  else return detail::operator_problem<Variant>();
}

/// What a variant describes, or the problem in words.
struct DescribedVariant {
  std::string name, parameters;  ///< parameters: all with their values, comma separated
  std::string lacks;             ///< what the struct lacks to be a variant
  std::string problem;           ///< of a setting; those of the graph it says itself
  Graph graph;
};

namespace detail {
template <class Variant>
void describe_parameters(const Variant& variant, DescribedVariant& described) {
  described.name = std::string_view(Variant::name);
  described.parameters.clear();
  for (const Setting& s : parameters_of(variant)) described.parameters += (described.parameters.empty() ? "" : ",") + s.name + "=" + s.value;
}
}  // namespace detail

/// The graph of the variant with the parameters that it has. It is a constant: a compiler need not make machine code of what builds it, which is
/// most of its work.
template <class Variant>
void describe(DescribedVariant& described) {
  if constexpr (constexpr Text problem = variant_problem<Variant>(); !problem.empty()) {
    described.lacks = problem.view();
  } else {
    // does not compile where a constant expression may not do what the variant does: index beyond an array, read what nobody wrote
    static constexpr Graph of_defaults = build(Variant{});
    detail::describe_parameters(Variant{}, described);
    described.graph = of_defaults;
  }
}

/// The graph of the variant with its parameters set one after the other ("window=512").
template <class Variant>
void describe(const std::vector<std::string>& settings, DescribedVariant& described) {
  describe<Variant>(described);
  if constexpr (variant_problem<Variant>().empty()) {
    Variant variant{};
    for (const std::string& setting : settings)
      if (described.problem.empty()) described.problem = set_parameter(variant, setting);
    detail::describe_parameters(variant, described);
    if (described.problem.empty()) described.graph = build(variant);
  }
}

}  // namespace attune
