/// Reads GGUF files, version 3: named values, then named tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "samples/text_generation/mapped_file.h"

namespace text_generation {

/// How a tensor's elements are stored.
enum class TensorType { f32, f16, bf16, q4_1, q8_0 };
std::string_view name_of(TensorType type);

/// A tensor of the file. Its bytes live as long as the file is open.
struct StoredTensor {
  TensorType type = TensorType::f32;
  std::vector<std::int64_t> shape;  ///< innermost first, as the file has it: a weight is [in, out]
  std::span<const std::byte> bytes;
};

/// An open file. Everything but the elements is checked when the file is opened.
class Gguf {
 public:
  /// Integers and truth values are i64, numbers double.
  using Value = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

  /// Refuses a file that is not GGUF version 3, that is cut off, that names something twice, or whose tensors do not lie inside it.
  static Result<Gguf> open(const std::filesystem::path& path);

  /// The value of that name and type. Refuses a name that the file does not have and a value of another type.
  template <class T>
  Result<T> value(std::string_view name) const;

  bool has_value(std::string_view name) const { return values_.contains(name); }
  std::vector<std::string> tensor_names() const;
  /// Refuses a name that the file does not have and another shape, innermost first.
  Result<StoredTensor> tensor(std::string_view name, const std::vector<std::int64_t>& shape) const;

 private:
  explicit Gguf(MappedFile file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {}
  Error error(std::string_view what) const;
  Result<void> read();

  MappedFile file_;
  std::filesystem::path path_;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
};

}  // namespace text_generation
