// A matmul that one stage can compute with its scores has scores of its own.
// RUN: attune-opt %s --attn-own-scores | FileCheck %s
// RUN: attune-opt %s --attn-own-scores --attn-keep-weights --attn-form-stages | FileCheck %s --check-prefix=STAGES

!q = !attn.tensor<queries, depth, real>
!k = !attn.tensor<keys, depth, real>
!s = !attn.tensor<queries, keys, real>
!m = !attn.tensor<queries, keys, boolean>
!o = !attn.tensor<queries, depth, real>
!z = !attn.tensor<real>

// Two softmaxes of one product: what does not hold it, as the mask, is read by both.
// CHECK-LABEL: func.func @two_softmaxes
// CHECK: %[[HIDDEN:.*]] = attn.constant
// CHECK-DAG: %[[A:.*]] = attn.matmul %arg0, %arg1
// CHECK-DAG: %[[B:.*]] = attn.matmul %arg0, %arg1
// CHECK-NOT: attn.matmul %arg0
// CHECK: attn.return
// STAGES-LABEL: func.func @two_softmaxes
// STAGES-COUNT-2: attn.stage "online_softmax"
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @two_softmaxes(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %m: !m {attn.name = "m"}) -> !o {
  %hidden = attn.constant {kind = "real", value = "-inf"} : () -> !z
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %some = attn.select %m, %scores, %hidden : (!m, !s, !z) -> !s
  %0 = attn.softmax %some {over = "keys"} : (!s) -> !s
  %1 = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %2 = attn.matmul %0, %v {over = ["keys"]} : (!s, !k) -> !o
  %3 = attn.matmul %1, %v {over = ["keys"]} : (!s, !k) -> !o
  %4 = attn.add %2, %3 : (!o, !o) -> !o
  attn.return %4 {names = ["out"], dims = [["queries", "depth"]]} : !o
}
// -----
// Weights that two values are summed with, in turn.
// STAGES-LABEL: func.func @twice
// STAGES-COUNT-2: attn.stage "online_softmax"
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @twice(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> !o {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %0 = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  %1 = attn.matmul %weights, %k {over = ["keys"]} : (!s, !k) -> !o
  %2 = attn.multiply %0, %1 : (!o, !o) -> !o
  attn.return %2 {names = ["out"], dims = [["queries", "depth"]]} : !o
}
// -----
// Scores that are a result are stored for it alone.
// STAGES-LABEL: func.func @scores
// STAGES: attn.stage "gemm"
// STAGES: attn.stage "online_softmax" ({{.*}} = %arg0, {{.*}} = %arg1, {{.*}} = %arg2)
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @scores(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!s, !o) {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %out = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  attn.return %scores, %out {names = ["scores", "out"], dims = [["queries", "keys"], ["queries", "depth"]]} : !s, !o
}
// -----
// Weights that are a result come from what the softmax divides by: attn-keep-weights makes them.
// CHECK-LABEL: func.func @weights
// CHECK-COUNT-2: attn.matmul
// CHECK-NOT: attn.matmul
// CHECK: attn.return
func.func @weights(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!s, !o) {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %out = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  attn.return %weights, %out {names = ["weights", "out"], dims = [["queries", "keys"], ["queries", "depth"]]} : !s, !o
}
// -----
// No stage could compute the other matmul with its weights: both read what is stored.
// CHECK-LABEL: func.func @stored
// CHECK-COUNT-2: attn.matmul
// CHECK-NOT: attn.matmul
// CHECK: attn.return
func.func @stored(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"}) -> !o {
  %weights = attn.softmax %s {over = "keys"} : (!s) -> !s
  %0 = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  %1 = attn.exp %v : (!k) -> !k
  %2 = attn.matmul %weights, %1 {over = ["keys"]} : (!s, !k) -> !o
  %3 = attn.add %0, %2 : (!o, !o) -> !o
  attn.return %3 {names = ["out"], dims = [["queries", "depth"]]} : !o
}
// -----
// Weights that are relative to the greatest score of their row: the maximum has a product of its own.
// CHECK-LABEL: func.func @relative
// CHECK-COUNT-3: attn.matmul
// CHECK-NOT: attn.matmul
// CHECK: attn.return
// STAGES-LABEL: func.func @relative
// STAGES-COUNT-2: attn.stage "weighted_sum"
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @relative(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %m: !m {attn.name = "m"}) -> !o {
  %nothing = attn.constant {kind = "real", value = 0.000000e+00} : () -> !z
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %most = attn.reduce_max %scores {over = ["keys"]} : (!s) -> !attn.tensor<queries, real>
  %below = attn.subtract %scores, %most : (!s, !attn.tensor<queries, real>) -> !s
  %powers = attn.exp %below : (!s) -> !s
  %weights = attn.select %m, %powers, %nothing : (!m, !s, !z) -> !s
  %out = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  attn.return %out {names = ["out"], dims = [["queries", "depth"]]} : !o
}
// -----
// A layer's norm by its greatest feature: the product is stored once for both.
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-1: attn.matmul
// CHECK-NOT: attn.matmul
// CHECK: attn.return
func.func @norm(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}) -> !s {
  %features = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %most = attn.reduce_max %features {over = ["keys"]} : (!s) -> !attn.tensor<queries, real>
  %0 = attn.divide %features, %most : (!s, !attn.tensor<queries, real>) -> !s
  attn.return %0 {names = ["out"], dims = [["queries", "keys"]]} : !s
}
