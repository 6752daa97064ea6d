/// PartFinder: which operations of a model belong to the attention that ends in one of them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tools/onnx/model_tensors.h"

namespace attune {

/// Goes back from the result through what Translator knows; what it does not know is where the part begins, or the problem.
class PartFinder {
 public:
  /// Both outlive it.
  PartFinder(const OnnxSubgraph& graph, const ImportRequest& request);

  void find(const OnnxOperation& last) { take(last, Zone::result); }
  bool has(const OnnxOperation& operation) const { return taken_.contains(&operation); }
  bool begins_with(const std::string& tensor) const { return !is_constant(tensor) && beginnings_.contains(tensor); }
  const std::string& problem() const { return problem_; }

 private:
  /// Where in attention a tensor is, going back from the result: behind the last product, a factor of it, a score, an operand of either product;
  /// or what follows from constants and shapes alone.
  enum class Zone { result, factor, score, operand, known };

  /// Whether the tensor follows from constants and shapes alone.
  bool is_constant(const std::string& tensor) const;
  /// Before the products only that belongs to the part which moves, joins, scales or shifts an operand; what made it does not.
  bool is_of_operand(const OnnxOperation& operation) const;
  /// Whether the tensor comes from such an operation, with no product between.
  bool comes_from(const std::string& tensor, std::string_view op) const;
  bool comes_from(const std::string& tensor, std::string_view op, std::set<std::string>& seen) const;
  /// Whether a tensor of the zone is made between the softmax or the products and the result: an operation there has to be known.
  bool is_on_the_way(const std::string& tensor, Zone zone) const;

  void visit(const std::string& tensor, Zone zone);
  void take(const OnnxOperation& operation, Zone zone);
  /// Of the last product one factor comes from the softmax, the other is an operand like those of the scores.
  void take_product(const OnnxOperation& operation, Zone zone);

  const OnnxSubgraph& graph_;
  const ImportRequest& request_;
  ModelTensors tensors_;
  std::map<std::string, const OnnxOperation*> producers_;
  std::set<const OnnxOperation*> taken_;
  std::set<std::string> beginnings_;
  mutable std::map<std::string, bool> constants_;
  std::string problem_;
};

}  // namespace attune
