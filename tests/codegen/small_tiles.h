/// Tiles for kernels on devices.
#pragma once

namespace attune {

/// Small ones, of which calls of odd extents have several: OpenCL's compiler takes three times as long for those of the default, which tests of single
/// variants have.
inline constexpr const char* small_tiles =
    "gpu_online_softmax,block_columns=4,block_rows=4,thread_rows=2,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1";
/// With one row a thread OpenCL's compiler takes 0.75 of the time: for tests of every variant, which have two rows on Vulkan.
inline constexpr const char* single_rows =
    "gpu_online_softmax,block_columns=4,block_rows=4,thread_rows=1,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1";
/// Small ones of products: a tuned file for OpenCL.
inline constexpr const char* small_products = R"({"target": "opencl", "stages": {}, "tuned": [], "defaults": [
  {"schedule": "gpu_gemm", "size": "large", "parameters": {"block_columns": 8, "block_rows": 4, "over_chunk": 16, "thread_columns": 1, "thread_rows": 1}}]})";

}  // namespace attune
