/// The unfused attention that Halide's own autoschedulers are measured with: matmul, scale, mask, softmax and matmul as Funcs of their own, scheduled
/// by one of them for given extents, compiled ahead of time. For bench/measure/autoscheduled.py:
///   attune-bench-autoscheduled adams2019 causal BATCH HEADS QUERIES KEYS DEPTH VALUE_DEPTH THREADS NAME FILE.o
#include <Halide.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>
#include <string>
#include <vector>

#include "codegen/files/whole_file.h"

namespace {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::RDom;
using Halide::Var;

struct Scheduler {
  std::string_view name;
  const char *halide, *library;
};
constexpr std::array schedulers = {Scheduler{"adams2019", "Adams2019", "libautoschedule_adams2019.so"},
                                   Scheduler{"mullapudi2016", "Mullapudi2016", "libautoschedule_mullapudi2016.so"}};

struct Extents {
  int batch = 0, heads = 0, queries = 0, keys = 0, depth = 0, value_depth = 0;
};

/// Attention as one writes it in Halide, without a schedule. Dims of buffers are innermost first.
class Attention {
 public:
  Attention(const Extents& extents, bool is_causal) : e_(extents), is_causal_(is_causal) {
    Func scores("scores"), largest("largest"), weights("weights"), sums("sums"), weighted("weighted");
    const RDom over_depth(0, e_.depth, "over_depth"), over_keys(0, e_.keys, "over_keys");
    scores(j_, i_, h_, b_) += q_(over_depth, i_, h_, b_) * k_(over_depth, j_, h_, b_);
    const auto score = [&](const Expr& j) {
      const Expr scaled = scores(j, i_, h_, b_) * (1 / Halide::sqrt(Halide::cast<float>(e_.depth)));
      return is_causal_ ? Halide::select(i_ >= j, scaled, Halide::Float(32).min()) : scaled;
    };
    largest(i_, h_, b_) = Halide::Float(32).min();
    largest(i_, h_, b_) = Halide::max(largest(i_, h_, b_), score(over_keys));
    weights(j_, i_, h_, b_) = Halide::exp(score(j_) - largest(i_, h_, b_));
    sums(i_, h_, b_) += weights(over_keys, i_, h_, b_);
    weighted(d_, i_, h_, b_) += weights(over_keys, i_, h_, b_) * v_(d_, over_keys, h_, b_);
    out_(d_, i_, h_, b_) = weighted(d_, i_, h_, b_) / sums(i_, h_, b_);
  }

  /// Schedules, compiles and writes the object; the problem in words, or nothing. What the schedulers cannot do throws.
  std::string compile(const Scheduler& scheduler, int threads, const std::string& name, const std::string& object) {
    estimate(q_, {e_.depth, e_.queries, e_.heads, e_.batch});
    estimate(k_, {e_.depth, e_.keys, e_.heads, e_.batch});
    estimate(v_, {e_.value_depth, e_.keys, e_.heads, e_.batch});
    out_.set_estimates({{0, e_.value_depth}, {0, e_.queries}, {0, e_.heads}, {0, e_.batch}});
    Halide::Pipeline pipeline(out_);
    Halide::load_plugin(std::string(ATTUNE_HALIDE_LIBRARIES) + "/" + scheduler.library);
    const Halide::Target target = Halide::get_host_target();
    pipeline.apply_autoscheduler(target, {scheduler.halide, {{"parallelism", std::to_string(threads)}}});
    const Halide::Buffer<std::uint8_t> code = pipeline.compile_to_module({q_, k_, v_}, name, target).compile_to_buffer();
    return attune::write_whole(object, {std::string_view(reinterpret_cast<const char*>(code.data()), code.size_in_bytes())});
  }

 private:
  /// The extents are those of every call: the schedulers may count on them, and the compiler too.
  static void estimate(ImageParam& input, const std::array<int, 4>& extents) {
    for (int n = 0; n < 4; ++n) {
      input.dim(n).set_bounds(0, extents[static_cast<std::size_t>(n)]);
      input.dim(n).set_estimate(0, extents[static_cast<std::size_t>(n)]);
    }
  }

  Extents e_;
  bool is_causal_;
  Var d_{"d"}, i_{"i"}, j_{"j"}, h_{"h"}, b_{"b"};
  ImageParam q_{Halide::Float(32), 4, "q"}, k_{Halide::Float(32), 4, "k"}, v_{Halide::Float(32), 4, "v"};
  Func out_{"out"};
};

int refuse(const std::string& sentence) {
  std::cerr << "attune-bench-autoscheduled: " << sentence << "\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  constexpr std::size_t first_extent = 2, extents = 7, all = first_extent + extents + 2;
  if (words.size() != all) return refuse("takes SCHEDULER VARIANT BATCH HEADS QUERIES KEYS DEPTH VALUE_DEPTH THREADS NAME FILE.o");
  const auto scheduler = std::find_if(schedulers.begin(), schedulers.end(), [&](const Scheduler& s) { return s.name == words[0]; });
  if (scheduler == schedulers.end()) return refuse("'" + words[0] + "': is not a scheduler; adams2019 and mullapudi2016 are");
  if (words[1] != "scaled_dot_product" && words[1] != "causal") return refuse("'" + words[1] + "': is not written here; scaled_dot_product and causal are");
  std::array<int, extents> numbers{};
  for (std::size_t n = 0; n < extents; ++n) {
    const std::string& word = words[first_extent + n];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), numbers[n]);
    if (error != std::errc{} || end != word.data() + word.size() || numbers[n] < 1) return refuse("'" + word + "': is not a number above 0");
  }
  const auto [batch, heads, queries, keys, depth, value_depth, threads] = numbers;
  try {
    Attention attention({batch, heads, queries, keys, depth, value_depth}, words[1] == "causal");
    const std::string problem = attention.compile(*scheduler, threads, words[all - 2], words[all - 1]);
    return problem.empty() ? 0 : refuse(problem);
  } catch (const Halide::Error& error) {
    return refuse(std::string(scheduler->halide) + ": " + error.what());
  }
}
