/// A kernel that a test calls with many shapes, and of whose codes it compiles those that the calls take.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/attune/call_shapes.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"

namespace attune {

/// How a test compiles: as on the command line.
struct KernelOptions {
  std::vector<std::string> settings = {};  ///< "mask=true"
  std::string target = "host", types = "f32", schedule = "";
  std::vector<std::string> set = {};       ///< "depth=64"
  std::vector<std::string> tuned = {};     ///< files
  /// The code for the target with AVX2's instructions: what it computes is seen on any x86-64 machine, which has neither its vectors nor tile registers.
  bool is_modelled = false;
};

/// "depth=8" of every dim that follows from no other: a kernel for these extents holds the code for one size of call,
/// and takes a quarter of the time.
std::vector<std::string> known_extents(const Graph& graph, const Arrays& inputs);

/// Under the address or thread sanitizer the sanitizer watches the kernel's own loads and stores too.
class KernelCase {
 public:
  /// Of a variant of the list. A call throws if it does not compile.
  explicit KernelCase(const std::string& variant, const KernelOptions& options = {});
  /// Of any graph without a problem, which outlives this.
  KernelCase(const Graph& graph, const std::string& name, const KernelOptions& options = {});

  /// Whether this machine can run the kernel's target.
  bool is_usable() const { return !kernel().usable_targets().empty(); }
  /// Calls it with random inputs of the shape ("queries=5,keys=1"); empty, or how it differs from the interpreter.
  std::string difference(const std::string& shape, std::uint64_t seed) const;
  /// The same with these inputs.
  std::string difference(const Shape& extents, const Arrays& inputs) const;
  /// The outputs for these inputs, by name.
  std::map<std::string, std::vector<double>> outputs(const Shape& extents, const Arrays& inputs) const;

  /// The extents of all dims, which those of the inputs give.
  Shape extents_of(const Arrays& inputs) const;

  /// Compiles the codes that calls of these extents of all dims take into one kernel; calls that take others make one more each.
  void compile_for(std::span<const Shape> calls) const;
  /// Compiles those codes alone: all other calls take one of them, too. Before any call.
  void keep_to(std::span<const Shape> calls) const;
  /// The codes that a call of these extents of all dims takes of a kernel that has all.
  std::set<StageCode> codes_of(const Shape& extents) const;
  /// The extents of all dims of a shape ("queries=5,keys=1"), with those that are known; the problem in words.
  FilledShape filled(const std::string& shape) const;

  const Graph& graph() const { return prepared_.graph.graph; }
  /// With all codes, or those that it is kept to.
  const Kernel& kernel() const;
  /// With those that a call of these extents of all dims takes, at least.
  const Kernel& kernel_for(const Shape& extents) const;

 private:
  const Kernel& compiled(std::set<StageCode> codes, const std::vector<Shape>& calls) const;

  Prepared prepared_;
  /// What is compiled on the way, by the codes that it has: copies share it.
  struct Kernels {
    std::optional<KernelReport> report;
    std::optional<Kernel> whole;
    std::map<std::set<StageCode>, Kernel> of_calls;
  };
  std::shared_ptr<Kernels> kernels_ = std::make_shared<Kernels>();
};

}  // namespace attune
