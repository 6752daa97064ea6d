#include "runtime/cpu.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "runtime/driver.h"
#include "runtime/tile_state.h"
#include "runtime/words.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace attune {
namespace {

#if defined(__x86_64__)

enum Register { eax, ebx, ecx, edx };

/// The registers that the operating system must save: bits of XCR0.
constexpr std::uint64_t no_state = 0, avx_state = 0x6, avx512_state = 0xe6, tile_data = std::uint64_t{1} << 18U, tile_state = 0x600e6;

struct Feature {
  std::string_view name;
  unsigned leaf, subleaf;
  Register reg;
  unsigned bit;
  std::uint64_t state;
};

// Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E.
constexpr std::array<Feature, 36> features = {{
    {"sse3", 1, 0, ecx, 0, no_state},
    {"ssse3", 1, 0, ecx, 9, no_state},
    {"sse4.1", 1, 0, ecx, 19, no_state},
    {"sse4.2", 1, 0, ecx, 20, no_state},
    {"popcnt", 1, 0, ecx, 23, no_state},
    {"movbe", 1, 0, ecx, 22, no_state},
    {"avx", 1, 0, ecx, 28, avx_state},
    {"fma", 1, 0, ecx, 12, avx_state},
    {"f16c", 1, 0, ecx, 29, avx_state},
    {"lzcnt", 0x80000001, 0, ecx, 5, no_state},
    {"bmi", 7, 0, ebx, 3, no_state},
    {"bmi2", 7, 0, ebx, 8, no_state},
    {"avx2", 7, 0, ebx, 5, avx_state},
    {"avx512f", 7, 0, ebx, 16, avx512_state},
    {"avx512dq", 7, 0, ebx, 17, avx512_state},
    {"avx512ifma", 7, 0, ebx, 21, avx512_state},
    {"avx512cd", 7, 0, ebx, 28, avx512_state},
    {"avx512bw", 7, 0, ebx, 30, avx512_state},
    {"avx512vl", 7, 0, ebx, 31, avx512_state},
    {"avx512vbmi", 7, 0, ecx, 1, avx512_state},
    {"avx512vbmi2", 7, 0, ecx, 6, avx512_state},
    {"gfni", 7, 0, ecx, 8, no_state},
    {"vaes", 7, 0, ecx, 9, avx_state},
    {"vpclmulqdq", 7, 0, ecx, 10, avx_state},
    {"avx512vnni", 7, 0, ecx, 11, avx512_state},
    {"avx512bitalg", 7, 0, ecx, 12, avx512_state},
    {"avx512vpopcntdq", 7, 0, ecx, 14, avx512_state},
    {"avx512vp2intersect", 7, 0, edx, 8, avx512_state},
    {"amx-bf16", 7, 0, edx, 22, tile_state},
    {"avx512fp16", 7, 0, edx, 23, avx512_state},
    {"amx-tile", 7, 0, edx, 24, tile_state},
    {"avxvnni", 7, 1, eax, 4, avx_state},
    {"avx512bf16", 7, 1, eax, 5, avx512_state},
    {"avxifma", 7, 1, eax, 23, avx_state},
    {"avxvnniint8", 7, 1, edx, 4, avx_state},
    {"avxneconvert", 7, 1, edx, 5, avx_state},
}};

/// The registers that the operating system saves; 0 where it does not say.
std::uint64_t saved_state() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned osxsave = 1U << 27U;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & osxsave) == 0) return 0;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32U | low;
}

/// Which features the CPU has and the operating system saves the registers of. Asked once: it never changes, and of a virtual machine
/// each question takes microseconds.
std::array<bool, features.size()> asked_features() {
  std::array<bool, features.size()> has{};
  const std::uint64_t saved = saved_state();
  std::array<unsigned, 4> regs{};
  for (std::size_t n = 0; n < features.size(); ++n) {
    const Feature& feature = features[n];
    const bool is_asked = n > 0 && feature.leaf == features[n - 1].leaf && feature.subleaf == features[n - 1].subleaf;
    // A CPU without the leaf has none of it; one without the subleaf answers with zeros.
    if (!is_asked && __get_cpuid_count(feature.leaf, feature.subleaf, &regs[eax], &regs[ebx], &regs[ecx], &regs[edx]) == 0) regs = {};
    has[n] = (regs[feature.reg] >> feature.bit & 1U) != 0 && (saved & feature.state) == feature.state;
  }
  return has;
}

bool cpu_has(std::string_view name) {
  static const std::array<bool, features.size()> has = asked_features();
  const auto* const feature = std::ranges::find(features, name, &Feature::name);
  if (feature == features.end() || !has[static_cast<std::size_t>(feature - features.begin())]) return false;
  return (feature->state & tile_data) == 0 || is_given_tiles();
}

/// The names of vendors as kinds of CPUs have them, by what CPUID calls them (its leaf 0, in ebx, edx, ecx).
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> vendors = {{{"AuthenticAMD", "amd"}, {"GenuineIntel", "intel"}}};

std::string vendor_and_family() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return {};
  std::string id;
  for (const unsigned part : {b, d, c})
    for (unsigned shift = 0; shift < 32; shift += 8) id += static_cast<char>(part >> shift & 0xffU);
  const auto vendor = std::ranges::find(vendors, id, &std::pair<std::string_view, std::string_view>::first);
  if (vendor == vendors.end() || __get_cpuid(1, &a, &b, &c, &d) == 0) return {};
  constexpr unsigned extended = 0xf;  // the family is then a sum
  const unsigned base = a >> 8U & 0xfU, family = base == extended ? base + (a >> 20U & 0xffU) : base;
  return std::string(vendor->second) + "/" + std::to_string(family);
}

#elif defined(__aarch64__)

std::string vendor_and_family() { return {}; }

struct Feature {
  std::string_view name;
  unsigned long type;  // of the auxiliary vector
  unsigned bit;
};

// The kernel's Documentation/arch/arm64/elf_hwcaps.rst; names as -march takes them after a plus.
constexpr std::array<Feature, 9> features = {{
    {"fp", AT_HWCAP, 0},
    {"simd", AT_HWCAP, 1},
    {"lse", AT_HWCAP, 8},
    {"fp16", AT_HWCAP, 10},
    {"dotprod", AT_HWCAP, 20},
    {"sve", AT_HWCAP, 22},
    {"sve2", AT_HWCAP2, 1},
    {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},
}};

bool cpu_has(std::string_view name) {
  for (const Feature& feature : features)
    if (feature.name == name) return (getauxval(feature.type) >> feature.bit & 1U) != 0;
  return false;
}

#else
#error "kernels run on x86-64 and arm64"
#endif

class ThisMachine : public Capabilities {
 public:
  bool has_feature(std::string_view feature) const override { return cpu_has(feature); }
  bool is_cpu(std::string_view kind) const override {
    const std::string ours = kind_of_cpu();
    return !kind.empty() && (ours == kind || ours.substr(0, ours.find('/')) == kind);
  }
  std::string device_problem(attune_device device) const override { return driver_problem(device); }
};

class ThisMachineWithDevices final : public ThisMachine {
 public:
  std::string device_problem(attune_device device) const override {
    if (device == attune_cpu) return {};
    const Result<DriverDevice*> found = find_device(device);
    return found ? std::string() : found.error().message;
  }
};

}  // namespace

bool is_tuned_for(std::string_view cpus, const Capabilities& machine) {
  return std::ranges::any_of(blank_separated(cpus), [&](std::string_view kind) { return machine.is_cpu(kind); });
}

std::string kind_of_cpu() {
  static const std::string kind = vendor_and_family();
  return kind;
}

const Capabilities& this_machine() {
  static const ThisMachine machine;
  return machine;
}

const Capabilities& this_machine_with_devices() {
  static const ThisMachineWithDevices machine;
  return machine;
}

}  // namespace attune
