/// Masks of numbers that are gathered, of which a block of queries has too many to know their range, and masks of rows alone.
#include <catch2/catch.hpp>

#include <string>

#include "dsl/graph.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"

namespace attune {
namespace {

struct Gathered {
  Graph g;
  Dim batch = g.dim("batch"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth"), places = g.dim("places");
  Value q = g.input("q", {batch, queries, depth}), k = g.input("k", {batch, keys, depth}), v = g.input("v", {batch, keys, depth});
  Value ids = g.input("ids", {queries}, Kind::i64), table = g.input("table", {places}, Kind::i64), rows = g.input("rows", {batch}, Kind::i64);
  Value place = gather(table, ids, places), key = index(keys);

  void output(const char* name, Value visible) {
    g.output(name, matmul(softmax(mask(matmul(q, k, depth), visible), keys), v, keys), {batch, queries, depth});
  }
  void finish() {
    g.finish();
    REQUIRE(std::string(g.problem().view()) == "");
  }
};

}  // namespace

TEST_CASE("masks of gathered numbers and what is made of them agree with the interpreter", "[gathered masks]") {
  Gathered m;
  m.output("before", m.key < m.place + 1);
  m.output("behind", m.key > 3 - m.place);
  m.output("product", m.key < 2 * m.place);
  m.output("near", abs(m.key - m.place) <= 20);
  m.output("greatest", m.key <= maximum(m.place, 5) - 1);
  m.output("blocks", floor_div(m.key, 16) == floor_div(m.place + 1, 16));
  m.output("bits", m.key != bit_and(m.place, 7));
  m.output("shifted", m.key < shift_left(m.place, 1) - 2);
  m.finish();
  const char* const shapes[] = {"batch=1,queries=129,keys=300,depth=8,places=50", "batch=2,queries=37,keys=130,depth=5,places=1"};
  check_shapes(KernelCase(m.g, "gathered"), shapes);
}

TEST_CASE("masks that hide whole rows by bits or gathered numbers agree with the interpreter", "[gathered masks]") {
  Gathered m;
  m.output("bits", bit_and(m.rows, 3) != 1);
  m.output("even", bit_and(index(m.batch), 1) == 0);
  m.output("active", m.place > 0);
  m.output("own", m.place == index(m.batch));
  m.output("some", m.key < 100 && shift_right(m.rows, 1) > 0);
  m.finish();
  const char* const shapes[] = {"batch=3,queries=37,keys=130,depth=5,places=9", "batch=5,queries=3,keys=129,depth=8,places=4", "batch=5,queries=5,keys=5,depth=3,places=4"};
  check_shapes(KernelCase(m.g, "rows"), shapes);
}

}  // namespace attune
