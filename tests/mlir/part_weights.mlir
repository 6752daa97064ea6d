// A sum of softmaxes before a matmul becomes a sum of matmuls, each computed with its softmax: no weights are stored.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s
// RUN: attune-opt %s --attn-canonicalise --attn-form-stages | FileCheck %s --check-prefix=STAGES

!q = !attn.tensor<heads, queries, depth, real>
!k = !attn.tensor<heads, keys, depth, real>
!s = !attn.tensor<heads, queries, keys, real>
!h = !attn.tensor<heads, real>

// CHECK-LABEL: func.func @difference
// CHECK: %[[A:.*]] = attn.softmax
// CHECK: %[[B:.*]] = attn.softmax
// CHECK: %[[FIRST:.*]] = attn.matmul %[[A]], %arg4 {over = ["keys"]}
// CHECK: %[[SECOND:.*]] = attn.matmul %[[B]], %arg4 {over = ["keys"]}
// Of no keys it is 0, whatever the factor is.
// CHECK: %[[SOME:.*]] = attn.select %{{.*}}, %arg5, %{{.*}}
// CHECK: %[[SHARE:.*]] = attn.multiply %[[SECOND]], %[[SOME]]
// CHECK: %[[OUT:.*]] = attn.subtract %[[FIRST]], %[[SHARE]]
// CHECK: attn.return %[[OUT]]
// STAGES-LABEL: func.func @difference
// STAGES-COUNT-2: attn.stage "online_softmax"
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @difference(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %r: !q {attn.name = "r"}, %l: !k {attn.name = "l"}, %v: !k {attn.name = "v"}, %f: !h {attn.name = "f"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.matmul %r, %l {over = ["depth"]} : (!q, !k) -> !s
  %a = attn.softmax %0 {over = "keys"} : (!s) -> !s
  %b = attn.softmax %1 {over = "keys"} : (!s) -> !s
  %2 = attn.multiply %f, %b : (!h, !s) -> !s
  %3 = attn.subtract %a, %2 : (!s, !s) -> !s
  %4 = attn.matmul %3, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %4 {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}

// What is added to the weights and is no softmax stays where it is.
// CHECK-LABEL: func.func @other_term
// CHECK: %[[SUM:.*]] = attn.add
// CHECK: attn.matmul %[[SUM]]
func.func @other_term(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %w: !s {attn.name = "w"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %a = attn.softmax %0 {over = "keys"} : (!s) -> !s
  %1 = attn.add %a, %w : (!s, !s) -> !s
  %2 = attn.matmul %1, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %2 {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}

// A factor of a row that is made of the sum of its weights is one of the product: the sum is computed beside it. Of no keys the product is divided by 1.
// CHECK-LABEL: func.func @normalised
// CHECK: %[[P:.*]] = attn.maximum
// CHECK: %[[TOTAL:.*]] = attn.reduce_sum %[[P]]
// CHECK: %[[SAFE:.*]] = attn.maximum %[[TOTAL]]
// CHECK: %[[PRODUCT:.*]] = attn.matmul %[[P]], %arg2
// CHECK: %[[KEYS:.*]] = attn.extent {dim = "keys"}
// CHECK: %[[SOME:.*]] = attn.greater %[[KEYS]]
// CHECK: %[[FACTOR:.*]] = attn.select %[[SOME]], %[[SAFE]]
// CHECK: attn.divide %[[PRODUCT]], %[[FACTOR]]
// STAGES-LABEL: func.func @normalised
// STAGES: attn.stage "weighted_sum"
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @normalised(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %zero = attn.constant {kind = "real", value = 0} : () -> !attn.tensor<real>
  %p = attn.maximum %0, %zero : (!s, !attn.tensor<real>) -> !s
  %total = attn.reduce_sum %p {over = ["keys"]} : (!s) -> !attn.tensor<heads, queries, real>
  %least = attn.constant {kind = "real", value = 1.0e-6} : () -> !attn.tensor<real>
  %safe = attn.maximum %total, %least : (!attn.tensor<heads, queries, real>, !attn.tensor<real>) -> !attn.tensor<heads, queries, real>
  %w = attn.divide %p, %safe : (!s, !attn.tensor<heads, queries, real>) -> !s
  %out = attn.matmul %w, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %out {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}

// The same of a sum of another function of the product, as in Softpick.
// CHECK-LABEL: func.func @total_of_others
// CHECK: %[[P:.*]] = attn.tanh
// CHECK: %[[PRODUCT:.*]] = attn.matmul %[[P]], %arg2
// CHECK: attn.divide %[[PRODUCT]]
// STAGES-LABEL: func.func @total_of_others
// STAGES: attn.stage "weighted_sum"
// STAGES-NOT: attn.stage
// STAGES: attn.return
func.func @total_of_others(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %p = attn.tanh %0 : (!s) -> !s
  %size = attn.abs %p : (!s) -> !s
  %total = attn.reduce_sum %size {over = ["keys"]} : (!s) -> !attn.tensor<heads, queries, real>
  %w = attn.divide %p, %total : (!s, !attn.tensor<heads, queries, real>) -> !s
  %out = attn.matmul %w, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %out {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}

// A factor that is no sum of what these weights are made of stays where it is, and weights that are wanted too are divided once.
// CHECK-LABEL: func.func @factor_of_others
// CHECK: %[[W:.*]] = attn.divide
// CHECK: attn.matmul %[[W]]
func.func @factor_of_others(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %p = attn.tanh %0 : (!s) -> !s
  %1 = attn.matmul %q, %v {over = ["depth"]} : (!q, !k) -> !s
  %total = attn.reduce_sum %1 {over = ["keys"]} : (!s) -> !attn.tensor<heads, queries, real>
  %w = attn.divide %p, %total : (!s, !attn.tensor<heads, queries, real>) -> !s
  %out = attn.matmul %w, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %out {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}
// CHECK-LABEL: func.func @weights_too
// CHECK: %[[W:.*]] = attn.divide
// CHECK: attn.matmul %[[W]]
func.func @weights_too(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!q, !s) {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %p = attn.abs %0 : (!s) -> !s
  %total = attn.reduce_sum %p {over = ["keys"]} : (!s) -> !attn.tensor<heads, queries, real>
  %w = attn.divide %p, %total : (!s, !attn.tensor<heads, queries, real>) -> !s
  %out = attn.matmul %w, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %out, %w {names = ["out", "weights"], dims = [["heads", "queries", "depth"], ["heads", "queries", "keys"]]} : !q, !s
}
