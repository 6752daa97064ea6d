#include "tools/attune/headers_digest.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <algorithm>
#include <vector>

#include "codegen/files/read_file.h"

namespace attune {
namespace {

std::string sha256(std::string_view text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())), /*LowerCase=*/true);
}

}  // namespace

std::string headers_digest(const std::filesystem::path& folder) {
  const std::filesystem::path language = folder / "dsl";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(language, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".h") names.push_back(entry->path().lexically_relative(language).generic_string());
  std::ranges::sort(names);
  std::string lines;
  for (const std::string& name : names) lines += fmt::format("{} {}\n", name, sha256(read_file((language / name).string()).bytes));
  return sha256(lines).substr(0, digest_of_own_headers.size());
}

std::string headers_problem(const std::filesystem::path& folder) {
  const std::string digest = headers_digest(folder);
  if (digest == digest_of_own_headers) return {};
  return fmt::format("the headers in '{}' are of another version ({}) than this attune ({}); attune and its headers are installed together",
                     (folder / "dsl").string(), digest, digest_of_own_headers);
}

}  // namespace attune
