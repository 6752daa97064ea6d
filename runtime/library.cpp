#include "runtime/library.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/kernel_file.h"
#include "runtime/sha256.h"
#include "runtime/words.h"

namespace attune {

struct Library::State {
  std::string path;
  std::vector<Kernel> kernels;
};

Result<Library> Library::open(const std::filesystem::path& path) {
  const Result<std::shared_ptr<const KernelFile>> file = open_kernel_file(path);
  if (!file) return file.error();
  return of(path, *file);
}

Result<Library> Library::open(const std::filesystem::path& path, std::string_view expected_sha256) {
  const std::optional<Sha256> expected = sha256_of_digits(expected_sha256);
  if (!expected)
    return Error{words("kernel file '", path.string(), "': the expected SHA-256 is '", expected_sha256,
                       "'; 64 hexadecimal digits are right, as sha256sum prints them")};
  const Result<std::shared_ptr<const KernelFile>> file = open_kernel_file(path, expected);
  if (!file) return file.error();
  return of(path, *file);
}

Result<Library> Library::of(const std::filesystem::path& path, const std::shared_ptr<const KernelFile>& file) {
  auto state = std::make_shared<State>();
  state->path = path.string();
  for (const attune_kernel_v5* manifest : file->kernels()) {
    Result<Kernel> kernel = Kernel::open(*manifest, file);
    if (!kernel) return Error{words("kernel file '", state->path, "': ", kernel.error().message)};
    state->kernels.push_back(std::move(kernel).value());
  }
  return Library(std::move(state));
}

Result<Kernel> Library::find(std::string_view name) const {
  const auto found = std::ranges::find(state_->kernels, name, &Kernel::name);
  if (found == state_->kernels.end()) {
    std::string names;
    for (const Kernel& kernel : state_->kernels) add_to_list(names, kernel.name());
    return Error{words("kernel file '", state_->path, "': has no kernel '", name, "'; it holds ", names)};
  }
  return *found;
}

Result<Kernel> Library::kernel(std::string_view name) const {
  Result<Kernel> kernel = find(name);
  if (!kernel) return kernel;
  return kernel->usable();
}

Result<Kernel> Library::kernel(std::string_view name, std::string_view device) const {
  Result<Kernel> kernel = find(name);
  if (!kernel) return kernel;
  return kernel->on(device);
}

std::span<const Kernel> Library::kernels() const { return state_->kernels; }

}  // namespace attune
