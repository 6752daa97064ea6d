/// Gradients are what results change by: compared with differences of the interpreter's results, for every operation that has them.
#include "dsl/gradients.h"

#include <functional>
#include <random>
#include <set>

#include "tests/dsl/values.h"

namespace attune {
namespace {

/// A value of real inputs, to derive it by all of them; integers are inputs of numbers from 0 to 3.
struct Case {
  const char* name;
  std::function<Value(Graph&)> make;
  double least = -1.5, most = 1.5;  ///< of the elements of inputs
};

constexpr std::int64_t any_extent = 4;
const std::map<std::string_view, std::int64_t> fixed_extents = {{"rows", 3}, {"columns", 5}, {"depth", 2}, {"other", 3}, {"first", 2}, {"second", 3},
                                                                {"six", 6}, {"renamed", 5}, {"merged", 15}, {"joined", 12}};
std::int64_t extent_of(Name dim) { return fixed_extents.contains(dim) ? fixed_extents.at(dim) : any_extent; }

/// Inputs of the graph, at random.
Arrays inputs_of(const Graph& graph, const Case& tried) {
  std::mt19937 random(7);
  Arrays inputs;
  for (const Node& node : graph.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    Array values;
    std::size_t count = 1;
    for (const Name dim : node.type.dims) {
      values.extents.push_back(extent_of(dim));
      count *= static_cast<std::size_t>(extent_of(dim));
    }
    const double width = static_cast<double>(random.max()) / (tried.most - tried.least);
    for (std::size_t i = 0; i < count; ++i)
      values.data.push_back(node.type.kind == Kind::real ? tried.least + static_cast<double>(random()) / width : static_cast<double>(random() % 4));
    inputs.emplace(std::string(input->label), std::move(values));
  }
  return inputs;
}

/// sum(seed * of)
double loss(const Arrays& outputs, const Array& seed) {
  double sum = 0;
  const Array& of = outputs.at("of");
  for (std::size_t i = 0; i < of.data.size(); ++i) sum += of.data[i] * seed.data[i];
  return sum;
}

void check_gradients(const Case& tried) {
  INFO(tried.name);
  Graph g;
  const Value of = tried.make(g);
  std::vector<std::string> names;
  const Value seed = g.input("seed", dims_of(of), Kind::real);
  g.output("of", of, dims_of(of));
  for (std::size_t i = 0; i < g.nodes().size(); ++i) {
    const Node node = g.node(static_cast<int>(i));
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr || node.type.kind != Kind::real || input->label == "seed") continue;
    const auto [gradient] = gradients(of, seed, Value{&g, static_cast<int>(i)});
    static std::set<std::string> kept;
    const Name name = *kept.insert("d_" + std::string(input->label)).first;
    g.output(name, gradient, node.type.dims);
    names.emplace_back(input->label);
  }
  REQUIRE_FALSE(names.empty());
  g.finish();
  const Arrays inputs = inputs_of(g, tried), made = outputs_of(g, inputs);
  constexpr double step = 1e-5;
  for (const std::string& name : names) {
    INFO(name);
    Array expected = inputs.at(name);
    for (std::size_t i = 0; i < expected.data.size(); ++i) {
      Arrays moved = inputs;
      moved.at(name).data[i] += step;
      const double above = loss(outputs_of(g, moved), inputs.at("seed"));
      moved.at(name).data[i] -= 2 * step;
      expected.data[i] = (above - loss(outputs_of(g, moved), inputs.at("seed"))) / (2 * step);
    }
    check_close(made.at("d_" + name), expected, 1e-6);
  }
}

struct Table {
  Graph& g;
  Dim rows = g.dim("rows"), columns = g.dim("columns"), depth = g.dim("depth"), other = g.dim("other");
  Value x = g.input("x", {rows, columns});
  Value y() const { return g.input("y", {columns, rows}); }
};

std::vector<Case> elementwise() {
  const auto of = [](auto f) { return [f](Graph& g) { return f(g.input("x", {g.dim("rows"), g.dim("columns")})); }; };
  const auto of_two = [](auto f) {
    return [f](Graph& g) {
      const Table t{g};
      return f(t.x, t.y()) * f(t.x, g.input("z", {t.rows}));
    };
  };
  return {{"add", of_two([](Value a, Value b) { return a + b; })},
          {"subtract", of_two([](Value a, Value b) { return a - b; })},
          {"multiply", of_two([](Value a, Value b) { return a * b; })},
          {"divide", of_two([](Value a, Value b) { return a / b; }), 0.5, 2},
          {"minimum", of_two([](Value a, Value b) { return minimum(a, b); })},
          {"maximum", of_two([](Value a, Value b) { return maximum(a, b); })},
          {"pow", of_two([](Value a, Value b) { return pow(a, b); }), 0.5, 2},
          {"select", of_two([](Value a, Value b) { return select(a > 0.3, a * a, b); })},
          {"negate", of([](Value x) { return -x; })},
          {"abs", of([](Value x) { return abs(x); })},
          {"exp", of([](Value x) { return exp(x); })},
          {"log", of([](Value x) { return log(x); }), 0.5, 2},
          {"sqrt", of([](Value x) { return sqrt(x); }), 0.5, 2},
          {"rsqrt", of([](Value x) { return rsqrt(x); }), 0.5, 2},
          {"tanh", of([](Value x) { return tanh(x); })},
          {"erf", of([](Value x) { return erf(x); })},
          {"sin", of([](Value x) { return sin(x); })},
          {"cos", of([](Value x) { return cos(x); })},
          {"sigmoid", of([](Value x) { return sigmoid(x); })},
          {"floor", of([](Value x) { return x * floor(x); })},
          {"gelu", of([](Value x) { return gelu(x); })},
          {"silu", of([](Value x) { return silu(x); })},
          {"softplus", of([](Value x) { return softplus(x); })},
          {"a value that is read twice", of([](Value x) { return exp(x) * x + x; })}};
}

constexpr auto of = [](auto f) {
  return [f](Graph& g) {
    const Table t{g};
    return f(t);
  };
};

std::vector<Case> along_dims() {
  return {{"matmul", of([](const Table& t) { return matmul(t.x, t.g.input("w", {t.columns, t.depth}), t.columns); })},
          {"matmul of shared dims", of([](const Table& t) { return matmul(t.x, t.g.input("w", {t.rows, t.columns, t.depth}), t.columns); })},
          {"matmul of dims of one alone", of([](const Table& t) { return matmul(t.g.input("w", {t.other, t.rows, t.columns}), t.x, {t.rows, t.columns}); })},
          {"matmul with itself", of([](const Table& t) { return matmul(t.x, t.x, t.columns); })},
          {"linear", of([](const Table& t) { return linear(t.x, t.g.input("w", {t.depth, t.columns}), t.g.input("b", {t.depth}), t.columns); })},
          {"sum", of([](const Table& t) { return sum(t.x * t.y(), t.columns) * t.x; })},
          {"sum of all", of([](const Table& t) { return sum(t.x, {t.rows, t.columns}); })},
          {"mean", of([](const Table& t) { return mean(t.x * t.x, t.rows); })},
          {"max", of([](const Table& t) { return max(t.x, t.columns) * t.x; })},
          {"softmax", of([](const Table& t) { return softmax(t.x, t.columns) * t.y(); })},
          {"softmax over two dims", of([](const Table& t) { return softmax(t.x, {t.rows, t.columns}) * t.y(); })},
          {"softmax of a masked row", of([](const Table& t) { return softmax(mask(t.x, index(t.columns) < index(t.rows)), t.columns) * t.y(); })},
          {"log_sum_exp", of([](const Table& t) { return log_sum_exp(t.x, t.columns) * t.x; })},
          {"cumulative_sum", of([](const Table& t) { return cumulative_sum(t.x, t.columns, true) * t.y(); })},
          {"reverse_cumulative_sum", of([](const Table& t) { return reverse_cumulative_sum(t.x, t.rows) * t.y(); })}};
}

std::vector<Case> of_layers() {
  return {{"scale", of([](const Table& t) { return scale(t.x, sum(t.y(), {t.rows, t.columns})); })},
          {"rms_norm", of([](const Table& t) { return rms_norm(t.x, t.g.input("w", {t.columns}), t.columns); })},
          {"layer_norm", of([](const Table& t) { return layer_norm(t.x, t.g.input("w", {t.columns}), t.g.input("b", {t.columns}), t.columns); })}};
}

std::vector<Case> of_other_places() {
  return {{"rename", of([](const Table& t) { return rename(t.x, t.columns, t.g.dim("renamed")) * t.g.input("w", {t.g.dim("renamed"), t.columns}); })},
          {"merge", of([](const Table& t) {
             const Dim all = t.g.dim("merged");
             return merge(t.x * t.y(), {t.columns, t.rows}, all) * to_real(index(all));
           })},
          {"split", of([](const Table& t) {
             const Value s = t.g.input("s", {t.g.dim("six"), t.rows});
             return split(s, t.g.dim("six"), {{t.g.dim("first"), 2}, {t.g.dim("second"), 0}}) * t.x;
           })},
          {"slice", of([](const Table& t) { return slice(t.x * t.y(), t.columns, {.start = 1, .step = 2, .count = 2}, t.depth) * t.g.input("w", {t.depth}); })},
          {"gather", of([](const Table& t) { return gather(t.x * t.y(), t.g.input("ids", {t.other, t.depth}, Kind::i64), t.columns); })},
          {"gather by ids of each row", of([](const Table& t) { return gather(t.x, t.g.input("ids", {t.rows, t.other}, Kind::i32), t.columns); })},
          {"concat", of([](const Table& t) {
             return concat({{t.x, t.columns}, {t.g.input("w", {t.rows, t.depth}), t.depth}, {t.x * t.x, t.columns}}, t.g.dim("joined")) * to_real(index(t.g.dim("joined")));
           })},
          {"dropout", of([](const Table& t) {
             const Value seed = literal(&t.g, 3, Kind::i64, Here::current());
             return matmul(dropout(t.x, 0.4, seed, seed), t.g.input("w", {t.depth, t.columns}), t.columns);
           })},
          {"rotary_embedding", of([](const Table& t) {
             const Dim width = t.g.dim("width"), pairs = t.g.dim("pairs", 2);
             const Value angles = rotary_angle(index(t.rows), rotary_steps(index(pairs), 10000, 4));
             return rotary_embedding(t.g.input("w", {t.rows, width}), angles, width, pairs, RotaryPairs::interleaved) * t.g.input("v", {width}) * t.x;
           })},
          {"rotary_embedding of a part", of([](const Table& t) {
             const Dim pairs = t.g.dim("pairs", 2);
             return rotary_embedding(t.x, to_real(index(pairs) * index(t.rows)) * 0.7, t.columns, pairs, RotaryPairs::half_split) * t.y();
           })},
          {"what is derived by a value and by what that is made of", of([](const Table& t) { return t.x * exp(t.y()); })}};
}

std::string problem_of(std::function<void(Graph&, const Table&)> make) {
  Graph g;
  make(g, Table{g});
  return text(g.problem());
}

}  // namespace

TEST_CASE("gradients of elementwise operations are what results change by", "[gradients]") {
  for (const Case& tried : elementwise()) check_gradients(tried);
}

TEST_CASE("gradients of operations along dims are what results change by", "[gradients]") {
  for (const Case& tried : along_dims()) check_gradients(tried);
  for (const Case& tried : of_layers()) check_gradients(tried);
  for (const Case& tried : of_other_places()) check_gradients(tried);
}

TEST_CASE("a gradient by what others are made of goes through these", "[gradients]") {
  const Array found = result_of({{"x", array({2}, {0.5, 2})}}, [](Graph& g) {
    const Dim rows = g.dim("rows");
    const Value x = g.input("x", {rows}), y = x * x;
    const auto [by_x, by_y] = gradients(y * y * x, 1.0, x, y);
    g.output("out", by_x + 0 * by_y, {rows});
  });
  check_close(found, array({2}, {5 * std::pow(0.5, 4), 5 * std::pow(2.0, 4)}), 1e-12);
}

TEST_CASE("gradients of gradients are those of second order", "[gradients]") {
  const Array found = result_of({{"x", array({2}, {0.5, 2})}}, [](Graph& g) {
    const Dim rows = g.dim("rows");
    const Value x = g.input("x", {rows});
    const auto [first] = gradients(exp(x) * x, 1.0, x);
    const auto [second] = gradients(first, 1.0, x);
    g.output("out", second, {rows});
  });
  check_close(found, array({2}, {2.5 * std::exp(0.5), 4 * std::exp(2.0)}), 1e-12);
}

TEST_CASE("what has no gradient is refused in words", "[gradients]") {
  const auto ends = [](const std::string& sentence, const char* end) {
    INFO(sentence);
    CHECK(sentence.ends_with(end));
  };
  ends(problem_of([](Graph& g, const Table& t) {
         const Value state = g.input("state", {t.depth, t.columns}), key = g.input("key", {t.rows, t.depth}), value = g.input("value", {t.rows, t.columns});
         (void)gradients(recurrence(key, key, value, {.initial = state}, t.rows, t.depth), 1.0, key);
       }),
       "gradients: recurrence has no gradient by its operands");
  ends(problem_of([](Graph&, const Table& t) { (void)gradients(t.x, 1.0, t.y()); }),
       "gradients: the value does not depend on what is named 1. of those that it is derived by");
  ends(problem_of([](Graph& g, const Table& t) { (void)gradients(sum(t.x, t.rows), g.input("d", {t.rows}), t.x); }),
       "gradients: the seed has rows, which the value does not have: it is [columns]");
  ends(problem_of([](Graph&, const Table& t) {
         Graph other;
         (void)gradients(other.input("x", {other.dim("rows")}), 1.0, t.x);
       }),
       "gradients: an operand belongs to another graph");
  ends(problem_of([](Graph&, const Table& t) { (void)gradients(index(t.rows), 1.0, t.x); }), "gradients: of a number or of integers; a value of reals has some");
}

}  // namespace attune
