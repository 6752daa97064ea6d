/// What the names in a kernel of PTX stand for: registers, arrays, places of threads, numbers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/arrays.h"
#include "tests/ptx/module.h"

namespace attune::ptx {

class Names {
 public:
  void begin_kernel();
  /// A scope in braces, which may declare registers that it alone knows.
  void begin_scope() { scopes_.emplace_back(); }
  void end_scope() { scopes_.pop_back(); }
  /// false behind the kernel's last brace.
  bool is_in_kernel() const { return !scopes_.empty(); }

  void declare_register(std::string_view name);
  /// The number of a register that is declared, or that a name with '%' makes; nothing of another name.
  std::optional<int> register_of(std::string_view name);
  /// Registers, "%tid.x", names of arrays, "-3", "0f3F800000"; nothing of anything else.
  std::optional<Operand> operand_of(std::string_view text);
  int register_count() const { return static_cast<int>(registers_.size()); }

  Arrays shared, local;

 private:
  using Registers = std::map<std::string, int, std::less<>>;

  Registers registers_;
  std::vector<Registers> scopes_;  // of registers that are declared by name, the innermost last
};

}  // namespace attune::ptx
