#include "tests/hostile/wrong_calls.h"

#include <array>
#include <limits>

#include "runtime/storage.h"
#include "tests/hostile/ways.h"
#include "tests/hostile/wrong_shapes.h"

namespace attune {
namespace {

constexpr std::int32_t most_32 = std::numeric_limits<std::int32_t>::max(), least_32 = std::numeric_limits<std::int32_t>::min();

/// The table that C passes, and what stands beside it.
struct CCall {
  PreparedCall& prepared;
  std::vector<attune_tensor> table;
  std::int32_t count;
  bool is_null_table = false, is_null_kernel = false;
  std::size_t workspace_bytes = 0;  ///< of a workspace that is null
};

/// A tensor that is not empty, or null.
attune_tensor* some_filled(CCall& call, Random& random) {
  const std::size_t t = random.below(call.table.size());
  return call.prepared.tensors()[t].is_empty() ? nullptr : &call.table[t];
}

bool null_data(CCall& call, Random& random) {
  attune_tensor* tensor = some_filled(call, random);
  if (tensor == nullptr) return false;
  tensor->data = nullptr;
  return true;
}

bool odd_address(CCall& call, Random& random) {
  attune_tensor* tensor = some_filled(call, random);
  if (tensor == nullptr || bytes_of(static_cast<attune_storage>(tensor->storage)) == 1) return false;
  tensor->data = static_cast<std::byte*>(tensor->data) + 1;
  return true;
}

bool output_over_another(CCall& call, Random& random) {
  attune_tensor &a = call.table[random.below(call.table.size())], &output = call.table.back();
  const auto bytes_of_tensor = [&](const attune_tensor& t) {
    return call.prepared.tensors()[static_cast<std::size_t>(&t - call.table.data())].memory.bytes();
  };
  if (&a == &output || bytes_of_tensor(a) == 0 || bytes_of_tensor(output) == 0 || bytes_of(static_cast<attune_storage>(a.storage)) < 4)
    return false;
  output.data = a.data;
  return true;
}

bool unknown_storage(CCall& call, Random& random) {
  call.table[random.below(call.table.size())].storage = random.one_of(std::array{-1, 9, 255, most_32, least_32});
  return true;
}

bool impossible_rank(CCall& call, Random& random) {
  call.table[random.below(call.table.size())].rank = random.one_of(std::array{-1, 9, 64, most_32, least_32});
  return true;
}

bool null_extents(CCall& call, Random& random) {
  attune_tensor& tensor = call.table[random.below(call.table.size())];
  tensor.extents = nullptr;
  return tensor.rank > 0;
}

bool wrong_count(CCall& call, Random& random) {
  call.count = random.one_of(std::array{-1, 0, call.count - 1, 65, most_32, least_32});
  return true;
}

bool null_table(CCall& call, Random&) { return call.is_null_table = true; }
bool null_kernel(CCall& call, Random&) { return call.is_null_kernel = true; }

bool null_workspace(CCall& call, Random& random) {
  call.workspace_bytes = random.one_of(std::array<std::size_t, 3>{1, 4096, SIZE_MAX});
  return true;
}

bool wrong_name(CCall& call, Random& random) {
  const bool has_names = call.table[0].name != nullptr;
  const std::size_t t = random.below(call.table.size()), other = random.below(call.table.size());
  const char* const name = random.one_of(std::array<const char*, 4>{"", "nothing", "%s%n", call.table[other].name});
  if (has_names && (random.one_in(4) || (name == call.table[other].name && t == other)))
    call.table[t].name = nullptr;
  else
    call.table[t].name = has_names ? name : "out of place";
  return true;
}

bool too_many(CCall& call, Random& random) {
  call.table.push_back(call.table[random.below(call.table.size())]);
  ++call.count;
  return true;
}

constexpr std::array<Way<CCall&>, 12> c_ways = {{
    {"null data", null_data},
    {"odd address", odd_address},
    {"output over another", output_over_another},
    {"unknown storage", unknown_storage},
    {"impossible rank", impossible_rank},
    {"null extents", null_extents},
    {"wrong count", wrong_count},
    {"null table", null_table},
    {"null kernel", null_kernel},
    {"null workspace", null_workspace},
    {"wrong name", wrong_name},
    {"too many", too_many},
}};

// The tensors that C++ passes.

bool other_stride_count(std::vector<Tensor>& tensors, Random& random) {
  Tensor& tensor = tensors[random.below(tensors.size())];
  tensor.stride_count = random.one_of(std::array{-1, tensor.rank + 1, 9, most_32, least_32});
  return true;
}

bool impossible_rank_cpp(std::vector<Tensor>& tensors, Random& random) {
  Tensor& tensor = tensors[random.below(tensors.size())];
  tensor.rank = tensor.stride_count = random.one_of(std::array{-1, 9, most_32, least_32});
  return true;
}

bool unknown_storage_cpp(std::vector<Tensor>& tensors, Random& random) {
  tensors[random.below(tensors.size())].storage =
      static_cast<attune_storage>(random.one_of(std::array{9, 15}));  // the enum holds four bits
  return true;
}

bool other_device(std::vector<Tensor>& tensors, Random& random) {
  tensors[random.below(tensors.size())].device = static_cast<attune_device>(random.one_of(std::array{1, 2, 3}));
  return true;
}

bool read_only_output(std::vector<Tensor>& tensors, Random&) { return tensors.back().is_read_only = true; }

bool short_memory(std::vector<Tensor>& tensors, Random& random) {
  Tensor& tensor = tensors[random.below(tensors.size())];
  if (tensor.is_empty()) return false;
  tensor.known_elements = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(tensor.element_count())));
  return true;
}

bool other_count(std::vector<Tensor>& tensors, Random& random) {
  if (random.one_in(2))
    tensors.pop_back();
  else
    tensors.resize(random.one_of(std::array<std::size_t, 4>{0, tensors.size() + 1, 65, 200}), tensors[0]);
  return true;
}

constexpr std::array<Way<std::vector<Tensor>&>, 7> cpp_ways = {{
    {"other stride count", other_stride_count},
    {"impossible rank", impossible_rank_cpp},
    {"unknown storage", unknown_storage_cpp},
    {"other device", other_device},
    {"read only output", read_only_output},
    {"short memory", short_memory},
    {"other count", other_count},
}};

}  // namespace

Attempt call_wrongly_from_c(PreparedCall& call, const attune_kernel* kernel, Random& random) {
  Attempt attempt;
  const bool is_spoilt = random.one_in(2);
  if (is_spoilt) attempt.what = spoil_shape(call, random);
  CCall c{call, call.for_c(random.one_in(2)), static_cast<std::int32_t>(call.tensors().size())};
  if (!is_spoilt) attempt.what = spoil_one(c_ways, random, c);
  say_before_faults("a call from C with " + attempt.what);
  const attune_tensor* table = c.is_null_table ? nullptr : c.table.data();
  if (c.is_null_kernel) kernel = nullptr;
  const int status = c.workspace_bytes > 0 ? attune_call_with_workspace(kernel, table, c.count, nullptr, c.workspace_bytes, nullptr)
                                           : attune_call(kernel, table, c.count);
  attempt.is_refused = status == -1;
  if (attempt.is_refused) attempt.sentence = attune_last_error();
  return attempt;
}

Attempt call_wrongly_from_cpp(PreparedCall& call, const Kernel& kernel, Random& random) {
  Attempt attempt;
  const bool is_spoilt = random.one_in(2);
  if (is_spoilt) attempt.what = spoil_shape(call, random);
  std::vector<Tensor> tensors = call.for_cpp();
  if (!is_spoilt) attempt.what = spoil_one(cpp_ways, random, tensors);
  say_before_faults("a call from C++ with " + attempt.what);
  Result<void> called;
  if (random.one_in(2)) {
    called = kernel.call(std::span<const Tensor>(tensors));
  } else {
    std::vector<Argument> arguments;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      arguments.push_back({t < call.tensors().size() ? std::string_view(call.tensors()[t].name) : "more", tensors[t]});
    called = kernel.call(std::span<const Argument>(arguments));
  }
  attempt.is_refused = !called;
  if (!called) attempt.sentence = called.error().message;
  return attempt;
}

}  // namespace attune
