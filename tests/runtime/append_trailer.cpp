/// append_trailer FROM TO: copies a shared object and appends the trailer, as the compiler does.
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "runtime/trailer.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream from(argv[1], std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(from), {}};
  const attune::Trailer trailer = attune::trailer_of(std::as_bytes(std::span(content)));
  std::ofstream to(argv[2], std::ios::binary | std::ios::trunc);
  to << content;
  to.write(reinterpret_cast<const char*>(&trailer), sizeof trailer);
  to.close();
  return from && to ? 0 : 1;
}
