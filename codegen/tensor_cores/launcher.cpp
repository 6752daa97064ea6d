#include "codegen/tensor_cores/launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/steps/llvm_object.h"

namespace attune::tensor_cores {
namespace {

/// halide_buffer_t and halide_dimension_t of HalideRuntime.h, and what the runtime's functions are.
constexpr const char* declarations = R"(
%buffer = type { i64, ptr, ptr, i64, i32, i32, ptr, ptr }
%dimension = type { i32, i32, i32, i32 }
declare ptr @halide_cuda_device_interface()
declare i32 @halide_cuda_initialize_kernels(ptr, ptr, ptr, i32)
declare void @halide_cuda_finalize_kernels(ptr, ptr)
declare i32 @halide_cuda_run(ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, i32, ptr, ptr, ptr)
declare i32 @halide_copy_to_device(ptr, ptr, ptr)
declare i32 @halide_device_malloc(ptr, ptr, ptr)
@state = internal global ptr null
)";
constexpr int field_of_device = 0, field_of_flags = 3, field_of_dims = 6, field_of_extent = 1, field_of_stride = 2;
constexpr int device_is_newer = 2;  // halide_buffer_flag_device_dirty

/// The function, written as LLVM's assembly.
class Assembly {
 public:
  Assembly(const CodeRequest& request, const std::string& symbol, const std::string& image, const Launch& launch)
      : request_(request), step_(request.step), launch_(launch), symbol_(symbol), image_(image), tensors_(step_.inputs) {
    tensors_.insert(tensors_.end(), step_.outputs.begin(), step_.outputs.end());
  }

  std::string text() {
    std::string head = declarations;
    head += fmt::format("@source = private constant [{} x i8] c\"{}\\00\"\n", image_.size() + 1, escaped(image_));
    for (const std::string* name : {&launch_.kernel, &launch_.aligned_kernel})
      if (!name->empty()) head += fmt::format("@name.{} = private constant [{} x i8] c\"{}\\00\"\n", *name, name->size() + 1, *name);
    read_arguments();
    line("%interface = call ptr @halide_cuda_device_interface()");
    checked("initialize", fmt::format("call i32 @halide_cuda_initialize_kernels(ptr %user, ptr @state, ptr @source, i32 {})", image_.size()));
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) place_on_device(tensor);
    count_blocks();
    line("%is_empty = icmp eq i32 %blocks, 0\n  br i1 %is_empty, label %done, label %launch\nlaunch:");
    run();
    for (std::size_t i = 0; i < step_.outputs.size(); ++i) mark_as_newer(step_.inputs.size() + i);
    line("br label %done\ndone:\n  %held = load ptr, ptr @state\n  call void @halide_cuda_finalize_kernels(ptr %user, ptr %held)\n  ret i32 0");
    // allocas in the first block
    return head + fmt::format("define i32 @{0}_shared_bytes() {{\n  ret i32 {1}\n}}\ndefine i32 @{0}_argv(ptr %arguments) {{\n{2}{3}}}\n", symbol_, launch_.shared_bytes, slots_, body_);
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text)
      result += c >= ' ' && c <= '~' && c != '"' && c != '\\' ? std::string(1, c) : fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    return result;
  }

  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  /// A call that gives 0 or the error that the function ends with.
  void checked(const std::string& name, const std::string& call) {
    line(
        fmt::format("%{0} = {1}\n  %{0}.fails = icmp ne i32 %{0}, 0\n  br i1 %{0}.fails, label %{0}.failed, label %{0}.done\n{0}.failed:\n  ret i32 "
                    "%{0}\n{0}.done:",
                    name, call));
  }

  std::size_t rank(std::size_t tensor) const { return request_.plan.tensors[tensors_[tensor]].dims.size(); }

  /// The user context, tensors t0, t1 ... and extents e0, e1 ... of the step's dims.
  void read_arguments() {
    std::size_t place = 0;
    const auto next = [&](const std::string& name) {
      line(fmt::format("%{0}.place = getelementptr ptr, ptr %arguments, i64 {1}\n  %{0} = load ptr, ptr %{0}.place", name, place++));
    };
    next("context");
    line("%user = load ptr, ptr %context");
    for (std::size_t tensor = 0; tensor < step_.inputs.size(); ++tensor) next(fmt::format("t{}", tensor));
    for (std::size_t dim = 0; dim < step_.dims.size(); ++dim) {
      next(fmt::format("p{}", dim));
      line(fmt::format("%e{0} = load i32, ptr %p{0}", dim));
    }
    for (std::size_t tensor = step_.inputs.size(); tensor < tensors_.size(); ++tensor) next(fmt::format("t{}", tensor));
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) read_dims(tensor);
  }

  /// Places of extents and strides: "t0.extent1.place" and "t0.stride1", innermost first as Halide counts.
  void read_dims(std::size_t tensor) {
    line(fmt::format("%t{0}.dims.place = getelementptr %buffer, ptr %t{0}, i32 0, i32 {1}\n  %t{0}.dims = load ptr, ptr %t{0}.dims.place", tensor,
                     field_of_dims));
    for (std::size_t d = 0; d < rank(tensor); ++d) {
      line(
          fmt::format("%t{0}.extent{1}.place = getelementptr %dimension, ptr %t{0}.dims, i64 {1}, i32 {2}\n  %t{0}.extent{1} = load i32, ptr "
                      "%t{0}.extent{1}.place",
                      tensor, d, field_of_extent));
      line(
          fmt::format("%t{0}.stride{1}.place = getelementptr %dimension, ptr %t{0}.dims, i64 {1}, i32 {2}\n  %t{0}.stride{1} = load i32, ptr "
                      "%t{0}.stride{1}.place",
                      tensor, d, field_of_stride));
    }
  }

  /// No driver gives memory of no bytes: a tensor without elements has it as if its extents of 0 were 1.
  void place_on_device(std::size_t tensor) {
    for (std::size_t d = 0; d < rank(tensor); ++d) {
      line(fmt::format("%t{0}.least{1} = call i32 @llvm.smax.i32(i32 %t{0}.extent{1}, i32 1)\n  store i32 %t{0}.least{1}, ptr %t{0}.extent{1}.place",
                       tensor, d));
    }
    const std::string name = fmt::format("t{}.placed", tensor);
    line(fmt::format("%{} = call i32 @{}(ptr %user, ptr %t{}, ptr %interface)", name,
                     tensor < step_.inputs.size() ? "halide_copy_to_device" : "halide_device_malloc", tensor));
    for (std::size_t d = 0; d < rank(tensor); ++d) line(fmt::format("store i32 %t{0}.extent{1}, ptr %t{0}.extent{1}.place", tensor, d));
    checked(name + ".checked", fmt::format("add i32 %{}, 0", name));
  }

  std::string extent(const std::string& dim) const {
    if (const auto known = request_.plan.known.find(dim); known != request_.plan.known.end()) return std::to_string(known->second);
    return fmt::format("%e{}", std::ranges::find(step_.dims, dim) - step_.dims.begin());
  }
  void count_blocks() {
    std::string blocks = "1";
    int number = 0;
    for (const Launch::Tiled& tiled : launch_.tiled) {
      std::string size = "1";
      const auto next = [&](const std::string& instruction) {
        line(fmt::format("%count{} = {}", number, instruction));
        return fmt::format("%count{}", number++);
      };
      for (const std::string& dim : tiled.dims) size = next(fmt::format("mul i32 {}, {}", size, extent(dim)));
      size = next(fmt::format("add i32 {}, {}", size, tiled.tile - 1));
      size = next(fmt::format("udiv i32 {}, {}", size, tiled.tile));
      blocks = next(fmt::format("mul i32 {}, {}", blocks, size));
    }
    line(fmt::format("%blocks = add i32 {}, 0", blocks));
  }

  /// By whether all rows of the tensors begin at multiples of 16 bytes: addresses and strides, of elements of 2 bytes, are.
  std::string kernel_name() {
    if (launch_.aligned_kernel.empty()) return "@name." + launch_.kernel;
    line("%odd.start = add i64 0, 0");
    std::string odd = "%odd.start";
    int number = 0;
    const auto join = [&](const std::string& value, int mask) {
      line(fmt::format("%low{0} = and i64 {1}, {2}\n  %odd{0} = or i64 {3}, %low{0}", number, value, mask, odd));
      odd = fmt::format("%odd{}", number++);
    };
    for (const std::size_t tensor : launch_.aligned_tensors) {
      line(fmt::format("%t{0}.device.place = getelementptr %buffer, ptr %t{0}, i32 0, i32 {1}\n  %t{0}.device = load i64, ptr %t{0}.device.place",
                       tensor, field_of_device));
      join(fmt::format("%t{}.device", tensor), 15);
      for (std::size_t d = 1; d < rank(tensor); ++d) {
        line(fmt::format("%t{0}.wide{1} = zext i32 %t{0}.stride{1} to i64", tensor, d));
        join(fmt::format("%t{}.wide{}", tensor, d), 7);
      }
    }
    for (const std::string& dim : launch_.aligned_dims) {
      const std::string wide = fmt::format("%extent{}", number);
      line(fmt::format("{} = zext i32 {} to i64", wide, extent(dim)));
      join(wide, 7);
    }
    line(fmt::format("%is_aligned = icmp eq i64 {}, 0\n  %entry = select i1 %is_aligned, ptr @name.{}, ptr @name.{}", odd, launch_.aligned_kernel,
                     launch_.kernel));
    return "%entry";
  }

  void run() {
    const std::string entry = kernel_name();
    struct Argument {
      std::string place;
      int bytes;
      bool is_buffer;
    };
    std::vector<Argument> all;
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      all.push_back({fmt::format("%t{}", tensor), 8, true});
      for (std::size_t d = rank(tensor); d-- > 1;) all.push_back({fmt::format("%t{}.stride{}.place", tensor, d), 4, false});
    }
    for (std::size_t dim = 0; dim < step_.dims.size(); ++dim) all.push_back({fmt::format("%p{}", dim), 4, false});
    slots_ = fmt::format("  %sizes = alloca [{0} x i64]\n  %values = alloca [{0} x ptr]\n  %buffers = alloca [{0} x i8]\n", all.size() + 1);
    for (std::size_t i = 0; i <= all.size(); ++i) {
      const Argument argument = i < all.size() ? all[i] : Argument{"null", 0, false};  // sizes end in 0
      line(fmt::format("%size{0} = getelementptr i64, ptr %sizes, i64 {0}\n  store i64 {1}, ptr %size{0}", i, argument.bytes));
      line(fmt::format("%value{0} = getelementptr ptr, ptr %values, i64 {0}\n  store ptr {1}, ptr %value{0}", i, argument.place));
      line(fmt::format("%buffer{0} = getelementptr i8, ptr %buffers, i64 {0}\n  store i8 {1}, ptr %buffer{0}", i, argument.is_buffer ? 1 : 0));
    }
    line("%kernels = load ptr, ptr @state");
    checked("run", fmt::format("call i32 @halide_cuda_run(ptr %user, ptr %kernels, ptr {}, i32 %blocks, i32 1, i32 1, i32 {}, i32 1, i32 1, i32 0, "
                               "ptr %sizes, ptr %values, ptr %buffers)",
                               entry, launch_.threads));
  }

  void mark_as_newer(std::size_t tensor) {
    line(
        fmt::format("%t{0}.flags.place = getelementptr %buffer, ptr %t{0}, i32 0, i32 {1}\n  %t{0}.flags = load i64, ptr %t{0}.flags.place\n"
                    "  %t{0}.newer = or i64 %t{0}.flags, {2}\n  store i64 %t{0}.newer, ptr %t{0}.flags.place",
                    tensor, field_of_flags, device_is_newer));
  }

  const CodeRequest& request_;
  const Step& step_;
  const Launch& launch_;
  const std::string &symbol_, &image_;
  std::vector<std::size_t> tensors_;
  std::string body_, slots_;
};

}  // namespace

CodeAnswer launcher_object(const CodeRequest& request, const std::string& symbol, const std::string& image, const Launch& launch) {
  return llvm_object(Assembly(request, symbol, image, launch).text(), request.target.triple, "a launch");
}

}  // namespace attune::tensor_cores
