/// What is carried to a machine with a GPU, on PoCL and on the interpreter of PTX.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/skip.h"
#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

using Catch::Contains;

/// A folder with kernels of these names and what they are compared with.
class Packed {
 public:
  Packed(const std::string& target, const std::string& only) {
    const Ran ran = run_program({GPU_PACK, "pack", folder_ / "", "--target", target, "--only", only});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
  }
  Ran run(Words words, const std::vector<std::pair<std::string, std::string>>& environment = {}) const {
    words.insert(words.begin(), folder_ / "gpu_check");
    return run_program(words, environment);
  }
  nlohmann::json results() const { return nlohmann::json::parse(contents(folder_ / "results.json")); }
  std::filesystem::path operator/(const char* name) const { return folder_ / name; }

 private:
  Folder folder_;
};

/// Where the name is, or null.
nlohmann::json named(const nlohmann::json& list, const std::string& name) {
  for (const nlohmann::json& one : list)
    if (one["name"] == name) return one;
  return nullptr;
}

}  // namespace

TEST_CASE("what is packed for OpenCL is compared and measured beside the peaks", "[gpu check]") {
  if (const std::string problem = refusal_of_device("opencl"); !problem.empty()) return skip(problem);
  const Packed packed("opencl", "causal_f32_depth_64,merge_partials_f32");
  const Ran ran = packed.run({"--quick"});
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  const nlohmann::json results = packed.results();
  CHECK_THAT(results["device"], Contains("opencl:0 ("));
  CHECK(results["is_quick"] == true);
  CHECK(results["left_out"].empty());
  for (const char* name : {"fma", "scaled_dot_product_f32_depth_64", "causal_f32_depth_64", "merge_partials_f32"}) {
    INFO(name);
    CHECK(named(results["values"], name)["agrees"] == true);
  }
  const nlohmann::json fma = named(results["rows"], "fma"), dense = named(results["rows"], "scaled_dot_product_f32_depth_64"),
                       causal = named(results["rows"], "causal_f32_depth_64");
  // The elements of the quick shape, 2^27 / 64 / 64, and 96 FMAs of each.
  CHECK(fma["gflops"].get<double>() == Approx(32768 * 192 / fma["milliseconds"].get<double>() * 1e-6));
  CHECK(dense["gflops"].get<double>() == Approx(4.0 * 64 * 64 * 64 / dense["milliseconds"].get<double>() * 1e-6));
  CHECK(causal["gflops"].get<double>() == Approx(4.0 * 64 * 65 / 2 * 64 / causal["milliseconds"].get<double>() * 1e-6));
  CHECK(dense["reached"].get<double>() == Approx(dense["gflops"].get<double>() / fma["gflops"].get<double>()));
  CHECK(causal["reached"].get<double>() == Approx(dense["milliseconds"].get<double>() / causal["milliseconds"].get<double>()));
  CHECK(causal["is_met"] == (causal["reached"] >= causal["least"]));
  CHECK(named(results["rows"], "merge_partials_f32").is_null());

  // What follows changes the folder, which takes long to make: the list of checks goes last.
  {
    INFO("a wrong value is found");
    const std::filesystem::path file = packed / "merge_partials_f32_0_out_expected.npy";
    NpyArray array = read_npy(file).value();
    std::vector<double> values(array.values<double>()->begin(), array.values<double>()->end());
    values[5] += 0.001;
    write_npy(file, NpyArray::of<double>(array.shape, values)).value();
    const Ran wrong = packed.run({"--only", "merge_partials_f32"});
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.out, Contains("merge_partials_f32: out: 1 of ") && Contains("elements differ; worst at [0, 0, 0, 5]: got "));
    CHECK(named(packed.results()["values"], "merge_partials_f32")["agrees"] == false);
  }
  {
    INFO("a kernel that cannot be opened is a failure");
    std::filesystem::resize_file(packed / "merge_partials_f32.so", 1000);
    const Ran wrong = packed.run({"--only", "merge_partials_f32"});
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.out, Contains("merge_partials_f32: ") && Contains("merge_partials_f32.so'"));
  }
  {
    INFO("without torch nothing stands beside it, and that is said");
    const Folder python;
    python.write("torch.py", "raise ImportError('there is none')\n");
    const Ran peers = run_program({ATTUNE_SOURCE "/scripts/gpu-check", "peers", packed / ""}, {{"PYTHONPATH", python / ""}});
    CHECK(peers.status == 0);
    CHECK(peers.out == "gpu_peers: torch cannot be imported: there is none; nothing stands beside the results\n");
  }
  {
    INFO("what there is not is refused");
    const auto refusal = [&](const Words& words) {
      const Ran refused = packed.run(words);
      CHECK(refused.status == 2);
      return refused.err;
    };
    CHECK_THAT(refusal({"--device", "opencl:9"}), Contains("gpu_check: ") && Contains("opencl:0 ("));
    CHECK(refusal({"--device", "cuda:0"}) ==
          "gpu_check: --device 'cuda:0': the folder holds kernels for opencl; expected opencl, or as opencl:0\n");
    CHECK(refusal({"--only", "causal"}) ==
          "gpu_check: --only 'causal': there is no such kernel; there are fma, scaled_dot_product_f32_depth_64, causal_f32_depth_64, "
          "merge_partials_f32\n");
    CHECK(refusal({"--slow"}) == "gpu_check: '--slow': is no option; there are --device NAME, --only NAME and --quick\n");
    CHECK(refusal({"--only"}) == "gpu_check: --only: needs a name behind it\n");
    std::ofstream(packed / "checks.json") << "{}";
    CHECK_THAT(refusal({}), Contains("checks.json': is no list of checks: ") && Contains("scripts/gpu-check pack writes one"));
    std::filesystem::remove(packed / "checks.json");
    CHECK_THAT(refusal({}), Contains("checks.json': cannot be read; scripts/gpu-check pack makes a folder with it"));
  }
}

TEST_CASE("what is packed for CUDA runs in a stream of the driver", "[gpu check]") {
  if (is_sanitized) return skip("the driver of CUDA that interprets PTX is made for programs without sanitizers");
  const Packed packed("cuda", "fma,product_bf16,grouped_query_f32_depth_128");
  const Ran ran = packed.run({"--quick", "--device", "cuda:1"}, {{"LD_LIBRARY_PATH", PTX_FOLDER}, {"PTX_DEVICES", "2"}});
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  const nlohmann::json results = packed.results();
  CHECK_THAT(results["device"], Contains("cuda:1 (interpreter B of PTX)"));
  const nlohmann::json product = named(results["rows"], "product_bf16"), decode = named(results["rows"], "grouped_query_f32_depth_128");
  CHECK(product["gflops"].get<double>() == Approx(2.0 * 64 * 64 * 64 / product["milliseconds"].get<double>() * 1e-6));
  // keys and values of the quick shape: [1 x 1 x 128 x 128] each
  CHECK(decode["gbytes"].get<double>() == Approx(2 * 4 * 128 * 128 / decode["milliseconds"].get<double>() * 1e-6));
  CHECK(decode["of"] == "copy");
  // The chain is not folded: its PTX has the FMAs that are counted, of eight elements a thread, in blocks inside and in those at an end.
  const std::string code = contents(packed / "fma.so"), instruction = "fma.rn.f32";
  int links = 0;
  for (std::size_t at = code.find(instruction); at != std::string::npos; at = code.find(instruction, at + 1)) ++links;
  CHECK(links == 2 * 8 * 96);
}

TEST_CASE("what is packed for Vulkan, whose calls copy, is compared alone", "[gpu check]") {
  if (const std::string problem = refusal_of_device("vulkan"); !problem.empty()) return skip(problem);
  const Packed packed("vulkan", "padded_f32,grouped_query_bf16");
  const Ran ran = packed.run({});
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  const nlohmann::json results = packed.results();
  for (const char* name : {"padded_f32", "grouped_query_bf16"}) CHECK(named(results["values"], name)["agrees"] == true);
  CHECK(results["rows"].empty());

  const std::filesystem::path file = packed / "padded_f32_0_out_expected.npy";
  NpyArray array = read_npy(file).value();
  std::vector<double> values(array.values<double>()->begin(), array.values<double>()->end());
  values[5] += 0.001;
  write_npy(file, NpyArray::of<double>(array.shape, values)).value();
  CHECK(packed.run({"--only", "padded_f32"}).status == 1);
}

TEST_CASE("what is packed is for devices, and of the list", "[gpu check]") {
  const Folder folder;
  const Ran cpu = run_program({GPU_PACK, "pack", folder / "", "--target", "x86-64"});
  CHECK(cpu.status == 2);
  CHECK(cpu.err == "attune: --target 'x86-64': kernels are packed for cuda, opencl or vulkan\n");
  const Ran unknown = run_program({GPU_PACK, "pack", folder / "", "--only", "causal"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("attune: --only 'causal': there is no such kernel; there are fma, copy, "));
  CHECK(folder.size() == 0);
}

TEST_CASE("the program that is carried needs neither LLVM, MLIR nor Halide", "[gpu check]") {
  if (is_sanitized) return skip("with a sanitizer it needs the sanitizer's libraries, too");
  if (find_program("ldd").empty()) return skip("there is no ldd");
  const Ran ran = run_program({"ldd", GPU_CHECK});
  REQUIRE(ran.status == 0);
  CHECK_THAT(ran.out, Contains("libc.so"));
  for (const char* library : {"LLVM", "MLIR", "Halide", "fmt", "stdc++"}) CHECK_THAT(ran.out, !Contains(library));
}

}  // namespace attune
