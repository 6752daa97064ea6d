#include "codegen/targets/targets.h"

#include <array>

namespace attune {
namespace {

constexpr std::string_view v3 = "avx2 fma f16c bmi2 lzcnt";
constexpr std::string_view v4 = "avx2 fma f16c bmi2 lzcnt avx512f avx512bw avx512cd avx512dq avx512vl";
constexpr std::string_view zen4 =
    "avx2 fma f16c bmi2 lzcnt avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi avx512vnni avx512bf16";
constexpr std::string_view zen5 =
    "avx2 fma f16c bmi2 lzcnt avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi avx512vnni avx512bf16 avxvnni "
    "avx512vp2intersect";
constexpr std::string_view sapphire_rapids =
    "avx2 fma f16c bmi2 lzcnt avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq "
    "avx512bf16 avx512fp16 avxvnni gfni vaes vpclmulqdq";
constexpr std::string_view sapphire_rapids_amx =
    "avx2 fma f16c bmi2 lzcnt avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq "
    "avx512bf16 avx512fp16 avxvnni gfni vaes vpclmulqdq amx-tile amx-bf16";
constexpr std::string_view x86 = "x86_64-unknown-linux-gnu";

constexpr std::array<TargetInfo, 10> table = {{
    {"zen5", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-avx512_zen5", x86, zen5, "amd/26", "ld",
     Device::cpu, 64, 32, true, "AVX-512 with bf16 dot products at twice the rate: AMD Zen 5"},
    {"zen4", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4", x86, zen4, "amd/25", "ld", Device::cpu, 64, 32, true,
     "AVX-512 with bf16 dot products: AMD Zen 4"},
    {"sapphirerapids-amx", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_sapphirerapids", x86, sapphire_rapids_amx,
     "intel", "ld", Device::cpu, 64, 32, true, "AVX-512 and AMX's products of bf16: Intel Sapphire Rapids and later", true},
    {"sapphirerapids", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_sapphirerapids", x86, sapphire_rapids, "intel", "ld",
     Device::cpu, 64, 32, true, "AVX-512 with bf16 dot products: Intel Sapphire Rapids and later"},
    {"x86-64-v4", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake", x86, v4, "", "ld", Device::cpu, 64, 32, false,
     "AVX-512: Intel Skylake-SP and later"},
    {"x86-64-v3", "x86-64-linux-sse41-avx-f16c-fma-avx2", x86, v3, "", "ld", Device::cpu, 32, 16, false,
     "AVX2 and FMA: every x86-64 server of the last ten years"},
    {"arm64", "arm-64-linux", "aarch64-unknown-linux-gnu", "", "", "aarch64-linux-gnu-ld", Device::cpu, 16, 32, false,
     "NEON: every 64-bit Arm"},
    {"opencl", "x86-64-linux-sse41-opencl", x86, "", "", "ld", Device::opencl, 16, 16, false,
     "OpenCL 1.2 on an x86-64 host"},
    {"cuda", "x86-64-linux-sse41-cuda-cuda_capability_80", x86, "", "", "ld", Device::cuda, 16, 16, false,
     "CUDA, compute capability 8.0 and later, on an x86-64 host"},
    {"vulkan", "x86-64-linux-sse41-vulkan-vk_v13-vk_int8-vk_int16-vk_int64", x86, "", "", "ld", Device::vulkan, 16, 16, false,
     "Vulkan 1.3 on an x86-64 host"},
}};

}  // namespace

std::span<const TargetInfo> targets() { return table; }

std::string target_names() {
  std::string names = "host";
  for (const TargetInfo& target : table) names += ", " + std::string(target.name);
  return names;
}

Machine machine_of(const TargetInfo& target) {
  return {std::string(target.name), target.vector_bytes, target.registers, target.has_bf16_dot, target.has_bf16_tiles, target.device};
}

}  // namespace attune
