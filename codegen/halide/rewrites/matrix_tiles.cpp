#include "codegen/halide/rewrites/matrix_tiles.h"

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/halide/rewrites/bf16_dots.h"
#include "codegen/halide/rewrites/tile_code.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

[[noreturn]] void refuse(const std::string& why, const Stmt& s) {
  std::ostringstream text;
  text << "internal: a product in tiles " << why << ":\n" << s;
  throw Halide::CompileError(text.str());
}

/// Loops around a single store, outermost first, without the names between them.
struct Nest {
  std::vector<const For*> loops;
  const Store* store = nullptr;
  std::map<std::string, Expr> lets;
};

std::optional<Nest> nest_around(const For* outermost) {
  Nest nest;
  Stmt s = outermost;
  for (;;) {
    if (const auto* loop = s.as<For>()) {
      nest.loops.push_back(loop);
      s = loop->body;
    } else if (const auto* let = s.as<LetStmt>()) {
      nest.lets[let->name] = substitute(nest.lets, let->value);
      s = let->body;
    } else {
      break;
    }
  }
  nest.store = s.as<Store>();
  return nest.store == nullptr ? std::nullopt : std::optional(nest);
}

class LoadsOf final : public IRVisitor {
 public:
  std::vector<const Load*> loads;

 private:
  using IRVisitor::visit;
  void visit(const Load* op) override { loads.push_back(op); }
};

const Load* only_load(const Expr& e) {
  LoadsOf search;
  e.accept(&search);
  return search.loads.size() == 1 ? search.loads[0] : nullptr;
}

/// A place in memory for each iteration of a nest: where the first one's is, and how far apart those of each loop are.
struct Places {
  Expr first;
  std::vector<Expr> strides;  // of the nest's loops
};

class WithMatrixTiles final : public IRMutator {
 public:
  explicit WithMatrixTiles(const TileCode& code) : code_(code) {}

 private:
  using IRMutator::visit;

  Stmt visit(const LetStmt* op) override {
    const ScopedBinding<Expr> bound(lets_, op->name, with_known_names(op->value));
    return IRMutator::visit(op);
  }

  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::AMXTile) return IRMutator::visit(op);
    tiles_[op->name];
    Stmt body = mutate(op->body);
    for (const auto& [place, tile] : tiles_.at(op->name))
      body = code_.allocated(tile, body);
    tiles_.erase(op->name);
    return body;
  }

  Stmt visit(const Free* op) override { return tiles_.contains(op->name) ? Evaluate::make(0) : IRMutator::visit(op); }

  Stmt visit(const For* op) override {
    if (tiles_.empty() || op->for_type != ForType::Vectorized) return IRMutator::visit(op);
    const std::optional<Nest> nest = nest_around(op);
    if (!nest) return IRMutator::visit(op);
    const Expr value = substitute(nest->lets, nest->store->value);
    if (tiles_.contains(nest->store->name)) return is_const_zero(value) ? code_.zero(stored_tile(*nest)) : product(*nest, value);
    const auto* load = value.as<Load>();
    if (load == nullptr || !tiles_.contains(load->name)) return IRMutator::visit(op);
    return stored(*nest, load);
  }

  Stmt stored(const Nest& nest, const Load* sums) {
    const Places from = places(nest, sums->index), to = places(nest, nest.store->index);
    if (nest.loops.size() != 2 || !has_extents(nest, {tile_rows, tile_columns})) refuse("is stored by other loops", nest.loops[0]);
    for (std::size_t column = 0; column < 2; ++column)
      if (is_const_one(to.strides[column])) return code_.store(tile_at(sums->name, from.first, nest), nest.store, to.first, to.strides[1 - column]);
    refuse("is stored where its columns do not lie side by side", nest.loops[0]);
  }

  /// The loops of a product, outermost first: rows and columns in any order, pairs, elements of a pair.
  Stmt product(const Nest& nest, const Expr& value) {
    if (const std::optional<Bf16Dot> dot = as_bf16_dot(value)) return product_of_words(nest, *dot);
    const auto* sum = value.as<Add>();
    if (sum == nullptr || nest.loops.size() != 4 || !has_extents(nest, {tile_rows, tile_columns, tile_pairs, 2}))
      refuse("is summed by other loops", nest.loops[0]);
    const auto* load = sum->a.as<Load>();
    const auto* term = (load != nullptr ? sum->b : sum->a).as<Mul>();
    if (load == nullptr) load = sum->b.as<Load>();
    if (load == nullptr || load->name != nest.store->name || term == nullptr) refuse("adds no product to its sums", nest.loops[0]);
    const Load *first = only_load(term->a), *second = only_load(term->b);
    for (const Load* read : {first, second})
      if (read == nullptr || read->type != Halide::UInt(16)) refuse("has factors that are no bits of bf16", nest.loops[0]);
    return multiplied(nest, first, second, 2);
  }

  /// The same of words of a pair: rows and columns in any order, words.
  Stmt product_of_words(const Nest& nest, const Bf16Dot& dot) {
    const auto *sum = dot.sum.as<Load>(), *first = dot.a.as<Load>(), *second = dot.b.as<Load>();
    if (nest.loops.size() != 3 || !has_extents(nest, {tile_rows, tile_columns, tile_pairs})) refuse("is summed by other loops", nest.loops[0]);
    if (sum == nullptr || sum->name != nest.store->name || first == nullptr || second == nullptr) refuse("is not of words in memory", nest.loops[0]);
    return multiplied(nest, first, second, 1);
  }

  /// Of operands in whose memory a pair is `of_pair` elements, along the fourth loop if these are two.
  Stmt multiplied(const Nest& nest, const Load* first, const Load* second, int of_pair) {
    std::optional<TileOperand> a, b;
    for (const Load* read : {first, second}) {
      const Places at = places(nest, read->index);
      const auto is = [&](std::size_t loop, int stride) { return Halide::Internal::is_const(at.strides[loop], stride); };
      if (of_pair == 2 && !is(3, 1)) continue;
      for (std::size_t row = 0; row < 2; ++row) {
        const std::size_t column = 1 - row;
        if (is(2, of_pair) && is(column, 0) && !is(row, 0)) a = TileOperand{read, at.first, at.strides[row]};
        if (is(column, of_pair) && is(row, 0)) b = TileOperand{read, at.first, at.strides[2]};
      }
    }
    if (!a || !b) refuse("has operands of another layout", nest.loops[0]);
    return code_.multiply(stored_tile(nest), *a, *b);
  }

  static bool has_extents(const Nest& nest, const std::vector<int>& extents) {
    for (std::size_t n = 0; n < extents.size(); ++n)
      if (!Halide::Internal::is_const(nest.loops[n]->extent, extents[n])) return false;
    return true;
  }

  Places places(const Nest& nest, const Expr& index) const {
    const Expr at = with_known_names(substitute(nest.lets, index));
    std::map<std::string, Expr> firsts;
    for (const For* loop : nest.loops) firsts[loop->name] = loop->min;
    Places found{simplify(with_known_names(substitute(firsts, at))), {}};
    for (const For* loop : nest.loops) {
      std::map<std::string, Expr> next = firsts;
      next[loop->name] = loop->min + 1;
      found.strides.push_back(simplify(with_known_names(substitute(next, at)) - found.first));
    }
    return found;
  }

  std::string stored_tile(const Nest& nest) { return tile_at(nest.store->name, places(nest, nest.store->index).first, nest); }

  std::string tile_at(const std::string& name, const Expr& first, const Nest& nest) {
    const std::optional<std::int64_t> place = as_const_int(first);
    if (!place) refuse("has a tile whose place is no constant", nest.loops[0]);
    return tiles_.at(name).try_emplace(*place, name + ".tile_" + std::to_string(*place)).first->second;
  }

  Expr with_known_names(const Expr& e) const {
    Expr known = e;
    for (const std::string& name : names_in(e))
      if (lets_.contains(name)) known = substitute(name, lets_.get(name), known);
    return known;
  }

  static std::vector<std::string> names_in(const Expr& e) {
    class Names final : public IRVisitor {
     public:
      std::vector<std::string> found;

     private:
      using IRVisitor::visit;
      void visit(const Variable* op) override { found.push_back(op->name); }
    } names;
    e.accept(&names);
    return names.found;
  }

  const TileCode& code_;
  Scope<Expr> lets_;
  std::map<std::string, std::map<std::int64_t, std::string>> tiles_;  // of each function by where in it they begin
};

}  // namespace

Stmt with_matrix_tiles(const Stmt& s, const Halide::Target& target) {
  return WithMatrixTiles(*tile_code(target.has_feature(Halide::Target::AVX512_SapphireRapids))).mutate(s);
}

}  // namespace attune
