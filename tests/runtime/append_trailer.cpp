/// append_trailer FROM TO: copies a shared object and appends the trailer, as the compiler does.
#include <cstdio>
#include <filesystem>

#include "runtime/trailer.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::error_code error;
  std::filesystem::copy_file(argv[1], argv[2], std::filesystem::copy_options::overwrite_existing, error);
  if (error) return 1;
  const attune::Result<void> written = attune::write_trailer(argv[2]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
