// Extents that are given or follow, and storage, become part of the types.
// RUN: attune-opt %s --attn-specialise="set=tokens=5,model=24 type=bf16,bias=f32" | FileCheck %s
// RUN: attune-opt %s --attn-specialise | FileCheck %s --check-prefix=DEFAULT
// RUN: attune-opt %s --attn-specialise="type=bf16,lse=bf16" | FileCheck %s --check-prefix=NAMED
// RUN: not attune-opt %s --attn-specialise="set=dpth=64" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attune-opt %s --attn-specialise="set=tokens=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not attune-opt %s --attn-specialise="set=depth=8,model=25" 2>&1 | FileCheck %s --check-prefix=DIVIDES
// RUN: not attune-opt %s --attn-specialise="set=keys=5" 2>&1 | FileCheck %s --check-prefix=DERIVED
// RUN: not attune-opt %s --attn-specialise="set=heads=4" 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: not attune-opt %s --attn-specialise="set=tokens" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: attune-opt %s --attn-specialise="type=f16" | FileCheck %s --check-prefix=HALF
// RUN: not attune-opt %s --attn-specialise="type=f8" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not attune-opt %s --attn-specialise="type=y=f32" 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: attune-opt %s --attn-specialise="type=bf16,products=bf16" | FileCheck %s --check-prefix=PRODUCTS
// RUN: not attune-opt %s --attn-specialise="type=products=f16" 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: not attune-opt %s --attn-specialise="type=lengths=f32" 2>&1 | FileCheck %s --check-prefix=INTEGER

// NAME: error: specialise: dpth is not a dim of 'f'; its dims are tokens, model, heads, depth, keys
// ZERO: error: specialise: tokens is 0; an extent must be positive
// DIVIDES: error: specialise: model is 25; it must be a multiple of 3
// DERIVED: error: specialise: keys is given, and follows from [tokens]; give their extents, too
// FIXED: error: specialise: heads is 4, but 'f' fixes it to 3
// FORM: error: specialise: 'tokens' is not an extent; depth=64 is one
// TYPE: error: specialise: 'f8' is not a type of reals; those are f32, bf16, f16
// TENSOR: error: specialise: 'y' is neither an input nor an output of 'f'; they are x, bias, lengths, out, lse
// PRODUCTS: func.func @f({{.*}} attributes {attn.products = "bf16"}
// PRODUCT: error: specialise: products are of f32 or of bf16, not of 'f16'
// INTEGER: error: specialise: 'lengths' is i32; only the storage of reals is chosen

// CHECK: func.func @f(%arg0: !attn.tensor<tokens=5, model=24, bf16> {attn.name = "x"}, %arg1: !attn.tensor<model=24, f32> {attn.name = "bias"}, %arg2: !attn.tensor<tokens=5, i32> {attn.name = "lengths"}) -> (!attn.tensor<heads=3, keys=5, depth=8, bf16>, !attn.tensor<tokens=5, f32>)
// HALF: func.func @f({{.*}} -> (!attn.tensor<heads=3, keys, depth, f16>, !attn.tensor<tokens, f32>)
// NAMED: func.func @f({{.*}} -> (!attn.tensor<heads=3, keys, depth, bf16>, !attn.tensor<tokens, bf16>)
// DEFAULT: func.func @f(%arg0: !attn.tensor<tokens, model, f32> {attn.name = "x"}, %arg1: !attn.tensor<model, f32> {{.*}}, %arg2: !attn.tensor<tokens, i32> {{.*}}) -> (!attn.tensor<heads=3, keys, depth, f32>, !attn.tensor<tokens, f32>)
func.func @f(%x: !attn.tensor<tokens, model, real> {attn.name = "x"}, %bias: !attn.tensor<model, real> {attn.name = "bias"}, %lengths: !attn.tensor<tokens, i32> {attn.name = "lengths"}) -> (!attn.tensor<heads, keys, depth, real>, !attn.tensor<tokens, real>) {
  // CHECK: attn.add {{.*}} : (!attn.tensor<tokens=5, model=24, bf16>, !attn.tensor<model=24, f32>) -> !attn.tensor<tokens=5, model=24, f32>
  %0 = attn.add %x, %bias : (!attn.tensor<tokens, model, real>, !attn.tensor<model, real>) -> !attn.tensor<tokens, model, real>
  %1 = attn.split %0 {from = "model", into = ["heads", "depth"], extents = [3, 0, 0, 0]} : (!attn.tensor<tokens, model, real>) -> !attn.tensor<tokens, heads, depth, real>
  %2 = attn.rename %1 {from = "tokens", to = "keys"} : (!attn.tensor<tokens, heads, depth, real>) -> !attn.tensor<keys, heads, depth, real>
  %3 = attn.exp %0 : (!attn.tensor<tokens, model, real>) -> !attn.tensor<tokens, model, real>
  %4 = attn.reduce_sum %3 {over = ["model"]} : (!attn.tensor<tokens, model, real>) -> !attn.tensor<tokens, real>
  %5 = attn.log %4 : (!attn.tensor<tokens, real>) -> !attn.tensor<tokens, real>
  attn.return %2, %5 {names = ["out", "lse"], dims = [["heads", "keys", "depth"], ["tokens"]]} : !attn.tensor<keys, heads, depth, real>, !attn.tensor<tokens, real>
}
