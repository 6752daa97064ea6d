#include "codegen/tensor_cores/driver_launch.h"

#include <fmt/format.h>

#include <array>

namespace attune::tensor_cores {
namespace {

/// As cuda.h declares them, by their names in the driver: each gives a CUresult.
constexpr std::array driver_functions = {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuCtxGetDevice",       "cuGetErrorName", "cuLibraryLoadData",
                                         "cuLibraryGetKernel",  "cuLibraryUnload",    "cuKernelSetAttribute", "cuLaunchKernel"};

constexpr const char* head = R"(
declare i32 @halide_cuda_acquire_context(ptr, ptr, i1 zeroext)
declare i32 @halide_cuda_release_context(ptr)
declare i32 @halide_cuda_get_stream(ptr, ptr, ptr)
declare i32 @halide_cuda_compute_capability(ptr, ptr, ptr)
declare ptr @halide_cuda_get_symbol(ptr, ptr)
declare void @halide_error(ptr, ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
@library = internal global ptr null
@kernel = internal global ptr null
@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @unload, ptr null }]
@error.format = private constant [25 x i8] c"CUDA error: %s %s failed\00"
@error.unknown = private constant [14 x i8] c"unknown error\00"
)";

/// A body of a function, which calls the driver.
class Body {
 public:
  Body& line(const std::string& text) {
    text_ += "  " + text + "\n";
    return *this;
  }
  /// The status of a call, %NAME.
  Body& call(const std::string& function, const std::string& arguments) {
    return line(fmt::format("%{0}.address = load ptr, ptr @{0}\n  %{0} = call i32 %{0}.address({1})", function, arguments));
  }
  /// A call whose failure ends the function with what the driver says.
  Body& checked(const std::string& function, const std::string& arguments) {
    call(function, arguments);
    return line(
        fmt::format("%{0}.fails = icmp ne i32 %{0}, 0\n  br i1 %{0}.fails, label %{0}.failed, label %{0}.done\n{0}.failed:\n"
                    "  %{0}.error = call i32 @driver_error(ptr %user, i32 %{0}, ptr @name.{0})\n  ret i32 %{0}.error\n{0}.done:",
                    function));
  }
  /// A call of Halide's runtime, %NAME, whose failure ends the function.
  Body& passed_on(const std::string& name, const std::string& call) {
    return line(
        fmt::format("%{0} = call i32 {1}\n  %{0}.fails = icmp ne i32 %{0}, 0\n  br i1 %{0}.fails, label %{0}.failed, label %{0}.done\n"
                    "{0}.failed:\n  ret i32 %{0}\n{0}.done:",
                    name, call));
  }
  std::string function(const std::string& signature) const { return fmt::format("define internal {} {{\n{}}}\n", signature, text_); }

 private:
  std::string text_;
};

/// -16 is halide_error_code_gpu_device_error.
std::string error_function() {
  return Body()
      .line("%words = alloca [256 x i8]\n  %name.place = alloca ptr\n  store ptr @error.unknown, ptr %name.place")
      .call("cuGetErrorName", "i32 %status, ptr %name.place")
      .line("%name = load ptr, ptr %name.place")
      .line("call i32 (ptr, i64, ptr, ...) @snprintf(ptr %words, i64 256, ptr @error.format, ptr %name, ptr %function)")
      .line("call void @halide_error(ptr %user, ptr %words)\n  ret i32 -16")
      .function("i32 @driver_error(ptr %user, i32 %status, ptr %function)");
}

/// Whether the driver has all functions: asked once, since Halide's runtime looks for the driver again where one is missing.
std::string find_function() {
  Body body;
  body.line("%known = load atomic i32, ptr @functions acquire, align 4\n  %is_known = icmp ne i32 %known, 0");
  body.line("br i1 %is_known, label %answer, label %find\nfind:");
  std::string all = "true";
  for (const std::string name : driver_functions) {
    body.line(fmt::format("%{0} = call ptr @halide_cuda_get_symbol(ptr %user, ptr @name.{0})\n  store ptr %{0}, ptr @{0}", name));
    body.line(fmt::format("%{0}.is_there = icmp ne ptr %{0}, null\n  %{0}.all = and i1 %{0}.is_there, {1}", name, all));
    all = fmt::format("%{}.all", name);
  }
  body.line(fmt::format("%found = select i1 {}, i32 1, i32 2\n  store atomic i32 %found, ptr @functions release, align 4", all));
  body.line("br label %answer\nanswer:\n  %all = phi i32 [ %known, %0 ], [ %found, %find ]\n  %has_all = icmp eq i32 %all, 1\n  ret i1 %has_all");
  return body.function("i1 @has_functions(ptr %user)");
}

std::string can_launch_function() {
  return Body()
      .line("%major.place = alloca i32\n  %minor.place = alloca i32\n  store i1 false, ptr %answer")
      .passed_on("capability", "@halide_cuda_compute_capability(ptr %user, ptr %major.place, ptr %minor.place)")
      .line("%major = load i32, ptr %major.place\n  %minor = load i32, ptr %minor.place")
      .line("%is_9 = icmp eq i32 %major, 9\n  %is_0 = icmp eq i32 %minor, 0\n  %is_9_0 = and i1 %is_9, %is_0")
      .line("br i1 %is_9_0, label %ask, label %end\nask:\n  %has_all = call i1 @has_functions(ptr %user)")
      .line("store i1 %has_all, ptr %answer\n  br label %end\nend:\n  ret i32 0")
      .function("i32 @can_launch_by_driver(ptr %user, ptr %answer)");
}

/// Of several threads that load the library at once, one's stays. A kernel of it has one handle, whoever asks.
std::string kernel_function() {
  return Body()
      .line("%made.place = alloca ptr\n  %known = load atomic ptr, ptr @kernel acquire, align 8\n  %is_known = icmp ne ptr %known, null")
      .line("br i1 %is_known, label %ready, label %look\nready:\n  store ptr %known, ptr %place\n  ret i32 0\nlook:")
      .line("%there = load atomic ptr, ptr @library acquire, align 8\n  %is_there = icmp ne ptr %there, null")
      .line("br i1 %is_there, label %find, label %load\nload:")
      .checked("cuLibraryLoadData", "ptr %made.place, ptr @library_source, ptr null, ptr null, i32 0, ptr null, ptr null, i32 0")
      .line("%made = load ptr, ptr %made.place\n  %exchange = cmpxchg ptr @library, ptr null, ptr %made acq_rel acquire")
      .line("%earlier = extractvalue { ptr, i1 } %exchange, 0\n  %is_first = extractvalue { ptr, i1 } %exchange, 1")
      .line("br i1 %is_first, label %find, label %unload\nunload:")
      .call("cuLibraryUnload", "ptr %made")
      .line("br label %find\nfind:\n  %loaded = phi ptr [ %there, %look ], [ %made, %cuLibraryLoadData.done ], [ %earlier, %unload ]")
      .checked("cuLibraryGetKernel", "ptr %place, ptr %loaded, ptr @library_entry")
      .line("%found = load ptr, ptr %place\n  store atomic ptr %found, ptr @kernel release, align 8\n  ret i32 0")
      .function("i32 @kernel_of_library(ptr %user, ptr %place)");
}

/// 8 is CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, which each device is told by itself.
std::string launch_functions() {
  const std::string needs = "i32 %blocks, i32 %threads, i32 %shared_bytes, ptr %arguments";
  return Body()
             .line("%stream.place = alloca ptr\n  %kernel.place = alloca ptr\n  %device.place = alloca i32")
             .passed_on("in_stream", "@halide_cuda_get_stream(ptr %user, ptr %context, ptr %stream.place)")
             .passed_on("loaded", "@kernel_of_library(ptr %user, ptr %kernel.place)")
             .line("%stream = load ptr, ptr %stream.place\n  %kernel = load ptr, ptr %kernel.place")
             .checked("cuCtxGetDevice", "ptr %device.place")
             .line("%device = load i32, ptr %device.place")
             .checked("cuKernelSetAttribute", "i32 8, i32 %shared_bytes, ptr %kernel, i32 %device")
             .checked("cuLaunchKernel",
                      "ptr %kernel, i32 %blocks, i32 1, i32 1, i32 %threads, i32 1, i32 1, i32 %shared_bytes, ptr %stream, ptr %arguments, "
                      "ptr null")
             .line("ret i32 0")
             .function(fmt::format("i32 @launch_in_context(ptr %user, ptr %context, {})", needs)) +
         Body()
             .line("%context.place = alloca ptr")
             .checked("cuCtxPushCurrent_v2", "ptr %context")
             .line(fmt::format("%launched = call i32 @launch_in_context(ptr %user, ptr %context, {})", needs))
             .call("cuCtxPopCurrent_v2", "ptr %context.place")
             .line("ret i32 %launched")
             .function(fmt::format("i32 @launch_with_context(ptr %user, ptr %context, {})", needs)) +
         Body()
             .line("%context.place = alloca ptr")
             .passed_on("acquired", "@halide_cuda_acquire_context(ptr %user, ptr %context.place, i1 zeroext true)")
             .line(fmt::format("%context = load ptr, ptr %context.place\n  %launched = call i32 @launch_with_context(ptr %user, ptr %context, {})",
                               needs))
             .line("%released = call i32 @halide_cuda_release_context(ptr %user)\n  ret i32 %launched")
             .function(fmt::format("i32 @launch_by_driver(ptr %user, {})", needs));
}

std::string unload_function() {
  return Body()
      .line("%loaded = load ptr, ptr @library\n  %is_loaded = icmp ne ptr %loaded, null\n  br i1 %is_loaded, label %unload, label %end\nunload:")
      .call("cuLibraryUnload", "ptr %loaded")
      .line("br label %end\nend:\n  ret void")
      .function("void @unload()");
}

}  // namespace

std::string driver_launch_assembly() {
  std::string text = head;
  text += "@functions = internal global i32 0\n";
  for (const std::string name : driver_functions)
    text += fmt::format("@{0} = internal global ptr null\n@name.{0} = private constant [{1} x i8] c\"{0}\\00\"\n", name, name.size() + 1);
  return text + error_function() + find_function() + can_launch_function() + kernel_function() + launch_functions() + unload_function();
}

}  // namespace attune::tensor_cores
