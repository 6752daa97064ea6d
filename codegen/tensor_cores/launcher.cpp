#include "codegen/tensor_cores/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/steps/llvm_object.h"
#include "codegen/tensor_cores/driver_launch.h"
#include "codegen/tensor_cores/split_launch.h"

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
declare i32 @halide_device_free(ptr, ptr)
@state = internal global ptr null
)";
constexpr int device_is_newer = 2;  // halide_buffer_flag_device_dirty

/// The function, written as LLVM's assembly.
class Assembly {
 public:
  Assembly(const CodeRequest& request, const std::string& symbol, const LaunchedImage& on_all, const LaunchedImage* on_9_0)
      : request_(request), step_(request.step), on_all_(on_all), on_9_0_(on_9_0), symbol_(symbol), tensors_(step_.inputs) {
    tensors_.insert(tensors_.end(), step_.outputs.begin(), step_.outputs.end());
  }

  std::string text() {
    const Launch& launch = on_all_.launch;
    std::string head = declarations + constant("source", on_all_.image);
    for (const std::string& name : {launch.kernel, launch.aligned_kernel}) {
      if (name.empty()) continue;
      head += constant("name." + name, name);
      if (launch.splits) head += constant("name." + name + launch.splits->merge, name + launch.splits->merge);
    }
    read_arguments();
    line("%interface = call ptr @halide_cuda_device_interface()");
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) place_on_device(tensor);
    if (on_9_0_ != nullptr) {
      head += constant("library_source", on_9_0_->image) + constant("library_entry", on_9_0_->launch.aligned_kernel) + driver_launch_assembly();
      run_by_driver();
    }
    run_by_halide();
    line("launched:");
    for (std::size_t i = 0; i < step_.outputs.size(); ++i) mark_as_newer(step_.inputs.size() + i);
    line("br label %end\nend:\n  ret i32 0");
    // allocas in the first block
    return head + fmt::format("define i32 @{0}_shared_bytes() {{\n  ret i32 {1}\n}}\ndefine i32 @{0}_argv(ptr %arguments) {{\n{2}{3}}}\n", symbol_,
                              launch.shared_bytes, slots_, body_);
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text)
      result += c >= ' ' && c <= '~' && c != '"' && c != '\\' ? std::string(1, c) : fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    return result;
  }

  static std::string constant(const std::string& name, const std::string& bytes) {
    return fmt::format("@{} = private constant [{} x i8] c\"{}\\00\"\n", name, bytes.size() + 1, escaped(bytes));
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

  /// Places of the address on the device, "t0.device.place", of extents and strides: "t0.extent1.place" and "t0.stride1", innermost first as Halide
  /// counts.
  void read_dims(std::size_t tensor) {
    line(fmt::format("%t{0}.device.place = getelementptr %buffer, ptr %t{0}, i32 0, i32 {1}", tensor, field_of_device));
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
  /// How many blocks a launch has, and whether it has none: %PLACE.is_empty.
  std::string count_blocks(const std::string& place, const Launch& launch) {
    std::string blocks = "1";
    int number = 0;
    for (const Launch::Tiled& tiled : launch.tiled) {
      std::string size = "1";
      const auto next = [&](const std::string& instruction) {
        line(fmt::format("%{}.count{} = {}", place, number, instruction));
        return fmt::format("%{}.count{}", place, number++);
      };
      for (const std::string& dim : tiled.dims) size = next(fmt::format("mul i32 {}, {}", size, extent(dim)));
      size = next(fmt::format("add i32 {}, {}", size, tiled.tile - 1));
      size = next(fmt::format("udiv i32 {}, {}", size, tiled.tile));
      blocks = next(fmt::format("mul i32 {}, {}", blocks, size));
    }
    line(fmt::format("%{}.is_empty = icmp eq i32 {}, 0", place, blocks));
    return blocks;
  }

  /// Whether all rows of a launch's tensors begin at multiples of 16 bytes: addresses and strides do.
  std::string is_aligned(const std::string& place, const Launch& launch) {
    line(fmt::format("%{}.odd = add i64 0, 0", place));
    std::string odd = fmt::format("%{}.odd", place);
    int number = 0;
    const auto join = [&](const std::string& value, int mask) {
      line(fmt::format("%{0}.low{1} = and i64 {2}, {3}\n  %{0}.odd{1} = or i64 {4}, %{0}.low{1}", place, number, value, mask, odd));
      odd = fmt::format("%{}.odd{}", place, number++);
    };
    const auto wide = [&](const std::string& value) {
      line(fmt::format("%{0}.wide{1} = zext i32 {2} to i64", place, number, value));
      return fmt::format("%{}.wide{}", place, number);
    };
    for (const std::size_t tensor : std::set(launch.aligned_tensors.begin(), launch.aligned_tensors.end())) {  // one may be two operands
      line(fmt::format("%{0}.device{1} = load i64, ptr %t{1}.device.place", place, tensor));
      join(fmt::format("%{}.device{}", place, tensor), 15);
      for (std::size_t d = 1; d < rank(tensor); ++d) join(wide(fmt::format("%t{}.stride{}", tensor, d)), launch.aligned_elements - 1);
    }
    for (const std::string& dim : launch.aligned_dims) join(wide(extent(dim)), launch.aligned_elements - 1);
    line(fmt::format("%{0}.is_aligned = icmp eq i64 {1}, 0", place, odd));
    return fmt::format("%{}.is_aligned", place);
  }

  /// An argument of a kernel: where it lies, its bytes, and whether Halide's runtime takes it out of a buffer.
  struct Argument {
    std::string place;
    int bytes;
    bool is_buffer;
  };
  std::vector<Argument> kernel_arguments() const {
    std::vector<Argument> all;
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      all.push_back({fmt::format("%t{}", tensor), 8, true});
      for (std::size_t d = rank(tensor); d-- > 1;) all.push_back({fmt::format("%t{}.stride{}.place", tensor, d), 4, false});
    }
    for (std::size_t dim = 0; dim < step_.dims.size(); ++dim) all.push_back({fmt::format("%p{}", dim), 4, false});
    return all;
  }

  /// One of the kernels for all devices, through Halide's runtime; goes on at %launched, or at %end if there was nothing to do.
  void run_by_halide() {
    const Launch& launch = on_all_.launch;
    checked("initialize", fmt::format("call i32 @halide_cuda_initialize_kernels(ptr %user, ptr @state, ptr @source, i32 {})", on_all_.image.size()));
    std::string blocks = count_blocks("all", launch);
    line("br i1 %all.is_empty, label %all.done, label %all.launch\nall.launch:");
    if (!launch.aligned_kernel.empty()) line(fmt::format("%is_aligned = or i1 {}, false", is_aligned("all", launch)));
    std::vector<Argument> all = kernel_arguments();
    if (launch.splits) {
      all.push_back({"%states", 8, true});
      all.push_back({"%splits.place", 4, false});
    }
    slots_ += fmt::format("  %sizes = alloca [{0} x i64]\n  %values = alloca [{0} x ptr]\n  %buffers = alloca [{0} x i8]\n", all.size() + 1);
    for (std::size_t i = 0; i <= all.size(); ++i) {
      const Argument argument = i < all.size() ? all[i] : Argument{"null", 0, false};  // sizes end in 0
      line(fmt::format("%size{0} = getelementptr i64, ptr %sizes, i64 {0}\n  store i64 {1}, ptr %size{0}", i, argument.bytes));
      line(fmt::format("%value{0} = getelementptr ptr, ptr %values, i64 {0}\n  store ptr {1}, ptr %value{0}", i, argument.place));
      line(fmt::format("%buffer{0} = getelementptr i8, ptr %buffers, i64 {0}\n  store i8 {1}, ptr %buffer{0}", i, argument.is_buffer ? 1 : 0));
    }
    line("%kernels = load ptr, ptr @state");
    if (launch.splits)
      run_splits(launch, blocks);
    else
      checked("run", run_call("run", launch, {}, blocks, launch.threads));
    line("br label %all.done\nall.done:\n  %held = load ptr, ptr @state\n  call void @halide_cuda_finalize_kernels(ptr %user, ptr %held)");
    line("br i1 %all.is_empty, label %end, label %launched");
  }

  /// A call that launches the kernel of the call's alignment whose name ends so.
  std::string run_call(const std::string& place, const Launch& launch, const std::string& end, const std::string& blocks, int threads) {
    std::string entry = fmt::format("@name.{}{}", launch.kernel, end);
    if (!launch.aligned_kernel.empty()) {
      line(fmt::format("%{}.entry = select i1 %is_aligned, ptr @name.{}{}, ptr {}", place, launch.aligned_kernel, end, entry));
      entry = fmt::format("%{}.entry", place);
    }
    return fmt::format(
        "call i32 @halide_cuda_run(ptr %user, ptr %kernels, ptr {}, i32 {}, i32 1, i32 1, i32 {}, i32 1, i32 1, i32 0, ptr %sizes, ptr %values, ptr "
        "%buffers)",
        entry, blocks, threads);
  }

  /// The kernel, and behind it the one that merges, if there are several splits: then there is memory for their states between. One error is enough.
  void run_splits(const Launch& launch, const std::string& rows) {
    const Launch::Splits& splits = *launch.splits;
    slots_ += split_slots();
    body_ += split_counts(splits, extent(splits.dim), rows);
    line("%has_states = icmp ugt i32 %splits, 1\n  br i1 %has_states, label %states.make, label %splits.alone\nsplits.alone:");
    checked("alone", run_call("alone", launch, {}, rows, launch.threads));
    line("br label %all.done\nstates.make:");
    checked("states.made", "call i32 @halide_device_malloc(ptr %user, ptr %states, ptr %interface)");
    line(fmt::format("%each = {}\n  %each.fails = icmp ne i32 %each, 0\n  br i1 %each.fails, label %states.free, label %splits.merge\nsplits.merge:",
                     run_call("each", launch, {}, "%blocks", launch.threads)));
    line(fmt::format("%merged = {}\n  br label %states.free\nstates.free:", run_call("merged", launch, splits.merge, rows, splits.merge_threads)));
    line("%split.status = phi i32 [ %each, %states.made.done ], [ %merged, %splits.merge ]");
    line("%freed = call i32 @halide_device_free(ptr %user, ptr %states)");
    checked("split", "add i32 %split.status, 0");
  }

  /// The kernel for compute capability 9.0 where the call can take it, which then goes on as run_by_halide does; other calls go on behind this.
  void run_by_driver() {
    const Launch& launch = on_9_0_->launch;
    slots_ += "  %can.place = alloca i1\n";
    checked("asked", "call i32 @can_launch_by_driver(ptr %user, ptr %can.place)");
    line("%can = load i1, ptr %can.place");
    line(fmt::format("%is_on_9_0 = and i1 %can, {}\n  br i1 %is_on_9_0, label %on.9_0, label %on.all\non.9_0:", is_aligned("some", launch)));
    const std::string blocks = count_blocks("some", launch);
    line("br i1 %some.is_empty, label %end, label %some.launch\nsome.launch:");
    const std::vector<Argument> all = kernel_arguments();
    slots_ += fmt::format("  %places = alloca [{} x ptr]\n", all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      line(fmt::format("%place{0} = getelementptr ptr, ptr %places, i64 {0}\n  store ptr {1}{2}, ptr %place{0}", i, all[i].place,
                       all[i].is_buffer ? ".device.place" : ""));
    checked("driven", fmt::format("call i32 @launch_by_driver(ptr %user, i32 {}, i32 {}, i32 {}, ptr %places)", blocks, launch.threads,
                                  launch.shared_bytes));
    line("br label %launched\non.all:");
  }

  void mark_as_newer(std::size_t tensor) {
    line(
        fmt::format("%t{0}.flags.place = getelementptr %buffer, ptr %t{0}, i32 0, i32 {1}\n  %t{0}.flags = load i64, ptr %t{0}.flags.place\n"
                    "  %t{0}.newer = or i64 %t{0}.flags, {2}\n  store i64 %t{0}.newer, ptr %t{0}.flags.place",
                    tensor, field_of_flags, device_is_newer));
  }

  const CodeRequest& request_;
  const Step& step_;
  const LaunchedImage& on_all_;
  const LaunchedImage* on_9_0_;
  const std::string& symbol_;
  std::vector<std::size_t> tensors_;
  std::string body_, slots_;
};

}  // namespace

CodeAnswer launcher_object(const CodeRequest& request, const std::string& symbol, const LaunchedImage& on_all, const LaunchedImage* on_9_0) {
  return llvm_object(Assembly(request, symbol, on_all, on_9_0).text(), request.target.triple, "a launch");
}

}  // namespace attune::tensor_cores
