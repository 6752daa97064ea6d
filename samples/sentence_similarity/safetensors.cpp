#include "samples/sentence_similarity/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace sentence_similarity {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t length_bytes = 8;  // of the header's length, in front of the header

/// Bytes of an element, or 0 for a type that the format does not have.
std::int64_t element_bytes(std::string_view type) {
  static const std::map<std::string_view, std::int64_t> bytes = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                                                                 {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
                                                                 {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};
  const auto found = bytes.find(type);
  return found == bytes.end() ? 0 : found->second;
}

template <class T>
constexpr std::string_view type_name = "";
template <>
constexpr std::string_view type_name<float> = "F32";
template <>
constexpr std::string_view type_name<double> = "F64";
template <>
constexpr std::string_view type_name<std::int32_t> = "I32";

std::string text_of(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, " x ")); }

/// Text that a sentence cannot quote on its one line.
bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// The JSON object in the text, or nothing: also when a name stands in it twice.
std::optional<Json> object_of(std::string_view text) {
  bool has_twice = false;
  std::set<std::string> names;
  const auto watch = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) has_twice |= !names.insert(parsed.get<std::string>()).second;
    return true;
  };
  const Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (!json.is_object() || has_twice) return std::nullopt;
  return json;
}

/// The numbers of a JSON array of integers from 0 up, or nothing.
std::optional<std::vector<std::int64_t>> numbers_of(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Json& item : json) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

/// What a tensor's description says, or nothing if it is not {"dtype": ..., "shape": [...], "data_offsets": [a, b]}.
std::optional<Safetensors::Entry> entry_of(const Json& json) {
  if (!json.is_object() || json.size() != 3) return std::nullopt;
  if (!json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets")) return std::nullopt;
  const auto shape = numbers_of(json["shape"]);
  const auto offsets = numbers_of(json["data_offsets"]);
  if (!json["dtype"].is_string() || !shape || !offsets || offsets->size() != 2) return std::nullopt;
  return Safetensors::Entry{json["dtype"].get<std::string>(), *shape, (*offsets)[0], (*offsets)[1]};
}

/// Bytes that type and shape take, or nothing if they are more than any file has.
std::optional<std::int64_t> bytes_of(const Safetensors::Entry& entry) {
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return 0;
  std::int64_t bytes = element_bytes(entry.type);
  for (std::int64_t extent : entry.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

Error Safetensors::error(std::string what) const { return Error{fmt::format("file '{}': {}", path_.string(), what)}; }

Result<Safetensors> Safetensors::open(const std::filesystem::path& path) {
  Safetensors result;
  result.path_ = path;
  std::error_code problem;
  const auto file_bytes = std::filesystem::file_size(path, problem);
  if (problem) return result.error("cannot be opened: " + problem.message());
  result.file_.open(path, std::ios::binary);
  if (!result.file_) return result.error("cannot be opened for reading");
  if (const auto read = result.read_header(static_cast<std::int64_t>(file_bytes)); !read) return read.error();
  return result;
}

Result<void> Safetensors::read_header(std::int64_t file_bytes) {
  if (file_bytes < length_bytes)
    return error(fmt::format("has {} bytes; a .safetensors file begins with the 8 bytes of its header's length", file_bytes));
  std::uint64_t length = 0;
  for (int i = 0; i < length_bytes; ++i) length |= static_cast<std::uint64_t>(file_.get() & 0xff) << (8 * i);
  if (!file_) return error("cannot be read");
  if (length > static_cast<std::uint64_t>(file_bytes - length_bytes))
    return error(fmt::format("its header has {} bytes, of which {} are there; it is cut off or not a .safetensors file", length,
                             file_bytes - length_bytes));
  std::string text(length, '\0');
  if (!file_.read(text.data(), static_cast<std::streamsize>(length))) return error("cannot be read");
  const auto json = object_of(text);
  if (!json) return error("its header is not a JSON object with one description for each name");
  for (const auto& [name, description] : json->items()) {
    if (name == "__metadata__") continue;
    if (has_control(name)) return error("its header has a name with a control character in it");
    const auto entry = entry_of(description);
    if (!entry)
      return error(fmt::format("tensor '{}' is not described by dtype, shape and data_offsets alone, with numbers from 0 up", name));
    entries_.emplace(name, *entry);
  }
  data_offset_ = length_bytes + static_cast<std::int64_t>(length);
  return check_layout(file_bytes - data_offset_);
}

Result<void> Safetensors::check_layout(std::int64_t data_bytes) const {
  std::vector<std::pair<std::string, Entry>> by_place(entries_.begin(), entries_.end());
  std::sort(by_place.begin(), by_place.end(),
            [](const auto& a, const auto& b) { return std::pair(a.second.begin, a.second.end) < std::pair(b.second.begin, b.second.end); });
  std::int64_t covered = 0;
  for (const auto& [name, entry] : by_place) {
    if (element_bytes(entry.type) == 0) return error(fmt::format("tensor '{}' has the unknown type {:?}", name, entry.type));
    if (entry.begin > entry.end || entry.end > data_bytes)
      return error(fmt::format("tensor '{}' lies in bytes {} to {} of {}", name, entry.begin, entry.end, data_bytes));
    if (bytes_of(entry) != entry.end - entry.begin)
      return error(fmt::format("tensor '{}' is {} {}, which does not take the {} bytes from {} to {}", name, entry.type,
                               text_of(entry.shape), entry.end - entry.begin, entry.begin, entry.end));
    if (entry.begin != covered)
      return error(fmt::format("tensor '{}' begins at byte {} and the one before it ends at {}; expected neither gap nor overlap", name,
                               entry.begin, covered));
    covered = entry.end;
  }
  if (covered != data_bytes) return error(fmt::format("{} bytes follow its header, of which the tensors take {}", data_bytes, covered));
  return {};
}

Result<Safetensors::Entry> Safetensors::find(std::string_view name, std::string_view type, const std::vector<std::int64_t>& shape) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return error(fmt::format("has no tensor '{}'", name));
  const Entry& entry = found->second;
  if (entry.type != type || entry.shape != shape)
    return error(fmt::format("tensor '{}' is {} {}, expected {} {}", name, entry.type, text_of(entry.shape), type, text_of(shape)));
  return entry;
}

template <class T>
Result<std::vector<T>> Safetensors::read(std::string_view name, const std::vector<std::int64_t>& shape) {
  const auto entry = find(name, type_name<T>, shape);
  if (!entry) return entry.error();
  const std::int64_t bytes = entry->end - entry->begin;
  std::vector<T> values(static_cast<std::size_t>(bytes) / sizeof(T));
  file_.clear();
  file_.seekg(data_offset_ + entry->begin);
  if (!file_.read(reinterpret_cast<char*>(values.data()), bytes)) return error(fmt::format("tensor '{}' cannot be read", name));
  return values;
}

template Result<std::vector<float>> Safetensors::read(std::string_view, const std::vector<std::int64_t>&);
template Result<std::vector<double>> Safetensors::read(std::string_view, const std::vector<std::int64_t>&);
template Result<std::vector<std::int32_t>> Safetensors::read(std::string_view, const std::vector<std::int64_t>&);

}  // namespace sentence_similarity
