#include "samples/text_generation/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "samples/text_generation/gguf_bytes.h"

namespace text_generation {
namespace {

constexpr std::uint32_t magic = 0x46554747, version = 3;  // "GGUF"
constexpr std::int64_t default_alignment = 32;
constexpr std::size_t most_dims = 4, value_bytes = 13, tensor_bytes = 32;  // the least that a value, a tensor's description take
constexpr std::uint32_t text_type = 8, list_type = 9;

struct Storage {
  std::uint32_t number;  ///< in the file
  TensorType type;
  std::string_view name;
  std::int64_t block_elements, block_bytes;
};
constexpr std::array<Storage, 5> storages = {{{0, TensorType::f32, "F32", 1, 4},
                                              {1, TensorType::f16, "F16", 1, 2},
                                              {30, TensorType::bf16, "BF16", 1, 2},
                                              {3, TensorType::q4_1, "Q4_1", 32, 20},
                                              {8, TensorType::q8_0, "Q8_0", 32, 34}}};

std::string text_of(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, " x ")); }

/// Calls visit(T{}) with the type of numbers that `type` stands for; false for other types.
template <class Visit>
bool visit_number(std::uint32_t type, Visit visit) {
  switch (type) {
    case 0: return visit(std::uint8_t{}), true;
    case 1: return visit(std::int8_t{}), true;
    case 2: return visit(std::uint16_t{}), true;
    case 3: return visit(std::int16_t{}), true;
    case 4: return visit(std::uint32_t{}), true;
    case 5: return visit(std::int32_t{}), true;
    case 6: return visit(float{}), true;
    case 7: return visit(std::uint8_t{}), true;
    case 10: return visit(std::uint64_t{}), true;
    case 11: return visit(std::int64_t{}), true;
    case 12: return visit(double{}), true;
    default: return false;
  }
}
/// double of float and double, otherwise i64.
template <class T>
using Kept = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

Gguf::Value list_of(GgufBytes& bytes) {
  const auto type = bytes.number<std::uint32_t>();
  if (type == text_type) {
    std::vector<std::string> texts(bytes.count(sizeof(std::uint64_t), "texts"));
    for (std::string& text : texts) text = bytes.text();
    return texts;
  }
  Gguf::Value list;
  const bool is_known = visit_number(type, [&]<class T>(T) {
    std::vector<Kept<T>> numbers(bytes.count(sizeof(T), "numbers"));
    for (Kept<T>& number : numbers) number = static_cast<Kept<T>>(bytes.number<T>());
    list = std::move(numbers);
  });
  if (!is_known)
    bytes.fail(fmt::format("has a list of values of type {} before byte {}; lists of numbers and texts are known", type, bytes.offset()));
  return list;
}

Gguf::Value value_of(GgufBytes& bytes) {
  const auto type = bytes.number<std::uint32_t>();
  if (type == text_type) return bytes.text();
  if (type == list_type) return list_of(bytes);
  Gguf::Value value;
  if (!visit_number(type, [&]<class T>(T) { value = static_cast<Kept<T>>(bytes.number<T>()); }))
    bytes.fail(fmt::format("has a value of type {} before byte {}; types are 0 to 12", type, bytes.offset()));
  return value;
}

/// What a tensor's description says, and where its bytes begin behind the start of all tensors'.
struct Described {
  std::string name;
  const Storage* storage = nullptr;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0, size = 0;
};

/// Bytes that the shape takes, or 0 where they are no whole blocks or more than any file has.
std::uint64_t size_of(const Storage& storage, const std::vector<std::int64_t>& shape) {
  std::int64_t size = storage.block_bytes;
  if (shape.empty() || shape[0] % storage.block_elements != 0) return 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t extent = i == 0 ? shape[0] / storage.block_elements : shape[i];
    if (extent <= 0 || __builtin_mul_overflow(size, extent, &size)) return 0;
  }
  return static_cast<std::uint64_t>(size);
}

Described described(GgufBytes& bytes) {
  Described tensor;
  tensor.name = bytes.name();
  const auto rank = bytes.number<std::uint32_t>();
  if (rank > most_dims) bytes.fail(fmt::format("tensor '{}' has {} dims; at most {} are possible", tensor.name, rank, most_dims));
  for (std::uint32_t i = 0; i < rank && !bytes.problem(); ++i) tensor.shape.push_back(bytes.number<std::int64_t>());
  const auto number = bytes.number<std::uint32_t>();
  tensor.offset = bytes.number<std::uint64_t>();
  for (const Storage& storage : storages)
    if (storage.number == number) tensor.storage = &storage;
  if (tensor.storage == nullptr) {
    bytes.fail(fmt::format("tensor '{}' is stored as type {}; F32 (0), F16 (1), Q4_1 (3), Q8_0 (8) and BF16 (30) can be read", tensor.name, number));
    return tensor;
  }
  tensor.size = size_of(*tensor.storage, tensor.shape);
  if (tensor.size == 0)
    bytes.fail(fmt::format("tensor '{}' is {} {}, which is no number of blocks of {}, or too many", tensor.name, tensor.storage->name, text_of(tensor.shape),
                           tensor.storage->block_elements));
  return tensor;
}

template <class T>
constexpr std::string_view type_name = "";
template <>
constexpr std::string_view type_name<std::int64_t> = "an integer";
template <>
constexpr std::string_view type_name<double> = "a number";
template <>
constexpr std::string_view type_name<std::string> = "a text";
template <>
constexpr std::string_view type_name<std::vector<std::int64_t>> = "a list of integers";
template <>
constexpr std::string_view type_name<std::vector<std::string>> = "a list of texts";

}  // namespace

std::string_view name_of(TensorType type) {
  for (const Storage& storage : storages)
    if (storage.type == type) return storage.name;
  return {};
}

Error Gguf::error(std::string_view what) const { return Error{fmt::format("file '{}': {}", path_.string(), what)}; }

Result<Gguf> Gguf::open(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  Gguf result(std::move(file).value(), path);
  if (auto read = result.read(); !read) return read.error();
  return result;
}

Result<void> Gguf::read() {
  GgufBytes bytes(file_.bytes());
  if (const auto found = bytes.number<std::uint32_t>(); found != magic) return error(bytes.problem() ? *bytes.problem() : "is no GGUF file: it does not begin with 'GGUF'");
  if (const auto found = bytes.number<std::uint32_t>(); found != version)
    return error(bytes.problem() ? *bytes.problem() : fmt::format("is GGUF of version {}; version {} can be read", found, version));
  const std::size_t tensors = bytes.count(tensor_bytes, "tensors"), values = bytes.count(value_bytes, "values");
  for (std::size_t i = 0; i < values && !bytes.problem(); ++i) {
    std::string name = bytes.name();
    Value value = value_of(bytes);
    if (values_.contains(name)) bytes.fail(fmt::format("has the value '{}' twice", name));
    values_.emplace(std::move(name), std::move(value));
  }
  std::vector<Described> all;
  for (std::size_t i = 0; i < tensors && !bytes.problem(); ++i) all.push_back(described(bytes));
  std::int64_t alignment = default_alignment;
  if (const auto stated = values_.find("general.alignment"); stated != values_.end()) {
    const auto* number = std::get_if<std::int64_t>(&stated->second);
    if (number == nullptr) bytes.fail("value 'general.alignment' must be an integer");
    if (number != nullptr) alignment = *number;
  }
  if (alignment <= 0 || alignment > 1 << 20) bytes.fail(fmt::format("its alignment is {}; it must be from 1 to {}", alignment, 1 << 20));
  if (bytes.problem()) return error(*bytes.problem());
  const auto step = static_cast<std::size_t>(alignment), first = (bytes.offset() + step - 1) / step * step;
  const std::span<const std::byte> data = file_.bytes().subspan(std::min(first, file_.bytes().size()));
  for (Described& tensor : all) {
    if (tensor.offset % step != 0)
      return error(fmt::format("tensor '{}' begins at byte {}, which is no multiple of {}", tensor.name, tensor.offset, step));
    if (tensor.offset > data.size() || tensor.size > data.size() - tensor.offset)
      return error(fmt::format("is cut off: tensor '{}' takes {} bytes from {} on, of {} that follow the header", tensor.name, tensor.size,
                               tensor.offset, data.size()));
    const auto part = data.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.size));
    if (!tensors_.emplace(tensor.name, StoredTensor{tensor.storage->type, std::move(tensor.shape), part}).second)
      return error(fmt::format("has the tensor '{}' twice", tensor.name));
  }
  return {};
}

std::vector<std::string> Gguf::tensor_names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

template <class T>
Result<T> Gguf::value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return error(fmt::format("has no value '{}'", name));
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  return error(fmt::format("value '{}' must be {}", name, type_name<T>));
}
template Result<std::int64_t> Gguf::value(std::string_view) const;
template Result<double> Gguf::value(std::string_view) const;
template Result<std::string> Gguf::value(std::string_view) const;
template Result<std::vector<std::int64_t>> Gguf::value(std::string_view) const;
template Result<std::vector<std::string>> Gguf::value(std::string_view) const;

Result<StoredTensor> Gguf::tensor(std::string_view name, const std::vector<std::int64_t>& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return error(fmt::format("has no tensor '{}'", name));
  if (found->second.shape != shape)
    return error(fmt::format("tensor '{}' is {}, expected {}", name, text_of(found->second.shape), text_of(shape)));
  return found->second;
}

}  // namespace text_generation
