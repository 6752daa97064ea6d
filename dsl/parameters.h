/// The parameters of a variant (or an operation) at run time: their names and values as text, and setting them from text.
#pragma once

#include <array>
#include <charconv>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "dsl/op.h"

namespace attune {

/// A parameter of a variant as text.
struct Setting {
  std::string name;
  std::string type;   ///< "an integer", "a number", "true or false", "one of sinusoidal, learned"
  std::string value;  ///< reads back as the same value
};

/// The names of an enum's values, in order. An enum among a variant's parameters brings
/// `constexpr std::array<std::string_view, N> enumerators(E)` in its namespace.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) { enumerators(e).size(); };

/// What the text of a parameter must be.
template <class T>
std::string type_of_parameter() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  else if constexpr (std::is_integral_v<T>) return "an integer";
  else if constexpr (std::is_floating_point_v<T>) return "a number";
  else {
    static_assert(NamedEnum<T>, "a parameter is an integer, a floating-point number, a bool, or an enum with enumerators(E)");
    std::string names;
    for (std::string_view name : enumerators(T{})) names += (names.empty() ? "one of " : ", ") + std::string(name);
    return names;
  }
}

/// The shortest text that reads back as the same value.
template <class T>
std::string text_of_parameter(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_enum_v<T>) return std::string(enumerators(value)[static_cast<std::size_t>(value)]);
  else {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }
}

/// Whether the whole text is a value of T, which it then becomes.
template <class T>
bool read_parameter(std::string_view text, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") return false;
    value = text == "true";
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    const auto names = enumerators(T{});
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == text) {
        value = static_cast<T>(i);
        return true;
      }
    return false;
  } else {
    const char* end = text.data() + text.size();
    T parsed{};
    const auto [stop, error] = std::from_chars(text.data(), end, parsed);
    if (error != std::errc{} || stop != end) return false;
    value = parsed;
    return true;
  }
}

namespace detail {
/// What the type of a parameter makes of text.
struct ParameterType {
  std::string (*words)();
  std::string (*text)(const void* value);
  bool (*read)(std::string_view text, void* value);
};
template <class T>
inline constexpr ParameterType parameter_type = {
    type_of_parameter<T>,                                                                //
    [](const void* value) { return text_of_parameter(*static_cast<const T*>(value)); },  //
    [](std::string_view text, void* value) { return read_parameter(text, *static_cast<T*>(value)); }};

/// A parameter where it stands in a variant.
struct PlacedParameter {
  std::string_view name;
  void* value;
  const ParameterType* type;
};
/// Those of a variant. What is made of them is no template: it would be compiled for each variant of the list.
template <class Variant>
auto placed_parameters(Variant& variant) {
  return std::apply(
      [&]<class... Owner, class... T>(const Field<Owner, T>&... field) {
        return std::array<PlacedParameter, sizeof...(field)>{PlacedParameter{field.name, &(variant.*field.member), &parameter_type<T>}...};
      },
      Variant::fields);
}

inline std::vector<Setting> settings_of(std::span<const PlacedParameter> parameters) {
  std::vector<Setting> settings;
  for (const PlacedParameter& p : parameters) settings.push_back({std::string(p.name), p.type->words(), p.type->text(p.value)});
  return settings;
}

inline std::string set_parameter(std::string_view variant, std::span<const PlacedParameter> parameters, std::string_view setting) {
  const std::string who = "variant '" + std::string(variant) + "': ";
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos)
    return who + "'" + std::string(setting) + "' sets no parameter; NAME=VALUE does";
  const std::string_view name = setting.substr(0, equals), text = setting.substr(equals + 1);
  std::string known;
  for (const PlacedParameter& p : parameters) {
    known += (known.empty() ? "" : ", ") + std::string(p.name);
    if (p.name != name) continue;
    if (p.type->read(text, p.value)) return {};
    return who + std::string(name) + " is '" + std::string(text) + "'; it must be " + p.type->words();
  }
  return who + "has no parameter '" + std::string(name) + "'; it has " + (known.empty() ? "none" : known);
}
}  // namespace detail

/// The parameters of a struct with `fields`, its own or those of a struct that it derives from, in their order.
template <class Variant>
std::vector<Setting> parameters_of(const Variant& variant) {
  Variant copy = variant;
  return detail::settings_of(detail::placed_parameters(copy));
}

/// Sets the parameter that "window=512" names. Empty, or a sentence that begins with `variant 'NAME': `.
template <class Variant>
std::string set_parameter(Variant& variant, std::string_view setting) {
  return detail::set_parameter(Variant::name, detail::placed_parameters(variant), setting);
}

}  // namespace attune
