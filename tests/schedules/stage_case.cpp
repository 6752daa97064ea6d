#include "tests/schedules/stage_case.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

#include "codegen/halide/bodies/late_rewrites.h"
#include "codegen/halide/numbers/elements.h"
#include "tests/schedules/host.h"

namespace attune {
namespace {

constexpr float untouched = -12345.f;

/// Elements of every row and plane that do not belong to the result.
constexpr int margin = 3;

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t used = (bytes + page - 1) / page * page;
  size_ = used + page;
  pages_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages_ == MAP_FAILED) throw std::runtime_error("no memory for the operands of a test");
  mprotect(static_cast<char*>(pages_) + used, page, PROT_NONE);
  data_ = static_cast<char*>(pages_) + used - bytes;
}

GuardedMemory::~GuardedMemory() { munmap(pages_, size_); }

OperandTensor::OperandTensor(const std::string& name, std::vector<std::string> dims, std::vector<int> numbers)
    : dims_(std::move(dims)), numbers_(std::move(numbers)), param_(Halide::Float(32), static_cast<int>(dims_.size()), name) {
  for (int n = 0; n < param_.dimensions(); ++n) param_.dim(n).set_min(0);
}

Piece OperandTensor::piece() const {
  return {dims_, [param = param_, dims = dims_](const Coordinates& at) {
            std::vector<Halide::Expr> arguments;
            for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) arguments.push_back(at.at(*dim));
            return loaded(param, arguments, Element::f32);
          }};
}

void OperandTensor::draw(const Sizes& sizes, unsigned seed) {
  std::vector<int> extents;
  std::size_t elements = 1;
  for (auto number = numbers_.rbegin(); number != numbers_.rend(); ++number) {
    extents.push_back(sizes[static_cast<std::size_t>(*number)]);
    elements *= static_cast<std::size_t>(extents.back());
  }
  memory_ = std::make_shared<GuardedMemory>(elements * sizeof(float));
  float* data = static_cast<float*>(memory_->data());
  buffer_ = Halide::Buffer<float>(data, extents);
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::generate_n(data, elements, [&] { return normal(generator); });
  strides_.fill(0);
  for (std::size_t n = 0; n < numbers_.size(); ++n)
    strides_[static_cast<std::size_t>(numbers_[n])] = buffer_.dim(static_cast<int>(numbers_.size() - 1 - n)).stride();
}

float& OperandTensor::at(const Index& index) const {
  std::int64_t offset = 0;
  for (std::size_t n = 0; n < index.size(); ++n) offset += index[n] * strides_[n];
  return buffer_.data()[offset];
}

StageCase::StageCase(std::vector<std::string> dims, const std::map<std::string, int>& fixed) : dims_(std::move(dims)) {
  for (const auto& [dim, extent] : fixed) extents_[dim] = extent;
}

int StageCase::number_of(const std::string& dim) const {
  return static_cast<int>(std::find(dims_.begin(), dims_.end(), dim) - dims_.begin());
}

std::shared_ptr<OperandTensor> StageCase::operand(const std::string& name, const std::vector<std::string>& dims) {
  std::vector<int> numbers;
  for (const std::string& dim : dims) numbers.push_back(number_of(dim));
  operands_.push_back(std::make_shared<OperandTensor>(name, dims, numbers));
  Halide::ImageParam param = operands_.back()->param();
  for (std::size_t n = 0; n < dims.size(); ++n)
    extents_.try_emplace(dims[n], param.dim(static_cast<int>(dims.size() - 1 - n)).extent());
  return operands_.back();
}

void StageCase::compile(Stored stored) {
  out_ = stored.dims;
  for (int n = 0; n < static_cast<int>(out_.size()); ++n) stored.func.output_buffer().dim(n).set_min(0);
  std::vector<Halide::Argument> arguments;
  for (const auto& operand : operands_) arguments.emplace_back(operand->param());
  Halide::Pipeline pipeline(stored.func);
  add_late_rewrites(pipeline, stored, Device::cpu);
  kernel_ = JitKernel(pipeline, arguments);
}

void StageCase::run(const Sizes& sizes, unsigned seed, const std::function<void()>& change) {
  sizes_ = sizes;
  for (const auto& operand : operands_) operand->draw(sizes, ++seed);
  if (change) change();
  std::vector<int> extents, padded;
  for (auto dim = out_.rbegin(); dim != out_.rend(); ++dim) {
    extents.push_back(sizes[static_cast<std::size_t>(number_of(*dim))]);
    padded.push_back(extents.back() + margin);
  }
  Halide::Buffer<float> whole = padded.empty() ? Halide::Buffer<float>::make_scalar() : Halide::Buffer<float>(padded);
  whole.fill(untouched);
  result_ = whole;
  for (int n = 0; n < whole.dimensions(); ++n) result_ = result_.cropped(n, 0, extents[static_cast<std::size_t>(n)]);

  std::vector<const void*> addresses;
  for (const auto& operand : operands_) addresses.push_back(operand->buffer().raw_buffer());
  addresses.push_back(result_.raw_buffer());
  if (kernel_.call(addresses) != 0) result_.fill(untouched);

  std::int64_t elements = 1, touched = 0;
  for (const int extent : extents) elements *= extent;
  whole.for_each_value([&](float value) { touched += value != untouched; });
  stray_writes_ = static_cast<int>(touched - elements);
}

double StageCase::result(const Index& index) const {
  std::int64_t offset = 0;
  for (std::size_t n = 0; n < out_.size(); ++n)
    offset += static_cast<std::int64_t>(index[static_cast<std::size_t>(number_of(out_[n]))]) * result_.dim(static_cast<int>(out_.size() - 1 - n)).stride();
  return result_.data()[offset];
}

void StageCase::each(const std::vector<std::string>& dims, Index index, const std::function<void(const Index&)>& f) const {
  std::vector<std::size_t> numbers;
  for (const std::string& dim : dims) {
    numbers.push_back(static_cast<std::size_t>(number_of(dim)));
    if (sizes_[numbers.back()] == 0) return;
    index[numbers.back()] = 0;
  }
  while (true) {
    f(index);
    std::size_t n = numbers.size();
    while (n > 0 && ++index[numbers[n - 1]] == sizes_[numbers[n - 1]]) index[numbers[--n]] = 0;
    if (n == 0) return;
  }
}

std::string StageCase::difference(const std::function<double(const Index&)>& expected, const std::function<double(const Index&)>& allowed, int step) const {
  int count = 0, number = 0;
  double worst = 0;
  std::ostringstream text;
  each(out_, Index{}, [&](const Index& index) {
    if (number++ % step != 0) return;
    const double want = expected(index), got = result(index), limit = allowed(index);
    if ((std::isnan(want) && std::isnan(got)) || std::abs(got - want) <= limit) return;
    ++count;
    const double excess = std::isnan(got - want) ? std::numeric_limits<double>::infinity() : std::abs(got - want) / std::max(limit, 1e-30);
    if (excess <= worst) return;
    worst = excess;
    text.str("");
    text << "worst at [";
    for (std::size_t n = 0; n < out_.size(); ++n) text << (n == 0 ? "" : ", ") << index[static_cast<std::size_t>(number_of(out_[n]))];
    text << "]: got " << got << ", expected " << want << ", allowed " << limit;
  });
  return count == 0 ? "" : std::to_string(count) + " elements differ; " + text.str();
}

}  // namespace attune
