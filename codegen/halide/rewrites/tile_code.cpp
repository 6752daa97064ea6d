#include "codegen/halide/rewrites/tile_code.h"

#include <cstdint>
#include <vector>

#include "codegen/halide/rewrites/bf16_dots.h"
#include "codegen/halide/rewrites/matrix_tiles.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;
using Halide::Type;

constexpr int elements_of_tile = tile_rows * tile_columns;
constexpr int bytes_of_sum = 4, bytes_of_pair = 4, bytes_of_element = 2;

Expr number16(int n) { return IntImm::make(Halide::Int(16), n); }
Expr bytes(const Expr& elements, int of_each) { return Halide::cast<std::int64_t>(elements) * Expr(std::int64_t{of_each}); }
Expr address(const std::string& name) { return Variable::make(Halide::Handle(), name); }

class Instructions final : public TileCode {
 public:
  /// Of one element of a type of its own: memory that another array has been in before, or will be, LLVM does not turn into a register.
  Stmt allocated(const std::string& tile, const Stmt& body) const override {
    return Allocate::make(tile, sums, Halide::MemoryType::AMXTile, {1}, Halide::Internal::const_true(), body);
  }
  Stmt zero(const std::string& tile) const override {
    return kept(tile, call(sums, "tile_zero", {number16(tile_rows), number16(tile_columns * bytes_of_sum)}));
  }
  Stmt multiply(const std::string& tile, const TileOperand& a, const TileOperand& b) const override {
    const Expr product = call(sums, "tile_matmul",
                              {number16(tile_rows), number16(tile_columns * bytes_of_sum), number16(tile_pairs * bytes_of_pair), value(tile),
                               loaded(a, tile_rows, tile_pairs * bytes_of_pair), loaded(b, tile_pairs, tile_columns * bytes_of_pair)});
    return kept(tile, product);
  }
  Stmt store(const std::string& tile, const Store* op, const Expr& first, const Expr& stride) const override {
    return Evaluate::make(call(Halide::Int(32), "tile_store",
                               {number16(tile_rows), number16(tile_columns * bytes_of_sum), address(op->name), bytes(first, bytes_of_sum),
                                bytes(stride, bytes_of_sum), value(tile)}));
  }

 private:
  static Expr call(const Type& type, const char* name, const std::vector<Expr>& arguments) {
    return Call::make(type, name, arguments, Call::Intrinsic);
  }
  static Stmt kept(const std::string& tile, const Expr& value) {
    return Store::make(tile, value, whole(), {}, Halide::Internal::const_true(elements_of_tile), {});
  }
  static Expr whole() { return Ramp::make(0, 1, elements_of_tile); }
  static Expr value(const std::string& tile) {
    return Load::make(sums, tile, whole(), {}, {}, Halide::Internal::const_true(elements_of_tile), {});
  }
  static Expr loaded(const TileOperand& of, int rows, int row_bytes) {
    const Type elements = Halide::BFloat(16).with_lanes(elements_of_tile * bytes_of_sum / bytes_of_element);
    return call(elements, "tile_load",
                {number16(rows), number16(row_bytes), address(of.load->name), bytes(of.first, of.load->type.bytes()), bytes(of.stride, of.load->type.bytes())});
  }

  static inline const Type sums = Halide::Float(32).with_lanes(elements_of_tile);
};

class Loops final : public TileCode {
 public:
  Stmt allocated(const std::string& tile, const Stmt& body) const override {
    return Allocate::make(tile, Halide::Float(32), Halide::MemoryType::Stack, {elements_of_tile}, Halide::Internal::const_true(), body);
  }
  Stmt zero(const std::string& tile) const override { return over_sums(stored(tile, 0.f)); }
  Stmt multiply(const std::string& tile, const TileOperand& a, const TileOperand& b) const override {
    const Expr k = Variable::make(Halide::Int(32), "k.in_tile");
    if (a.load->type.bytes() == bytes_of_pair) {
      const Expr sum = by_fma({value(tile), read(a, a.first + row() * a.stride + k), read(b, b.first + k * b.stride + column())});
      return over_sums(For::make("k.in_tile", 0, tile_pairs, ForType::Serial, Halide::Partition::Never, Halide::DeviceAPI::None, stored(tile, sum)));
    }
    const Expr term = number(a, a.first + row() * a.stride + k) *
                      number(b, b.first + k / 2 * b.stride + column() * 2 + k % 2);
    return over_sums(For::make("k.in_tile", 0, tile_depth, ForType::Serial, Halide::Partition::Never, Halide::DeviceAPI::None,
                               stored(tile, value(tile) + term)));
  }
  Stmt store(const std::string& tile, const Store* op, const Expr& first, const Expr& stride) const override {
    return over_sums(Store::make(op->name, value(tile), first + row() * stride + column(), op->param, Halide::Internal::const_true(), {}));
  }

 private:
  static Expr row() { return Variable::make(Halide::Int(32), "row.in_tile"); }
  static Expr column() { return Variable::make(Halide::Int(32), "column.in_tile"); }
  static Expr place() { return row() * tile_columns + column(); }
  static Stmt stored(const std::string& tile, const Expr& sum) { return Store::make(tile, sum, place(), {}, Halide::Internal::const_true(), {}); }
  static Expr value(const std::string& tile) { return Load::make(Halide::Float(32), tile, place(), {}, {}, Halide::Internal::const_true(), {}); }
  static Expr read(const TileOperand& of, const Expr& index) {
    const Load* op = of.load;
    return Load::make(op->type, op->name, index, op->image, op->param, op->predicate, {});
  }
  static Expr number(const TileOperand& of, const Expr& index) {
    return Halide::cast<float>(Halide::reinterpret(Halide::BFloat(16), read(of, index)));
  }
  static Stmt over_sums(Stmt s) {
    s = For::make("column.in_tile", 0, tile_columns, ForType::Serial, Halide::Partition::Never, Halide::DeviceAPI::None, s);
    return For::make("row.in_tile", 0, tile_rows, ForType::Serial, Halide::Partition::Never, Halide::DeviceAPI::None, s);
  }
};

}  // namespace

std::unique_ptr<const TileCode> tile_code(bool has_registers) {
  if (has_registers) return std::make_unique<Instructions>();
  return std::make_unique<Loops>();
}

}  // namespace attune
