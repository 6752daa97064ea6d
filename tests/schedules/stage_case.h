/// Stages built by hand from buffers, for the tests of the templates, and their meaning as functions of an index.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "tests/jit_kernel.h"

namespace attune {

/// An extent for each dim of a case, in the case's order.
using Sizes = std::vector<int>;
/// An index along each dim of a case, in the case's order.
using Index = std::array<int, 8>;

/// Memory that ends where no memory is: reading beyond it stops the program. It is not null, whatever its size.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* pages_;
  std::size_t size_;
  void* data_;
};

/// A float tensor that a stage reads: its dims, innermost last, and the data of the current call.
class OperandTensor {
 public:
  OperandTensor(const std::string& name, std::vector<std::string> dims, std::vector<int> numbers);
  Piece piece() const;
  Halide::ImageParam param() const { return param_; }
  /// New data, drawn from a normal distribution.
  void draw(const Sizes& sizes, unsigned seed);
  Halide::Buffer<float>& buffer() { return buffer_; }
  float& at(const Index& index) const;

 private:
  std::vector<std::string> dims_;
  std::vector<int> numbers_;  // of the dims in the case
  Halide::ImageParam param_;
  std::shared_ptr<GuardedMemory> memory_;
  mutable Halide::Buffer<float> buffer_;
  std::array<std::int64_t, 8> strides_{};
};

/// What a stage reads, with the extents of its dims taken from the operands, or constant where `fixed` gives them.
class StageCase {
 public:
  explicit StageCase(std::vector<std::string> dims, const std::map<std::string, int>& fixed = {});
  std::shared_ptr<OperandTensor> operand(const std::string& name, const std::vector<std::string>& dims);
  const Extents& extents() const { return extents_; }
  int number_of(const std::string& dim) const;

  /// Compiles the stage as a pipeline whose output it is.
  void compile(Stored stored);
  /// Draws operands of these sizes, lets `change` change them, and computes the stage. What is written beyond the result is counted.
  void run(const Sizes& sizes, unsigned seed, const std::function<void()>& change = nullptr);

  double result(const Index& index) const;
  int stray_writes() const { return stray_writes_; }
  /// Calls f for every index along the dims; the others stay as they are.
  void each(const std::vector<std::string>& dims, Index index, const std::function<void(const Index&)>& f) const;
  /// Of every `step`-th element the worst that differs by more than is allowed, as a sentence, or empty; NaN must be NaN.
  std::string difference(const std::function<double(const Index&)>& expected, const std::function<double(const Index&)>& allowed, int step = 1) const;

 private:
  std::vector<std::string> dims_;
  Extents extents_;
  std::vector<std::shared_ptr<OperandTensor>> operands_;
  std::vector<std::string> out_;
  JitKernel kernel_;
  Sizes sizes_;
  Halide::Buffer<float> result_;
  int stray_writes_ = 0;
};

}  // namespace attune
