// Masks of scores stand outside of a concat along the keys; weights that are chosen among all are those of all.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!q = !attn.tensor<heads, queries, depth, real>
!k = !attn.tensor<heads, keys, depth, real>
!s = !attn.tensor<heads, queries, keys, real>
!all = !attn.tensor<heads, queries, all, real>
!sink = !attn.tensor<heads, one, real>
!m = !attn.tensor<queries, keys, boolean>

// CHECK-LABEL: func.func @sink
// CHECK: %[[I:.*]] = attn.index {dim = "queries"}
// CHECK: %[[S:.*]] = attn.matmul %arg0, %arg1
// CHECK: %[[ALL:.*]] = attn.index {dim = "all"}
// CHECK: attn.greater_equal %[[I]], %[[ALL]]
// CHECK: %[[VISIBLE:.*]] = attn.or
// CHECK: %[[C:.*]] = attn.concat %[[S]], %arg2
// CHECK: %[[MASKED:.*]] = attn.select %[[VISIBLE]], %[[C]]
// CHECK: %[[W:.*]] = attn.softmax %[[MASKED]]
// CHECK: attn.gather %arg1, %[[ALL]] {along = "keys"}
// CHECK: %[[V:.*]] = attn.select
// CHECK: attn.matmul %[[W]], %[[V]] {over = ["all"]}
func.func @sink(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %sink: !sink {attn.name = "sink"}) -> !q {
  %i = attn.index {dim = "queries"} : () -> !attn.tensor<queries, i64>
  %j = attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
  %visible = attn.greater_equal %i, %j : (!attn.tensor<queries, i64>, !attn.tensor<keys, i64>) -> !m
  %hidden = attn.constant {kind = "real", value = 0xFFF0000000000000 : f64} : () -> !attn.tensor<real>
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.select %visible, %0, %hidden : (!m, !s, !attn.tensor<real>) -> !s
  %2 = attn.concat %1, %sink {along = ["keys", "one"], into = "all"} : (!s, !sink) -> !all
  %3 = attn.softmax %2 {over = "all"} : (!all) -> !all
  %4 = attn.gather %3, %j {along = "all"} : (!all, !attn.tensor<keys, i64>) -> !attn.tensor<keys, heads, queries, real>
  %5 = attn.matmul %4, %k {over = ["keys"]} : (!attn.tensor<keys, heads, queries, real>, !k) -> !q
  attn.return %5 {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}

// A mask that is read along the keys stays where it is.
// CHECK-LABEL: func.func @read
// CHECK: %[[MASKED:.*]] = attn.select %arg3
// CHECK: attn.concat %[[MASKED]], %arg2
func.func @read(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %sink: !sink {attn.name = "sink"}, %m: !m {attn.name = "m"}) -> !all {
  %hidden = attn.constant {kind = "real", value = 0xFFF0000000000000 : f64} : () -> !attn.tensor<real>
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.select %m, %0, %hidden : (!m, !s, !attn.tensor<real>) -> !s
  %2 = attn.concat %1, %sink {along = ["keys", "one"], into = "all"} : (!s, !sink) -> !all
  %3 = attn.softmax %2 {over = "all"} : (!all) -> !all
  attn.return %3 {names = ["out"], dims = [["heads", "queries", "all"]]} : !all
}

// Of weights that other positions choose nothing is known.
// CHECK-LABEL: func.func @behind
// CHECK: attn.gather
// CHECK: attn.matmul {{.*}} {over = ["keys"]}
func.func @behind(%s: !s {attn.name = "s"}, %k: !k {attn.name = "k"}, %sink: !sink {attn.name = "sink"}) -> !q {
  %j = attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
  %2 = attn.concat %sink, %s {along = ["one", "keys"], into = "all"} : (!sink, !s) -> !attn.tensor<heads, all, queries, real>
  %3 = attn.softmax %2 {over = "all"} : (!attn.tensor<heads, all, queries, real>) -> !attn.tensor<heads, all, queries, real>
  %4 = attn.gather %3, %j {along = "all"} : (!attn.tensor<heads, all, queries, real>, !attn.tensor<keys, i64>) -> !attn.tensor<keys, heads, queries, real>
  %5 = attn.matmul %4, %k {over = ["keys"]} : (!attn.tensor<keys, heads, queries, real>, !k) -> !q
  attn.return %5 {names = ["out"], dims = [["heads", "queries", "depth"]]} : !q
}
