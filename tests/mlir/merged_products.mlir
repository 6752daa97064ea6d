// A product over a merged dim is one over the dims that were merged, where a split can state their extents.
// RUN: attune-opt %s --attn-canonicalise | FileCheck %s

!x = !attn.tensor<tokens, heads=3, depth, real>
!m = !attn.tensor<tokens, model, real>
!w = !attn.tensor<out, model, real>
!y = !attn.tensor<tokens, out, real>

// CHECK-LABEL: func.func @projection
// CHECK-NEXT: %[[W:.*]] = attn.split %arg1 {extents = [3, 0, 0, 0], from = "model", into = ["heads", "depth"]} : (!attn.tensor<out, model, real>) -> !attn.tensor<out, heads=3, depth, real>
// CHECK-NEXT: %[[Y:.*]] = attn.matmul %arg0, %[[W]] {over = ["heads", "depth"]}
// CHECK-NEXT: attn.return %[[Y]]
func.func @projection(%x: !x {attn.name = "x"}, %w: !w {attn.name = "w"}) -> !y {
  %0 = attn.merge %x {from = ["heads", "depth"], into = "model"} : (!x) -> !m
  %1 = attn.matmul %0, %w {over = ["model"]} : (!m, !w) -> !y
  attn.return %1 {names = ["out"], dims = [["tokens", "out"]]} : !y
}

// On the other side, beside another dim, and with all extents known.
// CHECK-LABEL: func.func @second
// CHECK-NEXT: %[[W:.*]] = attn.split %arg1 {extents = [3, 0, 0, 0], from = "model", into = ["heads", "depth"]}
// CHECK-NEXT: attn.matmul %[[W]], %arg0 {over = ["taps", "heads", "depth"]}
func.func @second(%x: !attn.tensor<heads=3, taps, depth=4, real> {attn.name = "x"}, %w: !attn.tensor<out, taps, model=12, real> {attn.name = "w"}) -> !attn.tensor<out, real> {
  %0 = attn.merge %x {from = ["heads", "depth"], into = "model"} : (!attn.tensor<heads=3, taps, depth=4, real>) -> !attn.tensor<model=12, taps, real>
  %1 = attn.matmul %w, %0 {over = ["taps", "model"]} : (!attn.tensor<out, taps, model=12, real>, !attn.tensor<model=12, taps, real>) -> !attn.tensor<out, real>
  attn.return %1 {names = ["out"], dims = [["out"]]} : !attn.tensor<out, real>
}

// Where both are merged alike nothing is split.
// CHECK-LABEL: func.func @both
// CHECK-NEXT: attn.matmul %arg0, %arg1 {over = ["heads", "depth"]}
func.func @both(%x: !x {attn.name = "x"}, %w: !attn.tensor<out, heads=3, depth, real> {attn.name = "w"}) -> !y {
  %0 = attn.merge %x {from = ["heads", "depth"], into = "model"} : (!x) -> !m
  %1 = attn.merge %w {from = ["heads", "depth"], into = "model"} : (!attn.tensor<out, heads=3, depth, real>) -> !w
  %2 = attn.matmul %0, %1 {over = ["model"]} : (!m, !w) -> !y
  attn.return %2 {names = ["out"], dims = [["tokens", "out"]]} : !y
}

// A split states all extents but one.
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT: attn.merge
func.func @unknown(%x: !attn.tensor<tokens, heads, depth, real> {attn.name = "x"}, %w: !w {attn.name = "w"}) -> !y {
  %0 = attn.merge %x {from = ["heads", "depth"], into = "model"} : (!attn.tensor<tokens, heads, depth, real>) -> !m
  %1 = attn.matmul %0, %w {over = ["model"]} : (!m, !w) -> !y
  attn.return %1 {names = ["out"], dims = [["tokens", "out"]]} : !y
}

// The other operand has one of the parts, which is no part there.
// CHECK-LABEL: func.func @own_heads
// CHECK-NEXT: attn.merge
func.func @own_heads(%x: !x {attn.name = "x"}, %w: !attn.tensor<heads=3, model, real> {attn.name = "w"}) -> !attn.tensor<tokens, heads=3, real> {
  %0 = attn.merge %x {from = ["heads", "depth"], into = "model"} : (!x) -> !m
  %1 = attn.matmul %0, %w {over = ["model"]} : (!m, !attn.tensor<heads=3, model, real>) -> !attn.tensor<tokens, heads=3, real>
  attn.return %1 {names = ["out"], dims = [["tokens", "heads"]]} : !attn.tensor<tokens, heads=3, real>
}

// Weights that are computed along the merged dim stay as they come: a softmax over keys in pages is fused with the product.
// CHECK-LABEL: func.func @pages
// CHECK: %[[P:.*]] = attn.softmax
// CHECK: %[[S:.*]] = attn.multiply %[[P]]
// CHECK: attn.matmul %[[S]], %{{.*}} {over = ["keys"]}
func.func @pages(%s: !attn.tensor<tokens, keys, real> {attn.name = "s"}, %g: !attn.tensor<keys, real> {attn.name = "g"}, %v: !attn.tensor<slots, page=8, depth, real> {attn.name = "v"}) -> !attn.tensor<tokens, depth, real> {
  %0 = attn.softmax %s {over = "keys"} : (!attn.tensor<tokens, keys, real>) -> !attn.tensor<tokens, keys, real>
  %1 = attn.multiply %0, %g : (!attn.tensor<tokens, keys, real>, !attn.tensor<keys, real>) -> !attn.tensor<tokens, keys, real>
  %2 = attn.merge %v {from = ["slots", "page"], into = "keys"} : (!attn.tensor<slots, page=8, depth, real>) -> !attn.tensor<keys, depth, real>
  %3 = attn.matmul %1, %2 {over = ["keys"]} : (!attn.tensor<tokens, keys, real>, !attn.tensor<keys, depth, real>) -> !attn.tensor<tokens, depth, real>
  attn.return %3 {names = ["out"], dims = [["tokens", "depth"]]} : !attn.tensor<tokens, depth, real>
}

// Weights of a softmax that are taken apart for values are whole again, with the values merged.
// CHECK-LABEL: func.func @taken_apart
// CHECK: %[[P:.*]] = attn.softmax
// CHECK: %[[V:.*]] = attn.merge
// CHECK: attn.matmul %[[P]], %[[V]] {over = ["keys"]}
func.func @taken_apart(%s: !attn.tensor<tokens, keys, real> {attn.name = "s"}, %v: !attn.tensor<slots, page=8, depth, real> {attn.name = "v"}) -> !attn.tensor<tokens, depth, real> {
  %0 = attn.softmax %s {over = "keys"} : (!attn.tensor<tokens, keys, real>) -> !attn.tensor<tokens, keys, real>
  %1 = attn.split %0 {from = "keys", into = ["slots", "page"], extents = [0, 8, 0, 0]} : (!attn.tensor<tokens, keys, real>) -> !attn.tensor<tokens, slots, page=8, real>
  %2 = attn.matmul %1, %v {over = ["slots", "page"]} : (!attn.tensor<tokens, slots, page=8, real>, !attn.tensor<slots, page=8, depth, real>) -> !attn.tensor<tokens, depth, real>
  attn.return %2 {names = ["out"], dims = [["tokens", "depth"]]} : !attn.tensor<tokens, depth, real>
}

// A hidden layer is read in parts as it lies: its weight, of blocks with a scale each, is computed in parts.
// CHECK-LABEL: func.func @blocks
// CHECK-NOT: attn.merge
// CHECK: attn.split
// CHECK-NOT: attn.merge
func.func @blocks(%x: !attn.tensor<tokens, model, real> {attn.name = "x"}, %h: !attn.tensor<hidden, model, real> {attn.name = "h"}, %w: !attn.tensor<out, part, inside=4, real> {attn.name = "w"}, %s: !attn.tensor<out, part, real> {attn.name = "s"}) -> !attn.tensor<tokens, out, real> {
  %0 = attn.matmul %x, %h {over = ["model"]} : (!attn.tensor<tokens, model, real>, !attn.tensor<hidden, model, real>) -> !attn.tensor<tokens, hidden, real>
  %1 = attn.sigmoid %0 : (!attn.tensor<tokens, hidden, real>) -> !attn.tensor<tokens, hidden, real>
  %2 = attn.split %1 {from = "hidden", into = ["part", "inside"], extents = [0, 4, 0, 0]} : (!attn.tensor<tokens, hidden, real>) -> !attn.tensor<tokens, part, inside=4, real>
  %3 = attn.multiply %w, %s : (!attn.tensor<out, part, inside=4, real>, !attn.tensor<out, part, real>) -> !attn.tensor<out, part, inside=4, real>
  %4 = attn.matmul %2, %3 {over = ["part", "inside"]} : (!attn.tensor<tokens, part, inside=4, real>, !attn.tensor<out, part, inside=4, real>) -> !attn.tensor<tokens, out, real>
  attn.return %4 {names = ["out"], dims = [["tokens", "out"]]} : !attn.tensor<tokens, out, real>
}
