// A function of masked scores that is 0 of minus infinity is masked itself, so that blocks are left out.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!s = !attn.tensor<queries, keys, real>
!m = !attn.tensor<queries, keys, boolean>
!z = !attn.tensor<real>

// CHECK-LABEL: func.func @sigmoid
// CHECK: %[[ZERO:.*]] = attn.constant {kind = "real", value = 0}
// CHECK: %[[WEIGHT:.*]] = attn.sigmoid %arg0
// CHECK: attn.select %arg1, %[[WEIGHT]], %[[ZERO]]
func.func @sigmoid(%s: !s {attn.name = "s"}, %m: !m {attn.name = "m"}) -> !s {
  %hidden = attn.constant {kind = "real", value = "-inf"} : () -> !z
  %0 = attn.select %m, %s, %hidden : (!m, !s, !z) -> !s
  %1 = attn.sigmoid %0 : (!s) -> !s
  attn.return %1 {names = ["out"], dims = [["queries", "keys"]]} : !s
}

// A tanh is -1 there: the mask stays where it is.
// CHECK-LABEL: func.func @tanh
// CHECK: %[[MASKED:.*]] = attn.select %arg1, %arg0
// CHECK: attn.tanh %[[MASKED]]
func.func @tanh(%s: !s {attn.name = "s"}, %m: !m {attn.name = "m"}) -> !s {
  %hidden = attn.constant {kind = "real", value = "-inf"} : () -> !z
  %0 = attn.select %m, %s, %hidden : (!m, !s, !z) -> !s
  %1 = attn.tanh %0 : (!s) -> !s
  attn.return %1 {names = ["out"], dims = [["queries", "keys"]]} : !s
}
