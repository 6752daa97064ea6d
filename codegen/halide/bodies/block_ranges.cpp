#include "codegen/halide/bodies/block_ranges.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

/// Of blocks, for each dim of the tensor, innermost first; 1 where they are single elements.
using Sizes = std::vector<int>;

/// What is known of blocks of some sizes; the arguments are the numbers of a block, innermost first.
struct Table {
  Func least, greatest;
};

/// The least or the greatest element of some.
struct Reducer {
  const char* suffix;
  Expr (Halide::Type::*none)() const;
  Expr (*step)(const Expr& a, const Expr& b);
};

class BlockRanges {
 public:
  BlockRanges(std::string name, std::function<Lowered(const Coordinates&)> element, std::vector<std::string> dims, const Extents& extents,
              const Machine& machine)
      : name_(std::move(name)),
        element_(std::move(element)),
        dims_(std::move(dims)),
        extents_(extents),
        vector_bytes_(machine.vector_bytes),
        is_gpu_(machine.is_gpu()),
        is_boolean_(holds_truth()) {}

  std::optional<Interval<Lowered>> over(const Block& block) {
    Sizes sizes;
    std::vector<Expr> numbers;
    for (auto dim = dims_.rbegin(); dim != dims_.rend(); ++dim) {
      const Span& span = block.at(*dim);
      const bool is_point = Halide::Internal::equal(span.first, span.last);
      if (!is_point && span.size == 0) return {};
      sizes.push_back(is_point ? 1 : span.size);
      numbers.push_back(is_point ? span.first : span.number);
    }
    auto known = tables_.find(sizes);
    if (known == tables_.end()) known = tables_.emplace(sizes, table(sizes)).first;
    return Interval<Lowered>{number(known->second.least(numbers)), number(known->second.greatest(numbers))};
  }

 private:
  bool holds_truth() const { return element_(vars_at(dims_)).is_boolean(); }

  Lowered number(const Expr& e) const { return is_boolean_ ? Lowered{e != Halide::cast<std::uint8_t>(0)} : Lowered::of(e); }

  /// Made of the largest blocks known that make up those of these sizes, if there are any.
  Table table(const Sizes& sizes) const {
    const std::pair<const Sizes, Table>* parts = nullptr;
    for (const auto& known : tables_)
      if (divides(known.first, sizes) && (parts == nullptr || elements(known.first) > elements(parts->first))) parts = &known;
    const auto smaller = [](const Expr& a, const Expr& b) { return min(a, b); };
    const auto larger = [](const Expr& a, const Expr& b) { return max(a, b); };
    const Reducer least{"_least", &Halide::Type::max, smaller}, greatest{"_greatest", &Halide::Type::min, larger};
    if (parts == nullptr && is_gpu_) return {of_elements_on_device(sizes, least), of_elements_on_device(sizes, greatest)};
    if (parts == nullptr) return {of_elements(sizes, least), of_elements(sizes, greatest)};
    return {of_parts(sizes, least, parts->second.least, parts->first), of_parts(sizes, greatest, parts->second.greatest, parts->first)};
  }

  static bool divides(const Sizes& parts, const Sizes& sizes) {
    for (std::size_t n = 0; n < sizes.size(); ++n)
      if (sizes[n] % parts[n] != 0) return false;
    return true;
  }
  static std::int64_t elements(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  }

  const std::string& dim(std::size_t n) const { return dims_[dims_.size() - 1 - n]; }

  /// The block numbers along the dims, innermost first.
  std::vector<Expr> numbers_of(const Sizes& sizes) const {
    std::vector<Expr> numbers;
    for (std::size_t n = 0; n < sizes.size(); ++n) numbers.emplace_back(Var(dim(n) + "_block-"));
    return numbers;
  }

  std::string name_of(const Sizes& sizes, const Reducer& reducer) const {
    std::string name = name_ + reducer.suffix;
    for (const int size : sizes) name += "_" + std::to_string(size);
    return name;
  }

  /// Indices [0, count) along the dims that have more than one; undefined if none has.
  static RDom domain(const Sizes& counts) {
    Halide::Region ranges;
    for (const int count : counts)
      if (count > 1) ranges.emplace_back(0, count);
    return ranges.empty() ? RDom() : RDom(ranges, "in_block");
  }

  Func of_parts(const Sizes& sizes, const Reducer& reducer, const Func& part, const Sizes& part_sizes) const {
    Sizes counts;
    for (std::size_t n = 0; n < sizes.size(); ++n) counts.push_back(sizes[n] / part_sizes[n]);
    const RDom parts = domain(counts);
    const std::vector<Expr> numbers = numbers_of(sizes);
    std::vector<Expr> at = numbers;
    int reduced = 0;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      if (counts[n] == 1) continue;
      const Expr count = (extents_.at(dim(n)) + part_sizes[n] - 1) / part_sizes[n];
      at[n] = max(min(numbers[n] * counts[n] + parts[reduced++], count - 1), 0);
    }
    Func blocks(name_of(sizes, reducer));
    blocks(numbers) = (part.types()[0].*reducer.none)();
    blocks(numbers) = reducer.step(blocks(numbers), part(at));
    return is_gpu_ ? on_device(blocks, numbers) : blocks.compute_root();
  }

  /// One element after the other.
  Func of_elements_on_device(const Sizes& sizes, const Reducer& reducer) const {
    const RDom within_block = domain(sizes);
    const std::vector<Expr> numbers = numbers_of(sizes);
    Coordinates at;
    int reduced = 0;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      const Expr index = sizes[n] > 1 ? numbers[n] * sizes[n] + within_block[reduced++] : numbers[n];
      at[dim(n)] = max(min(index, extents_.at(dim(n)) - 1), 0);
    }
    const Expr element = stored(element_(at).expr);
    Func blocks(name_of(sizes, reducer));
    blocks(numbers) = (element.type().*reducer.none)();
    blocks(numbers) = reducer.step(blocks(numbers), element);
    return on_device(blocks, numbers);
  }

  /// A row of blocks is first reduced to a line along the innermost dim, by vectors, and the line then to an element for each block.
  Func of_elements(const Sizes& sizes, const Reducer& reducer) const {
    Sizes across_sizes = sizes;
    across_sizes[0] = 1;
    const RDom across = domain(across_sizes), along(0, sizes[0], "along");
    const std::vector<Expr> numbers = numbers_of(sizes);
    const Var place("place-");
    Coordinates at;
    int reduced = 0;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      Expr index = n > 0 ? numbers[n] : across.defined() ? Halide::likely(Expr(place)) : Expr(place);
      if (n > 0 && sizes[n] > 1) index = numbers[n] * sizes[n] + across[reduced++];
      at[dim(n)] = max(min(index, extents_.at(dim(n)) - 1), 0);
    }
    const Expr element = stored(element_(at).expr);
    const Expr none = (element.type().*reducer.none)();
    Func blocks(name_of(sizes, reducer));
    blocks(numbers) = none;
    blocks.compute_root();
    if (!across.defined()) {  // one element after the other: there are as many as the dim is long
      const Expr one = Halide::Internal::substitute(place.name(), numbers[0] * sizes[0] + along, element);
      blocks(numbers) = reducer.step(blocks(numbers), one);
      return blocks;
    }
    Func line(blocks.name() + "_line");
    std::vector<Expr> line_at = numbers;
    line_at[0] = place;
    line(line_at) = none;
    line(line_at) = reducer.step(line(line_at), element);
    line_at[0] = numbers[0] * sizes[0] + along;
    blocks(numbers) = reducer.step(blocks(numbers), line(line_at));
    const int lanes = vector_bytes_ / element.type().bytes();
    line.vectorize(place, lanes, Halide::TailStrategy::GuardWithIf);
    line.update().vectorize(place, lanes, Halide::TailStrategy::GuardWithIf);
    if (const int vector = std::gcd(sizes[0], lanes); vector > 1) blocks.update().atomic().vectorize(along, vector);
    for (std::size_t n = 1; n < sizes.size(); ++n) blocks.update().parallel(Var(dim(n) + "_block-"));
    line.compute_at(blocks, Var(dim(1) + "_block-"));
    return blocks;
  }

  /// A thread for each block of elements.
  static Func on_device(const Func& blocks, const std::vector<Expr>& numbers) {
    constexpr int threads = 64;
    Func stored(blocks.name() + "_stored");
    std::vector<Var> vars;
    for (const Expr& number : numbers) vars.emplace_back(number.as<Halide::Internal::Variable>()->name);
    stored(vars) = blocks(vars);
    stored.compute_root();
    Var all = vars[0], group, thread;
    for (std::size_t n = 1; n < vars.size(); ++n) {
      const Var both;
      stored.fuse(all, vars[n], both);
      all = both;
    }
    stored.split(all, group, thread, threads, Halide::TailStrategy::GuardWithIf).gpu_blocks(group).gpu_threads(thread);
    Func(blocks).compute_at(stored, thread);
    return stored;
  }

  /// Truth values as bytes.
  static Expr stored(const Expr& e) { return e.type().is_bool() ? Halide::cast<std::uint8_t>(e) : e; }

  const std::string name_;
  const std::function<Lowered(const Coordinates&)> element_;
  const std::vector<std::string> dims_;
  const Extents& extents_;
  const int vector_bytes_;
  const bool is_gpu_;
  const bool is_boolean_;
  std::map<Sizes, Table> tables_;
};

}  // namespace

BlockSource block_ranges(const std::string& name, std::function<Lowered(const Coordinates&)> element, std::vector<std::string> dims,
                         const Extents& extents, const Machine& machine) {
  auto ranges = std::make_shared<BlockRanges>(name, std::move(element), std::move(dims), extents, machine);
  return [ranges](const Block& block) { return ranges->over(block); };
}

}  // namespace attune
