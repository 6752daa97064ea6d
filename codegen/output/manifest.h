/// The manifest of a kernel as data of an object file: the structs of runtime/abi.h, written through LLVM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/abi.h"

namespace attune {

/// The fields of the structs of runtime/abi.h, by value; numbers of dims refer to `dims`.
struct Manifest {
  struct Dim {
    std::string name;
    int formula = 0;
    std::vector<int> operands;
    std::int64_t value = 1;
  };
  struct Tensor {
    std::string name;
    int storage = 0;
    attune_role role = attune_input;
    std::vector<int> dims;
  };
  /// Of a tensor, by the parts of its dims or by blocks of them.
  struct View {
    int tensor = 0;
    std::vector<int> dims, parts;
  };
  struct Condition {
    int dim = 0;
    std::int64_t minimum = 0, maximum = 0;
  };
  struct Code {
    std::string target, schedule, features, cpus, symbol;  ///< symbol: the function that takes void** arguments
    int device = 0;
    std::vector<Condition> conditions;
    std::string shared_bytes = {};  ///< of a device's code: the function that says how much memory blocks share
  };
  struct Step {
    std::string stage;
    std::vector<int> inputs, outputs;  ///< numbers of tensors; what steps store follows those of a call, and views follow both
    std::vector<int> dims;
    std::vector<Code> codes;
  };
  struct Sweep {
    int first_step = 0, step_count = 0;
    std::vector<int> blocks, starts;
  };
  std::string name, variant, parameters, hash;
  std::vector<Dim> dims;
  std::vector<Tensor> tensors;  ///< of a call
  std::vector<Tensor> stored;   ///< by steps for one another
  std::vector<View> views;
  std::vector<Step> steps;
  std::vector<Sweep> sweeps;

  /// Tensor `number` of a step; of a view the one that it is of.
  const Tensor& tensor(int number) const {
    const auto n = static_cast<std::size_t>(number);
    if (n >= tensors.size() + stored.size()) return tensor(views[n - tensors.size() - stored.size()].tensor);
    return n < tensors.size() ? tensors[n] : stored[n - tensors.size()];
  }
};

/// What keeps the manifest of a kernel from being one that the runtime opens and C and C++ declare: names that are no identifiers, more
/// tensors or larger extents than runtime/abi.h allows. A sentence, or nothing.
std::string manifest_problem(const Manifest& manifest);

/// The symbol of a kernel's manifest.
std::string manifest_symbol(const Manifest& manifest);

/// An object file for the LLVM triple that defines the manifest and refers to its codes' symbols. With `is_library` it also
/// defines the table of kernels that a shared file exports. Its bytes, or the problem in words.
struct ManifestObject {
  std::string bytes, problem;
};
ManifestObject manifest_object(const Manifest& manifest, const std::string& triple, bool is_library);

}  // namespace attune
