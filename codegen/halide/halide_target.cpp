#include "codegen/halide/halide_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>

namespace attune {

Halide::Target halide_target(const TargetInfo& target) {
  Halide::Target halide{std::string(target.halide)};
  for (const auto feature : {Halide::Target::NoBoundsQuery, Halide::Target::NoRuntime, Halide::Target::UserContext}) halide.set_feature(feature);
  return halide;
}

std::string object_of(const Halide::Module& module) {
  const Halide::Buffer<std::uint8_t> object = module.compile_to_buffer();
  return {reinterpret_cast<const char*>(object.data()), object.size_in_bytes()};
}

std::string assembly_of(const Halide::Module& module) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "no pipe");
  std::string text;
  std::thread reader([&] {
    std::array<char, 4096> chunk;
    for (ssize_t count; (count = read(ends[0], chunk.data(), chunk.size())) > 0;) text.append(chunk.data(), static_cast<std::size_t>(count));
  });
  std::exception_ptr problem;
  try {
    module.compile({{Halide::OutputFileType::assembly, "/proc/self/fd/" + std::to_string(ends[1])}});
  } catch (...) {
    problem = std::current_exception();
  }
  close(ends[1]);
  reader.join();
  close(ends[0]);
  if (problem) std::rethrow_exception(problem);
  return text;
}

Halide::Target halide_runtime_target(std::span<const TargetInfo* const> targets) {
  const Halide::Target first{std::string(targets.front()->halide)};
  Halide::Target runtime(first.os, first.arch, first.bits);
  for (const TargetInfo* target : targets)
    for (const auto part : {Halide::Target::OpenCL, Halide::Target::CUDA, Halide::Target::Vulkan, Halide::Target::ASAN, Halide::Target::TSAN})
      if (Halide::Target(std::string(target->halide)).has_feature(part)) runtime.set_feature(part);
  return runtime;
}

}  // namespace attune
