// The body becomes stages that hold the same operations and see only their operands.
// RUN: attune-opt %s --attn-expand --attn-canonicalise --attn-form-stages | FileCheck %s
// RUN: attune-opt %s --attn-expand --attn-canonicalise --attn-form-stages=fuse=false | FileCheck %s --check-prefix=APART
// RUN: attune-opt %s --attn-expand --attn-canonicalise --attn-form-stages | attune-opt --cse --canonicalize | FileCheck %s

!q = !attn.tensor<queries, depth, real>
!k = !attn.tensor<keys, depth, real>
!t = !attn.tensor<tokens, depth, real>
!s = !attn.tensor<queries, keys, real>

// CHECK: func.func @attention({{.*}} attributes {attn.dims = {keys = {formula = "product", operands = ["tokens"], value = 1 : i64}}} {
// CHECK-NEXT: %[[OUT:.*]] = attn.stage "online_softmax" ({{.*}} = %arg0, {{.*}} = %arg1) {decisions = {reason = "the weights of queries x keys are used by one matmul alone"}}
// CHECK: attn.matmul
// CHECK: attn.softmax
// CHECK: attn.matmul
// CHECK-NEXT: attn.yield
// CHECK-NEXT: }
// CHECK-NEXT: attn.return %[[OUT]]

// APART: %[[SCORES:.*]] = attn.stage "gemm"
// APART: %[[WEIGHTS:.*]] = attn.stage "row_softmax" ({{.*}} = %[[SCORES]])
// APART: %[[OUT:.*]] = attn.stage "gemm" ({{.*}} = %[[WEIGHTS]])
// APART: attn.return %[[OUT]]
func.func @attention(%q: !q {attn.name = "q"}, %x: !t {attn.name = "x"}) -> !q {
  %k = attn.rename %x {from = "tokens", to = "keys"} : (!t) -> !k
  %s = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %i = attn.index {dim = "queries"} : () -> !attn.tensor<queries, i64>
  %j = attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
  %c = attn.greater_equal %i, %j : (!attn.tensor<queries, i64>, !attn.tensor<keys, i64>) -> !attn.tensor<queries, keys, boolean>
  %m = attn.mask %s, %c : (!s, !attn.tensor<queries, keys, boolean>) -> !s
  %p = attn.softmax %m {over = "keys"} : (!s) -> !s
  %o = attn.matmul %p, %k {over = ["keys"]} : (!s, !k) -> !q
  attn.return %o {names = ["out"], dims = [["queries", "depth"]]} : !q
}

// An argument that is returned is copied.
// CHECK: func.func @copy
// CHECK: %[[COPY:.*]] = attn.stage "pointwise" (%[[INSIDE:.*]] = %arg0)
// CHECK-NEXT: attn.yield %[[INSIDE]]
// CHECK: attn.return %[[COPY]]
func.func @copy(%q: !q {attn.name = "q"}) -> !attn.tensor<depth, queries, real> {
  attn.return %q {names = ["out"], dims = [["depth", "queries"]]} : !q
}

// Weights that no softmax makes are computed with the matmul that sums over them: where heads are shared, or a mask is between. A hidden layer is stored.
!hq = !attn.tensor<heads, queries, depth, real>
!hk = !attn.tensor<heads, keys, depth, real>
!hs = !attn.tensor<heads, queries, keys, real>
// CHECK: func.func @sigmoid
// CHECK: attn.stage "weighted_sum" ({{.*}}) {decisions = {reason = "the weights of queries x keys are used by one matmul alone, without a softmax"}}
// APART: func.func @sigmoid
// APART-COUNT-2: attn.stage "gemm"
func.func @sigmoid(%q: !hq {attn.name = "q"}, %k: !hk {attn.name = "k"}, %v: !hk {attn.name = "v"}) -> !hq {
  %s = attn.matmul %q, %k {over = ["depth"]} : (!hq, !hk) -> !hs
  %w = attn.sigmoid %s : (!hs) -> !hs
  %o = attn.matmul %w, %v {over = ["keys"]} : (!hs, !hk) -> !hq
  attn.return %o {names = ["out"], dims = [["heads", "queries", "depth"]]} : !hq
}
// CHECK: func.func @hidden_layer
// CHECK: attn.stage "gemm"
// CHECK: attn.stage "gemm" ({{.*}}) {decisions = {reason = "the weights are a hidden layer: queries, keys and values share no dim, and no mask is between the products"}}
func.func @hidden_layer(%x: !hq {attn.name = "x"}, %a: !k {attn.name = "a"}, %b: !k {attn.name = "b"}) -> !hq {
  %s = attn.matmul %x, %a {over = ["depth"]} : (!hq, !k) -> !hs
  %w = attn.tanh %s : (!hs) -> !hs
  %o = attn.matmul %w, %b {over = ["keys"]} : (!hs, !k) -> !hq
  attn.return %o {names = ["out"], dims = [["heads", "queries", "depth"]]} : !hq
}
