/// Views, copies, bf16, f16 and DLPack.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "runtime/tensor.h"
#include "runtime/tensor_dlpack.h"

namespace attune {
namespace {

using List = std::vector<std::int64_t>;

List list_of(std::span<const std::int64_t> sizes, int rank) { return {sizes.begin(), sizes.begin() + rank}; }

template <class T>
std::vector<T> elements(const OwnedTensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.view().element_count()};
}

}  // namespace

TEST_CASE("a view has contiguous strides unless others are given", "[tensor]") {
  std::vector<float> memory(24);
  const Tensor dense(memory, {2, 3, 4});
  CHECK(dense.data == memory.data());
  CHECK(dense.storage == attune_f32);
  CHECK(list_of(dense.strides, dense.rank) == List{12, 4, 1});
  CHECK(dense.element_count() == 24);
  CHECK(dense.known_elements == 24);
  CHECK(text_of(dense) == "f32 [2 x 3 x 4]");
  const List extents{4, 2}, strides{1, 12};
  const Tensor turned(memory.data(), extents, strides);
  CHECK(list_of(turned.strides, turned.rank) == strides);
  CHECK(turned.known_elements == -1);
  CHECK(Tensor(memory.data(), {}).element_count() == 1);
}

TEST_CASE("a view does not take a container that ends with the expression", "[tensor]") {
  STATIC_REQUIRE(!std::is_constructible_v<Tensor, std::vector<float>&&, Sizes>);
  STATIC_REQUIRE(std::is_constructible_v<Tensor, std::vector<float>&, Sizes>);
  STATIC_REQUIRE(std::is_constructible_v<Tensor, std::span<const float>, Sizes>);
  STATIC_REQUIRE(!std::is_constructible_v<Tensor, std::vector<long double>&, Sizes>);
}

TEST_CASE("contiguous() copies any strides", "[tensor]") {
  std::array<std::int32_t, 12> memory{};
  std::iota(memory.begin(), memory.end(), 0);
  CHECK(elements<std::int32_t>(contiguous(Tensor(memory, {4, 3}, {1, 4})).value()) ==
        std::vector<std::int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(elements<std::int32_t>(contiguous(Tensor(memory.data() + 11, {2, 3}, {-6, -1})).value()) ==
        std::vector<std::int32_t>{11, 10, 9, 5, 4, 3});
  CHECK(elements<std::int32_t>(contiguous(Tensor(memory, {2, 2}, {0, 1})).value()) == std::vector<std::int32_t>{0, 1, 0, 1});
  CHECK(elements<std::int32_t>(contiguous(Tensor(memory.data() + 5, {})).value()) == std::vector<std::int32_t>{5});
  const OwnedTensor copy = contiguous(Tensor(memory, {4, 3}, {1, 4})).value();
  CHECK(list_of(copy.view().strides, 2) == List{3, 1});
  CHECK(reinterpret_cast<std::uintptr_t>(copy.view().data) % 64 == 0);
}

TEST_CASE("contiguous() and allocate() refuse what they cannot hold", "[tensor]") {
  std::array<float, 4> memory{};
  Tensor far(memory, {4});
  far.device = attune_opencl;
  CHECK(contiguous(far).error().message == "tensor f32 [4]: is on opencl:0; only what is on the cpu is copied");
  CHECK(contiguous(Tensor(static_cast<float*>(nullptr), {4})).error().message == "tensor f32 [4]: is null");
  CHECK(contiguous(Tensor(memory, {4}, {})).error().message == "tensor f32 [4]: has 1 extents and 0 strides");
  CHECK(allocate(attune_f32, {2, -1}).error().message == "tensor f32 [2 x -1]: has a negative extent");
  const std::int64_t huge = std::int64_t{1} << 31;
  CHECK(allocate(attune_f32, {huge, huge, huge}).error().message ==
        "tensor f32 [2147483648 x 2147483648 x 2147483648]: has more bytes than 63 bits count");
  CHECK(allocate(attune_i8, {1, 1, 1, 1, 1, 1, 1, 1, 1}).error().message ==
        "tensor i8 [1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x ...]: has 9 dims; at most 8");
  CHECK(contiguous(Tensor(memory, {2, 3}, {2, 1})).error().message == "tensor f32 [2 x 3]: reaches beyond its memory, which has 4 elements");
  CHECK(contiguous(Tensor(memory, {2, 2}, {-2, 1})).error().message == "tensor f32 [2 x 2]: reaches beyond its memory, which has 4 elements");
}

TEST_CASE("a storage and a rank that abi.h does not have, and a device that DLPack does not know, are refused", "[tensor]") {
  std::array<float, 4> memory{};
  Tensor strange(memory, {4});
  strange.storage = static_cast<attune_storage>(9);
  const std::string sentence = "tensor unknown [4]: has the unknown storage 9; those of abi.h are 0 to 8";
  CHECK(contiguous(strange).error().message == sentence);
  CHECK(allocate(strange.storage, {4}).error().message == sentence);
  CHECK(to_dlpack(strange).error().message == "tensor unknown [4]: has storage 9 on device 0; those that DLPack knows are 0 to 8 and 0 to 2");
  Tensor far(memory, {4});
  far.device = attune_vulkan;
  CHECK(to_dlpack(far).error().message == "tensor f32 [4]: has storage 0 on device 3; those that DLPack knows are 0 to 8 and 0 to 2");
  CHECK(contiguous(far).error().message == "tensor f32 [4]: is on vulkan; only what is on the cpu is copied");
  Tensor deep(memory, {4});
  deep.rank = -1;
  CHECK(contiguous(deep).error().message == "tensor: has -1 dims; expected 0 to 8");
}

TEST_CASE("an offset in bytes is where a tensor of the CPU begins, too", "[tensor]") {
  std::vector<float> memory(10);
  const Tensor there = Tensor(memory, {4}).on_device(attune_cpu, 3, 8);
  CHECK(there.data == &memory[2]);
  CHECK(there.byte_offset == 0);
  CHECK(there.device_number == 0);
  CHECK(there.known_elements == -1);
}

TEST_CASE("allocate() gives zeros, also none of them", "[tensor]") {
  CHECK(elements<double>(allocate(attune_f64, {2, 2}).value()) == std::vector<double>{0, 0, 0, 0});
  CHECK(allocate(attune_f32, {3, 0}).value().view().is_empty());
}

TEST_CASE("bf16 rounds to nearest, ties to even", "[tensor]") {
  CHECK(bfloat16(1.0f).bits == 0x3f80);
  CHECK(float(bfloat16(3.140625f)) == 3.140625f);
  CHECK(bfloat16(1.0f + 1.0f / 256).bits == 0x3f80);          // half of the last bit: to even
  CHECK(bfloat16(1.0f + 3.0f / 256).bits == 0x3f82);          // half: to even, up
  CHECK(bfloat16(1.0f + 1.0f / 256 + 1e-6f).bits == 0x3f81);  // above half
  CHECK(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(bfloat16(-std::numeric_limits<float>::infinity()).bits == 0xff80);
  CHECK(std::isnan(float(bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(float(bfloat16(std::bit_cast<float>(0x7f800001U)))));  // whose upper half alone would be infinity
}

TEST_CASE("storing a number moves it by as much as its storage says, and by no more", "[tensor]") {
  const auto most = [](auto stored, attune_storage storage) {  // of numbers from 1 to 2, in steps of a 64th of the storage's
    const double step = info_of(storage).rounding / 32;
    double moved = 0;
    for (double x = 1; x < 1 + 8192 * step; x += step) moved = std::max(moved, std::abs(stored(x) - x) / x);
    return moved / info_of(storage).rounding;
  };
  const auto is_all_of_it = [](double share) { return share <= 1 && share > 0.99; };
  CHECK(is_all_of_it(most([](double x) { return double(float(x)); }, attune_f32)));
  CHECK(is_all_of_it(most([](double x) { return double(float(bfloat16(float(x)))); }, attune_bf16)));
  CHECK(is_all_of_it(most([](double x) { return double(float(float16(float(x)))); }, attune_f16)));
}

TEST_CASE("a DLPack tensor becomes a view of the same memory", "[dlpack]") {
  std::array<float, 12> memory{};
  std::array<std::int64_t, 2> shape{3, 4}, strides{1, 3};
  DLTensor tensor{memory.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
  CHECK(list_of(from_dlpack(tensor).value().strides, 2) == List{4, 1});
  tensor.strides = strides.data();
  tensor.byte_offset = 8;
  const Tensor view = from_dlpack(tensor).value();
  CHECK(list_of(view.strides, 2) == List{1, 3});
  CHECK(view.data == &memory[2]);
}

TEST_CASE("every storage goes through DLPack and back", "[dlpack]") {
  std::array<double, 6> memory{};
  for (int storage = 0; storage < storage_count; ++storage) {
    const Tensor tensor(static_cast<void*>(memory.data()), static_cast<attune_storage>(storage), {2, 3}, {1, 2});
    DLManagedTensorVersioned* managed = to_dlpack(tensor).value();
    const Tensor back = from_dlpack(*managed).value();
    CHECK((managed->version.major == 1 && managed->flags == 0));
    CHECK(back.storage == tensor.storage);
    CHECK(back.data == tensor.data);
    CHECK(list_of(back.extents, back.rank) == List{2, 3});
    CHECK(list_of(back.strides, back.rank) == List{1, 2});
    managed->deleter(managed);
  }
}

TEST_CASE("DLPack carries read-only from version 1 on", "[dlpack]") {
  const std::array<float, 2> memory{};
  const Tensor tensor(memory, {2});
  DLManagedTensorVersioned* managed = to_dlpack(tensor).value();
  CHECK(managed->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  CHECK(from_dlpack(*managed).value().is_read_only);
  managed->version.major = 2;
  CHECK(from_dlpack(*managed).error().message == "DLPack tensor: is of version 2.0; expected 1.x");
  managed->deleter(managed);
  CHECK(to_unversioned_dlpack(tensor).error().message ==
        "tensor f32 [2]: is read-only, which DLPack before 1.0 cannot say; to_dlpack() can");
  std::array<float, 2> writable{};
  DLManagedTensor* old = to_unversioned_dlpack(Tensor(writable, {2})).value();
  CHECK(from_dlpack(old->dl_tensor).value().data == writable.data());
  old->deleter(old);
}

TEST_CASE("tensors on devices go through DLPack with their device and their place there", "[dlpack]") {
  std::array<float, 8> memory{};  // nobody looks into it
  std::array<std::int64_t, 1> shape{3};
  const DLTensor cuda{memory.data(), {kDLCUDA, 1}, 1, {kDLFloat, 32, 1}, shape.data(), nullptr, 8};
  const Tensor on_cuda = from_dlpack(cuda).value();
  CHECK((on_cuda.device == attune_cuda && on_cuda.device_number == 1 && on_cuda.data == &memory[2] && on_cuda.byte_offset == 0));
  CHECK(place_of(on_cuda) == "cuda:1");
  const DLTensor opencl{memory.data(), {kDLOpenCL, 2}, 1, {kDLFloat, 32, 1}, shape.data(), nullptr, 8};
  const Tensor on_opencl = from_dlpack(opencl).value();
  CHECK((on_opencl.device == attune_opencl && on_opencl.device_number == 2 && on_opencl.data == memory.data() && on_opencl.byte_offset == 8));
  for (const Tensor& tensor : {on_cuda, on_opencl}) {
    DLManagedTensorVersioned* managed = to_dlpack(tensor).value();
    const Tensor back = from_dlpack(*managed).value();
    CHECK((back.device == tensor.device && back.device_number == tensor.device_number && back.data == tensor.data &&
           back.byte_offset == tensor.byte_offset));
    managed->deleter(managed);
  }
}

TEST_CASE("DLPack tensors that kernels do not take are refused", "[dlpack]") {
  std::array<std::int64_t, 9> shape{};
  DLTensor tensor{nullptr, {kDLCPU, 0}, 1, {kDLComplex, 64, 1}, shape.data(), nullptr, 0};
  CHECK(from_dlpack(tensor).error().message ==
        "DLPack tensor: its element type is not one of kernels: code 5, bits 64, lanes 1; expected f32, bf16, f16, f64, i8, u8, i32, i64 "
        "or boolean, one lane");
  tensor.dtype = {kDLFloat, 32, 4};
  CHECK(!from_dlpack(tensor));
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.device.device_type = kDLVulkan;
  CHECK(from_dlpack(tensor).error().message ==
        "DLPack tensor: is on device type 7; expected memory of the CPU, which is 1 or (pinned by CUDA) 3, of CUDA, which is 2, or of OpenCL, which is 4");
  tensor.device.device_type = kDLCUDAHost;
  CHECK(from_dlpack(tensor));
  tensor.ndim = 9;
  CHECK(from_dlpack(tensor).error().message == "DLPack tensor: has 9 dims; expected 0 to 8");
  tensor.ndim = 1;
  tensor.shape = nullptr;
  CHECK(from_dlpack(tensor).error().message == "DLPack tensor: has 1 dims but its shape is null");
}

TEST_CASE("float16 is IEEE binary16, rounded to nearest even", "[storage]") {
  struct Half {
    float value;
    std::uint16_t bits;
  };
  // of IEEE 754-2019, 3.6: 11 bits of precision, exponents -14 to 15
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [value, bits] : {Half{0, 0}, Half{-0.0F, 0x8000}, Half{1, 0x3c00}, Half{-2, 0xc000}, Half{65504, 0x7bff}, Half{0x1p-14F, 0x0400},
                                    Half{0x1p-24F, 0x0001}, Half{0x3ffp-24F, 0x03ff}, Half{infinity, 0x7c00}, Half{-infinity, 0xfc00}}) {
    CAPTURE(value);
    CHECK(float16(value).bits == bits);
    float16 half;
    half.bits = bits;
    CHECK(std::bit_cast<std::uint32_t>(float(half)) == std::bit_cast<std::uint32_t>(value));
  }
  // halves of the last place go to the even neighbour
  CHECK(float16(1 + 0x1p-11F).bits == 0x3c00);
  CHECK(float16(1 + 0x3p-11F).bits == 0x3c02);
  CHECK(float16(0x1p-25F).bits == 0);
  CHECK(float16(0x1.000002p-25F).bits == 1);
  CHECK(float16(0x3p-25F).bits == 2);
  CHECK(float16(65519.996F).bits == 0x7bff);
  CHECK(float16(65520).bits == 0x7c00);
  CHECK(std::isnan(float(float16(std::numeric_limits<float>::quiet_NaN()))));
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    float16 half;
    half.bits = static_cast<std::uint16_t>(i);
    if (!std::isnan(float(half))) CHECK(float16(float(half)).bits == i);
  }
}

}  // namespace attune
