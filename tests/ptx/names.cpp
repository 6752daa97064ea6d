#include "tests/ptx/names.h"

#include <algorithm>
#include <charconv>

namespace attune::ptx {
namespace {

constexpr std::string_view special_names[] = {"%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x",   "%ntid.y",   "%ntid.z", "%ctaid.x",
                                              "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid"};

}  // namespace

void Names::begin_kernel() {
  registers_.clear();
  local = {};
  scopes_.assign(1, {});
}

void Names::declare_register(std::string_view name) {
  const int number = register_count();
  registers_.emplace(std::string(name) + " of register " + std::to_string(number), number);
  scopes_.back().insert_or_assign(std::string(name), number);
}

std::optional<int> Names::register_of(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto place = scope->find(name); place != scope->end()) return place->second;
  if (!name.starts_with('%')) return std::nullopt;
  return registers_.try_emplace(std::string(name), register_count()).first->second;
}

std::optional<Operand> Names::operand_of(std::string_view text) {
  if (const auto special = std::ranges::find(special_names, text); special != std::end(special_names))
    return Operand{Operand::Kind::special, static_cast<std::uint64_t>(special - special_names)};
  if (const std::optional<int> number = register_of(text)) return Operand{Operand::Kind::reg, static_cast<std::uint64_t>(*number)};
  for (const Arrays* arrays : {&shared, &local})
    if (const std::optional<std::size_t> place = arrays->place(text)) return Operand{Operand::Kind::number, *place};
  std::uint64_t bits = 0;
  if (text.starts_with("0f") || text.starts_with("0x")) {
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error == std::errc() && end == text.data() + text.size()) return Operand{Operand::Kind::number, bits};
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Operand{Operand::Kind::number, static_cast<std::uint64_t>(number)};
}

}  // namespace attune::ptx
