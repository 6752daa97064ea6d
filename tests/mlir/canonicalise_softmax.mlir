// A softmax that is written out is one, and NaN where it would be; a sum over weights stands behind their product with the values.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!q = !attn.tensor<heads, queries, depth, real>
!k = !attn.tensor<heads, keys, depth, real>
!s = !attn.tensor<heads, queries, keys, real>
!r = !attn.tensor<heads, queries, real>

// CHECK-LABEL: func.func @divided_behind
// CHECK: %[[S:.*]] = attn.matmul %arg0, %arg1
// CHECK-DAG: %[[P:.*]] = attn.softmax %[[S]] {over = "keys"}
// CHECK-DAG: %[[O:.*]] = attn.matmul %[[P]], %arg1
// CHECK-DAG: %[[L:.*]] = attn.log_sum_exp %[[S]]
// CHECK-DAG: %[[N:.*]] = attn.subtract %[[L]], %[[L]]
// CHECK-DAG: attn.add %[[O]], %[[N]]
// CHECK-NOT: attn.reduce_max
// CHECK: attn.return
func.func @divided_behind(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}) -> (!q, !r) {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %m = attn.reduce_max %0 {over = ["keys"]} : (!s) -> !r
  %1 = attn.subtract %0, %m : (!s, !r) -> !s
  %e = attn.exp %1 : (!s) -> !s
  %t = attn.reduce_sum %e {over = ["keys"]} : (!s) -> !r
  %2 = attn.matmul %e, %k {over = ["keys"]} : (!s, !k) -> !q
  %3 = attn.divide %2, %t : (!q, !r) -> !q
  %4 = attn.log %t : (!r) -> !r
  %5 = attn.add %m, %4 : (!r, !r) -> !r
  attn.return %3, %5 {names = ["out", "lse"], dims = [["heads", "queries", "depth"], ["heads", "queries"]]} : !q, !r
}

// What something else reads is computed as it is written.
// CHECK-LABEL: func.func @read_twice
// CHECK: attn.reduce_max
// CHECK-NOT: attn.softmax
// CHECK: attn.return
func.func @read_twice(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}) -> (!q, !r) {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %m = attn.reduce_max %0 {over = ["keys"]} : (!s) -> !r
  %1 = attn.subtract %0, %m : (!s, !r) -> !s
  %e = attn.exp %1 : (!s) -> !s
  %t = attn.reduce_sum %e {over = ["keys"]} : (!s) -> !r
  %2 = attn.matmul %e, %k {over = ["keys"]} : (!s, !k) -> !q
  %3 = attn.divide %2, %t : (!q, !r) -> !q
  attn.return %3, %t {names = ["out", "total"], dims = [["heads", "queries", "depth"], ["heads", "queries"]]} : !q, !r
}

// CHECK-LABEL: func.func @summed
// CHECK: %[[P:.*]] = attn.softmax
// CHECK-NEXT: %[[O:.*]] = attn.matmul %[[P]], %arg2 {over = ["keys"]}
// CHECK-NEXT: attn.reduce_sum %[[O]] {over = ["heads"]}
func.func @summed(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !attn.tensor<keys, depth, real> {attn.name = "v"})
    -> !attn.tensor<queries, depth, real> {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.softmax %0 {over = "keys"} : (!s) -> !s
  %2 = attn.reduce_sum %1 {over = ["heads"]} : (!s) -> !attn.tensor<queries, keys, real>
  %3 = attn.matmul %2, %v {over = ["keys"]} : (!attn.tensor<queries, keys, real>, !attn.tensor<keys, depth, real>) -> !attn.tensor<queries, depth, real>
  attn.return %3 {names = ["out"], dims = [["queries", "depth"]]} : !attn.tensor<queries, depth, real>
}

// A product whose dims stand in another order than the result's, and one that would have nine dims, stay.
// CHECK-LABEL: func.func @other_order
// CHECK: attn.reduce_max
// CHECK-NOT: attn.softmax
// CHECK: attn.return
func.func @other_order(%q: !attn.tensor<queries, heads, depth, real> {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> !attn.tensor<queries, heads, depth, real> {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!attn.tensor<queries, heads, depth, real>, !k) -> !attn.tensor<queries, heads, keys, real>
  %m = attn.reduce_max %0 {over = ["keys"]} : (!attn.tensor<queries, heads, keys, real>) -> !attn.tensor<queries, heads, real>
  %1 = attn.subtract %0, %m : (!attn.tensor<queries, heads, keys, real>, !attn.tensor<queries, heads, real>) -> !attn.tensor<queries, heads, keys, real>
  %e = attn.exp %1 : (!attn.tensor<queries, heads, keys, real>) -> !attn.tensor<queries, heads, keys, real>
  %t = attn.reduce_sum %e {over = ["keys"]} : (!attn.tensor<queries, heads, keys, real>) -> !attn.tensor<queries, heads, real>
  %one = attn.constant {kind = "real", value = 1} : () -> !attn.tensor<real>
  %f = attn.divide %one, %t : (!attn.tensor<real>, !attn.tensor<queries, heads, real>) -> !attn.tensor<queries, heads, real>
  %2 = attn.matmul %k, %e {over = ["keys"]} : (!k, !attn.tensor<queries, heads, keys, real>) -> !attn.tensor<heads, depth, queries, real>
  %3 = attn.multiply %f, %2 : (!attn.tensor<queries, heads, real>, !attn.tensor<heads, depth, queries, real>) -> !attn.tensor<queries, heads, depth, real>
  attn.return %3 {names = ["out"], dims = [["queries", "heads", "depth"]]} : !attn.tensor<queries, heads, depth, real>
}

!w = !attn.tensor<a, b, c, heads, queries, keys, real>
!v = !attn.tensor<keys, d, e, f, g, real>

// CHECK-LABEL: func.func @too_many_dims
// CHECK: attn.reduce_sum
// CHECK-NEXT: attn.matmul
func.func @too_many_dims(%s: !w {attn.name = "s"}, %v: !v {attn.name = "v"}) -> !attn.tensor<a, b, c, queries, d, e, f, g, real> {
  %0 = attn.softmax %s {over = "keys"} : (!w) -> !w
  %1 = attn.reduce_sum %0 {over = ["heads"]} : (!w) -> !attn.tensor<a, b, c, queries, keys, real>
  %2 = attn.matmul %1, %v {over = ["keys"]} : (!attn.tensor<a, b, c, queries, keys, real>, !v) -> !attn.tensor<a, b, c, queries, d, e, f, g, real>
  attn.return %2 {names = ["out"], dims = [["a", "b", "c", "queries", "d", "e", "f", "g"]]} : !attn.tensor<a, b, c, queries, d, e, f, g, real>
}
