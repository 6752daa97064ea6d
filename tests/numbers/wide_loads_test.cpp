#include "codegen/halide/rewrites/wide_loads.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

const Expr place = Variable::make(Halide::Int(32), "place");
const Expr neighbours = Ramp::make(place, 1, 4);

Expr load(const std::string& name, Halide::Type type, const Expr& index) {
  return Load::make(type.with_lanes(index.type().lanes()), name, index, Halide::Buffer<>(), Halide::Parameter(), const_true(index.type().lanes()),
                    ModulusRemainder());
}

/// A block of threads that stores the value in memory that they share, in Halide's words.
std::string rewritten(const Expr& value, ForType type = ForType::GPUBlock) {
  const int lanes = value.type().lanes();
  const Stmt store =
      Store::make("shared", value, lanes == 1 ? Expr(0) : Ramp::make(0, 1, lanes), Halide::Parameter(), const_true(lanes), ModulusRemainder());
  const Stmt body = Allocate::make("shared", value.type().element_of(), Halide::MemoryType::GPUShared, {64}, const_true(), store);
  std::ostringstream out;
  out << with_wide_loads(For::make("block_id_x", 0, 16, type, Halide::Partition::Auto, Halide::DeviceAPI::CUDA, body));
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("neighbours in a device's memory are loaded at once where their place is aligned", "[wide loads]") {
  const std::string text = rewritten(load("in", Halide::Float(32), neighbours));
  INFO(text);
  CHECK(has(text, "if ((bitwise_or(place, in.beyond) % 4) == 0) {"));
  CHECK(has(text, "in[ramp(place, 1, 4) aligned(4, 0)]"));
  CHECK(has(text, "} else {"));
  CHECK(has(text, "let in.beyond = int32(((uint64)_halide_buffer_get_device((struct halide_buffer_t *)in.buffer)/(uint64)4) % (uint64)4)"));
  // Two operands have to be aligned both, and a place that a let names is looked up.
  const Expr other = Variable::make(Halide::Int(32), "other");
  const Expr sum =
      Let::make("other", place * 2, load("in", Halide::Float(32), neighbours) + load("more", Halide::Float(32), Ramp::make(other, 1, 4)));
  CHECK(has(rewritten(sum), "if (((bitwise_or(place, in.beyond) % 4) == 0) && ((bitwise_or(place*2, more.beyond) % 4) == 0)) {"));
}

TEST_CASE("neighbours that are kept inside of memory are loaded at once where all are inside", "[wide loads]") {
  const Expr last = Variable::make(Halide::Int(32), "last"), row = Variable::make(Halide::Int(32), "row");
  const std::string text = rewritten(load("in", Halide::Float(32), Min::make(neighbours, Broadcast::make(last, 4)) + Broadcast::make(row, 4)));
  INFO(text);
  CHECK(has(text, "if (((place + 3) <= last) && ((bitwise_or(place + row, in.beyond) % 4) == 0)) {"));
  CHECK(has(text, "in[ramp(place + row, 1, 4) aligned(4, 0)]"));
  CHECK(has(text, "in[min(ramp(place, 1, 4), x4(last)) + x4(row)]"));
}

TEST_CASE("neighbours of 16 bits are loaded as one word", "[wide loads]") {
  const std::string text = rewritten(load("in", Halide::UInt(16), neighbours));
  INFO(text);
  CHECK(has(text, "reinterpret<uint16x4>((uint64)in[place/4])"));
}

TEST_CASE("loads that are wide already, are apart, or are of a block's own memory stay as they are", "[wide loads]") {
  for (const Expr& value :
       {load("in", Halide::Float(32), place), load("in", Halide::Float(32), Ramp::make(place, 2, 4)), load("shared", Halide::Float(32), neighbours),
        load("in", Halide::Float(32), Ramp::make(place, 1, 8)), load("in", Halide::Float(64), neighbours)})
    CHECK(!has(rewritten(value), "if ("));
  CHECK(!has(rewritten(load("in", Halide::Float(32), neighbours), ForType::Serial), "if ("));
}

}  // namespace attune
