/// Reads .safetensors files: a JSON header that names tensors, then their bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace sentence_similarity {

using attune::Error;
using attune::Result;

/// An open file. The header is checked as a whole when the file is opened; elements are read when they are asked for.
class Safetensors {
 public:
  struct Entry {
    std::string type;  ///< as the header spells it: "F32", "I64", ...
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;  ///< bytes, counted from the end of the header
  };

  /// Refuses a file that is cut off, a header that is not the format's JSON, and entries whose bytes lie outside the
  /// file, overlap, leave a gap, or are not as many as type and shape say.
  static Result<Safetensors> open(const std::filesystem::path& path);

  /// The elements of a tensor of that shape, row-major. The tensor's type is T's: float, double or std::int32_t.
  template <class T>
  Result<std::vector<T>> read(std::string_view name, const std::vector<std::int64_t>& shape);

 private:
  Error error(std::string what) const;
  Result<void> read_header(std::int64_t file_bytes);
  Result<void> check_layout(std::int64_t data_bytes) const;
  /// Refuses a tensor that is missing or not of that type and shape.
  Result<Entry> find(std::string_view name, std::string_view type, const std::vector<std::int64_t>& shape) const;

  std::filesystem::path path_;
  std::ifstream file_;
  std::int64_t data_offset_ = 0;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace sentence_similarity
