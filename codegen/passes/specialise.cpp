#include "codegen/passes/specialise.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "codegen/dialect/import.h"
#include "dsl/follow.h"
#include "runtime/abi.h"

namespace attune {
namespace {

/// Calls read(item) for every part between commas; gives the first problem.
std::string for_each_item(std::string_view text, const std::function<std::string(std::string_view)>& read) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (std::string problem = read(text.substr(0, comma)); !problem.empty()) return problem;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {};
}

std::string read_storage(std::string_view text, Element& into) {
  into = storage_of_reals(text);
  return into != Element::real ? std::string() : fmt::format("specialise: '{}' is not a type of reals; those are {}", text, names_of_real_storages());
}

/// What `--type` calls the operands of products.
constexpr std::string_view products_name = "products";

std::string read_products(std::string_view text, Element& into) {
  into = storage_of_reals(text);
  if (into == Element::f32 || into == Element::bf16) return {};
  return fmt::format("specialise: products are of f32 or of bf16, not of '{}'", text);
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The result is made by adding to, scaling or renaming the logarithm of a sum. `seen`: values that are not.
bool is_log_sum(mlir::Value value, llvm::DenseSet<mlir::Value>& seen) {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || !seen.insert(value).second) return false;
  if (llvm::isa<GraphOp<LogSumExp>>(op)) return true;
  if (llvm::isa<GraphOp<Log>>(op)) {
    mlir::Operation* sum = op->getOperand(0).getDefiningOp();
    return sum != nullptr && llvm::isa<GraphOp<ReduceSum>>(sum);
  }
  return llvm::isa<GraphOp<Add>, GraphOp<Subtract>, GraphOp<Multiply>, GraphOp<Divide>, GraphOp<Negate>, GraphOp<Scale>, GraphOp<Rename>>(op) &&
         llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return is_log_sum(operand, seen); });
}

class Specialiser {
 public:
  Specialiser(mlir::func::FuncOp function, const Specialisation& given)
      : function_(function), given_(given), known_(known_extents(function)), name_(fmt::format("'{}'", function.getName().str())) {}

  std::string run() {
    if (std::string problem = add_given(); !problem.empty()) return problem;
    if (std::string problem = add_derived(); !problem.empty()) return problem;
    if (std::string problem = refuse_large(); !problem.empty()) return problem;
    if (std::string problem = choose_storage(); !problem.empty()) return problem;
    rewrite();
    return {};
  }

 private:
  std::string add_given() {
    const std::vector<DimInfo> dims = dims_of(function_);
    for (const DimInfo& d : dims)
      if (d.derivation.formula == Formula::fixed) known_.emplace(d.name(), d.derivation.value);
    for (const auto& [name, extent] : given_.extents) {
      const auto info = llvm::find_if(dims, [&](const DimInfo& d) { return d.name() == name; });
      if (info == dims.end()) {
        std::vector<std::string> names;
        for (const DimInfo& d : dims) names.emplace_back(d.name());
        return fmt::format("specialise: {} is not a dim of {}; its dims are {}", name, name_, joined(names));
      }
      if (extent < 1) return fmt::format("specialise: {} is {}; an extent must be positive", name, extent);
      const auto stated = known_.try_emplace(name, extent).first;
      if (stated->second != extent)
        return fmt::format("specialise: {} is {}, but {} fixes it to {}", name, extent, name_, stated->second);
    }
    return {};
  }

  std::string add_derived() {
    for (const DimInfo& info : dims_of(function_)) {
      const Derivation& d = info.derivation;
      if (d.formula == Formula::free || d.formula == Formula::fixed) continue;
      const std::string name(info.name()), sources(sentence(d.operands).view());
      const std::optional<std::int64_t> extent = evaluate(d, known_);
      const auto stated = known_.find(name);
      if (!extent && (d.formula == Formula::quotient || d.formula == Formula::slice) && known_.contains(d.operands[0])) {
        const std::string whose =
            d.formula == Formula::slice ? fmt::format("{} = {}: ", name, written(Steps::of(d.value), d.operands[0]).view()) : std::string();
        return fmt::format("specialise: {}{}", whose, follow(d, [&](Name operand) { return known_.find(operand)->second; }).problem.view());
      }
      if (!extent && stated != known_.end()) return fmt::format("specialise: {} is given, and follows from {}; give their extents, too", name, sources);
      if (extent && stated != known_.end() && stated->second != *extent)
        return fmt::format("specialise: {} is {}; it must be {}, which follows from {}", name, stated->second, *extent, sources);
      if (extent) known_[name] = *extent;
    }
    return {};
  }

  /// Of all extents, also those that the graph fixes and those that follow from others.
  std::string refuse_large() const {
    for (const auto& [name, extent] : known_)
      if (extent > ATTUNE_MAX_EXTENT) return fmt::format("specialise: {} is {}; kernels count up to {}", name, extent, ATTUNE_MAX_EXTENT);
    return {};
  }

  std::string choose_storage() {
    std::vector<std::string> names;
    for (unsigned i = 0; i < function_.getNumArguments(); ++i) {
      names.push_back(function_.getArgAttrOfType<mlir::StringAttr>(i, name_attribute).getValue().str());
      if (std::string problem = choose(names.back(), function_.getArgumentTypes()[i], given_.reals, arguments_); !problem.empty()) return problem;
    }
    auto end = llvm::cast<ReturnOp>(function_.getBody().front().getTerminator());
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      names.emplace_back(end.result_name(i));
      llvm::DenseSet<mlir::Value> seen;
      const Element reals = is_log_sum(end->getOperand(i), seen) ? Element::f32 : given_.reals;
      if (std::string problem = choose(names.back(), function_.getResultTypes()[i], reals, results_); !problem.empty()) return problem;
    }
    if (given_.products != Element::f32 && llvm::is_contained(names, products_name))
      return fmt::format("specialise: '{}' is a tensor of {}: another name makes clear what products={} means", products_name, name_, name_of(given_.products));
    for (const auto& [name, element] : given_.storage)
      if (!llvm::is_contained(names, name))
        return fmt::format("specialise: '{}' is neither an input nor an output of {}; they are {}", name, name_, joined(names));
    return {};
  }

  /// Appends the type of the argument or result `name` with its storage.
  std::string choose(const std::string& name, mlir::Type type, Element reals, llvm::SmallVector<mlir::Type>& into) {
    const auto tensor = llvm::cast<TensorType>(type);
    const auto stated = given_.storage.find(name);
    const bool is_named = stated != given_.storage.end();
    Element element = tensor.element();
    if (is_named && kind_of(element) != Kind::real)
      return fmt::format("specialise: '{}' is {}; only the storage of reals is chosen", name, name_of(element));
    if (is_named && element != Element::real && element != stated->second)
      return fmt::format("specialise: '{}' is {}, but {} stores it as {}", name, name_of(stated->second), name_, name_of(element));
    if (element == Element::real) element = is_named ? stated->second : reals;
    into.push_back(tensor.with(element, known_));
    return {};
  }

  void rewrite() {
    const auto refine = [&](mlir::Value value) {
      const auto tensor = llvm::cast<TensorType>(value.getType());
      value.setType(tensor.with(tensor.element() == Element::real ? Element::f32 : tensor.element(), known_));
    };
    function_.walk([&](mlir::Operation* op) {
      if (op == function_.getOperation()) return;
      llvm::for_each(op->getResults(), refine);
      for (mlir::Region& region : op->getRegions()) llvm::for_each(region.getArguments(), refine);
    });
    for (auto [argument, type] : llvm::zip(function_.getArguments(), arguments_)) argument.setType(type);
    function_.setType(mlir::FunctionType::get(function_.getContext(), arguments_, results_));
    if (given_.products != Element::f32) function_->setAttr(products_attribute, mlir::StringAttr::get(function_.getContext(), name_of(given_.products)));
  }

  mlir::func::FuncOp function_;
  const Specialisation& given_;
  KnownExtents known_;
  std::string name_;
  llvm::SmallVector<mlir::Type> arguments_, results_;
};

}  // namespace

std::string read_extents(std::string_view text, Specialisation& into) {
  return for_each_item(text, [&](std::string_view item) -> std::string {
    const std::size_t equals = item.find('=');
    const std::string_view number = equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), extent);
    if (number.empty() || error != std::errc() || end != number.data() + number.size())
      return fmt::format("specialise: '{}' is not an extent; depth=64 is one", item);
    into.extents[std::string(item.substr(0, equals))] = extent;
    return {};
  });
}

std::string read_types(std::string_view text, Specialisation& into) {
  return for_each_item(text, [&](std::string_view item) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return read_storage(item, into.reals);
    if (item.substr(0, equals) == products_name) return read_products(item.substr(equals + 1), into.products);
    return read_storage(item.substr(equals + 1), into.storage[std::string(item.substr(0, equals))]);
  });
}

std::string specialise(mlir::ModuleOp module, const Specialisation& given) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>())
    if (std::string problem = Specialiser(function, given).run(); !problem.empty()) return problem;
  return {};
}

}  // namespace attune
