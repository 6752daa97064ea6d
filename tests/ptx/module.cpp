#include "tests/ptx/module.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "tests/ptx/names.h"
#include "tests/ptx/statements.h"
#include "tests/ptx/text.h"

namespace attune::ptx {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : statements_(text) {}

  std::map<std::string, Entry, std::less<>> run() {
    while (next_line()) {
      if (text_.starts_with(".target ")) target_ = trimmed(text_.substr(8));
      if (text_.empty() || text_.starts_with(".version") || text_.starts_with(".target") || text_.starts_with(".address_size")) continue;
      if (text_.starts_with(".visible .entry ")) {
        Entry entry = parse_entry();
        entries_.emplace(entry.name, std::move(entry));
      } else if (text_.find(".shared") != std::string_view::npos) {
        declare(names_.shared);
      } else {
        refuse("is none of what kernels of Attune declare");
      }
    }
    return std::move(entries_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::runtime_error("PTX, line " + std::to_string(statements_.line()) + ": '" + std::string(text_) + "' " + what);
  }

  bool next_line() {
    const bool is_there = statements_.next_line();
    text_ = statements_.text();
    return is_there;
  }
  /// false behind the kernel's last brace.
  bool next_statement() {
    while (names_.is_in_kernel() && statements_.next()) {
      text_ = statements_.text();
      if (text_ == "{") names_.begin_scope();
      else if (text_ == "}") names_.end_scope();
      else return true;
    }
    return false;
  }

  void declare(Arrays& arrays) {
    const std::optional<Array> array = read_array(text_);
    if (!array) refuse("is no array of bytes");
    arrays.declare(*array);
  }

  Entry parse_entry() {
    constexpr std::size_t words = std::string_view(".visible .entry ").size();
    Entry entry;
    entry.name = std::string(trimmed(text_.substr(words, text_.find('(') - words)));
    while (next_line() && text_ != "{")
      if (text_.starts_with(".param")) parse_parameter(entry);
    labels_.clear();
    names_.begin_kernel();
    const Arrays of_module = names_.shared;
    std::vector<std::pair<std::size_t, std::string>> branches;
    while (next_statement()) parse_statement(entry, branches);
    for (const auto& [at, label] : branches) {
      const auto place = labels_.find(label);
      if (place == labels_.end()) throw std::runtime_error("PTX, kernel '" + entry.name + "': no instruction has the label '" + label + "'");
      entry.instructions[at].target = place->second;
    }
    entry.shared_bytes = names_.shared.bytes();
    entry.local_bytes = names_.local.bytes();
    names_.shared = of_module;  // the kernel's own arrays are no other's
    entry.register_count = names_.register_count();
    return entry;
  }

  /// ".param .u64 .ptr .align 1 name,"
  void parse_parameter(Entry& entry) {
    const std::string_view line = text_.ends_with(',') ? text_.substr(0, text_.size() - 1) : text_;
    const std::size_t type = line.find_first_not_of(blanks, std::string_view(".param").size()) + 1;
    const auto bytes = static_cast<std::size_t>(bytes_of(line.substr(type, line.find_first_of(blanks, type) - type)));
    if (bytes == 0) refuse("is no parameter of a number");
    entry.parameter_bytes = (entry.parameter_bytes + bytes - 1) / bytes * bytes;
    entry.parameters.push_back({std::string(line.substr(line.find_last_of(blanks) + 1)), entry.parameter_bytes, bytes});
    entry.parameter_bytes += bytes;
  }

  /// ".reg .b32 %r<9>;" declares registers of the kernel; ".reg .pred p, q;" names of the scope, which are registers of their own.
  void declare_registers() {
    const std::size_t type = text_.find('.', 1), names = text_.find_first_of(blanks, type);
    if (type == std::string_view::npos || names == std::string_view::npos) refuse("declares no registers");
    for (const std::string_view name : parts_of(text_.substr(names, text_.find(';') - names)))
      if (name.find('<') == std::string_view::npos) names_.declare_register(name);
  }

  void parse_statement(Entry& entry, std::vector<std::pair<std::size_t, std::string>>& branches) {
    if (text_.starts_with(".reg ")) return declare_registers();
    if (text_.starts_with(".local ")) return declare(names_.local);
    if (text_.starts_with(".shared ")) return declare(names_.shared);
    if (text_.ends_with(':')) {
      labels_.emplace(text_.substr(0, text_.size() - 1), entry.instructions.size());
      return;
    }
    Instruction instruction;
    instruction.text = std::string(text_);
    instruction.line = statements_.line();
    std::string_view line = text_.substr(0, text_.find(';'));
    if (line.starts_with('@')) {
      const std::size_t end = line.find_first_of(blanks);
      instruction.guard_value = line[1] != '!';
      instruction.guard = register_of(line.substr(instruction.guard_value ? 1 : 2, end - (instruction.guard_value ? 1 : 2)));
      line = trimmed(line.substr(end));
    }
    const std::size_t end = line.find_first_of(blanks);
    const std::string_view name = line.substr(0, end);
    const std::vector<std::string_view> parts = end == std::string_view::npos ? std::vector<std::string_view>() : parts_of(line.substr(end));
    if (name == "bra" || name == "bra.uni") {
      instruction.kind = Instruction::Kind::branch;
      branches.emplace_back(entry.instructions.size(), std::string(parts.at(0)));
    } else if (const OrderRule* order = find_order_rule(name); order != nullptr) {
      instruction.kind = order->kind;
      if (static_cast<int>(parts.size()) != order->operands) refuse("has another number of operands");
      for (const std::string_view part : parts) instruction.operands.push_back(operand_of(part));
    } else if (name.starts_with("mov.b") && parts.size() == 2 && parts[0].starts_with('{')) {
      return parse_halves(entry, std::move(instruction), name, parts);
    } else if (name.starts_with("mov.b") && parts.size() == 2 && parts[1].starts_with('{')) {
      parse_pair(instruction, name, parts);
    } else if (name.starts_with("ld.") || name.starts_with("st.")) {
      parse_access(entry, instruction, name, parts);
    } else if (name.starts_with("cp.async.")) {
      parse_copy(instruction, name, parts);
    } else if (name.starts_with("ldmatrix.")) {
      parse_matrices(instruction, name, parts);
    } else if (name.starts_with("wgmma.mma_async.")) {
      parse_product(instruction, name, parts);
    } else if (const WarpRule* warp = find_warp_rule(name); warp != nullptr) {
      parse_warp(instruction, *warp, parts);
    } else {
      const Rule* rule = find_rule(name);
      if (rule == nullptr) refuse("is none of the instructions that kernels of Attune contain");
      if (static_cast<int>(parts.size()) != rule->operands + 1) refuse("has another number of operands");
      instruction.compute = rule->compute_lanes;
      instruction.results = {register_of(parts[0])};
      for (std::size_t i = 1; i < parts.size(); ++i) instruction.operands.push_back(operand_of(parts[i]));
    }
    entry.instructions.push_back(std::move(instruction));
  }

  /// "mov.b32 {%rs1, %rs2}, %r1;": the low half and the high one, an instruction for each that is wanted.
  void parse_halves(Entry& entry, Instruction instruction, std::string_view name, const std::vector<std::string_view>& parts) {
    const std::vector<std::string_view> halves = parts_of(parts[0].substr(1, parts[0].size() - 2));
    instruction.operands = {operand_of(parts[1])};
    for (std::size_t half = 0; half < halves.size(); ++half) {
      const Rule* rule = find_rule(std::string(half == 0 ? "low half of " : "high half of ") + std::string(name));
      if (rule == nullptr || halves.size() != 2) refuse("is none of the instructions that kernels of Attune contain");
      if (halves[half] == "tmp" || halves[half] == "_") continue;  // "{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r1; }": what goes there is nobody's
      instruction.compute = rule->compute_lanes;
      instruction.results = {register_of(halves[half])};
      entry.instructions.push_back(instruction);
    }
  }

  /// "mov.b64 %rd1, {%r1, %r2};": the low half and the high one together.
  void parse_pair(Instruction& instruction, std::string_view name, const std::vector<std::string_view>& parts) {
    const std::vector<std::string_view> halves = parts_of(parts[1].substr(1, parts[1].size() - 2));
    const Rule* rule = find_rule("pair of " + std::string(name));
    if (rule == nullptr || halves.size() != 2) refuse("is none of the instructions that kernels of Attune contain");
    instruction.compute = rule->compute_lanes;
    instruction.results = {register_of(parts[0])};
    for (const std::string_view half : halves) instruction.operands.push_back(operand_of(half));
  }

  /// "ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1+16];"
  void parse_access(const Entry& entry, Instruction& instruction, std::string_view name, const std::vector<std::string_view>& parts) {
    const bool is_load = name.starts_with("ld.");
    instruction.kind = is_load ? Instruction::Kind::load : Instruction::Kind::store;
    std::size_t elements = 1;
    bool has_space = false;
    for (name.remove_prefix(3); !name.empty();) {
      const std::string_view word = name.substr(0, name.find('.'));
      name.remove_prefix(std::min(name.size(), word.size() + 1));
      if (word == "param") instruction.space = Space::param, has_space = true;
      else if (word == "global") instruction.space = Space::global, has_space = true;
      else if (word == "shared") instruction.space = Space::shared, has_space = true;
      else if (word == "local") instruction.space = Space::local, has_space = true;
      else if (word == "v2" || word == "v4") elements = word == "v2" ? 2 : 4;
      else if (word == "nc") continue;
      else if (name.empty() && bytes_of(word) > 0) instruction.bytes = bytes_of(word), instruction.is_signed = word[0] == 's';
      else refuse("is none of the instructions that kernels of Attune contain");
    }
    if (!has_space || instruction.bytes == 0 || parts.size() != 2) refuse("is none of the instructions that kernels of Attune contain");
    std::string_view values = parts[is_load ? 0 : 1], place = parts[is_load ? 1 : 0];
    if (values.starts_with('{')) values = values.substr(1, values.size() - 2);
    for (const std::string_view value : parts_of(values)) {
      if (is_load) instruction.results.push_back(register_of(value));
      else instruction.operands.push_back(operand_of(value));
    }
    if ((is_load ? instruction.results.size() : instruction.operands.size()) != elements) refuse("has another number of elements");
    place = place_of(place, instruction.offset);
    if (instruction.space != Space::param) {
      instruction.address = operand_of(place);
      return;
    }
    const auto parameter = std::ranges::find(entry.parameters, place, &Entry::Parameter::name);
    if (parameter == entry.parameters.end()) refuse("reads what is no parameter");
    instruction.address.value = parameter->offset;
  }

  /// "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;"
  void parse_copy(Instruction& instruction, std::string_view name, const std::vector<std::string_view>& parts) {
    if ((name == "cp.async.ca.shared.global" || name == "cp.async.cg.shared.global") && (parts.size() == 3 || parts.size() == 4)) {
      instruction.kind = Instruction::Kind::copy;
      instruction.address = operand_of(place_of(parts[0], instruction.offset));
      instruction.source = operand_of(place_of(parts[1], instruction.source_offset));
      instruction.bytes = static_cast<int>(operand_of(parts[2]).value);
      if (parts.size() == 4) instruction.operands = {operand_of(parts[3])};
      if (instruction.bytes != 16 && (name != "cp.async.ca.shared.global" || (instruction.bytes != 4 && instruction.bytes != 8))) refuse("copies no such number of bytes");
    } else {
      refuse("is none of the instructions that kernels of Attune contain");
    }
  }

  /// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];"
  void parse_matrices(Instruction& instruction, std::string_view name, const std::vector<std::string_view>& parts) {
    constexpr std::string_view begin = "ldmatrix.sync.aligned.m8n8.x";
    instruction.kind = Instruction::Kind::load_matrices;
    instruction.is_transposed = name.ends_with(".trans.shared.b16");
    const bool is_known = name.starts_with(begin) && name.substr(begin.size() + 1) == (instruction.is_transposed ? ".trans.shared.b16" : ".shared.b16");
    if (!is_known || parts.size() != 2) refuse("is none of the instructions that kernels of Attune contain");
    for (const std::string_view result : elements_of(parts, 0, 1)) instruction.results.push_back(register_of(result));
    const std::size_t count = instruction.results.size();
    if (name[begin.size()] != static_cast<char>('0' + count) || (count != 1 && count != 2 && count != 4)) refuse("has another number of elements");
    instruction.address = operand_of(place_of(parts[1], instruction.offset));
  }

  /// Vectors of registers, the results first.
  void parse_warp(Instruction& instruction, const WarpRule& rule, const std::vector<std::string_view>& parts) {
    instruction.kind = Instruction::Kind::warp;
    instruction.compute_warp = rule.compute;
    instruction.lane_mask = rule.lane_mask;
    const std::size_t vectors = std::min<std::size_t>(rule.results > 0 ? 1 : 0, parts.size());
    for (const std::string_view result : elements_of(parts, 0, vectors)) instruction.results.push_back(register_of(result));
    for (const std::string_view operand : elements_of(parts, vectors, parts.size())) instruction.operands.push_back(operand_of(operand));
    if (static_cast<int>(instruction.results.size()) != rule.results || static_cast<int>(instruction.operands.size()) != rule.operands) refuse("has another number of operands");
  }

  void parse_product(Instruction& instruction, std::string_view name, const std::vector<std::string_view>& parts) {
    if (const std::string problem = read_product(name, parts, instruction.product); !problem.empty()) refuse(problem);
    if (target_ != "sm_90a") refuse("needs the target sm_90a, and the module's is " + target_);
    instruction.kind = Instruction::Kind::product;
    for (const std::string_view sum : elements_of(parts, 0, 1)) instruction.results.push_back(register_of(sum));
    for (const std::string_view operand : elements_of(parts, 1, 4)) instruction.operands.push_back(operand_of(operand));
  }

  int register_of(std::string_view name) {
    const std::optional<int> number = names_.register_of(name);
    if (!number) refuse("has something else than a register where a result is");
    return *number;
  }
  Operand operand_of(std::string_view text) {
    const std::optional<Operand> operand = names_.operand_of(text);
    if (!operand) refuse("names '" + std::string(text) + "', which is neither a register nor a number");
    return *operand;
  }

  Statements statements_;
  std::string_view text_;
  std::string target_;
  std::map<std::string, Entry, std::less<>> entries_;
  Names names_;
  std::map<std::string, std::size_t, std::less<>> labels_;
};

}  // namespace

std::map<std::string, Entry, std::less<>> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace attune::ptx
