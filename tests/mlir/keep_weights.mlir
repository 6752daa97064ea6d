// Weights that are read beside their matmul come from a product of their own, and from what the softmax divides by.
// RUN: attune-opt %s --attn-keep-weights | FileCheck %s
// RUN: attune-opt %s --attn-keep-weights --attn-form-stages | FileCheck %s --check-prefix=STAGES

!q = !attn.tensor<queries, depth, real>
!k = !attn.tensor<keys, depth, real>
!s = !attn.tensor<queries, keys, real>
!o = !attn.tensor<queries, depth, real>

// CHECK: func.func @beside
// CHECK: %[[SCORES:.*]] = attn.matmul %arg0, %arg1
// CHECK: %[[L:.*]] = attn.log_sum_exp %[[SCORES]] {over = "keys"}
// CHECK: %[[WEIGHTS:.*]] = attn.softmax %[[SCORES]]
// CHECK: %[[AGAIN:.*]] = attn.matmul %arg0, %arg1
// CHECK: %[[DIFFERENCE:.*]] = attn.subtract %[[AGAIN]], %[[L]]
// CHECK: %[[P:.*]] = attn.exp %[[DIFFERENCE]]
// CHECK: %[[EMPTY:.*]] = attn.equal %[[L]]
// CHECK: %[[BESIDE:.*]] = attn.select %[[EMPTY]], {{.*}}, %[[P]]
// CHECK: %[[OUT:.*]] = attn.matmul %[[WEIGHTS]], %arg2
// CHECK: attn.return %[[OUT]], %[[BESIDE]]
// STAGES: func.func @beside
// STAGES: %[[BOTH:.*]]:2 = attn.stage "online_softmax" ({{.*}} = %arg0, {{.*}} = %arg1, {{.*}} = %arg2) {{.*}} -> (!attn.tensor<queries, depth, real>, !attn.tensor<queries, real>)
// STAGES: attn.yield {{.*}} : !attn.tensor<queries, depth, real>, !attn.tensor<queries, real>
// STAGES: %[[KEPT:.*]] = attn.stage "gemm" ({{.*}} = %arg0, {{.*}} = %arg1, {{.*}} = %[[BOTH]]#1)
// STAGES: attn.return %[[BOTH]]#0, %[[KEPT]]
func.func @beside(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!o, !s) {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %out = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  attn.return %out, %weights {names = ["out", "weights"], dims = [["queries", "depth"], ["queries", "keys"]]} : !o, !s
}
// -----
// Weights of two matmuls, and those that one matmul alone reads, stay as they are.
// CHECK: func.func @twice
// CHECK-NOT: attn.log_sum_exp
// CHECK: attn.return
func.func @twice(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!o, !o) {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %a = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  %b = attn.matmul %weights, %k {over = ["keys"]} : (!s, !k) -> !o
  attn.return %a, %b {names = ["a", "b"], dims = [["queries", "depth"], ["queries", "depth"]]} : !o, !o
}
// -----
// The matmul's values are made of the weights: its stage cannot come first.
// CHECK: func.func @circle
// CHECK-NOT: attn.log_sum_exp
// CHECK: attn.return
func.func @circle(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> !o {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %sums = attn.reduce_sum %weights {over = ["queries"]} : (!s) -> !attn.tensor<keys, real>
  %values = attn.multiply %v, %sums : (!k, !attn.tensor<keys, real>) -> !k
  %out = attn.matmul %weights, %values {over = ["keys"]} : (!s, !k) -> !o
  attn.return %out {names = ["out"], dims = [["queries", "depth"]]} : !o
}
// -----
// Sums that alone read the weights beside their matmul each get some of their own: with a stage of its own for each, none are stored. A mask is put on the
// weights.
// CHECK: func.func @sums
// CHECK-COUNT-3: attn.matmul %arg0, %arg1
// STAGES: func.func @sums
// STAGES: attn.stage "online_softmax"
// STAGES: attn.stage "weighted_sum" ({{.*}}) {decisions = {reason = "the sum over queries alone reads what is made of keys x queries"}}
// STAGES: attn.exp
// STAGES: attn.select
// STAGES-NEXT: attn.select
// STAGES-NEXT: attn.reduce_sum
// STAGES: attn.stage "weighted_sum" ({{.*}}) {decisions = {reason = "the sum over keys alone reads what is made of queries x keys"}}
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @sums(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!o, !attn.tensor<keys, real>, !attn.tensor<queries, real>) {
  %product = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %i = attn.index {dim = "queries"} : () -> !attn.tensor<queries, i64>
  %j = attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
  %c = attn.greater_equal %i, %j : (!attn.tensor<queries, i64>, !attn.tensor<keys, i64>) -> !attn.tensor<queries, keys, boolean>
  %hidden = attn.constant {kind = "real", value = 0xFFF0000000000000 : f64} : () -> !attn.tensor<real>
  %scores = attn.select %c, %product, %hidden : (!attn.tensor<queries, keys, boolean>, !s, !attn.tensor<real>) -> !s
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %out = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  %columns = attn.reduce_sum %weights {over = ["queries"]} : (!s) -> !attn.tensor<keys, real>
  %square = attn.multiply %weights, %weights : (!s, !s) -> !s
  %rows = attn.reduce_sum %square {over = ["keys"]} : (!s) -> !attn.tensor<queries, real>
  attn.return %out, %columns, %rows {names = ["out", "columns", "rows"], dims = [["queries", "depth"], ["keys"], ["queries"]]} : !o, !attn.tensor<keys, real>, !attn.tensor<queries, real>
}

// A logarithm that is read in front of the softmax stays in front of its readers.
!h = !attn.tensor<queries, real>
// CHECK: func.func @read_before
// CHECK: %[[SCORES:.*]] = attn.matmul %arg0, %arg1
// CHECK-NEXT: %[[L:.*]] = attn.log_sum_exp %[[SCORES]]
// CHECK: %[[GATE:.*]] = attn.subtract %[[L]], %arg3
// CHECK: attn.softmax %[[SCORES]]
// CHECK-NOT: attn.log_sum_exp
// CHECK: attn.return
func.func @read_before(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %sink: !h {attn.name = "sink"}) -> (!o, !s) {
  %scores = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %l = attn.log_sum_exp %scores {over = "keys"} : (!s) -> !h
  %gate = attn.subtract %l, %sink : (!h, !h) -> !h
  %weights = attn.softmax %scores {over = "keys"} : (!s) -> !s
  %sum = attn.matmul %weights, %v {over = ["keys"]} : (!s, !k) -> !o
  %out = attn.multiply %sum, %gate : (!o, !h) -> !o
  attn.return %out, %weights {names = ["out", "weights"], dims = [["queries", "depth"], ["queries", "keys"]]} : !o, !s
}
