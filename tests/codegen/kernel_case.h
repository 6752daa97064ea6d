/// A kernel that a test compiles once and calls with many shapes.
#pragma once

#include <string>

#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"

namespace attune {

/// How a test compiles: as on the command line.
struct KernelOptions {
  std::vector<std::string> settings = {};  ///< "mask=true"
  std::string target = "host", types = "f32", schedule = "";
  std::vector<std::string> set = {};       ///< "depth=64"
};

/// "depth=8" of every dim that follows from no other: a kernel for these extents holds the code for one size of call, and takes a quarter of the time.
std::vector<std::string> known_extents(const Graph& graph, const Arrays& inputs);

/// Under the address or thread sanitizer the sanitizer watches the kernel's own loads and stores too.
class KernelCase {
 public:
  /// Of a variant of the list. A test fails if it does not compile.
  explicit KernelCase(const std::string& variant, const KernelOptions& options = {});
  /// Of any graph without a problem, which outlives this.
  KernelCase(const Graph& graph, const std::string& name, const KernelOptions& options = {});

  /// Whether this machine can run the kernel's target.
  bool is_usable() const { return !kernel_.usable_targets().empty(); }
  /// Calls it with random inputs of the shape ("queries=5,keys=1"); empty, or how it differs from the interpreter.
  std::string difference(const std::string& shape, std::uint64_t seed) const;
  /// The same with these inputs.
  std::string difference(const Shape& extents, const Arrays& inputs) const;
  /// The outputs for these inputs, by name.
  std::map<std::string, std::vector<double>> outputs(const Shape& extents, const Arrays& inputs) const;

  /// The extents of all dims, which those of the inputs give.
  Shape extents_of(const Arrays& inputs) const;

  const Graph& graph() const { return prepared_.graph.graph; }
  const Kernel& kernel() const { return kernel_; }

 private:
  Prepared prepared_;
  Kernel kernel_;
};

}  // namespace attune
