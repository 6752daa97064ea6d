// Every operation has one text, which parses back to itself.
// RUN: attune-opt %s | FileCheck %s
// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

!x = !attn.tensor<batch, keys, real>
!b = !attn.tensor<batch, keys, boolean>
!i = !attn.tensor<keys, i64>

// CHECK: func.func @primitives(%arg0: !attn.tensor<batch, keys, real> {attn.name = "x"}, {{.*}} attributes {attn.parameters = {window = 512 : i64}}
func.func @primitives(%x: !x {attn.name = "x"}, %w: !attn.tensor<model=8, keys, real> {attn.name = "w"}, %ids: !attn.tensor<batch, i32> {attn.name = "ids"}, %seed: !attn.tensor<i64> {attn.name = "seed"}) -> !attn.tensor<model=8, batch, real> attributes {attn.parameters = {window = 512 : i64}} {
  // CHECK: attn.constant {kind = "real", value = "-inf"} : () -> !attn.tensor<real>
  %0 = attn.constant {kind = "real", value = "-inf"} : () -> !attn.tensor<real>
  // CHECK: attn.constant {kind = "i64", value = -3} : () -> !attn.tensor<i64>
  %1 = attn.constant {kind = "i64", value = -3} : () -> !attn.tensor<i64>
  // CHECK: attn.constant {kind = "real", value = 1.000000e-01} : () -> !attn.tensor<real>
  %2 = attn.constant {kind = "real", value = 0.1} : () -> !attn.tensor<real>
  // CHECK: attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
  %3 = attn.index {dim = "keys"} : () -> !i
  // CHECK: attn.extent {dim = "keys"} : () -> !attn.tensor<i64>
  %4 = attn.extent {dim = "keys"} : () -> !attn.tensor<i64>
  // CHECK: attn.matmul %arg0, %arg1 {over = ["keys"]} : (!attn.tensor<batch, keys, real>, !attn.tensor<model=8, keys, real>) -> !attn.tensor<batch, model=8, real>
  %5 = attn.matmul %x, %w {over = ["keys"]} : (!x, !attn.tensor<model=8, keys, real>) -> !attn.tensor<batch, model=8, real>
  // CHECK: attn.softmax %arg0 {over = "keys"} : (!attn.tensor<batch, keys, real>) -> !attn.tensor<batch, keys, real>
  %6 = attn.softmax %x {over = "keys"} : (!x) -> !x
  // CHECK: attn.log_sum_exp %arg0 {over = "keys"} : (!attn.tensor<batch, keys, real>) -> !attn.tensor<batch, real>
  %20 = attn.log_sum_exp %x {over = "keys"} : (!x) -> !attn.tensor<batch, real>
  // CHECK: attn.reduce_max %arg0 {over = ["batch", "keys"]}
  %7 = attn.reduce_max %x {over = ["batch", "keys"]} : (!x) -> !attn.tensor<real>
  // CHECK: attn.concat %arg0, %arg0 {along = ["keys"], into = "both"}
  %8 = attn.concat %x, %x {along = ["keys"], into = "both"} : (!x, !x) -> !attn.tensor<batch, both, real>
  // CHECK: attn.split %arg0 {extents = [0, 4, 0, 0], from = "keys", into = ["outer", "inner"]}
  %9 = attn.split %x {from = "keys", into = ["outer", "inner"], extents = [0, 4, 0, 0]} : (!x) -> !attn.tensor<batch, outer, inner, real>
  // CHECK: attn.gather %arg1, %arg2 {along = "model"}
  %10 = attn.gather %w, %ids {along = "model"} : (!attn.tensor<model=8, keys, real>, !attn.tensor<batch, i32>) -> !x
  // CHECK: attn.dropout %arg0, %arg3, %arg3 {rate = 1.000000e-01}
  %11 = attn.dropout %x, %seed, %seed {rate = 0.1} : (!x, !attn.tensor<i64>, !attn.tensor<i64>) -> !x
  // CHECK: attn.return {{.*}} {dims = {{\[\[}}"model", "batch"]], names = ["out"]} : !attn.tensor<batch, model=8, real>
  attn.return %5 {names = ["out"], dims = [["model", "batch"]]} : !attn.tensor<batch, model=8, real>
}

// CHECK: func.func @stage
func.func @stage(%x: !x {attn.name = "x"}, %keep: !b {attn.name = "keep"}) -> !x {
  // CHECK: attn.stage "row_softmax" (%arg2 = %arg0, %arg3 = %arg1) {decisions = {reason = "a test"}} : (!attn.tensor<batch, keys, real>, !attn.tensor<batch, keys, boolean>) -> !attn.tensor<batch, keys, real> {
  %0 = attn.stage "row_softmax" (%a = %x, %m = %keep) {decisions = {reason = "a test"}} : (!x, !b) -> !x {
    // CHECK-NEXT: attn.mask %arg2, %arg3 : (!attn.tensor<batch, keys, real>, !attn.tensor<batch, keys, boolean>)
    %1 = attn.mask %a, %m : (!x, !b) -> !x
    %2 = attn.softmax %1 {over = "keys"} : (!x) -> !x
    // CHECK: attn.yield {{.*}} : !attn.tensor<batch, keys, real>
    attn.yield %2 : !x
  }
  attn.return %0 {names = ["out"], dims = [["batch", "keys"]]} : !x
}
