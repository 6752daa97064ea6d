// The logarithm of a sum of powers that no stage has beside its weights is one of a maximum and a sum.
// RUN: attune-opt %s --attn-part-log-sum-exp | FileCheck %s

!q = !attn.tensor<queries, depth, real>
!k = !attn.tensor<keys, depth, real>
!s = !attn.tensor<queries, keys, real>
!l = !attn.tensor<queries, real>

// CHECK-LABEL: func.func @of_input
// CHECK-DAG: %[[LOWEST:.*]] = attn.constant {kind = "real", value = -3.4028234663852886E+38}
// CHECK-DAG: %[[MOST:.*]] = attn.reduce_max %arg0 {over = ["keys"]}
// CHECK: %[[FLOOR:.*]] = attn.maximum %[[MOST]], %[[LOWEST]]
// CHECK: %[[BELOW:.*]] = attn.subtract %arg0, %[[FLOOR]]
// CHECK: %[[POWERS:.*]] = attn.exp %[[BELOW]]
// CHECK: %[[SUM:.*]] = attn.reduce_sum %[[POWERS]] {over = ["keys"]}
// CHECK: %[[LOG:.*]] = attn.log %[[SUM]]
// CHECK: attn.add %[[FLOOR]], %[[LOG]]
// CHECK-NOT: attn.log_sum_exp
// CHECK: attn.return
func.func @of_input(%s: !s {attn.name = "s"}) -> !l {
  %0 = attn.log_sum_exp %s {over = "keys"} : (!s) -> !l
  attn.return %0 {names = ["lse"], dims = [["queries"]]} : !l
}
// -----
// Beside stored weights, and of scores that one stage computes in tiles.
// CHECK-LABEL: func.func @beside
// CHECK: attn.log_sum_exp
// CHECK-NOT: attn.reduce_max
// CHECK: attn.return
func.func @beside(%s: !attn.tensor<queries, keys, real> {attn.name = "s"}) -> (!attn.tensor<queries, real>, !attn.tensor<queries, keys, real>) {
  %0 = attn.log_sum_exp %s {over = "keys"} : (!attn.tensor<queries, keys, real>) -> !attn.tensor<queries, real>
  %1 = attn.softmax %s {over = "keys"} : (!attn.tensor<queries, keys, real>) -> !attn.tensor<queries, keys, real>
  attn.return %0, %1 {names = ["lse", "weights"], dims = [["queries"], ["queries", "keys"]]} : !attn.tensor<queries, real>, !attn.tensor<queries, keys, real>
}
// -----
// CHECK-LABEL: func.func @of_product
// CHECK: attn.log_sum_exp
// CHECK-NOT: attn.reduce_max
// CHECK: attn.return
func.func @of_product(%q: !attn.tensor<queries, depth, real> {attn.name = "q"}, %k: !attn.tensor<keys, depth, real> {attn.name = "k"}) -> !attn.tensor<queries, real> {
  %s = attn.matmul %q, %k {over = ["depth"]} : (!attn.tensor<queries, depth, real>, !attn.tensor<keys, depth, real>) -> !attn.tensor<queries, keys, real>
  %0 = attn.log_sum_exp %s {over = "keys"} : (!attn.tensor<queries, keys, real>) -> !attn.tensor<queries, real>
  attn.return %0 {names = ["lse"], dims = [["queries"]]} : !attn.tensor<queries, real>
}
