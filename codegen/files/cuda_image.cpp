#include "codegen/files/cuda_image.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/files/run_program.h"
#include "codegen/files/scratch_folder.h"
#include "codegen/files/whole_file.h"

namespace attune {
namespace {

/// Set-up's, or of this name on the PATH.
std::string program_of_cuda(const std::string& name) {
  const std::filesystem::path own = std::filesystem::path(ATTUNE_CUDA_PROGRAMS) / name;
  std::error_code error;
  return std::filesystem::exists(own, error) ? own.string() : name;
}

}  // namespace

CudaImage cuda_image(const std::string& ptx, const CudaArchitectures& architectures) {
  const ScratchFolder folder;
  if (!folder.exists()) return {{}, no_scratch_folder(folder)};
  const std::string text = folder.file("kernel.ptx"), code = folder.file("kernel.cubin"), image = folder.file("kernel.fatbin");
  if (const std::error_code error = write_file(text, {ptx}); error) return {{}, cannot_be_written(text, error)};
  const ProgramEnd assembled = run_program(program_of_cuda("ptxas"), {"-arch=sm_" + architectures.machine_code, "-o", code, text});
  if (!assembled.is_found) return {ptx, {}};
  if (!assembled.is_success) return {{}, "internal: ptxas refuses a kernel: " + assembled.reason};
  // Not compressed: what reads the PTX of a kernel file needs no decompression.
  const ProgramEnd joined = run_program(program_of_cuda("fatbinary"), {"-64", "--create=" + image, "--compress-mode=none",
                                                                       "--image3=kind=elf,sm=" + architectures.machine_code + ",file=" + code,
                                                                       "--image3=kind=ptx,sm=" + architectures.ptx + ",file=" + text});
  if (!joined.is_found) return {ptx, {}};
  if (!joined.is_success) return {{}, "fatbinary makes no image of a kernel: " + joined.reason};
  std::ifstream file(image, std::ios::binary);
  return {{std::istreambuf_iterator<char>(file), {}}, {}};
}

}  // namespace attune
