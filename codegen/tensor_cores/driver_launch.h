/// Launches that Halide's runtime cannot make, since it asks for no more than 48 kB of memory that a block shares: by CUDA's driver itself, in the
/// context and the stream of the call, of a kernel that is loaded once for all contexts (cuLibrary*, of drivers of CUDA 12 and later).
#pragma once

#include <string>

namespace attune::tensor_cores {

/// LLVM's assembly of these functions, for a code that has one such kernel, whose image is the global @library_source and whose name is
/// @library_entry, both of bytes that end in 0. They call functions of Halide's runtime, which the assembly declares where `declarations` of them is
/// wanted.
///
/// - i32 @can_launch_by_driver(ptr user, ptr answer): writes whether the call's device is of compute capability 9.0 and its driver has the functions,
/// as an
///   i1; gives 0 or an error of Halide's runtime.
/// - i32 @launch_by_driver(ptr user, i32 blocks, i32 threads, i32 shared bytes, ptr arguments): gives 0 or such an error; `arguments` is the address
/// of
///   each argument of the kernel. What the driver says goes to halide_error in its words.
///
/// What is loaded is unloaded when the file is closed.
std::string driver_launch_assembly();

}  // namespace attune::tensor_cores
