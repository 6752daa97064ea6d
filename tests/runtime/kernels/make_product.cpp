/// make_product OBJECT SYMBOL TARGET: a kernel from Halide, as the compiler makes them: user context on, no runtime inside.
/// out[r, c] = keep[r] ? sum_i (2 * a[r, i]) * b[i, c] : 0, with b stored as bf16, keep as boolean.
#include <Halide.h>

#include <cstdio>

namespace {

using namespace Halide;

/// A bf16, which is stored as its bits, as an f32.
Expr number(const Expr& stored) { return reinterpret<float>(cast<std::uint32_t>(stored) << 16); }

void make(const std::string& object, const std::string& symbol, const Target& target) {
  const bool is_gpu = target.has_gpu_feature();
  ImageParam a(Float(32), 2, "a"), b(UInt(16), 2, "b"), keep(UInt(8), 1, "keep");
  Var c("c"), r("r"), i("i"), ct("ct"), rt("rt");
  RDom inner(0, a.dim(0).extent());
  Func doubled("doubled"), sum("sum"), out("out");
  doubled(i, r) = 2.0f * a(i, r);
  sum(c, r) = 0.0f;
  sum(c, r) += doubled(inner, r) * number(b(c, inner));
  out(c, r) = select(keep(r) != 0, sum(c, r), 0.0f);
  if (is_gpu) {
    doubled.compute_root().gpu_tile(i, r, ct, rt, 8, 8, TailStrategy::GuardWithIf);
    out.gpu_tile(c, r, ct, rt, 8, 8, TailStrategy::GuardWithIf);
  } else {
    doubled.compute_root().parallel(r);
    sum.compute_at(out, r).store_in(MemoryType::Heap);
    out.parallel(r);
  }
  const Target features = target.with_feature(Target::UserContext).with_feature(Target::NoRuntime);
  out.compile_to_object(object, {a, b, keep}, symbol, features);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    make(argv[1], argv[2], Halide::Target(std::string(argv[3])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_product: %s\n", error.what());
    return 1;
  }
}
