/// Which code object runs: by features, by device, by extents.
#include "runtime/codes.h"

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

/// A machine with the given features and no driver but that of the CPU.
class Pretended : public Capabilities {
 public:
  explicit Pretended(std::set<std::string_view> features, std::string_view cpu = "") : features_(std::move(features)), cpu_(cpu) {}
  bool is_cpu(std::string_view kind) const override { return kind == cpu_; }
  bool has_feature(std::string_view feature) const override { return features_.contains(feature); }
  std::string device_problem(attune_device device) const override { return device == attune_cpu ? "" : "there is none"; }

 private:
  std::set<std::string_view> features_;
  std::string_view cpu_;
};

int run_never(void**) { return -1; }

/// A kernel for three targets, best first.
struct ThreeTargets {
  std::array<attune_code_v3, 3> codes = {{{"cuda", "s", attune_cuda, 0, nullptr, "", "", run_never, nullptr},
                                          {"x86-64-v4", "s", attune_cpu, 0, nullptr, "avx2 fma avx512f", "", run_never, nullptr},
                                          {"x86-64-v3", "s", attune_cpu, 0, nullptr, "avx2 fma", "", run_never, nullptr}}};
  attune_step_v1 step = attune_kernel_v5_add.steps[0];
  attune_kernel_v5 kernel = attune_kernel_v5_add;
  ThreeTargets() {
    step.codes = codes.data();
    step.code_count = 3;
    kernel.steps = &step;
  }
  ThreeTargets(const ThreeTargets&) = delete;
  std::vector<std::string> usable(const Pretended& machine) const {
    std::vector<std::string> names;
    for (const UsableTarget& target : usable_targets(kernel, machine)) names.emplace_back(target.name);
    return names;
  }
};

/// What /proc/cpuinfo says of the first CPU; empty where it says nothing of the name.
std::string linux_field(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name + "\t", 0) == 0) return line.substr(line.find(": ") + 2);
  return {};
}

/// Features in GCC's spelling, and Linux's names of them.
const std::vector<std::pair<std::string, std::string>> linux_names = {
#if defined(__x86_64__)
    {"avx", "avx"}, {"avx2", "avx2"}, {"fma", "fma"}, {"f16c", "f16c"}, {"bmi", "bmi1"}, {"bmi2", "bmi2"},
    {"lzcnt", "abm"}, {"popcnt", "popcnt"}, {"movbe", "movbe"}, {"sse3", "pni"}, {"ssse3", "ssse3"},
    {"sse4.1", "sse4_1"}, {"sse4.2", "sse4_2"}, {"avx512f", "avx512f"}, {"avx512bw", "avx512bw"},
    {"avx512cd", "avx512cd"}, {"avx512dq", "avx512dq"}, {"avx512vl", "avx512vl"}, {"gfni", "gfni"}, {"vaes", "vaes"},
    {"avx512ifma", "avx512ifma"}, {"avx512vbmi", "avx512vbmi"}, {"avx512vbmi2", "avx512_vbmi2"},
    {"avx512vnni", "avx512_vnni"}, {"avx512bf16", "avx512_bf16"}, {"avx512fp16", "avx512_fp16"},
    {"amx-tile", "amx_tile"}, {"amx-bf16", "amx_bf16"},
    {"avx512bitalg", "avx512_bitalg"}, {"avxvnni", "avx_vnni"}, {"vpclmulqdq", "vpclmulqdq"},
    {"avx512vpopcntdq", "avx512_vpopcntdq"}, {"avx512vp2intersect", "avx512_vp2intersect"}};
#else
    {"fp", "fp"}, {"simd", "asimd"}, {"lse", "atomics"}, {"fp16", "asimdhp"}, {"dotprod", "asimddp"}, {"sve", "sve"},
    {"sve2", "sve2"}, {"i8mm", "i8mm"}, {"bf16", "bf16"}};
#endif

/// The lines of /proc/cpuinfo that name features; Linux and not we read CPUID there.
std::set<std::string> linux_flags() {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) flags.insert(word);
    break;
  }
  return flags;
}

}  // namespace

TEST_CASE("code objects are chosen by what the machine has", "[codes]") {
  const ThreeTargets three;
  CHECK(three.usable(Pretended({"avx2", "fma", "avx512f"})) == std::vector<std::string>{"x86-64-v4", "x86-64-v3"});
  CHECK(three.usable(Pretended({"avx2", "fma"})) == std::vector<std::string>{"x86-64-v3"});
  CHECK(three.usable(Pretended({"fma"})).empty());
  CHECK(no_usable_target(three.kernel, Pretended({"fma"})) ==
        "kernel 'add': this machine can run none of its targets: cuda (lacking here: cuda: there is none), x86-64-v4 (lacking here: avx2 "
        "avx512f), "
        "x86-64-v3 (lacking here: avx2); compile it for a target of this machine");
}

TEST_CASE("code that was tuned for the machine's CPU comes before what other CPUs have, too", "[codes]") {
  ThreeTargets three;
  const std::set<std::string_view> all = {"avx2", "fma", "avx512f"};
  three.codes[1].cpus = "amd/25 amd/26";
  three.codes[2].cpus = "intel";
  CHECK(three.usable(Pretended(all, "intel")) == std::vector<std::string>{"x86-64-v3", "x86-64-v4"});
  CHECK(three.usable(Pretended(all, "amd/26")) == std::vector<std::string>{"x86-64-v4", "x86-64-v3"});
  CHECK(three.usable(Pretended(all, "amd/2")) == std::vector<std::string>{"x86-64-v4", "x86-64-v3"});  // none's: as the manifest has them
  CHECK(three.usable(Pretended({"avx2", "fma"}, "amd/26")) == std::vector<std::string>{"x86-64-v3"});
}

TEST_CASE("the kind of this CPU is the vendor and the family that Linux shows", "[codes]") {
  const std::string vendor = linux_field("vendor_id"), family = linux_field("cpu family");
  const std::string kind = vendor == "AuthenticAMD" ? "amd/" + family : vendor == "GenuineIntel" ? "intel/" + family : "";
  CHECK(kind_of_cpu() == kind);
  CHECK(!this_machine().is_cpu(""));
  if (kind.empty()) return;
  CHECK(this_machine().is_cpu(kind));
  CHECK(this_machine().is_cpu(kind.substr(0, kind.find('/'))));
  CHECK(!this_machine().is_cpu(kind + "1"));
  CHECK(!this_machine().is_cpu(kind.substr(0, 2)));
}

TEST_CASE("a device whose blocks share less memory than a code needs, or whose kernels take fewer tensors, is refused in words", "[codes]") {
  struct Small final : DriverDevice {
    Small() : DriverDevice(attune_cuda, 1, "small", 100) {}
    int most_tensors() const override { return 3; }
    Result<DeviceQueue> own_queue() override { return Error{""}; }
    Result<DeviceQueue> queue_of(void*) override { return Error{""}; }
    bool is_in_use() override { return false; }
    Result<void> wait_for_all() override { return {}; }
    Result<void> wait(const DeviceQueue&) override { return {}; }
    Result<void> submit(const DeviceQueue&) override { return {}; }
    std::string memory_problem(void*, std::int64_t, std::int64_t, const DeviceQueue&) override { return {}; }
    Result<void*> allocate(std::size_t) override { return Error{""}; }
    void release(void*) override {}
    Result<void> write(void*, const void*, std::size_t, const DeviceQueue&) override { return {}; }
    Result<void> read(const void*, void*, std::size_t, const DeviceQueue&) override { return {}; }
  } const device;
  ThreeTargets three;
  three.codes[0].shared_bytes = [] { return 100; };
  three.codes[1].shared_bytes = [] { return 1000; };  // for the CPU, which shares nothing
  std::array<UsableTarget, 2> targets{UsableTarget{"cuda", attune_cuda, {{&three.codes[0], 1}}},
                                      UsableTarget{"x86-64-v4", attune_cpu, {{&three.codes[1], 1}}}};
  CHECK(check_limits(three.kernel, targets, device).has_value());
  three.codes[0].shared_bytes = [] { return 101; };
  CHECK(check_limits(three.kernel, targets, device).error().message ==
        "kernel 'add': stage 1 (" + std::string(three.step.stage) + ") for cuda needs 101 bytes of memory that a block of threads shares; cuda:1 (small) has 100; compile the kernel "
        "with smaller blocks (--schedule)");
  three.step.input_count = 4 - three.step.output_count;
  CHECK(check_limits(three.kernel, targets, device).error().message ==
        "kernel 'add': stage 1 (" + std::string(three.step.stage) + ") for cuda reads and writes 4 tensors; kernels on cuda:1 (small) take 3; compile the graph in parts, or for "
        "another device");
}

TEST_CASE("a kernel lists its targets, and says why one cannot run", "[codes]") {
  const ThreeTargets three;
  const Pretended machine({"avx2", "fma"});
  const std::vector<KernelTarget> targets = targets_of(three.kernel, machine);
  REQUIRE(targets.size() == 3);
  CHECK((targets[0].name == "cuda" && targets[0].device == attune_cuda && targets[0].problem == "cuda: there is none"));
  CHECK((targets[1].name == "x86-64-v4" && targets[1].device == attune_cpu && targets[1].problem == "avx512f"));
  CHECK((targets[2].name == "x86-64-v3" && targets[2].device == attune_cpu && targets[2].problem.empty()));
  CHECK(no_code_for(three.kernel, "opencl", machine) == "kernel 'add': holds no code for 'opencl'; it holds cuda, x86-64-v4 (cpu), x86-64-v3 (cpu)");
  CHECK(no_code_for(three.kernel, "cuda", machine) ==
        "kernel 'add': this machine cannot run its code for 'cuda': cuda (lacking here: cuda: there is none); of what it holds it runs x86-64-v3 (cpu)");
  CHECK(no_code_for(three.kernel, "cpu", Pretended({"fma"})) ==
        "kernel 'add': this machine cannot run its code for 'cpu': x86-64-v4 (lacking here: avx2 avx512f), x86-64-v3 (lacking here: avx2); of "
        "what it holds it runs nothing");
}

TEST_CASE("a caller names the device or the target whose code runs", "[codes]") {
  const Kernel choice = Kernel::from(attune_kernel_v5_choice).value();
  CHECK(choice.on("cpu").value().usable_targets().size() == 2);
  const Kernel large = choice.on("large").value();
  CHECK(choice.usable_targets().size() == 2);  // which stays as it was
  std::array<float, 32> x{};
  std::int32_t chosen = 0;
  large(Tensor(x, {9}), Tensor(&chosen, {})).value();
  CHECK(chosen == 3);
  CHECK(large(Tensor(x, {8}), Tensor(&chosen, {})).error().message ==
        "kernel 'choice': none of its codes is for these extents: large takes rows from 9 to 16, got 8");
  CHECK(choice.on("opencl").error().message == "kernel 'choice': holds no code for 'opencl'; it holds warp (cpu), small (cpu), large (cpu)");
  CHECK(choice.on("").error().message == "kernel 'choice': holds no code for ''; it holds warp (cpu), small (cpu), large (cpu)");
  CHECK(choice.on("warp").error().message ==
        "kernel 'choice': this machine cannot run its code for 'warp': warp (lacking here: warp_drive); of what it holds it runs small (cpu), large "
        "(cpu)");
  large.on("small").value()(Tensor(x, {8}), Tensor(&chosen, {})).value();
  CHECK(chosen == 2);
}

TEST_CASE("a kernel for other CPUs is refused when it is asked for", "[codes]") {
  const Result<Kernel> kernel = Kernel::from(attune_kernel_v5_elsewhere);
  REQUIRE(!kernel);
  CHECK(kernel.error().message ==
        "kernel 'elsewhere': this machine can run none of its targets: warp (lacking here: warp_drive); compile it for a target of this "
        "machine");
}

TEST_CASE("a code object runs where its conditions hold", "[codes]") {
  const Kernel choice = Kernel::from(attune_kernel_v5_choice).value();
  CHECK(choice.usable_targets().size() == 2);
  std::array<float, 32> x{};
  std::int32_t chosen = 0;
  const auto call = [&](std::int64_t rows) { return choice(Tensor(x, {rows}), Tensor(&chosen, {})); };
  call(0).value();
  CHECK(chosen == 2);
  call(8).value();
  CHECK(chosen == 2);
  call(9).value();
  CHECK(chosen == 3);
  call(16).value();
  CHECK(chosen == 3);
  const Result<void> result = call(17);
  REQUIRE(!result);
  CHECK(result.error().message ==
        "kernel 'choice': none of its codes is for these extents: small takes rows from 0 to 8, got 17, large takes rows from 9 to 16, got "
        "17");
}

TEST_CASE("features of this CPU are those that Linux shows", "[codes]") {
  const std::set<std::string> flags = linux_flags();
  REQUIRE(!flags.empty());
  for (const auto& [ours, of_linux] : linux_names) {
    INFO(ours);
    CHECK(this_machine().has_feature(ours) == flags.contains(of_linux));
  }
  CHECK(!this_machine().has_feature("warp_drive"));
  CHECK(!this_machine().has_feature(""));
}

TEST_CASE("a kernel describes itself", "[codes]") {
  CHECK(Kernel::from(attune_kernel_v5_choice).value().describe() ==
        "kernel 'choice': choice\n"
        "  input  x: f32 [rows]\n"
        "  output out: i32 []\n"
        "  code warp: never\n"
        "  code small where rows <= 8: few rows\n"
        "  code large where 9 <= rows <= 16: more rows\n");
  const Kernel formulas = Kernel::from(attune_kernel_v5_formulas).value();
  CHECK(formulas.describe().find("  input  y: i32 [keys x 4]\n") != std::string::npos);
  CHECK(formulas.describe().find("  model = 2 * heads * depth\n") != std::string::npos);
  CHECK(formulas.inputs().size() == 2);
  CHECK(formulas.outputs().size() == 4);
  CHECK(formulas.dims().size() == 8);
  CHECK(formulas.name() == "formulas");
}

TEST_CASE("each storage reaches a kernel as the Halide type it expects", "[codes]") {
  const Kernel storages = Kernel::from(attune_kernel_v5_storages).value();
  std::array<double, 9> memory{};
  std::array<std::int32_t, 9> codes{};
  std::vector<Tensor> tensors;
  for (int s = 0; s < storage_count; ++s)
    tensors.emplace_back(static_cast<const void*>(&memory[static_cast<std::size_t>(s)]), static_cast<attune_storage>(s), Sizes({}));
  tensors.emplace_back(codes, Sizes({9}));
  storages.call(tensors).value();
  constexpr int integer = 0, natural = 256, real = 512;
  CHECK(codes == std::array<std::int32_t, 9>{real + 32, natural + 16, real + 16, real + 64, integer + 8, natural + 8, integer + 32,
                                             integer + 64, natural + 8});
}

}  // namespace attune
