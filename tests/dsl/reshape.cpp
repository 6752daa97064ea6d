/// Other arrangements of the same elements: concat, rename, split, merge, slice, gather; and the positions of elements.
#include "dsl/graph.h"
#include "tests/dsl/values.h"

namespace attune {

TEST_CASE("concat lays operands one behind the other, each along its own dim", "[concat]") {
  const Arrays inputs = {{"past", array({2, 1, 2}, {1, 2, 5, 6})}, {"fresh", array({2, 2, 2}, {10, 20, 30, 40, 50, 60, 70, 80})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [batch, past, fresh, keys, depth] = g.dims("batch", "past_tokens", "tokens", "keys", "depth");
    const Value a = g.input("past", {batch, past, depth}), b = g.input("fresh", {batch, fresh, depth});
    g.output("out", concat({{a, past}, {b, fresh}}, keys), {batch, keys, depth});
  });
  check_elements(got, {2, 3, 2}, {1, 2, 10, 20, 30, 40, 5, 6, 50, 60, 70, 80});
}

TEST_CASE("concat along one dim of all, with an operand that is broadcast", "[concat]") {
  const Arrays inputs = {{"a", array({2, 2}, {1, 2, 3, 4})}, {"b", array({2}, {7, 8})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [tokens, depth, model] = g.dims("tokens", "depth", "model");
    g.output("out", concat({g.input("a", {tokens, depth}), g.input("b", {depth})}, depth, model), {tokens, model});
  });
  check_elements(got, {2, 4}, {1, 2, 7, 8, 3, 4, 7, 8});
}

TEST_CASE("concat with nothing is the other operand", "[concat]") {
  const Arrays inputs = {{"past", array({0, 2}, {})}, {"fresh", array({2, 2}, {1, 2, 3, 4})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [past, fresh, keys, depth] = g.dims("past_tokens", "tokens", "keys", "depth");
    g.output("out", concat({{g.input("past", {past, depth}), past}, {g.input("fresh", {fresh, depth}), fresh}}, keys), {keys, depth});
  });
  check_elements(got, {2, 2}, {1, 2, 3, 4});
}

TEST_CASE("write_rows lays rows over those of a tensor, from a start of each batch on", "[write-rows]") {
  const Arrays inputs = {{"x", array({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}, {"fresh", array({2, 3}, {10, 20, 30, 40, 50, 60})}, {"start", array({2}, {2, -1})}};
  const auto written = [&](bool wraps) {
    return result_of(inputs, [wraps](Graph& g) {
      auto [batch, keys, tokens] = g.dims("batch", "keys", "tokens");
      const Value x = g.input("x", {batch, keys}), fresh = g.input("fresh", {batch, tokens}), start = g.input("start", {batch}, Kind::i64);
      g.output("out", write_rows(x, keys, fresh, tokens, start, wraps), {batch, keys});
    });
  };
  check_elements(written(false), {2, 4}, {1, 2, 10, 20, 50, 60, 7, 8});
  check_elements(written(true), {2, 4}, {30, 2, 10, 20, 50, 60, 7, 40});
}

TEST_CASE("of rows that go round more than once the last ones stay", "[write-rows]") {
  const Arrays inputs = {{"x", array({2}, {1, 2})}, {"fresh", array({5}, {10, 20, 30, 40, 50})}, {"start", array({}, {1})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [keys, tokens] = g.dims("keys", "tokens");
    const Value x = g.input("x", {keys}), fresh = g.input("fresh", {tokens}), start = g.input("start", {}, Kind::i64);
    g.output("out", write_rows(x, keys, fresh, tokens, start, true), {keys});
  });
  check_elements(got, {2}, {40, 50});
}

namespace {

/// Of keys that run from 10 on, those that `steps` say.
Interpretation sliced(std::size_t keys, Steps steps) {
  Graph g;
  const Dim from = g.dim("keys"), into = g.dim("some");
  g.output("out", slice(g.input("x", {from}, Kind::i32), from, steps, into), {into});
  g.finish();
  REQUIRE(text(g.problem()) == "");
  Array x = array({static_cast<std::int64_t>(keys)}, {});
  for (std::size_t i = 0; i < keys; ++i) x.data.push_back(static_cast<double>(10 + i));
  return interpret(g, {{"x", x}});
}

}  // namespace

TEST_CASE("a slice takes every step-th position from the start on", "[slice]") {
  check_elements(sliced(5, {}).outputs.at("out"), {5}, {10, 11, 12, 13, 14});
  check_elements(sliced(5, {.start = 2}).outputs.at("out"), {3}, {12, 13, 14});
  check_elements(sliced(5, {.start = 5}).outputs.at("out"), {0}, {});
  check_elements(sliced(5, {.step = 2}).outputs.at("out"), {3}, {10, 12, 14});
  check_elements(sliced(5, {.start = 1, .step = 3}).outputs.at("out"), {2}, {11, 14});
  check_elements(sliced(5, {.start = 1, .step = 3, .count = 2}).outputs.at("out"), {2}, {11, 14});
  check_elements(sliced(5, {.start = 1, .count = 3}).outputs.at("out"), {3}, {11, 12, 13});
}

TEST_CASE("a slice of too few positions is refused", "[slice]") {
  CHECK(sliced(5, {.start = 6}).problem == "dim some = keys[6:]: keys is 5; it must be at least 6");
  CHECK(sliced(4, {.start = 1, .step = 3, .count = 2}).problem == "dim some = keys[1:5:3]: keys is 4; it must be at least 5");
}

TEST_CASE("a slice of a middle dim leaves the others alone", "[slice]") {
  const Array got = result_of({{"x", array({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}}, [](Graph& g) {
    auto [batch, keys, depth, last] = g.dims("batch", "keys", "depth", "last");
    g.output("out", slice(g.input("x", {batch, keys, depth}), keys, {.start = 1}, last), {depth, batch, last});
  });
  check_elements(got, {2, 2, 2}, {2, 4, 8, 10, 3, 5, 9, 11});
}

TEST_CASE("concat keeps integers and booleans what they are", "[concat]") {
  const Arrays inputs = {{"a", array({1}, {1})}, {"b", array({2}, {0, 1})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [a, b, all] = g.dims("a_rows", "b_rows", "rows");
    g.output("out", concat({{g.input("a", {a}, Kind::boolean), a}, {g.input("b", {b}, Kind::boolean), b}}, all), {all});
  });
  CHECK(got.type.kind == Kind::boolean);
  check_elements(got, {3}, {1, 0, 1});
}

TEST_CASE("rename gives a square table from one row", "[rename]") {
  const Array got = result_of({{"x", array({3}, {1, 2, 3})}}, [](Graph& g) {
    auto [queries, keys] = g.dims("queries", "keys");
    const Value x = g.input("x", {queries});
    g.output("out", x * rename(x, queries, keys), {queries, keys});
  });
  check_elements(got, {3, 3}, {1, 2, 3, 2, 4, 6, 3, 6, 9});
}

TEST_CASE("a result is renamed back, and a dim that split took apart comes again from merge", "[rename][merge]") {
  const Arrays got = outputs_of({{"x", array({4}, {1, 2, 3, 4})}}, [](Graph& g) {
    auto [tokens, keys, blocks, inside, columns] = g.dims("tokens", "keys", "blocks", "inside", "columns");
    const Value x = g.input("x", {tokens}), y = rename(x, tokens, keys);
    g.output("back", x + rename(y * 10, keys, tokens), {tokens});
    const Value parts = split(x, tokens, {{blocks, 2}, inside});
    // inside = tokens / 2, and so has the dim that the pairs' columns are named by
    const Value pairs = parts * rename(gather(parts, constant(g, 1), blocks), inside, columns);
    g.output("merged", merge(sum(pairs, columns), {blocks, inside}, tokens), {tokens});
    g.output("again", merge(gather(pairs, constant(g, 0), inside), {blocks, columns}, keys), {keys});
  });
  check_elements(got.at("back"), {4}, {11, 22, 33, 44});
  check_elements(got.at("merged"), {4}, {7, 14, 21, 28});
  check_elements(got.at("again"), {4}, {3, 4, 9, 12});
}

TEST_CASE("dims that are fixed to one number are renamed into each other", "[rename]") {
  const Array got = result_of({{"x", array({2, 2}, {1, 2, 3, 4})}}, [](Graph& g) {
    const Dim a = g.dim("a", 2), b = g.dim("b", 2), c = g.dim("c", 2);
    const Value x = g.input("x", {a, b});
    g.output("out", matmul(x, rename(rename(x, b, c), a, b), b), {a, c});  // x x
  });
  check_elements(got, {2, 2}, {7, 10, 15, 22});
  Graph g;
  const Dim a = g.dim("a", 2), d = g.dim("d", 3);
  g.output("out", rename(g.input("x", {a}), a, d), {d});
  g.finish();
  CHECK(text(g.problem()).ends_with("rename: the extent of d is 3 already, and follows from [a] here; declared without an extent it takes that"));
}

TEST_CASE("split states the extents of all parts but one", "[split]") {
  Graph g;
  auto [tokens, model, heads, group, depth] = g.dims("tokens", "model", "heads", "group", "depth");
  const Value x = g.input("x", {tokens, model});
  g.output("out", split(x, model, {{heads, 2}, group, {depth, 3}}), {heads, group, tokens, depth});
  g.finish();
  Array in = array({1, 12}, {});
  for (int i = 0; i < 12; ++i) in.data.push_back(i);
  check_elements(outputs_of(g, {{"x", in}}).at("out"), {2, 2, 1, 3}, in.data);
  CHECK(interpret(g, {{"x", array({1, 13}, std::vector<double>(13))}}).problem == "dim group: model is 13; it must be a multiple of 6");
}

TEST_CASE("an extent that split states binds an input's dim", "[split]") {
  Graph g;
  auto [model, heads, depth] = g.dims("model", "heads", "depth");
  g.output("out", split(g.input("x", {model}), model, {{heads, 2}, depth}) * g.input("y", {heads}), {heads, depth});
  g.finish();
  check_elements(outputs_of(g, {{"x", array({4}, {1, 2, 3, 4})}, {"y", array({2}, {1, 10})}}).at("out"), {2, 2}, {1, 2, 30, 40});
  CHECK(interpret(g, {{"x", array({4}, {1, 2, 3, 4})}, {"y", array({3}, {1, 1, 1})}}).problem == "input 'y' has heads = 3; it must be 2");
}

TEST_CASE("dims that are fixed are stated to split", "[split]") {
  Graph g;
  const Dim model = g.dim("model"), heads = g.dim("heads", 2), depth = g.dim("depth");
  g.output("out", split(g.input("x", {model}), model, {heads, depth}), {depth, heads});
  g.finish();
  check_elements(outputs_of(g, {{"x", array({6}, {0, 1, 2, 3, 4, 5})}}).at("out"), {3, 2}, {0, 3, 1, 4, 2, 5});
}

TEST_CASE("merge brings dims together in the named order, also dims that do not stand side by side", "[merge]") {
  Array x = array({2, 1, 3}, {});
  for (int i = 0; i < 6; ++i) x.data.push_back(i);
  const auto merged = [&](bool heads_first) {
    return result_of({{"x", x}}, [&](Graph& g) {
      auto [heads, tokens, depth, model] = g.dims("heads", "tokens", "depth", "model");
      const Value v = g.input("x", {heads, tokens, depth});
      g.output("out", heads_first ? merge(v, {heads, depth}, model) : merge(v, {depth, heads}, model), {tokens, model});
    });
  };
  check_elements(merged(true), {1, 6}, {0, 1, 2, 3, 4, 5});
  check_elements(merged(false), {1, 6}, {0, 3, 1, 4, 2, 5});
}

TEST_CASE("merge undoes split", "[merge]") {
  Array x = array({2, 6}, {});
  for (int i = 0; i < 12; ++i) x.data.push_back(i * i);
  const Array got = result_of({{"x", x}}, [](Graph& g) {
    auto [tokens, model, heads, depth, again] = g.dims("tokens", "model", "heads", "depth", "again");
    g.output("out", merge(split(g.input("x", {tokens, model}), model, {{heads, 3}, depth}), {heads, depth}, again), {tokens, again});
  });
  check_elements(got, {2, 6}, x.data);
}

TEST_CASE("gather takes rows of a table by number, a number outside gives NaN", "[gather]") {
  const Arrays inputs = {{"table", array({3, 2}, {1, 2, 3, 4, 5, 6})}, {"ids", array({4}, {2, 0, 3, -1})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [tokens, vocabulary, model] = g.dims("tokens", "vocabulary", "model");
    g.output("out", gather(g.input("table", {vocabulary, model}), g.input("ids", {tokens}, Kind::i64), vocabulary), {tokens, model});
  });
  check_elements(got, {4, 2}, {5, 6, 1, 2, quiet_nan, quiet_nan, quiet_nan, quiet_nan});
}

TEST_CASE("gather with a dim that both have takes each row from its own table, integers outside are 0", "[gather]") {
  const Arrays inputs = {{"table", array({2, 3}, {1, 2, 3, 4, 5, 6})}, {"ids", array({2, 2}, {2, 9, 0, 1})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [batch, vocabulary, tokens] = g.dims("batch", "vocabulary", "tokens");
    g.output("out", gather(g.input("table", {batch, vocabulary}, Kind::i32), g.input("ids", {batch, tokens}, Kind::i32), vocabulary), {batch, tokens});
  });
  check_elements(got, {2, 2}, {3, 0, 4, 5});
}

TEST_CASE("index counts along a dim and extent counts its positions", "[index]") {
  const Array got = result_of({{"x", array({2, 3}, std::vector<double>(6, 0.5))}}, [](Graph& g) {
    auto [rows, columns] = g.dims("rows", "columns");
    const Value number = index(rows) * extent(columns) + index(columns);
    g.output("out", g.input("x", {rows, columns}) + to_real(number), {rows, columns});
  });
  check_elements(got, {2, 3}, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5});
}

TEST_CASE("a dim of fixed extent needs no input, and refuses another extent", "[dim]") {
  Graph g;
  const Dim rows = g.dim("rows", 3);
  g.output("out", to_real(index(rows)), {rows});
  g.finish();
  check_elements(outputs_of(g, {}).at("out"), {3}, {0, 1, 2});

  Graph fixed;
  const Dim depth = fixed.dim("depth", 4);
  fixed.output("out", fixed.input("x", {depth}), {depth});
  fixed.finish();
  CHECK(interpret(fixed, {{"x", array({3}, {1, 2, 3})}}).problem == "input 'x' has depth = 3; it must be 4");
}

TEST_CASE("mask hides with minus infinity, also NaN", "[mask]") {
  const Arrays inputs = {{"x", array({2, 2}, {1, quiet_nan, quiet_nan, 4})}, {"m", array({2}, {1, 0})}};
  const Array got = result_of(inputs, [](Graph& g) {
    auto [queries, keys] = g.dims("queries", "keys");
    g.output("out", mask(g.input("x", {queries, keys}), g.input("m", {keys}, Kind::boolean)), {queries, keys});
  });
  check_elements(got, {2, 2}, {1, -infinity, quiet_nan, -infinity});
}

TEST_CASE("scale multiplies by a number or by a value of fewer dims", "[scale]") {
  const Arrays inputs = {{"x", array({2, 2}, {1, 2, 3, 4})}, {"f", array({2}, {10, 100})}};
  const Arrays got = outputs_of(inputs, [](Graph& g) {
    auto [queries, keys] = g.dims("queries", "keys");
    const Value x = g.input("x", {queries, keys});
    g.output("half", scale(x, 0.5), {queries, keys});
    g.output("by_query", scale(x, g.input("f", {queries})), {queries, keys});
  });
  check_elements(got.at("half"), {2, 2}, {0.5, 1, 1.5, 2});
  check_elements(got.at("by_query"), {2, 2}, {10, 20, 300, 400});
}

}  // namespace attune
