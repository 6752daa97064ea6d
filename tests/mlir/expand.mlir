// Composites stand as what they mean.
// RUN: attune-opt %s --attn-expand | FileCheck %s
// RUN: attune-opt %s --attn-specialise="set=model=8 type=bf16" --attn-expand | FileCheck %s --check-prefix=TYPED

!x = !attn.tensor<tokens, model, real>
!y = !attn.tensor<tokens, hidden, real>
func.func @f(%x: !x {attn.name = "x"}, %w: !attn.tensor<hidden, model, real> {attn.name = "w"}, %b: !attn.tensor<hidden, real> {attn.name = "b"}, %keep: !attn.tensor<hidden, boolean> {attn.name = "keep"}) -> !y {
  // CHECK: %[[PRODUCT:.*]] = attn.matmul %arg0, %arg1 {over = ["model"]}
  // CHECK-NEXT: %[[SUM:.*]] = attn.add %[[PRODUCT]], %arg2
  // TYPED: attn.matmul {{.*}} : (!attn.tensor<tokens, model=8, bf16>, !attn.tensor<hidden, model=8, bf16>) -> !attn.tensor<tokens, hidden, f32>
  // TYPED-NEXT: attn.add {{.*}} : (!attn.tensor<tokens, hidden, f32>, !attn.tensor<hidden, bf16>) -> !attn.tensor<tokens, hidden, f32>
  %0 = attn.linear %x, %w, %b {over = ["model"]} : (!x, !attn.tensor<hidden, model, real>, !attn.tensor<hidden, real>) -> !y
  // CHECK: %[[FACTOR:.*]] = attn.constant {kind = "real", value = 2}
  %1 = attn.constant {kind = "real", value = 2} : () -> !attn.tensor<real>
  // CHECK-NEXT: %[[SCALED:.*]] = attn.multiply %[[SUM]], %[[FACTOR]]
  %2 = attn.scale %0, %1 : (!y, !attn.tensor<real>) -> !y
  // CHECK-NEXT: %[[HIDDEN:.*]] = attn.constant {kind = "real", value = "-inf"}
  // CHECK-NEXT: attn.select %arg3, %[[SCALED]], %[[HIDDEN]]
  %3 = attn.mask %2, %keep : (!y, !attn.tensor<hidden, boolean>) -> !y
  attn.return %3 {names = ["out"], dims = [["tokens", "hidden"]]} : !y
}
