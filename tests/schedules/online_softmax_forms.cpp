#include <catch2/catch.hpp>
#include <cmath>

#include "codegen/halide/bodies/late_rewrites.h"
#include "codegen/halide/numbers/elements.h"
#include "tests/schedules/attention_case.h"
#include "tests/thinned.h"

using namespace attune;
using Halide::Expr;
using Halide::Target;

namespace {

void fix_extents(AttentionCase& attention, const Shape& s) {
  attention.extents = {{"batch", s.batch},
                       {"heads", s.heads},
                       {"group", s.group},
                       {"queries", s.queries},
                       {"keys", s.keys},
                       {"depth", s.depth},
                       {"value_depth", s.value_depth}};
}

std::string run(const AttentionCase& attention, const Machine& machine, const std::vector<Parameter>& values, const Shape& shape,
                const SoftmaxTemplate& by = softmax_templates[0]) {
  try {
    const JitKernel kernel = compiled(attention, machine, values, by);
    Arguments a(shape, 5);
    return difference(attention, a, computed(kernel, a, attention.body.out), 40);
  } catch (const Halide::Error& error) {
    return error.what();
  }
}

void check_long(AttentionCase (*make)()) {
  Arguments a({1, 1, 1, 1537, 1543, 64, 64}, 5);
  CHECK(difference(make(), a, computed(kernel_of(make, softmax_templates[0]), a), 40) == "");
}

/// With the template's defaults.
std::string run(const AttentionCase& attention, const SoftmaxTemplate& by, const Shape& shape) {
  return run(attention, host_machine(), by.parameters(host_machine(), by.size), shape, by);
}

void check_orders(Tried tried) {
  std::size_t row = 0;
  for (const auto& order : std::vector<std::vector<std::string>>{{"batch", "queries", "heads", "group", "value_depth"},
                                                                 {"heads", "group", "value_depth", "batch", "queries"}}) {
    AttentionCase attention = causal();
    attention.body.out = order;
    for (std::size_t column = 0; column < std::size(each_template); ++column)
      if (is_tried(tried, row, column, std::size(each_template))) CHECK(run(attention, each_template[column], {2, 2, 3, 37, 129, 16, 24}) == "");
    ++row;
  }
}

void check_nothing(Tried tried) {
  const Target target = jit_target().with_feature(Target::NoAsserts).with_feature(Target::NoBoundsQuery);
  std::size_t row = 0;
  for (const AttentionCase& attention : {dense(), causal()}) {
    for (std::size_t column = 0; column < std::size(each_template); ++column) {
      if (!is_tried(tried, row, column, std::size(each_template))) continue;
      const JitKernel kernel = compiled_by(each_template[column], attention, host_machine(), target);
      for (const Shape& s : {Shape{1, 2, 1, 37, 0, 16, 16}, Shape{1, 2, 1, 0, 37, 16, 16}, Shape{1, 2, 1, 5, 37, 0, 16},
                             Shape{1, 2, 1, 5, 37, 16, 0}, Shape{0, 2, 1, 5, 37, 16, 16}, Shape{1, 2, 0, 5, 37, 16, 16}}) {
        Arguments a(s, 3);
        CAPTURE(row, column, s.batch, s.group, s.queries, s.keys, s.depth, s.value_depth);
        CHECK(difference(attention, a, computed(kernel, a)) == "");
      }
    }
    ++row;
  }
}

void check_narrow(Tried tried) {
  std::size_t row = 0;
  for (int bytes = 16; bytes < host_machine().vector_bytes; bytes *= 2, ++row) {
    const Machine machine = narrow_machine(bytes);
    for (std::size_t column = 0; column < std::size(softmax_templates); ++column) {
      const SoftmaxTemplate& by = softmax_templates[column];
      if (!is_tried(tried, row, column, std::size(softmax_templates))) continue;
      CAPTURE(bytes, by.name);
      CHECK(run(causal(), machine, by.parameters(machine, by.size), {1, 1, 2, 70, 300, 20, 40}, by) == "");
    }
  }
}

void check_passes(Tried tried) {
  const Machine machine = narrow_machine(16);
  std::size_t row = 0;
  for (const auto& [key, middle, edge] : {std::array{64, 64, 64}, {128, 64, 64}, {512, 128, 128}, {64, 128, 32}}) {
    const std::vector<Parameter> values = {{"query_tile", {}, 8},   {"key_tile", {}, key},     {"middle_tile", {}, middle},
                                           {"edge_tile", {}, edge}, {"register_rows", {}, 4}, {"register_vectors", {}, 2}};
    CAPTURE(key, middle, edge);
    std::size_t column = 0;
    for (AttentionCase (*make)() : {dense, causal})
      if (is_tried(tried, row, column++, 2)) CHECK(run(make(), machine, values, {1, 1, 2, 270, 300, 20, 40}) == "");
    ++row;
  }
}

void check_known(Tried tried) {
  std::size_t row = 0;
  // keys in whole blocks and not, values in place and copied, groups of vectors and single ones, rows summed whole and in parts
  for (const Shape& s :
       {Shape{1, 2, 1, 96, 512, 64, 64}, Shape{1, 1, 2, 50, 77, 24, 40}, Shape{1, 1, 1, 1, 256, 16, 80},
        Shape{1, 1, 1, 70, 150, 20, 128}, Shape{2, 1, 1, 3, 1, 1, 1}}) {
    AttentionCase attention;
    fix_extents(attention, s);
    CAPTURE(s.queries, s.keys, s.value_depth);
    for (std::size_t column = 0; column < std::size(softmax_templates); ++column)
      if (is_tried(tried, row, column, std::size(softmax_templates))) CHECK(run(attention, softmax_templates[column], s) == "");
    ++row;
  }
}

/// A part is each two of the parameters' values, and each with either machine.
void check_registers(Tried tried) {
  for (const bool is_narrow : {false, true})
    for (const int rows : {1, 2, 8})
      for (const int keys : {2, 16})
        for (const int vectors : {1, 8}) {
          const bool is_in_part = ((vectors == 8) != (keys == 16)) == (rows == 2) && (is_narrow != (keys == 16)) == (rows == 8);
          if (tried == Tried::part && !is_in_part) continue;
          const Machine machine = is_narrow ? narrow_machine(16) : host_machine();
          CAPTURE(machine.vector_bytes, rows, keys, vectors);
          const std::vector<Parameter> values = {{"register_rows", {}, rows}, {"register_keys", {}, keys}, {"register_vectors", {}, vectors}};
          CHECK(run(causal(), machine, values, {1, 1, 2, 13, 37, 20, 40}, softmax_templates[3]) == "");
        }
}

}  // namespace

TEST_CASE("extents that are known are right", "[forms]") { check_known(Tried::part); }

TEST_CASE("value_depth may be any number of vectors", "[dense]") {
  const int lanes = host_machine().vector_bytes / 4;
  for (const int vectors : {1, 2, 3, 5, 6, 7, 9}) {
    const Shape s{1, 2, 1, 37, 300, 16, vectors * lanes - vectors % 2};
    CAPTURE(s.value_depth);
    Arguments a(s, 5);
    CHECK(difference(dense(), a, computed(kernel_of(dense, softmax_templates[0]), a), 40) == "");
    if (vectors < 5) continue;
    AttentionCase known;
    fix_extents(known, s);
    CHECK(run(known, softmax_templates[0], s) == "");
  }
}

TEST_CASE("long odd extents of dense attention are right", "[dense]") { check_long(dense); }
TEST_CASE("long odd extents of causal attention are right", "[causal]") { check_long(causal); }

TEST_CASE("the result's dims may lie in any order", "[forms]") { check_orders(Tried::part); }

TEST_CASE("no batch dims, two contracted dims, and other Funcs that read the result", "[forms]") {
  // depth is taken apart into 4 x depth / 4; q, k and v are those of the one batch index
  AttentionCase attention;
  const Shape s = {1, 1, 1, 61, 131, 20, 18};
  attention.body.batch = {};
  attention.body.over = {"part", "in_part"};
  attention.extents["part"] = 4;
  attention.extents["in_part"] = attention.extents.at("depth") / 4;
  const auto depth = [in_part = attention.extents.at("in_part")](const Coordinates& c) { return c.at("part") * in_part + c.at("in_part"); };
  const Expr scale = 1.f / sqrt(Halide::cast<float>(attention.extents.at("depth")));
  attention.body.query = {{"queries", "part", "in_part"},
                          [=, q = attention.q](const Coordinates& c) { return Lowered{q(depth(c), c.at("queries"), 0, 0, 0) * scale}; }};
  attention.body.key = {{"keys", "part", "in_part"},
                        [=, k = attention.k](const Coordinates& c) { return loaded(k, {depth(c), c.at("keys"), 0, 0}, Element::f32); }};
  attention.body.value = {{"keys", "value_depth"},
                          [v = attention.v](const Coordinates& c) { return loaded(v, {c.at("value_depth"), c.at("keys"), 0, 0}, Element::f32); }};
  attention.body.out = {"queries", "value_depth"};

  const Machine machine = host_machine();
  for (const SoftmaxTemplate& by : each_template) {
    Stored stored = by.build(attention.body, attention.extents, machine, by.parameters(machine, by.size));
    Halide::Var d, i, g, h, b;
    Halide::Func twice("twice");
    twice(d, i, g, h, b) = stored.func(d, i) + stored.func(d, i);
    Halide::Pipeline pipeline(twice);
    add_late_rewrites(pipeline, stored, Device::cpu);
    const JitKernel kernel(pipeline, attention.arguments());
    Arguments a(s, 5);
    Halide::Buffer<float> result = computed(kernel, a);
    result.for_each_value([](float& e) { e /= 2; });
    CAPTURE(by.name);
    CHECK(difference(attention, a, result) == "");
  }
}

TEST_CASE("keys that all heads share are packed once, and values may differ by group", "[forms]") {
  AttentionCase attention;
  attention.body.key = {{"batch", "keys", "depth"},
                        [k = attention.k](const Coordinates& c) { return loaded(k, {c.at("depth"), c.at("keys"), 0, c.at("batch")}, Element::f32); }};
  attention.body.value = {{"batch", "heads", "group", "keys", "value_depth"}, [v = attention.v](const Coordinates& c) {
                            return Lowered{v(c.at("value_depth"), c.at("keys"), c.at("heads"), c.at("batch")) *
                                   Halide::cast<float>(c.at("group") + 1)};
                          }};
  attention.score = [](const Arguments& a, const Pair& p) {
    double sum = 0;
    for (int d = 0; d < a.shape.depth; ++d) sum += static_cast<double>(a.q(d, p.i, p.g, p.h, p.b)) * a.k(d, p.j, 0, p.b);
    return sum / std::sqrt(static_cast<double>(a.shape.depth));
  };
  attention.weight = [](double weight, const Arguments&, const Pair& p) { return weight * (p.g + 1); };
  for (const SoftmaxTemplate& by : each_template) CHECK(run(attention, by, {2, 3, 2, 50, 140, 16, 32}) == "");
}

TEST_CASE("a term may read what it needs itself, and the result may be finished", "[forms]") {
  AttentionCase attention;
  attention.body.query = attention.body.key = {};
  attention.body.combine = [q = attention.q, k = attention.k](const Expr&, const Expr&, const Coordinates& c) {
    return -abs(q(c.at("depth"), c.at("queries"), c.at("group"), c.at("heads"), c.at("batch")) -
                k(c.at("depth"), c.at("keys"), c.at("heads"), c.at("batch")));
  };
  attention.body.finish = [](const Expr& result, const Coordinates& c) { return result * Halide::cast<float>(c.at("heads") + 1); };
  attention.score = [](const Arguments& a, const Pair& p) {
    double sum = 0;
    for (int d = 0; d < a.shape.depth; ++d) sum -= std::abs(static_cast<double>(a.q(d, p.i, p.g, p.h, p.b)) - a.k(d, p.j, p.h, p.b));
    return sum;
  };
  attention.weight = [](double weight, const Arguments&, const Pair& p) { return weight * (p.h + 1); };
  for (const SoftmaxTemplate& by : each_template) CHECK(run(attention, by, {1, 2, 2, 50, 140, 16, 32}) == "");
}

TEST_CASE("nothing to attend to gives zeros, and an empty result is left alone", "[forms]") { check_nothing(Tried::part); }

TEST_CASE("narrower vectors and extreme parameters are right", "[parameters]") {
  const Shape s = {1, 1, 2, 70, 300, 20, 40};
  check_narrow(Tried::part);
  const auto values = [](int query, int key, int edge, int rows, int vectors, int copies = 0) {
    return std::vector<Parameter>{{"query_tile", {}, query},
                                  {"key_tile", {}, key},
                                  {"edge_tile", {}, edge},
                                  {"register_rows", {}, rows},
                                  {"register_vectors", {}, vectors},
                                  {"copy_values", {}, copies}};
  };
  const Machine machine = narrow_machine(16);
  for (const auto& v : {values(4, 64, 16, 1, 1), values(192, 1024, 128, 12, 1), values(6, 128, 16, 2, 4, 1), values(24, 1024, 128, 6, 1)}) {
    CAPTURE(v[0].value);
    CHECK(run(causal(), machine, v, s) == "");
  }
}

TEST_CASE("passes of one size of blocks take each block once", "[parameters]") { check_passes(Tried::part); }

TEST_CASE("orders of dims, empty calls, narrower vectors, known extents and parameters are right for every attention and template", "[.full]") {
  check_orders(Tried::whole);
  check_nothing(Tried::whole);
  check_narrow(Tried::whole);
  check_passes(Tried::whole);
  check_known(Tried::whole);
  check_registers(Tried::whole);
}

TEST_CASE("rows one by one, wide groups of keys and single vectors of results are right", "[parameters]") { check_registers(Tried::part); }

TEST_CASE("groups of rows that share keys are right for any number of rows and keys", "[parameters]") {
  const std::vector<Parameter> values = {{"split_tile", {}, 256}, {"key_tile", {}, 128}, {"register_rows", {}, 4}, {"row_groups", {}, 4},
                                         {"register_keys", {}, 4}, {"register_vectors", {}, 4}, {"prefetch", {}, 1}};
  const AttentionCase attention = causal();
  const JitKernel kernel = compiled(attention, host_machine(), values, softmax_templates[2]);
  unsigned seed = 1;
  for (const int queries : {1, 2, 3, 5, 7, 15, 16, 17})
    for (const int keys : {1, 5, 37, 129, 1000})
      for (const int group : {1, 4}) {
        CAPTURE(queries, keys, group);
        Arguments a({1, 2, group, queries, keys, 64, 72}, ++seed);
        CHECK(difference(attention, a, computed(kernel, a)) == "");
      }
}

TEST_CASE("parameters that do not fit are refused in words", "[parameters]") {
  const Machine machine = narrow_machine(64);
  const auto problem = [&](const std::vector<Parameter>& values) { return online_softmax_problem(machine, values); };
  CHECK(problem({{"key_tile", {}, 48}}) == "schedule 'online_softmax': key_tile = 48 is not one of 64, 128, 256, 512, 1024");
  CHECK(problem({{"tile", {}, 48}}) ==
        "schedule 'online_softmax': has no parameter 'tile'; it has query_tile, key_tile, middle_tile, edge_tile, register_rows, register_vectors, copy_values, prefetch");
  CHECK(problem({{"key_tile", {}, 64}, {"key_tile", {}, 64}}) == "schedule 'online_softmax': key_tile is given twice");
  CHECK(problem({{"query_tile", {}, 16}, {"register_rows", {}, 6}}) == "schedule 'online_softmax': query_tile = 16 is not a multiple of register_rows = 6");
  CHECK(problem({{"key_tile", {}, 64}, {"edge_tile", {}, 128}}) ==
        "schedule 'online_softmax': key_tile = 64 is not a multiple of edge_tile = 128");
  CHECK(problem({{"edge_tile", {}, 32}}) ==
        "schedule 'online_softmax': edge_tile = 32 is not a multiple of the 64 keys of register_vectors = 4 vectors of 16");
  CHECK(run(AttentionCase(), machine, {{"register_rows", {}, 3}}, {1, 1, 1, 1, 1, 1, 1}, softmax_templates[3]) ==
        "schedule 'whole_rows': register_rows = 3 is not one of 1, 2, 4, 8");
}
