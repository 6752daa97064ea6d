#include <algorithm>
#include <utility>
#include <vector>

#include "tests/samples/program.h"
#include "tests/skip.h"

using attune::contents;
using attune::Run;
using attune::run;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

const std::string programs = "'" SAMPLES_PROGRAMS "'/", kernel_file = "'" SAMPLES_KERNEL_FILE "'";

/// What the program prints, which must end well.
std::string output(const Run& result) {
  CHECK(result.err.empty());
  CHECK(result.status == 0);
  return result.out;
}

}  // namespace

TEST_CASE("sample 01 prints weights that double from key to key", "[samples]") {
  CHECK_THAT(output(run(programs + "01_first_variant")), EndsWith("\n"
                                                                  " 1.000 0.000 0.000 0.000\n"
                                                                  " 0.333 0.667 0.000 0.000\n"
                                                                  " 0.143 0.286 0.571 0.000\n"
                                                                  " 0.067 0.133 0.267 0.533\n"));
}

TEST_CASE("sample 03 opens a kernel file and calls it with strides", "[samples]") {
  const std::string out = output(run(programs + "03_load_at_run_time", kernel_file));
  CHECK_THAT(out, Contains("input  q: f32 [batch x heads x queries x depth]"));
  CHECK_THAT(out, EndsWith("\nhead 0: the mean of 0 ... i is 0.0 0.5 1.0 1.5 2.0 2.5\n"
                           "head 1: the mean of 0 ... i is 0.0 0.5 1.0 1.5 2.0 2.5\n"));
}

TEST_CASE("sample 04 calls a kernel file from C", "[samples]") {
  CHECK(output(run(programs + "04_from_c", kernel_file)) == "the mean of 0 ... i is 0.0 0.5 1.0 1.5 2.0 2.5\n");
}

TEST_CASE("samples 03 to 05 run on the device that they are told", "[samples]") {
  std::vector<std::pair<std::string, std::string>> ends = {{programs + "03_load_at_run_time", "head 1: the mean of 0 ... i is 0.0 0.5 1.0 1.5 2.0 2.5\n"},
                                                           {programs + "04_from_c", "the mean of 0 ... i is 0.0 0.5 1.0 1.5 2.0 2.5\n"}};
  if (!attune::is_sanitized) ends.emplace_back(SAMPLES_FROM_PYTHON, "");
  std::string problem;
  for (const auto& [program, end] : ends) {
    CAPTURE(program);
    CHECK_THAT(output(run(program, kernel_file + " cpu")), EndsWith(end));
    const Run other = run(program, kernel_file + " vulkan");
    CHECK(other.status == 1);
    CHECK_THAT(other.err, Contains("kernel 'causal': holds no code for 'vulkan'; it holds x86-64-v4 (cpu), x86-64-v3 (cpu), opencl"));
    const Run device = run(program, kernel_file + " opencl");
    problem = device.err;
    if (problem.find("libOpenCL") != std::string::npos || problem.find("clGet") != std::string::npos) continue;
    CHECK_THAT(output(device), EndsWith(end));
  }
  if (!problem.empty()) attune::skip(problem);
}

TEST_CASE("samples 03 to 05 refuse what is no kernel file", "[samples]") {
  const attune::Folder folder;
  const std::string file = "'" + folder.write("x.so", "no kernel").string() + "'";
  std::vector<std::string> openers = {programs + "03_load_at_run_time", programs + "04_from_c"};
  if (!attune::is_sanitized) openers.emplace_back(SAMPLES_FROM_PYTHON);
  for (const std::string& program : openers) {
    CAPTURE(program);
    const Run result = run(program, file);
    CHECK(result.status == 1);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains("x.so"));
  }
}

TEST_CASE("sample 05 agrees with numpy", "[samples]") {
  if (attune::is_sanitized) return attune::skip("Python cannot load a library with sanitizers");
  CHECK_THAT(output(run(SAMPLES_FROM_PYTHON, kernel_file)), Contains("causal [2, 3, 37, 64]: the largest difference from numpy is"));
}

TEST_CASE("sample 06 prints a row per word and draws the weights", "[samples]") {
  const attune::Folder folder;
  const Run result =
      run(programs + "06_attention_weights", "'The cat sat on the mat because it was tired' 5 11 '" + (folder / "cat.png").string() + "'");
  const std::string out = output(result);
  CHECK(std::count(out.begin(), out.end(), '\n') == 11);
  CHECK_THAT(out, Contains("\n          it  looks at  cat 0.683  mat 0.110  sat 0.026\n"));
  CHECK_THAT(contents(folder / "cat.png"), Catch::StartsWith("\x89PNG"));
  CHECK(run(programs + "06_attention_weights", "word 6 0").status == 1);
}
