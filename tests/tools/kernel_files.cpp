/// Kernel files where they are used: on CPUs that this machine is not, and without anything beside them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/hostile/small_graph.h"
#include "tests/skip.h"
#include "tests/tools/infinite_literals.h"
#include "tests/tools/program.h"
#include "tests/variant_graph.h"
#include "tools/measure/allowance.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

/// A kernel file with code of both x86-64 levels, in the folder. Which code a CPU takes depends on no graph.
std::string two_targets(const Folder& folder) {
  attune_says({"compile", folder.write("twice.mlir", twice), "--shared", "--target", "x86-64-v3,x86-64-v4", "-o", folder / "."});
  return folder / "twice.so";
}

void write_floats(const std::string& path, const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(floats.data()), static_cast<std::streamsize>(floats.size() * sizeof(float)));
}

std::vector<double> read_floats(const std::string& path) {
  const std::string bytes = contents(path);
  std::vector<float> floats(bytes.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return {floats.begin(), floats.end()};
}

/// The C program of the test, linked with causal.o of the folder and with a runtime; where it is.
std::string link_caller(const Folder& folder, const std::string& architecture, const std::string& runtime) {
  const std::string program = folder / "call_causal", object = folder / "call.o", include = "-I" + (folder / ".").string();
  const Ran compiled = run_program({architecture + "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", include, "-I" ATTUNE_SOURCE, "-c", ATTUNE_SOURCE "/tests/tools/call_causal.c", "-o", object});
  REQUIRE(compiled.err.empty());
  // the runtime is C++
  const Ran linked = run_program({architecture + "g++", object, folder / "causal.o", runtime, "-ldl", "-lpthread", "-o", program});
  INFO(linked.err);
  REQUIRE(linked.status == 0);
  return program;
}

/// Calls the program, behind an emulator, with random inputs of odd extents; the interpreter says what must come out.
void check_calls(const Folder& folder, const Words& emulator, const std::string& program, const Graph& graph = variant_graph("causal")) {
  for (const auto& [queries, keys, depth] : std::vector<std::array<int, 3>>{{1, 1, 1}, {5, 37, 7}, {37, 5, 64}, {67, 131, 33}, {0, 3, 5}, {3, 0, 5}}) {
    const Shape extents = fill_shape(graph, {{"batch", 1}, {"heads", 3}, {"queries", queries}, {"keys", keys}, {"depth", depth}}).extents;
    Arrays inputs = random_inputs(graph, extents, 7);
    Words words = emulator;
    words.push_back(program);
    for (const int extent : {1, 3, queries, keys, depth}) words.push_back(std::to_string(extent));
    for (auto& [name, array] : inputs) {
      for (double& x : array.data) x = static_cast<double>(static_cast<float>(x));
      write_floats(folder / name.c_str(), array.data);
    }
    for (const char* name : {"q", "k", "v", "out"}) words.push_back(folder / name);
    const Ran ran = run_program(words);
    INFO(queries << " x " << keys << " x " << depth << ": " << ran.err);
    REQUIRE(ran.status == 0);
    const Judge right = judge(graph, inputs, {});
    REQUIRE(right.problem == "");
    const Difference difference = compare(read_floats(folder / "out"), right.outputs.at("out"), right.allowed.at("out"));
    INFO(describe(difference));
    CHECK(difference.elements == 3 * queries * depth);
    CHECK(difference.differing == 0);
  }
}

}  // namespace

TEST_CASE("a file of two targets takes the better one that the CPU has", "[kernel files]") {
#if !defined(__x86_64__)
  return skip("these targets are of x86-64");
#else
  const std::string emulator = find_program("qemu-x86_64");
  if (emulator.empty()) return skip("there is no qemu-x86_64");
  if (is_sanitized) return skip("qemu-x86_64 cannot run programs with sanitizers");
  const Folder folder;
  const std::string file = two_targets(folder);
  CHECK(run_program({emulator, "-cpu", "Haswell", PRINT_TARGET, file, "twice"}).out == "x86-64-v3\n");
  const Ran old = run_program({emulator, "-cpu", "Nehalem", PRINT_TARGET, file, "twice"});
  CHECK(old.status == 1);
  CHECK_THAT(old.err, Catch::Contains("x86-64-v3") && Catch::Contains("avx2"));
  CHECK(std::count(old.err.begin(), old.err.end(), '\n') == 1);
#endif
}

TEST_CASE("a file of two targets takes AVX-512 where the CPU has it", "[kernel files]") {
#if !defined(__x86_64__)
  return skip("these targets are of x86-64");
#else
  // QEMU 7.2 emulates no AVX-512, so that only such a machine itself can show it
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) return skip("this CPU has no AVX-512");
  const Folder folder;
  CHECK(run_program({PRINT_TARGET, two_targets(folder), "twice"}).out == "x86-64-v4\n");
#endif
}

TEST_CASE("code for AVX2 gives the interpreter's numbers on a CPU without AVX-512", "[kernel files]") {
#if !defined(__x86_64__)
  return skip("these targets are of x86-64");
#else
  const std::string emulator = find_program("qemu-x86_64");
  if (emulator.empty()) return skip("there is no qemu-x86_64");
  if (is_sanitized) return skip("qemu-x86_64 cannot run programs with sanitizers");
  const Folder folder;
  attune_says({"compile", "causal", "--target", "x86-64-v3", "-o", folder / "."});
  check_calls(folder, {emulator, "-cpu", "Haswell"}, link_caller(folder, "", ATTUNE_RUNTIME));
#endif
}

TEST_CASE("a file for CPUs and devices opens whatever their order, and the CPU's code comes first", "[kernel files]") {
#if !defined(__x86_64__)
  return skip("these targets are of x86-64");
#else
  if (!__builtin_cpu_supports("avx2")) return skip("this CPU has no AVX2");
  const Folder folder;
  const std::string graph = folder.write("twice.mlir", twice);
  for (const char* targets : {"opencl,x86-64-v3", "cuda,opencl,x86-64-v3", "x86-64-v3,cuda"}) {
    INFO(targets);
    attune_says({"compile", graph, "--shared", "--target", targets, "-o", folder / "."});
    CHECK(run_program({PRINT_TARGET, folder / "twice.so", "twice"}).out == "x86-64-v3\n");
    CHECK(run_program({PRINT_TARGET, folder / "twice.so", "twice", "cpu"}).out == "x86-64-v3\n");
    const Ran missing = run_program({PRINT_TARGET, folder / "twice.so", "twice", "arm64"});
    CHECK(missing.status == 1);
    CHECK_THAT(missing.err, Catch::StartsWith("kernel 'twice': holds no code for 'arm64'; it holds x86-64-v3 (cpu), "));
  }
#endif
}

TEST_CASE("a command runs the code of the device that it is told", "[kernel files]") {
#if !defined(__x86_64__)
  return skip("these targets are of x86-64");
#else
  if (!__builtin_cpu_supports("avx2")) return skip("this CPU has no AVX2");
  const Folder folder;
  const std::string graph = folder.write("twice.mlir", twice);
  const Words words{"check", graph, "--target", "x86-64-v3,opencl"};
  const auto on = [&](const std::string& device) {
    Words more = words;
    more.insert(more.end(), {"--device", device});
    return run_attune(more);
  };
  CHECK_THAT(attune_says(words), Catch::Contains("target 'x86-64-v3'"));
  CHECK_THAT(on("cpu").out, Catch::Contains("target 'x86-64-v3'"));
  const Ran missing = on("cuda");
  CHECK(missing.status == 2);
  CHECK(missing.err == "attune: kernel 'twice': holds no code for 'cuda'; it holds x86-64-v3 (cpu), opencl\n");
  attune_says({"compile", graph, "--target", "x86-64-v3,opencl", "--shared", "-o", folder / "."});
  const Ran file = run_attune({"run", folder / "twice.so", "--device", "arm64"});
  CHECK(file.status == 2);
  CHECK(file.err == "attune: kernel 'twice': holds no code for 'arm64'; it holds x86-64-v3 (cpu), opencl\n");
  CHECK(run_attune({"run", "causal", "--interpret", "--device", "cpu"}).err == "attune: --device: is for kernels; --interpret runs none\n");
  const Ran device = on("opencl");
  if (device.status == 2 && (device.err.find("libOpenCL") != std::string::npos || device.err.find("clGetPlatformIDs") != std::string::npos)) return skip(device.err);
  CHECK(device.status == 0);
  CHECK_THAT(device.out, Catch::Contains("target 'opencl'"));
#endif
}

TEST_CASE("a shared kernel file needs nothing but the C library", "[kernel files]") {
  if (find_program("ldd").empty()) return skip("there is no ldd");
  const Folder folder;
  for (const Words& variant : {Words{"causal", "--size", "few"}, Words{"multi_head", "--param", "dropout=0.1", "--size", "small"},
                               Words{"causal", "--size", "few", "--target", "cuda"},
                               Words{"causal", "--size", "few", "--target", "cuda,x86-64-v3,opencl"}}) {
    Words words{"compile", "--shared", "--name", "mine", "-o", folder / "."};
    words.insert(words.begin() + 1, variant.begin(), variant.end());
    attune_says(words);
    const Ran ran = run_program({"ldd", folder / "mine.so"});
    REQUIRE(ran.status == 0);
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      const bool is_system = line.find("linux-vdso.so") != std::string::npos || line.find("ld-linux") != std::string::npos;
      const bool is_libc = line.find("libc.so") != std::string::npos || line.find("libm.so") != std::string::npos;
      CHECK((is_system || is_libc));
    }
  }
}

TEST_CASE("a shared kernel file is written to a folder of any name", "[kernel files]") {
  const Folder folder;
  const std::string graph = folder.write("twice.mlir", twice);
  for (const char* name : {"with blanks", "a,b", "-a=b;c", "$(d) 'e' \"f\""}) {
    INFO(name);
    const std::string inside = folder / name;
    attune_says({"compile", graph, "--shared", "-o", inside});
    const Ran ran = run_program({PRINT_TARGET, inside + "/twice.so", "twice"});
    INFO(ran.err);
    CHECK(ran.status == 0);
  }
}

TEST_CASE("kernels for arm64 give the interpreter's numbers, infinities and NaN", "[kernel files]") {
  const std::string emulator = find_program("qemu-aarch64");
  if (emulator.empty() || find_program("aarch64-linux-gnu-gcc").empty() || find_program("aarch64-linux-gnu-g++").empty())
    return skip("it needs aarch64-linux-gnu-g++ and qemu-aarch64");
  const Folder folder;
  const Words words{emulator, "-L", "/usr/aarch64-linux-gnu"};
  attune_says({"compile", "causal", "--target", "arm64", "-o", folder / "."});
  check_calls(folder, words, link_caller(folder, "aarch64-linux-gnu-", ARM64_RUNTIME));
  // under the same name, for the same C program
  attune_says({"compile", ATTUNE_SOURCE "/tests/tools/infinite_literals.h", "--struct", "InfiniteLiterals", "--name", "causal", "--target", "arm64", "-o", folder / "."});
  check_calls(folder, words, link_caller(folder, "aarch64-linux-gnu-", ARM64_RUNTIME), attune::build(InfiniteLiterals{}));
}

}  // namespace attune
