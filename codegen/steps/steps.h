/// A kernel as a list of steps: which stage is called with which tensors. Decided once, for all targets and sizes of call.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <optional>
#include <string>
#include <vector>

#include "codegen/dialect/dialect.h"
#include "codegen/dialect/tensor_type.h"
#include "codegen/plan/stage_roles.h"
#include "codegen/steps/sweeps.h"
#include "dsl/graph.h"
#include "schedules/records/choice.h"

namespace attune {

/// An output by the parts of its dims, where a stage writes what is merged into the output; or a tensor's elements of the blocks that a sweep is at.
struct TensorView {
  std::size_t of = 0;      ///< the number of the whole
  std::vector<int> parts;  ///< for each dim of the whole: how many dims of the view it is the product of; of a block 1
};

/// A tensor of the kernel as it lies in memory.
struct StepTensor {
  enum class Role { input, output, stored };
  std::string name;
  std::vector<std::string> dims;  ///< outermost first
  Element element = Element::f32;
  Role role = Role::input;
  bool is_updated = false;  ///< an input whose memory steps change
  std::optional<TensorView> view = {};  ///< of one that is no tensor of its own
};

/// A call of a stage.
struct Step {
  std::string reason;
  Graph graph;                        ///< what is computed: inputs a0, a1 ... are the tensors that it reads, outputs r0, r1 ... those that it writes
  StageRoles roles;                   ///< of the graph's nodes
  std::vector<std::size_t> inputs, outputs;  ///< numbers of tensors
  std::vector<std::string> dims;      ///< whose extents are not known before the call, in the order in which the body names them
  std::vector<Derivation> derivations;  ///< of these dims from one another and from known ones, each after those that it follows from
  StageKey key;                       ///< what tuned records are found by; of a copy none
  /// Two steps with the same are the same code: the body with every number, storage, known extent and derivation, and dims d0, d1 ... in the order of
  /// `dims` and of those that are known.
  std::string identity;
  std::size_t place = 0;              ///< of its stage among those of the function; of a copy none

  std::string_view kind() const { return name_of(roles); }
};

/// Steps that are called for one block after the other.
struct Sweep {
  std::size_t first = 0, count = 0;  ///< numbers of steps
  std::vector<SweptDim> dims;
};

struct KernelSteps {
  std::vector<StepTensor> tensors;    ///< inputs, outputs in the order of the call; then views, and what steps store for one another
  std::vector<Step> steps;            ///< each after those whose results it reads
  std::vector<Sweep> sweeps;          ///< in the order of their steps
  std::vector<DimInfo> dims;          ///< of the function, each after those that its extent follows from; then the blocks of sweeps, as other names of whole dims, and where they begin
  KnownExtents known;                 ///< extents that are known before a kernel runs
  Element products = Element::f32;    ///< what operands of products may be rounded to

  /// The dim whose other name this one is: keys are tokens where queries and keys are of one sequence, and a block is of its whole. Limits of one extent
  /// meet then.
  std::string before_renames(std::string dim) const;
  /// And that blocks of sweeps begin at 0: on a device they are whole dims.
  KnownExtents known_on_devices() const;
};

/// Of a function whose body is stages (after form_stages). A result that another element or another order of dims is wanted of is copied by a
/// step of its own. Names live as long as the context.
KernelSteps kernel_steps(mlir::func::FuncOp function);

}  // namespace attune
