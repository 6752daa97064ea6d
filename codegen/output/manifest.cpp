#include "codegen/output/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "codegen/steps/llvm_object.h"
#include "runtime/abi.h"

namespace attune {
namespace {

/// LLVM assembly that defines the manifest. Struct types follow runtime/abi.h member by member.
class Assembly {
 public:
  std::string of(const Manifest& m, bool is_library) {
    std::vector<std::string> dims, tensors, views, steps, sweeps;
    for (const auto& d : m.dims)
      dims.push_back(fmt::format("%dim {{ ptr {}, i32 {}, i32 {}, ptr {}, i64 {} }}", text(d.name), d.formula, d.operands.size(),
                                 numbers(d.operands), d.value));
    for (const auto* all : {&m.tensors, &m.stored})
      for (const auto& t : *all)
        tensors.push_back(fmt::format("%tensor {{ ptr {}, i32 {}, i32 {}, i32 {}, ptr {} }}", text(t.name), t.storage,
                                      static_cast<int>(t.role), t.dims.size(), numbers(t.dims)));
    for (const auto& v : m.views) views.push_back(fmt::format("%view {{ i32 {}, i32 {}, ptr {}, ptr {} }}", v.tensor, v.dims.size(), numbers(v.dims), numbers(v.parts)));
    for (const auto& s : m.steps) steps.push_back(step(s));
    for (const auto& w : m.sweeps) sweeps.push_back(fmt::format("%sweep {{ i32 {}, i32 {}, i32 {}, ptr {}, ptr {} }}", w.first_step, w.step_count, w.blocks.size(), numbers(w.blocks), numbers(w.starts)));
    const std::string dim_table = array("%dim", dims), tensor_table = array("%tensor", tensors), step_table = array("%step", steps),
                      view_table = array("%view", views), sweep_table = array("%sweep", sweeps);
    const std::string symbol = manifest_symbol(m);
    body_ += fmt::format("@{} = constant %kernel {{ i32 {}, ptr {}, ptr {}, ptr {}, ptr {}, i32 {}, i32 {}, i32 {}, i32 {}, ptr {}, ptr {}, ptr {}, i32 {}, ptr {}, i32 {}, ptr {} }}\n",
                         symbol, ATTUNE_ABI_VERSION, text(m.name), text(m.variant), text(m.parameters), text(m.hash), m.dims.size(),
                         m.tensors.size(), m.stored.size(), m.steps.size(), dim_table, tensor_table, step_table, m.views.size(), view_table, m.sweeps.size(), sweep_table);
    if (is_library) library(m, symbol);
    std::string declarations;
    for (const std::string& declaration : declarations_) declarations += declaration;
    return types() + declarations + body_;
  }

 private:
  static std::string types() {
    return "%dim = type { ptr, i32, i32, ptr, i64 }\n"
           "%tensor = type { ptr, i32, i32, i32, ptr }\n"
           "%view = type { i32, i32, ptr, ptr }\n"
           "%condition = type { i32, i64, i64 }\n"
           "%code = type { ptr, ptr, i32, i32, ptr, ptr, ptr, ptr, ptr }\n"
           "%step = type { ptr, i32, i32, ptr, i32, i32, ptr, ptr }\n"
           "%kernel = type { i32, ptr, ptr, ptr, ptr, i32, i32, i32, i32, ptr, ptr, ptr, i32, ptr, i32, ptr }\n"
           "%sweep = type { i32, i32, i32, ptr, ptr }\n"
           "%hooks = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }\n"
           "%library = type { i32, i32, ptr, %hooks }\n";
  }

  std::string step(const Manifest::Step& s) {
    std::vector<int> tensors = s.inputs;
    tensors.insert(tensors.end(), s.outputs.begin(), s.outputs.end());
    std::vector<std::string> codes;
    for (const auto& c : s.codes) codes.push_back(code(c));
    return fmt::format("%step {{ ptr {}, i32 {}, i32 {}, ptr {}, i32 {}, i32 {}, ptr {}, ptr {} }}", text(s.stage), s.inputs.size(), s.outputs.size(),
                       numbers(tensors), s.dims.size(), codes.size(), numbers(s.dims), array("%code", codes));
  }

  std::string code(const Manifest::Code& c) {
    std::vector<std::string> conditions;
    for (const auto& k : c.conditions) conditions.push_back(fmt::format("%condition {{ i32 {}, i64 {}, i64 {} }}", k.dim, k.minimum, k.maximum));
    declarations_.insert(fmt::format("declare i32 @{}(ptr)\n", c.symbol));
    if (!c.shared_bytes.empty()) declarations_.insert(fmt::format("declare i32 @{}()\n", c.shared_bytes));
    return fmt::format("%code {{ ptr {}, ptr {}, i32 {}, i32 {}, ptr {}, ptr {}, ptr {}, ptr @{}, ptr {} }}", text(c.target), text(c.schedule),
                       c.device, conditions.size(), array("%condition", conditions), text(c.features), text(c.cpus), c.symbol,
                       c.shared_bytes.empty() ? "null" : "@" + c.shared_bytes);
  }

  void library(const Manifest& m, const std::string& symbol) {
    const std::string kernels = array("ptr", {"ptr @" + symbol});
    std::string hooks;
    const auto add = [&](bool is_there, const char* name, const char* parameters) {
      if (is_there) declarations_.insert(fmt::format("declare ptr @{}({})\n", name, parameters));
      hooks += fmt::format("{}ptr {}", hooks.empty() ? "" : ", ", is_there ? "@" + std::string(name) : "null");
    };
    for (const char* setter : {"halide_set_custom_do_par_for", "halide_set_custom_malloc", "halide_set_custom_free", "halide_set_error_handler"})
      add(true, setter, "ptr");
    const bool has_cuda = has_code_for(m, attune_cuda), has_opencl = has_code_for(m, attune_opencl);
    add(has_cuda, "halide_set_cuda_acquire_context", "ptr");
    add(has_cuda, "halide_set_cuda_get_stream", "ptr");
    add(has_cuda, "halide_cuda_device_interface", "");
    hooks += has_opencl ? ", ptr @set_opencl_context" : ", ptr null";
    if (has_opencl) body_ += opencl_context();
    add(has_opencl, "halide_opencl_device_interface", "");
    if (has_code_for(m, attune_vulkan)) body_ += "define void @halide_print(ptr %user_context, ptr %text) {\n  ret void\n}\n";  // it tells of its settings
    body_ += fmt::format("@attune_library_v1 = constant %library {{ i32 {}, i32 1, ptr {}, %hooks {{ {} }} }}\n", ATTUNE_ABI_VERSION, kernels, hooks);
  }

  static bool has_code_for(const Manifest& m, attune_device device) {
    return std::ranges::any_of(
        m.steps, [&](const Manifest::Step& step) { return std::ranges::count(step.codes, static_cast<int>(device), &Manifest::Code::device) != 0; });
  }

  /// Halide's runtime for OpenCL has no setter for the function that gives its context and its queue, but its own is weak.
  static std::string opencl_context() {
    return "@opencl_context = internal global ptr null\n"
           "define i32 @halide_acquire_cl_context(ptr %user_context, ptr %context, ptr %queue, i1 zeroext %is_to_be_made) {\n"
           "  %function = load ptr, ptr @opencl_context\n"
           "  %status = call i32 %function(ptr %user_context, ptr %context, ptr %queue, i1 zeroext %is_to_be_made)\n"
           "  ret i32 %status\n"
           "}\n"
           "define internal ptr @set_opencl_context(ptr %function) {\n"
           "  %before = load ptr, ptr @opencl_context\n"
           "  store ptr %function, ptr @opencl_context\n"
           "  ret ptr %before\n"
           "}\n";
  }

  /// A constant string, once each.
  std::string text(const std::string& s) {
    const auto [place, is_fresh] = texts_.try_emplace(s, fmt::format("@text.{}", texts_.size()));
    if (!is_fresh) return place->second;
    std::string escaped;
    for (const char c : s) escaped += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    body_ += fmt::format("{} = private constant [{} x i8] c\"{}\\00\"\n", place->second, s.size() + 1, escaped);
    return place->second;
  }
  std::string numbers(const std::vector<int>& values) {
    std::vector<std::string> items;
    for (const int v : values) items.push_back(fmt::format("i32 {}", v));
    return array("i32", items);
  }
  std::string array(const std::string& type, const std::vector<std::string>& items) {
    if (items.empty()) return "null";
    std::string joined;
    for (const auto& item : items) joined += (joined.empty() ? "" : ", ") + item;
    const std::string name = fmt::format("@table.{}", tables_++);
    body_ += fmt::format("{} = private constant [{} x {}] [{}]\n", name, items.size(), type, joined);
    return name;
  }

  std::map<std::string, std::string> texts_;
  int tables_ = 0;
  std::set<std::string> declarations_;
  std::string body_;
};

}  // namespace

std::string manifest_symbol(const Manifest& manifest) { return "attune_kernel_v5_" + manifest.name; }

ManifestObject manifest_object(const Manifest& manifest, const std::string& triple, bool is_library) {
  CodeAnswer made = llvm_object(Assembly().of(manifest, is_library), triple, "the manifest");
  return {std::move(made.bytes), std::move(made.problem)};
}

}  // namespace attune
