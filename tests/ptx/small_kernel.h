/// Kernels by hand of one block, for tests of the interpreter of PTX.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/ptx/launch.h"

namespace attune::ptx {

/// %rd1 and %rd2 are the addresses of the input and the output, %r1 is the number of elements, %r2 the thread.
inline std::string kernel(const std::string& body, const std::string& arrays = "") {
  return ".version 7.0\n.target sm_80\n.address_size 64\n\n.visible .entry k(\n"
         "\t.param .u64 .ptr .align 1 k_param_0,\n\t.param .u64 .ptr .align 1 k_param_1,\n\t.param .u32 k_param_2\n)\n{\n" +
         arrays +
         "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<9>;\n\t.reg .b64 \t%rd<9>;\n\n// %bb.0:\n"
         "\tld.param.b64 \t%rd1, [k_param_0];\n\tld.param.b64 \t%rd2, [k_param_1];\n\tld.param.b32 \t%r1, [k_param_2];\n\tmov.u32 \t%r2, %tid.x;\n" +
         body + "\tret;\n}\n";
}

/// The address of an element: %rd3 of the input and %rd4 of the output, `stride` bytes apart.
inline std::string addresses(int stride) {
  return "\tmul.wide.s32 \t%rd5, %r2, " + std::to_string(stride) + ";\n\tadd.s64 \t%rd3, %rd1, %rd5;\n\tadd.s64 \t%rd4, %rd2, %rd5;\n";
}

inline constexpr const char* shared_array = "\t.shared .align 16 .b8 tile[4096];\n";

struct Ran {
  std::string problem;
  std::vector<std::uint32_t> out;
  Counts counts;
};

/// A block of so many threads with an input, and an output of as many elements, which are 0 where no thread wrote them.
inline Ran run_block(const std::string& text, std::uint32_t threads, const std::vector<std::uint32_t>& values, bool is_input_written = true) {
  const auto elements = static_cast<std::uint32_t>(values.size());
  const auto entries = parse(text);
  const Entry& entry = entries.at("k");
  DeviceMemory memory;
  const std::size_t bytes = elements * sizeof values[0];
  const std::uint64_t in = memory.allocate(bytes), out = memory.allocate(bytes);
  if (is_input_written) REQUIRE(memory.write(in, values.data(), bytes));
  Launch launch{{1, 1, 1}, {threads, 1, 1}, 0, std::vector<std::byte>(entry.parameter_bytes)};
  const auto pass = [&](std::size_t parameter, const auto& value) {
    std::memcpy(launch.parameters.data() + entry.parameters[parameter].offset, &value, sizeof value);
  };
  pass(0, in);
  pass(1, out);
  pass(2, elements);
  Ran ran;
  ran.problem = run(entry, launch, memory, ran.counts);
  ran.out.resize(elements);
  for (std::size_t i = 0; i < elements; ++i) memory.read(out + i * sizeof ran.out[i], &ran.out[i], sizeof ran.out[i]);
  return ran;
}

/// The input is 0, 1, 2 ...
inline Ran run_block(const std::string& text, std::uint32_t threads, std::uint32_t elements, bool is_input_written = true) {
  std::vector<std::uint32_t> values(elements);
  std::iota(values.begin(), values.end(), 0U);
  return run_block(text, threads, values, is_input_written);
}

}  // namespace attune::ptx
