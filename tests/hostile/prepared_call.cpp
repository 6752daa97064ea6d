#include "tests/hostile/prepared_call.h"

#include <algorithm>
#include <cstring>

#include "runtime/signature.h"
#include "runtime/storage.h"
#include "runtime/words.h"

namespace attune {
namespace {

std::int64_t extent_of(const attune_dim_v1& dim, const std::vector<std::int64_t>& extents, Random& random) {
  auto product = static_cast<std::uint64_t>(dim.value),
       sum = std::uint64_t{0};  // of a dim on no tensor they may be too large for any number
  for (const std::int32_t number : operands_of(dim)) {
    product *= static_cast<std::uint64_t>(extents[static_cast<std::size_t>(number)]);
    sum += static_cast<std::uint64_t>(extents[static_cast<std::size_t>(number)]);
  }
  switch (dim.formula) {
    case attune_free:
      return 2 * static_cast<std::int64_t>(random.one_in(8) ? 0 : 1 + random.below(4)) + (random.one_in(10) ? 1 : 0);
    case attune_fixed:
      return dim.value;
    case attune_product:
      return static_cast<std::int64_t>(product);
    case attune_quotient:
      return static_cast<std::int64_t>(sum) / dim.value;
    case attune_slice:
      return std::max<std::int64_t>(slice_extent(dim, static_cast<std::int64_t>(sum)), 0);
    default:
      return static_cast<std::int64_t>(sum);
  }
}

void fill_with_ones(const GuardedMemory& memory, attune_storage storage) {
  const auto bytes = static_cast<std::size_t>(bytes_of(storage));
  for (std::size_t at = 0; at + bytes <= memory.bytes(); at += bytes) {
    const float one = 1;
    const std::int64_t whole = 1;
    const std::uint16_t half = bfloat16(one).bits;
    std::memcpy(memory.data() + at,
                storage == attune_f32    ? static_cast<const void*>(&one)
                : storage == attune_bf16 ? static_cast<const void*>(&half)
                                         : &whole,
                bytes);
  }
}

bool is_all(const GuardedMemory& memory, attune_storage storage, double expected) {
  for (std::size_t at = 0; at < memory.bytes(); at += 4) {
    float real = 0;
    std::int32_t whole = 0;
    std::memcpy(&real, memory.data() + at, 4);
    std::memcpy(&whole, memory.data() + at, 4);
    if ((storage == attune_f32 ? static_cast<double>(real) : whole) != expected) return false;
  }
  return true;
}

}  // namespace

PreparedCall::PreparedCall(const attune_kernel_v5& manifest, Random& random) : manifest_(&manifest) {
  for (const attune_dim_v1& dim : dims_of(manifest)) extents_.push_back(attune::extent_of(dim, extents_, random));
  for (auto dim = dims_of(manifest).begin(); dim != dims_of(manifest).end(); ++dim)
    if (dim->formula == attune_quotient)  // what it divides has a rest otherwise
      for (const std::int32_t number : operands_of(*dim))
        extents_[static_cast<std::size_t>(number)] -= extents_[static_cast<std::size_t>(number)] % dim->value;
  for (std::size_t d = 0; d < extents_.size(); ++d)
    if (const attune_dim_v1& dim = dims_of(manifest)[d]; dim.formula > attune_fixed) extents_[d] = attune::extent_of(dim, extents_, random);
  for (const attune_tensor_v1& tensor : tensors_of(manifest)) {
    std::vector<std::int64_t> extents, strides(static_cast<std::size_t>(tensor.rank));
    for (const std::int32_t dim : dims_of(tensor)) extents.push_back(extents_[static_cast<std::size_t>(dim)]);
    std::int64_t count = 1;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      strides[axis] = std::max<std::int64_t>(count, 1);
      count *= extents[axis];
    }
    const auto storage = static_cast<attune_storage>(tensor.storage);
    GuardedMemory memory(words("'", tensor.name, "'"), static_cast<std::size_t>(count * bytes_of(storage)),
                         random.one_in(2) ? Flush::first : Flush::last);
    if (tensor.role != attune_input) {
      std::ranges::fill(memory.room(), before);
    } else {
      fill_with_ones(memory, storage);
      memory.make_read_only();
    }
    tensors_.push_back({tensor.name, storage, tensor.role != attune_input, extents, strides, std::move(memory)});
  }
}

std::int64_t PreparedCall::extent_of(std::string_view dim) const {
  const auto found = std::ranges::find(dims_of(*manifest_), dim, [](const attune_dim_v1& d) { return std::string_view(d.name); });
  return extents_[static_cast<std::size_t>(found - dims_of(*manifest_).begin())];
}

std::vector<attune_tensor> PreparedCall::for_c(bool by_name) const {
  std::vector<attune_tensor> table;
  for (const CallTensor& t : tensors_)
    table.push_back({by_name ? t.name.c_str() : nullptr, t.memory.data(), t.storage, static_cast<std::int32_t>(t.extents.size()),
                     t.extents.data(), t.strides.data()});
  return table;
}

std::vector<Tensor> PreparedCall::for_cpp() const {
  std::vector<Tensor> tensors;
  for (const CallTensor& t : tensors_) tensors.emplace_back(static_cast<void*>(t.memory.data()), t.storage, t.extents, t.strides);
  return tensors;
}

std::string PreparedCall::wrong_output() const {
  const std::string_view name = manifest_->name;
  for (const CallTensor& t : tensors_) {
    if (!t.is_output) continue;
    const double expected = name == "add"       ? 2
                            : name == "linear"  ? 1 + static_cast<double>(extent_of("inner"))
                            : name == "product" ? 2 * static_cast<double>(extent_of("inner"))
                                                : static_cast<double>(t.extents[0]);  // each output of formulas holds its own extent
    if (!is_all(t.memory, t.storage, expected))
      return words("output '", t.name, "' of '", name, "' is not ", static_cast<std::int64_t>(expected), " everywhere");
  }
  return {};
}

std::string PreparedCall::written_output() const {
  for (const CallTensor& t : tensors_)
    if (t.is_output && std::ranges::any_of(t.memory.room(), [](std::byte byte) { return byte != before; }))
      return words("output '", t.name, "' was written");
  return {};
}

}  // namespace attune
