// Attention of one query, which has no dim of queries, gets one; what has one, or reads weights elsewhere too, stays.
// RUN: attune-opt %s --attn-expand --attn-canonicalise --attn-one-query | FileCheck %s
// RUN: attune-opt %s --attn-expand --attn-canonicalise --attn-one-query --attn-own-scores --attn-keep-weights --attn-form-stages | FileCheck %s --check-prefix=STAGES

!q = !attn.tensor<heads, depth, real>
!k = !attn.tensor<heads, keys, depth, real>
!s = !attn.tensor<heads, keys, real>
!m = !attn.tensor<keys, boolean>

// CHECK-LABEL: func.func @one
// CHECK: attn.index {dim = "one_query"} : () -> !attn.tensor<one_query=1, i64>
// CHECK: attn.matmul {{.*}} -> !attn.tensor<heads, one_query=1, keys, real>
// CHECK-NOT: !attn.tensor<heads, keys, real>
// CHECK: attn.softmax
// CHECK: attn.gather {{.*}} -> !attn.tensor<heads, depth, real>
// CHECK-NEXT: attn.return
// STAGES-LABEL: func.func @one
// STAGES: attn.stage "online_softmax"
// STAGES: attn.return
func.func @one(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %m: !m {attn.name = "m"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.mask %0, %m : (!s, !m) -> !s
  %2 = attn.softmax %1 {over = "keys"} : (!s) -> !s
  %3 = attn.matmul %2, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %3 {dims = [["heads", "depth"]], names = ["out"]} : !q
}

// Weights that are a result, too.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: one_query
// CHECK: attn.return
func.func @kept(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}) -> (!q, !s) {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.softmax %0 {over = "keys"} : (!s) -> !s
  %2 = attn.matmul %1, %v {over = ["keys"]} : (!s, !k) -> !q
  attn.return %2, %1 {dims = [["heads", "depth"], ["heads", "keys"]], names = ["out", "weights"]} : !q, !s
}

// Heads are queries of keys that they share.
!shared = !attn.tensor<keys, depth, real>
// CHECK-LABEL: func.func @shared
// CHECK-NOT: one_query
// CHECK: attn.return
func.func @shared(%q: !q {attn.name = "q"}, %k: !shared {attn.name = "k"}, %v: !shared {attn.name = "v"}) -> !q {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !shared) -> !s
  %1 = attn.softmax %0 {over = "keys"} : (!s) -> !s
  %2 = attn.matmul %1, %v {over = ["keys"]} : (!s, !shared) -> !q
  attn.return %2 {dims = [["heads", "depth"]], names = ["out"]} : !q
}
