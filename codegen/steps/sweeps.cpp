#include "codegen/steps/sweeps.h"

#include <fmt/format.h>
#include <llvm/ADT/SetVector.h>

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/dialect/import.h"
#include "codegen/plan/stage_roles.h"
#include "codegen/steps/block_graph.h"
#include "codegen/steps/merged_dims.h"
#include "codegen/steps/stage_layout.h"
#include "codegen/steps/visible_band.h"

namespace attune {
namespace {

/// Rows of a block, if there are so many, and as many as the product sums over: columns are read anew for each block, which then costs no more than the
/// pairs themselves.
constexpr std::int64_t least_rows = 64;

using Group = llvm::SetVector<mlir::Operation*>;

bool has(mlir::Value value, std::string_view dim) { return type_of(value.getType()).dims.has(dim); }

/// The rows and the columns of a product of both, and what it sums over.
struct Pair {
  std::string rows, columns;
  std::vector<std::string> over;
  bool has_batch = false;  ///< both operands have a dim: neither is a weight of all tokens
};

/// The stage computes each row from all of its columns, and not as a product does. A sum or a maximum of what a product with a weight gives is that of a
/// norm: such a row is as long as a token, not as there are tokens.
bool runs_along(const StageRoles& roles, const Graph& graph, const Pair& pair) {
  if (const AttentionRoles* attention = attention_in(roles)) return attention->keys == pair.columns && attention->queries == pair.rows;
  const auto anchor = std::visit(
      []<class R>(const R& r) {
        if constexpr (std::is_same_v<R, RowSoftmaxRoles>) return r.softmax;
        else if constexpr (std::is_same_v<R, ReduceRoles>) return r.reduction;
        else if constexpr (std::is_same_v<R, RowWalkRoles>) return r.walk;
        else return -1;
      },
      roles);
  if (std::holds_alternative<ReduceRoles>(roles) && !pair.has_batch) return false;
  return anchor >= 0 && std::visit([&](const auto& op) { return names_dim(op, pair.columns); }, graph.node(anchor).op);
}

class SweepFinder {
 public:
  explicit SweepFinder(mlir::func::FuncOp function) : context_(function.getContext()) {
    for (StageOp stage : function.getBody().front().getOps<StageOp>()) order_.push_back(stage);
    for (const DimInfo& dim : dims_of(function)) names_.emplace(dim.name());
    dims_left_ = ATTUNE_MAX_DIMS - names_.size();
  }

  SweptStages find() {
    const std::vector<StageOp> stages = order_;
    for (const bool may_add : {false, true})
      for (StageOp stage : stages)
        for (const Pair& pair : pairs_of(stage, may_add))
          if (!is_swept(stage)) sweep(stage, pair, may_add);
    std::ranges::sort(sweeps_, {}, [&](const StageSweep& sweep) { return llvm::find(order_, sweep.stages.front()) - order_.begin(); });
    return {order_, sweeps_};
  }

 private:
  bool is_swept(StageOp stage) const {
    return std::ranges::any_of(sweeps_, [&](const StageSweep& sweep) { return sweep.has(stage); });
  }

  /// What a gemm multiplies: each dim that one operand alone has with each that the other alone has, both ways round. Where blocks may add up, those of
  /// inner dims first: of a group of heads and its queries, a block is of queries.
  static std::vector<Pair> pairs_of(StageOp stage, bool may_add) {
    std::vector<Pair> pairs;
    const Graph graph = to_graph(stage);
    const StageRolesAnswer found = find_roles(stage.kind(), graph);
    const auto* gemm = std::get_if<GemmRoles>(&*found.roles);
    if (gemm == nullptr) return pairs;
    const Node& product = graph.node(gemm->matmul);
    const Names& summed = std::get<Matmul>(product.op).over;
    const std::vector<std::string> over(summed.begin(), summed.end());
    const Names &a = graph.node(product.inputs[0]).type.dims, &b = graph.node(product.inputs[1]).type.dims;
    const bool has_batch = std::ranges::any_of(product.type.dims, [&](Name dim) { return a.has(dim) && b.has(dim); });
    for (const Name of_a : product.type.dims)
      for (const Name of_b : product.type.dims)
        if (!b.has(of_a) && !a.has(of_b)) {
          pairs.push_back({std::string(of_a), std::string(of_b), over, has_batch});
          pairs.push_back({std::string(of_b), std::string(of_a), over, has_batch});
        }
    if (may_add) std::ranges::reverse(pairs);
    return pairs;
  }

  /// Sweeps what reads and writes the pairs that the stage makes, if it may be.
  void sweep(StageOp stage, const Pair& pair, bool may_add) {
    const Group group = around(stage, pair);
    bool runs = false;
    for (mlir::Operation* op : group) {
      auto member = llvm::cast<StageOp>(op);
      const Graph graph = to_graph(member);
      const bool adds_up = may_add && may_add_up(member, graph, pair.rows, group);
      if (is_swept(member) || member.kind() == llvm::StringRef(WriteRowsRoles::name) || !(adds_up || may_sweep(member, graph, pair.rows, group))) return;
      runs = runs || (adds_up ? pair.has_batch : runs_along(*find_roles(member.kind(), graph).roles, graph, pair));
    }
    const std::optional<std::vector<StageOp>> order = together(group);
    if (!runs || !order) return;
    StageSweep sweep;
    for (StageOp member : *order)
      if (group.contains(member.getOperation())) sweep.stages.push_back(member);
    sweep.dims = dims_of_sweep(group, stage, pair);
    if (std::optional<Band> band = are_read_inside(group, pair) ? visible_band(sweep.stages, pair.rows, pair.columns) : std::nullopt)
      sweep.dims.insert(sweep.dims.begin(), {pair.columns, fresh(pair.columns, "block"), fresh(pair.columns, "start"), 1, {}, std::move(band)});
    if (sweep.dims.front().band && !fits(sweep, views_of(sweep))) sweep.dims.erase(sweep.dims.begin());
    const std::size_t views = views_of(sweep);
    if (!fits(sweep, views)) return;
    dims_left_ -= 2 * sweep.dims.size();
    views_ += views;
    order_ = *order;
    sweeps_.push_back(std::move(sweep));
  }

  /// The stage with all that read what it makes of pairs, that make what these read of them, and so on.
  static Group around(StageOp stage, const Pair& pair) {
    Group group;
    group.insert(stage.getOperation());
    const auto is_of_pairs = [&](mlir::Value value) { return has(value, pair.rows) && has(value, pair.columns); };
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const mlir::Value operand : group[i]->getOperands())
        if (is_of_pairs(operand) && operand.getDefiningOp() != nullptr) group.insert(operand.getDefiningOp());
      for (const mlir::Value result : group[i]->getResults())
        for (mlir::Operation* user : result.getUsers())
          if (is_of_pairs(result) && llvm::isa<StageOp>(user)) group.insert(user);
    }
    return group;
  }

  /// Each result has the dim and is computed along it position by position, from the same positions of what others of the group make; and none is merged
  /// with it.
  static bool may_sweep(StageOp stage, const Graph& graph, std::string_view dim, const Group& group) {
    if (!is_apart_along(graph, dim) || reads_whole_of(group, stage, graph, dim)) return false;
    for (const mlir::Value result : stage->getResults()) {
      if (!has(result, dim)) return false;
      for (mlir::Operation* user : result.getUsers())
        if (auto merging = llvm::dyn_cast<StageOp>(user))
          for (const Merge& merge : merges_of(merging))
            if (std::ranges::find(merge.from, dim) != merge.from.end()) return false;
    }
    return true;
  }

  /// The result is a sum of f32 over the dim, and none of the group needs it.
  static bool may_add_up(StageOp stage, const Graph& graph, std::string_view dim, const Group& group) {
    if (stage.kind() != llvm::StringRef(GemmRoles::name) && stage.kind() != llvm::StringRef(ReduceRoles::name)) return false;
    if (!adds_up_along(graph, dim) || reads_whole_of(group, stage, graph, dim)) return false;
    const mlir::Value sum = stage->getResult(0);
    return llvm::cast<TensorType>(sum.getType()).element() == Element::f32 &&
           llvm::none_of(sum.getUsers(), [&](mlir::Operation* user) { return group.contains(user); });
  }

  /// Nobody but the group reads the pairs that it makes.
  static bool are_read_inside(const Group& group, const Pair& pair) {
    const auto is_inside = [&](mlir::Operation* user) { return group.contains(user); };
    return llvm::all_of(group, [&](mlir::Operation* member) {
      return llvm::all_of(member->getResults(), [&](mlir::Value result) {
        return !has(result, pair.rows) || !has(result, pair.columns) || llvm::all_of(result.getUsers(), is_inside);
      });
    });
  }

  /// All positions along the dim of what one of the group makes.
  static bool reads_whole_of(const Group& group, StageOp stage, const Graph& graph, std::string_view dim) {
    const std::vector<bool> is_whole = whole_nodes(graph, dim);
    for (unsigned i = 0; i < stage->getNumOperands(); ++i)
      if (is_whole[i] && group.contains(stage->getOperand(i).getDefiningOp())) return true;
    return false;
  }

  /// The stages in an order in which the group stands together; nothing if what the group needs of another needs the group. What writes into an input
  /// stays behind those that may read what was there.
  std::optional<std::vector<StageOp>> together(const Group& group) const {
    std::vector<StageOp> before, inside, behind;
    llvm::SetVector<mlir::Operation*> later;  // they need a member
    for (StageOp stage : order_) {
      const bool is_later = llvm::any_of(stage->getOperands(), [&](mlir::Value v) { return later.contains(v.getDefiningOp()); });
      const bool needs_group = llvm::any_of(stage->getOperands(), [&](mlir::Value v) { return group.contains(v.getDefiningOp()); });
      const bool is_member = group.contains(stage.getOperation());
      if (is_member && is_later) return std::nullopt;
      const bool writes = !inside.empty() && stage.kind() == llvm::StringRef(WriteRowsRoles::name);
      if (!is_member && (is_later || needs_group || writes)) later.insert(stage.getOperation());
      (is_member ? inside : later.contains(stage.getOperation()) ? behind : before).push_back(stage);
    }
    if (std::ranges::any_of(sweeps_, [&](const StageSweep& sweep) { return is_torn(sweep, before, behind); })) return std::nullopt;
    std::vector<StageOp> order = before;
    order.insert(order.end(), inside.begin(), inside.end());
    order.insert(order.end(), behind.begin(), behind.end());
    return order;
  }

  static bool is_torn(const StageSweep& sweep, const std::vector<StageOp>& before, const std::vector<StageOp>& behind) {
    const auto is_there = [&](const std::vector<StageOp>& part) {
      return [&](StageOp stage) { return std::ranges::find(part, stage) != part.end(); };
    };
    return std::ranges::any_of(sweep.stages, is_there(before)) && std::ranges::any_of(sweep.stages, is_there(behind));
  }

  /// The rows, and in front of them whatever else all stages may sweep.
  std::vector<SweptDim> dims_of_sweep(const Group& group, StageOp seed, const Pair& pair) {
    std::vector<SweptDim> dims;
    const auto add = [&](const std::string& dim, std::int64_t least, const std::vector<std::string>& least_product) {
      dims.push_back({dim, fresh(dim, "block"), fresh(dim, "start"), least, least_product});
    };
    for (const std::string& dim : dims_of(llvm::cast<TensorType>(seed->getResult(0).getType()))) {
      if (dim == pair.rows || dim == pair.columns) continue;
      const auto may = [&](mlir::Operation* member) {
        auto stage = llvm::cast<StageOp>(member);
        return may_sweep(stage, to_graph(stage), dim, group);
      };
      if (llvm::all_of(group, may)) add(dim, 1, {});
    }
    add(pair.rows, least_rows, pair.over);
    return dims;
  }

  /// A name that no other dim has: "queries_block".
  std::string fresh(const std::string& dim, std::string_view part) {
    constexpr std::size_t most_of_dim = 30;  // a name has 40 characters
    const std::string stem = fmt::format("{}_{}", dim.substr(0, most_of_dim), part);
    std::string name = stem;
    for (int number = 2; !names_.insert(name).second; ++number) name = fmt::format("{}{}", stem, number);
    return name;
  }

  /// A kernel has room for the dims and for a view of each tensor.
  bool fits(const StageSweep& sweep, std::size_t views) const {
    const bool has_graphs = std::ranges::all_of(sweep.stages, [&](StageOp stage) { return in_blocks(to_graph(stage), sweep.dims, context_).problem().empty(); });
    return has_graphs && sweeps_.size() < ATTUNE_MAX_SWEEPS && 2 * sweep.dims.size() <= dims_left_ && views_ + views <= most_views_of_sweeps;
  }

  /// One of each value with swept dims that others make or read, too; of one that is read whole along some of them and not along others, two.
  static std::size_t views_of(const StageSweep& sweep) {
    const auto is_inside = [&](mlir::Operation* op) { return sweep.has(op); };
    std::set<std::pair<const void*, std::vector<std::string>>> viewed;
    const auto view = [&](mlir::Value value, const std::vector<SweptDim>& dims) {
      const std::vector<std::string> own = dims_of(llvm::cast<TensorType>(value.getType()));
      if (std::vector<std::string> changed = in_blocks(own, dims); changed != own) viewed.emplace(value.getAsOpaquePointer(), std::move(changed));
    };
    for (StageOp stage : sweep.stages) {
      const Graph graph = to_graph(stage);
      for (unsigned i = 0; i < stage->getNumOperands(); ++i)
        if (!is_inside(stage->getOperand(i).getDefiningOp())) view(stage->getOperand(i), dims_read_in_blocks(graph, i, sweep.dims));
      for (const mlir::Value result : stage->getResults())
        if (!llvm::all_of(result.getUsers(), is_inside)) view(result, sweep.dims);
    }
    return viewed.size();
  }

  mlir::MLIRContext* context_;
  std::vector<StageOp> order_;
  std::vector<StageSweep> sweeps_;
  std::set<std::string> names_;  // of dims
  std::size_t dims_left_ = 0, views_ = 0;
};

}  // namespace

SweptStages swept_stages(mlir::func::FuncOp function) { return SweepFinder(function).find(); }

}  // namespace attune
