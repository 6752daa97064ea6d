#include "tools/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <system_error>

#include "codegen/files/whole_file.h"
#include "runtime/words.h"
#include "tools/npy_order.h"

namespace attune {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in the file");

struct TypeRow {
  NpyType type;
  std::string_view name, descr;
  std::size_t bytes;
};

constexpr std::array<TypeRow, 12> types = {{
    {NpyType::f32, "f32", "<f4", 4},
    {NpyType::f64, "f64", "<f8", 8},
    {NpyType::f16, "f16", "<f2", 2},
    {NpyType::i8, "i8", "|i1", 1},
    {NpyType::i16, "i16", "<i2", 2},
    {NpyType::i32, "i32", "<i4", 4},
    {NpyType::i64, "i64", "<i8", 8},
    {NpyType::u8, "u8", "|u1", 1},
    {NpyType::u16, "u16", "<u2", 2},
    {NpyType::u32, "u32", "<u4", 4},
    {NpyType::u64, "u64", "<u8", 8},
    {NpyType::boolean, "boolean", "|b1", 1},
}};

const TypeRow& row_of(NpyType type) {
  return *std::find_if(types.begin(), types.end(), [&](const TypeRow& row) { return row.type == type; });
}

/// "f32, f64, ..."
std::string type_names() {
  std::string names;
  for (const TypeRow& row : types) add_to_list(names, row.name);
  return names;
}

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;  // numpy pads the header so that the elements start at a multiple of this

/// The sentence of these parts about a file.
template <class... Parts>
Error file_error(std::string_view name, const Parts&... parts) {
  return Error{words("file '", name, "': ", parts...)};
}

/// A header is text of the file's maker: at most 60 characters of it, printable ones.
std::string excerpt(std::string_view text) {
  std::string result = "'";
  for (char c : text.substr(0, 60)) result += c >= ' ' && c <= '~' ? c : '?';
  result += text.size() > 60 ? "...'" : "'";
  return result;
}

/// Reads the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } that stands in a header.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  std::string descr;
  bool is_fortran = false;
  std::vector<std::int64_t> shape;

  /// True if the text is such a dictionary, each key once.
  bool read() {
    if (!take('{')) return false;
    bool has_descr = false, has_order = false, has_shape = false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':')) return false;
      if (key == "descr" && !std::exchange(has_descr, true)) {
        if (!string(descr)) return false;
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        if (!boolean()) return false;
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        if (!tuple()) return false;
      } else {
        return false;
      }
      if (!take(',') && !sees('}')) return false;
    }
    skip_blanks();
    return has_descr && has_order && has_shape && text_.empty();
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool sees(char c) {
    skip_blanks();
    return !text_.empty() && text_[0] == c;
  }
  bool take(char c) {
    if (!sees(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool string(std::string& result) {
    const char quote = sees('"') ? '"' : '\'';
    if (!take(quote)) return false;
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) return false;
    result = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool boolean() {
    is_fortran = take(std::string_view("True"));
    return is_fortran || take(std::string_view("False"));
  }
  bool tuple() {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_blanks();
      std::int64_t extent = 0;
      const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (problem != std::errc() || text_[0] == '-') return false;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      shape.push_back(extent);
      if (!take(',') && (shape.size() == 1 || !sees(')'))) return false;  // (3) is no tuple, (3,) is
    }
    return true;
  }

  std::string_view text_;
};

/// The header's text and where the elements begin.
struct Frame {
  std::string_view header;
  std::size_t data_offset;
};

Result<Frame> frame_of(std::string_view bytes, std::string_view name) {
  if (!bytes.starts_with(magic)) return file_error(name, "is not a .npy file: it does not begin with \\x93NUMPY");
  if (bytes.size() < magic.size() + 2) return file_error(name, "ends after ", bytes.size(), " bytes, inside its header");
  const auto byte_at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const std::size_t version = byte_at(6);
  if (version != 1 && version != 2)
    return file_error(name, ".npy version ", version, ".", byte_at(7), " is not supported; versions 1 and 2 are");
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = magic.size() + 2 + length_bytes;
  if (bytes.size() < begin) return file_error(name, "ends after ", bytes.size(), " bytes, inside its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte_at(8 + i) << (8 * i);
  if (length > bytes.size() - begin)
    return file_error(name, "its header has ", length, " bytes, of which ", bytes.size() - begin, " are there");
  return Frame{bytes.substr(begin, length), begin + length};
}

/// The product of the extents times the bytes of an element, or nothing if no file can be that large.
std::optional<std::size_t> bytes_of_shape(const std::vector<std::int64_t>& shape, std::size_t element_bytes) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::size_t bytes = element_bytes;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) return std::nullopt;
  return bytes;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::int64_t extent : shape) add_to_list(text, words(extent), " x ");
  return words("[", text, "]");
}

std::string header_text(const NpyArray& array) {
  std::string shape;
  for (std::int64_t extent : array.shape) add_to_list(shape, words(extent));
  if (array.shape.size() == 1) shape += ",";
  return words("{'descr': '", row_of(array.type).descr, "', 'fortran_order': False, 'shape': (", shape, "), }");
}

/// Magic, version, length and header, padded with blanks to a multiple of `alignment` and ended by a newline.
std::string preamble_of(const NpyArray& array) {
  std::string header = header_text(array);
  const std::size_t longest_version_1 = 65535;
  const std::size_t version = header.size() + 2 * alignment > longest_version_1 ? 2 : 1;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = magic.size() + 2 + length_bytes;
  header.append(alignment - 1 - (begin + header.size()) % alignment, ' ');
  header += '\n';
  std::string preamble(magic);
  preamble += static_cast<char>(version);
  preamble += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) preamble += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return preamble + header;
}

}  // namespace

std::string_view name_of(NpyType type) { return row_of(type).name; }

std::size_t bytes_of(NpyType type) { return row_of(type).bytes; }

namespace {

/// What a header says.
struct Layout {
  const TypeRow* row;
  std::vector<std::int64_t> shape;
  bool is_fortran, is_big_endian;
};

/// Of a file of so many bytes.
Result<Layout> layout_of(const Frame& frame, std::uintmax_t file_bytes, std::string_view name) {
  HeaderReader header(frame.header);
  if (!header.read())
    return file_error(name, "its header is ", excerpt(frame.header), "; expected {'descr': ..., 'fortran_order': ..., 'shape': (...)}");
  const bool is_big_endian = header.descr.starts_with('>');
  const std::string descr = is_big_endian ? '<' + header.descr.substr(1) : header.descr;
  const auto row = std::find_if(types.begin(), types.end(), [&](const TypeRow& r) { return r.descr == descr; });
  if (row == types.end()) return file_error(name, "element type ", excerpt(header.descr), " is not supported; ", type_names(), " are");
  const auto expected = bytes_of_shape(header.shape, row->bytes);
  const std::uintmax_t data_bytes = file_bytes - frame.data_offset;
  if (!expected || *expected != data_bytes)
    return file_error(name, row->name, " ", text_of(header.shape), " does not take the ", data_bytes, " bytes after the header",
                      expected ? words("; expected ", *expected) : "");
  return Layout{row, std::move(header.shape), header.is_fortran, is_big_endian};
}

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

Result<NpyArray> parse_npy(std::span<const std::byte> bytes, std::string_view name) {
  const auto frame = frame_of(text_of(bytes), name);
  if (!frame) return frame.error();
  auto layout = layout_of(*frame, bytes.size(), name);
  if (!layout) return layout.error();
  const std::span<const std::byte> data = bytes.subspan(frame->data_offset);
  if (layout->row->type == NpyType::boolean) {
    const auto odd = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
    if (odd != data.end()) return file_error(name, "boolean ", odd - data.begin(), " is ", std::to_integer<int>(*odd), "; expected 0 or 1");
  }
  NpyArray array{layout->row->type, std::move(layout->shape), {}};
  if (layout->is_fortran) array.data = in_c_order(data, array.shape, layout->row->bytes);
  else array.data.assign(data.begin(), data.end());
  if (layout->is_big_endian) swap_bytes(array.data, layout->row->bytes);
  return array;
}

Result<NpyArray> read_npy(const std::filesystem::path& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) return file_error(path.string(), "is a folder; expected a .npy file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return file_error(path.string(), "cannot be opened", errno == 0 ? "" : ": ", errno == 0 ? "" : std::strerror(errno));
  std::vector<std::byte> bytes;
  const auto size = std::filesystem::file_size(path, problem);
  std::array<char, 65536> chunk;
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    const bool is_first = bytes.empty();
    const auto* begin = reinterpret_cast<const std::byte*>(chunk.data());
    bytes.insert(bytes.end(), begin, begin + file.gcount());
    if (!text_of(bytes).starts_with(magic)) break;  // a device may never end
    if (!is_first || problem) continue;
    // a file that cannot be right is not read to its end: it may be larger than the memory
    if (const auto frame = frame_of(text_of(bytes), path.string()))
      if (const auto layout = layout_of(*frame, size, path.string()); !layout) return layout.error();
    bytes.reserve(size);
  }
  if (file.bad()) return file_error(path.string(), "cannot be read");
  return parse_npy(bytes, path.string());
}

Result<void> write_npy(const std::filesystem::path& path, const NpyArray& array) {
  if (bytes_of_shape(array.shape, bytes_of(array.type)) != array.data.size())
    return Error{words("internal: .npy array ", name_of(array.type), " ", text_of(array.shape), " has ", array.data.size(), " bytes")};
  const std::string_view elements(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  std::string problem = write_whole(path, {preamble_of(array), elements});
  if (!problem.empty()) return Error{std::move(problem)};
  return {};
}

}  // namespace attune
