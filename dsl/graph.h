/// Graph: a variant as a table of operations; `graph<MyVariant{}>`: the same, checked when the program is compiled.
#pragma once

#include "dsl/constexpr_math.h"
#include "dsl/node.h"

namespace attune {

/// Grows by calls of the language; keeps the first problem, and gives usable values after it.
class Graph {
 public:
  static constexpr int max_nodes = 256, max_dims = 48, max_outputs = 8;

  /// A dim of the name; with an extent, one whose extent is fixed. The same name gives the same dim.
  constexpr Dim dim(Name name, std::int64_t extent = 0, Here at = Here::current());
  /// auto [batch, keys] = g.dims("batch", "keys");
  template <class... S>
  constexpr std::array<Dim, 1 + sizeof...(S)> dims(Label first, S... rest) {
    const std::array<Name, 1 + sizeof...(S)> names{first.name, Name(rest)...};
    for (std::size_t i = 1; i < names.size(); ++i)
      for (std::size_t before = 0; before < i; ++before)
        if (names[i] == names[before]) fail(first.at, "dims: ", names[i], " is there twice; each is a dim of its own");
    return {dim(first.name, 0, first.at), dim(Name(rest), 0, first.at)...};
  }
  constexpr Value input(Name name, std::initializer_list<Dim> dims, Kind kind = Kind::real, Here at = Here::current()) {
    return input(name, names_of(dims), kind, at);
  }
  constexpr Value input(Name name, const Names& dims, Kind kind, Here at = Here::current());
  /// The result `name`, in memory in the order of `dims`, which are those of the value.
  constexpr void output(Name name, Value value, std::initializer_list<Dim> dims, Here at = Here::current()) {
    output(name, value, names_of(dims), at);
  }
  constexpr void output(Name name, Value value, const Names& dims, Here at = Here::current());
  /// The memory of the input holds `updated` after the call, which is write_rows of the input, or of what write_rows makes of it: the rows are
  /// written, and nothing is copied. What reads the input itself is computed before, what reads `updated` after. The result has the input's name.
  constexpr void output_in_place(Value input, Value updated, Here at = Here::current());
  /// The output of another graph, of this value: in place if that one is.
  constexpr void output_like(const Output& other, Value value, Here at = Here::current()) {
    const int input = other.is_in_place() ? input_named(other.name) : -1;
    return input >= 0 ? output_in_place({this, input}, value, at) : output(other.name, value, other.dims, at);
  }
  /// The node of the input of this name, or -1.
  constexpr int input_named(Name name) const {
    for (int id = 0; id < size_; ++id)
      if (const auto* input = std::get_if<Input>(&node(id).op); input != nullptr && input->label == name) return id;
    return -1;
  }

  template <class Op>
  constexpr Value add(const Op& op, std::span<const Value> inputs, Here at);
  /// States that a dim's extent follows from others; refuses what contradicts an earlier statement, and leaves out what follows from them already.
  constexpr void derive(const Derivation& derivation, std::string_view who, Here at);
  /// Checks what only the whole graph shows (no result, a dim without an extent) and orders the nodes: the inputs as they
  /// were declared, then what the outputs need, each after its operands; what they do not need is dropped, and so is a dim that
  /// nothing has. The order is thus the same whatever order a compiler evaluates arguments in. Called once, after the last
  /// output; values from before are void then.
  constexpr void finish();

  /// Empty, or the first sentence about what is wrong.
  constexpr const Text& problem() const { return problem_; }
  /// The sentence `parts...`, after the line unless the place is `Here{}`.
  constexpr void fail(Here at, const auto&... parts) {
    if (!problem_.empty()) return;
    problem_ = at.line() > 0 ? sentence("line ", static_cast<std::int64_t>(at.line()), ": ", parts...) : sentence(parts...);
  }

  /// What a variant asks of its own parameters: `g.require(window >= 1, "window is ", window, "; it must be at least 1")`.
  constexpr void require(bool holds, const auto&... otherwise) {
    if (!holds) fail(Here{}, otherwise...);
  }

  constexpr std::span<const Node> nodes() const { return {nodes_.data(), static_cast<std::size_t>(size_)}; }
  constexpr const Node& node(int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  constexpr std::span<const Output> outputs() const { return {outputs_.data(), static_cast<std::size_t>(output_count_)}; }
  /// Every dim, each after those that its extent follows from.
  constexpr std::span<const DimInfo> dim_infos() const { return {dims_.data(), static_cast<std::size_t>(dim_count_)}; }

 private:
  /// A node of these operands and of no operation, and the node with both: apart from `add`, which is compiled for each operation.
  constexpr Node begin_node(std::string_view who, std::span<const Value> inputs, Here at);
  constexpr Value append(const Node& added, std::string_view who, Here at);
  template <class Op>
  constexpr Type check(const Op& op, std::span<const Value> inputs, Here at);
  constexpr void require_name(Name name, std::string_view who, Here at);
  constexpr DimInfo* find(Name name);
  constexpr void order_dims();
  constexpr void order_nodes();
  constexpr bool is_used(Name dim) const;
  constexpr void drop_unused_dims();
  constexpr void add_output(const Output& output, Here at);
  constexpr void require_order();
  constexpr void require_extent(Name dim);
  constexpr void require_positions(const DimInfo& info);

  std::array<Node, max_nodes> nodes_{};
  std::array<DimInfo, max_dims> dims_{};
  std::array<Output, max_outputs> outputs_{};
  int size_ = 0, dim_count_ = 0, output_count_ = 0;
  int hidden_ = 0;  // how many more nodes there are when the composites are expanded
  Text problem_;
};

template <class Op>
constexpr Value call_in(Graph* graph, const Op& op, std::span<const Value> inputs, Here at) {
  return graph->add(op, inputs, at);
}
constexpr void fail_in(Graph* graph, Here at, const Text& problem) { graph->fail(at, problem); }
constexpr Kind kind_of(Value value) { return value.graph->node(value.id).type.kind; }
/// The names of a value's dims.
constexpr const Names& dims_of(Value value) { return value.graph->node(value.id).type.dims; }

template <Text>
struct graph_error;  // never defined: its name is the message
template <>
struct graph_error<Text{}> {
  static constexpr bool none = true;
};

/// The graph of a variant: `variant(graph)` and the checks of the whole. At run time `problem()` says what is wrong.
template <class Variant>
constexpr Graph build(const Variant& variant) {
  Graph g;
  variant(g);
  g.finish();
  return g;
}

template <auto Variant>
struct Described {
  static constexpr Graph graph = build(Variant);
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
  static_assert(graph.problem().empty(), graph.problem());
#pragma clang diagnostic pop
#else
  static_assert(graph_error<graph.problem()>::none);
#endif
};

/// constexpr Graph attention = graph<SlidingWindow{.window = 512}>;   a wrong graph does not compile.
template <auto Variant>
inline constexpr const Graph& graph = Described<Variant>::graph;

}  // namespace attune

#include "dsl/graph_add.h"
#include "dsl/graph_build.h"
#include "dsl/graph_finish.h"
