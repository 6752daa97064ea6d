#include "codegen/output_loads.h"

#include <set>
#include <string>

namespace attune {
namespace {

using namespace Halide::Internal;

/// Forgets what indices say of the alignment of loads from outputs.
class OutputLoads : public IRMutator {
 public:
  explicit OutputLoads(std::set<std::string> outputs) : outputs_(std::move(outputs)) {}

 private:
  using IRMutator::visit;

  Halide::Expr visit(const Load* load) override {
    if (!outputs_.contains(load->name)) return IRMutator::visit(load);
    return Load::make(load->type, load->name, mutate(load->index), load->image, load->param, mutate(load->predicate), ModulusRemainder());
  }

  std::set<std::string> outputs_;
};

}  // namespace

void load_outputs_from_anywhere(Halide::Pipeline& pipeline) {
  std::set<std::string> names;
  for (const Halide::Func& output : pipeline.outputs()) names.insert(output.name());
  pipeline.add_custom_lowering_pass(new OutputLoads(std::move(names)));
}

}  // namespace attune
