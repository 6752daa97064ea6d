// A recurrence and the last state of the same operands are one stage, with what changes the result behind it; a state alone is one, too.
// RUN: attune-opt %s --attn-form-stages | FileCheck %s

!k = !attn.tensor<tokens, depth, real>
!v = !attn.tensor<tokens, width, real>
!g = !attn.tensor<tokens, real>
!s = !attn.tensor<depth, width, real>
!c = !attn.tensor<real>

// CHECK: func.func @both
// CHECK: %[[BOTH:.*]]:2 = attn.stage "recurrence" ({{.*}} = %arg0, {{.*}} = %arg1, {{.*}} = %arg2, {{.*}} = %arg3) {{.*}} -> (!attn.tensor<tokens, width, real>, !attn.tensor<depth, width, real>)
// CHECK: attn.recurrence
// CHECK: attn.tanh
// CHECK: attn.yield {{.*}} : !attn.tensor<tokens, width, real>, !attn.tensor<depth, width, real>
// CHECK: attn.return %[[BOTH]]#0, %[[BOTH]]#1
func.func @both(%q: !k {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}, %g: !g {attn.name = "g"}) -> (!v, !s) {
  %zero = attn.constant {kind = "real", value = 0} : () -> !c
  %y = attn.recurrence %q, %k, %v, %g, %zero, %zero, %k, %k {along = "tokens", over = "depth"} : (!k, !k, !v, !g, !c, !c, !k, !k) -> !v
  %last = attn.recurrence_state %k, %v, %g, %zero, %zero, %k, %k {along = "tokens", over = "depth"} : (!k, !v, !g, !c, !c, !k, !k) -> !s
  %out = attn.tanh %y : (!v) -> !v
  attn.return %out, %last {names = ["out", "last"], dims = [["tokens", "width"], ["depth", "width"]]} : !v, !s
}

// CHECK: func.func @alone
// CHECK: %[[LAST:.*]] = attn.stage "recurrence" ({{.*}} = %arg0, {{.*}} = %arg1)
// CHECK: attn.recurrence_state
// CHECK: attn.return %[[LAST]]
func.func @alone(%k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !s {
  %zero = attn.constant {kind = "real", value = 0} : () -> !c
  %last = attn.recurrence_state %k, %v, %zero, %zero, %zero, %k, %k {along = "tokens", over = "depth"} : (!k, !v, !c, !c, !c, !k, !k) -> !s
  attn.return %last {names = ["last"], dims = [["depth", "width"]]} : !s
}
