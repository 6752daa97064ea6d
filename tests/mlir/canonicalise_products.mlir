// A sum of products as a score is one product; no operand grows to queries x keys.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!q = !attn.tensor<heads, queries, depth, real>
!k = !attn.tensor<heads, keys, depth, real>
!qr = !attn.tensor<heads, queries, rope, real>
!kr = !attn.tensor<keys, rope, real>
!s = !attn.tensor<heads, queries, keys, real>
!r = !attn.tensor<real>

// CHECK-LABEL: func.func @two
// CHECK: %[[Q:.*]] = attn.concat %arg0, %arg2 {along = ["depth", "rope"], into = "depth_rope"}
// CHECK-NEXT: %[[K:.*]] = attn.concat %arg1, %arg3 {along = ["depth", "rope"], into = "depth_rope"}
// CHECK: %[[SCALED:.*]] = attn.divide %[[Q]], %arg4
// CHECK-NEXT: %[[S:.*]] = attn.matmul %[[SCALED]], %[[K]] {over = ["depth_rope"]}
// CHECK-NEXT: attn.softmax %[[S]]
func.func @two(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %qr: !qr {attn.name = "qr"}, %kr: !kr {attn.name = "kr"}, %t: !r {attn.name = "t"}) -> !s {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.matmul %qr, %kr {over = ["rope"]} : (!qr, !kr) -> !s
  %2 = attn.add %0, %1 : (!s, !s) -> !s
  %3 = attn.divide %2, %t : (!s, !r) -> !s
  %4 = attn.softmax %3 {over = "keys"} : (!s) -> !s
  attn.return %4 {names = ["out"], dims = [["heads", "queries", "keys"]]} : !s
}

// Keys of the same queries are added, though the sum has another term between.
// CHECK-LABEL: func.func @same_queries
// CHECK-NEXT: %[[K:.*]] = attn.subtract %arg1, %arg2
// CHECK-NEXT: %[[S:.*]] = attn.matmul %arg0, %[[K]] {over = ["depth"]}
// CHECK-NEXT: attn.add %[[S]], %arg3
func.func @same_queries(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %p: !k {attn.name = "p"}, %b: !s {attn.name = "b"}) -> !s {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.matmul %q, %p {over = ["depth"]} : (!q, !k) -> !s
  %2 = attn.add %0, %b : (!s, !s) -> !s
  %3 = attn.subtract %2, %1 : (!s, !s) -> !s
  %4 = attn.softmax %3 {over = "keys"} : (!s) -> !s
  attn.return %4 {names = ["out"], dims = [["heads", "queries", "keys"]]} : !s
}

// A product of a vector and the keys is added to each column; it is no product of queries and keys.
// CHECK-LABEL: func.func @of_keys
// CHECK-COUNT-2: attn.matmul
func.func @of_keys(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %u: !attn.tensor<heads, depth, real> {attn.name = "u"}) -> !s {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.matmul %u, %k {over = ["depth"]} : (!attn.tensor<heads, depth, real>, !k) -> !attn.tensor<heads, keys, real>
  %2 = attn.add %0, %1 : (!s, !attn.tensor<heads, keys, real>) -> !s
  %3 = attn.softmax %2 {over = "keys"} : (!s) -> !s
  attn.return %3 {names = ["out"], dims = [["heads", "queries", "keys"]]} : !s
}

// Sums that are no scores stay.
// CHECK-LABEL: func.func @no_score
// CHECK-COUNT-2: attn.matmul
func.func @no_score(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %p: !k {attn.name = "p"}) -> !s {
  %0 = attn.matmul %q, %k {over = ["depth"]} : (!q, !k) -> !s
  %1 = attn.matmul %q, %p {over = ["depth"]} : (!q, !k) -> !s
  %2 = attn.add %0, %1 : (!s, !s) -> !s
  attn.return %2 {names = ["out"], dims = [["heads", "queries", "keys"]]} : !s
}
