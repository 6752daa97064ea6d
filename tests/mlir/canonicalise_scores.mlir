// A factor of scores stands at the queries; other products keep theirs. Renames of renames are one.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!q = !attn.tensor<heads, queries, depth, real>
!k = !attn.tensor<heads, keys, depth, real>
!s = !attn.tensor<heads, queries, keys, real>
!r = !attn.tensor<real>
!h = !attn.tensor<heads, real>

// CHECK-LABEL: func.func @scores
// CHECK: %[[FACTOR:.*]] = attn.constant {kind = "real", value = 1.250000e-01}
// CHECK-NEXT: %[[SCALED:.*]] = attn.multiply %arg0, %[[FACTOR]]
// CHECK-NEXT: %[[Q:.*]] = attn.multiply %[[SCALED]], %arg2
// CHECK-NEXT: %[[S:.*]] = attn.matmul %[[Q]], %arg1 {over = ["depth"]}
// CHECK-NEXT: %[[P:.*]] = attn.softmax %[[S]]
// CHECK-NEXT: %[[O:.*]] = attn.matmul %[[P]], %arg1
// CHECK-NEXT: attn.multiply %[[O]], %arg2
func.func @scores(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %t: !h {attn.name = "t"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %half = attn.constant {kind = "real", value = 0.5} : () -> !r
  %four = attn.constant {kind = "real", value = 4} : () -> !r
  %1 = attn.multiply %half, %0 : (!r, !s) -> !s
  %2 = attn.divide %1, %four : (!s, !r) -> !s
  %3 = attn.multiply %2, %t : (!s, !h) -> !s
  %4 = attn.softmax %3 {over = "keys"} : (!s) -> !s
  %5 = attn.matmul %4, %k {over = ["keys"]} : (!s, !k) -> !q
  %6 = attn.multiply %5, %t : (!q, !h) -> !q
  attn.return %6 {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}

// CHECK-LABEL: func.func @renames
// CHECK-SAME: c = {formula = "product", operands = ["a"], value = 1 : i64}
// CHECK-NEXT: %[[ONE:.*]] = attn.rename %arg0 {from = "a", to = "c"} : (!attn.tensor<a, real>) -> !attn.tensor<c, real>
// CHECK-NEXT: attn.return %[[ONE]]
func.func @renames(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<c, real> {
  %0 = attn.rename %x {from = "a", to = "b"} : (!attn.tensor<a, real>) -> !attn.tensor<b, real>
  %1 = attn.rename %0 {from = "b", to = "c"} : (!attn.tensor<b, real>) -> !attn.tensor<c, real>
  attn.return %1 {names = ["out"], dims = [["c"]]} : !attn.tensor<c, real>
}

// `c` follows from `b` for y as well, so it stays so.
// CHECK-LABEL: func.func @two_sources
// CHECK-COUNT-3: attn.rename
func.func @two_sources(%x: !attn.tensor<a, real> {attn.name = "x"}, %y: !attn.tensor<b, real> {attn.name = "y"}) -> !attn.tensor<c, real> {
  %0 = attn.rename %x {from = "a", to = "b"} : (!attn.tensor<a, real>) -> !attn.tensor<b, real>
  %1 = attn.rename %0 {from = "b", to = "c"} : (!attn.tensor<b, real>) -> !attn.tensor<c, real>
  %2 = attn.rename %y {from = "b", to = "c"} : (!attn.tensor<b, real>) -> !attn.tensor<c, real>
  %3 = attn.add %1, %2 : (!attn.tensor<c, real>, !attn.tensor<c, real>) -> !attn.tensor<c, real>
  attn.return %3 {names = ["out"], dims = [["c"]]} : !attn.tensor<c, real>
}

// What a removed rename said of a dim is still known.
// CHECK-LABEL: func.func @dead
// CHECK-SAME: attn.dims = {b = {formula = "product", operands = ["a"], value = 1 : i64}}
// CHECK-NOT: attn.rename
// CHECK: attn.index {dim = "b"}
func.func @dead(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<b, i64> {
  %0 = attn.rename %x {from = "a", to = "b"} : (!attn.tensor<a, real>) -> !attn.tensor<b, real>
  %1 = attn.index {dim = "b"} : () -> !attn.tensor<b, i64>
  attn.return %1 {names = ["out"], dims = [["b"]]} : !attn.tensor<b, i64>
}
