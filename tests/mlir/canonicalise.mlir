// One form for graphs that mean the same; nothing assumes finite numbers.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!x = !attn.tensor<queries, depth=64, real>
!r = !attn.tensor<real>
!i = !attn.tensor<i64>

// CHECK-LABEL: func.func @constants
// CHECK-NEXT: %[[SCALE:.*]] = attn.constant {kind = "real", value = 1.250000e-01}
// CHECK-NEXT: %[[PRODUCT:.*]] = attn.multiply %arg0, %[[SCALE]]
// CHECK-NEXT: attn.return %[[PRODUCT]]
func.func @constants(%x: !x {attn.name = "x"}) -> !x {
  %n = attn.extent {dim = "depth"} : () -> !i
  %r = attn.sqrt %n : (!i) -> !r
  %1 = attn.constant {kind = "real", value = 1} : () -> !r
  %s = attn.divide %1, %r : (!r, !r) -> !r
  %y = attn.multiply %x, %s : (!x, !r) -> !x
  %z = attn.multiply %1, %y : (!r, !x) -> !x
  attn.return %z {names = ["out"], dims = [["queries", "depth"]]} : !x
}

// A constant that its kind does not have is no constant: 2^53 + 2^53.
// CHECK-LABEL: func.func @overflow
// CHECK: attn.add
func.func @overflow(%x: !attn.tensor<queries, i64> {attn.name = "x"}) -> !attn.tensor<queries, i64> {
  %0 = attn.constant {kind = "i64", value = 9007199254740992.0} : () -> !i
  %1 = attn.add %0, %0 : (!i, !i) -> !i
  %2 = attn.less %x, %1 : (!attn.tensor<queries, i64>, !i) -> !attn.tensor<queries, boolean>
  %3 = attn.to_i64 %2 : (!attn.tensor<queries, boolean>) -> !attn.tensor<queries, i64>
  attn.return %3 {names = ["out"], dims = [["queries"]]} : !attn.tensor<queries, i64>
}

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: attn.return %arg0
func.func @neutral(%x: !x {attn.name = "x"}, %keep: !attn.tensor<queries, boolean> {attn.name = "keep"}) -> !x {
  %0 = attn.constant {kind = "real", value = 0} : () -> !r
  %1 = attn.constant {kind = "real", value = 1} : () -> !r
  %2 = attn.add %0, %x : (!r, !x) -> !x
  %3 = attn.subtract %2, %0 : (!x, !r) -> !x
  %4 = attn.divide %3, %1 : (!x, !r) -> !x
  %5 = attn.negate %4 : (!x) -> !x
  %6 = attn.negate %5 : (!x) -> !x
  %t = attn.less %0, %1 : (!r, !r) -> !attn.tensor<boolean>
  %7 = attn.select %t, %6, %0 : (!attn.tensor<boolean>, !x, !r) -> !x
  attn.return %7 {names = ["out"], dims = [["queries", "depth"]]} : !x
}

// x * 0 is NaN where x is infinite, and x - x too.
// CHECK-LABEL: func.func @not_finite
// CHECK: %[[A:.*]] = attn.multiply %arg0
// CHECK: %[[B:.*]] = attn.subtract %arg0, %arg0
// CHECK: attn.add %[[A]], %[[B]]
func.func @not_finite(%x: !x {attn.name = "x"}) -> !x {
  %0 = attn.constant {kind = "real", value = 0} : () -> !r
  %1 = attn.multiply %x, %0 : (!x, !r) -> !x
  %2 = attn.subtract %x, %x : (!x, !x) -> !x
  %3 = attn.add %1, %2 : (!x, !x) -> !x
  attn.return %3 {names = ["out"], dims = [["queries", "depth"]]} : !x
}

// An operand with fewer dims than the result is not the result.
// CHECK-LABEL: func.func @broadcast
// CHECK: attn.select
func.func @broadcast(%x: !x {attn.name = "x"}, %y: !attn.tensor<queries, real> {attn.name = "y"}) -> !x {
  %t = attn.constant {kind = "boolean", value = 0} : () -> !attn.tensor<boolean>
  %0 = attn.select %t, %x, %y : (!attn.tensor<boolean>, !x, !attn.tensor<queries, real>) -> !x
  attn.return %0 {names = ["out"], dims = [["queries", "depth"]]} : !x
}
