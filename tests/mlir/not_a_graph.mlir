// Passes refuse functions that hold no graph.
// RUN: not attune-opt %s --attn-specialise 2>&1 | FileCheck %s
// RUN: not attune-opt %s --attn-expand 2>&1 | FileCheck %s
// RUN: not attune-opt %s --attn-canonicalise 2>&1 | FileCheck %s
// RUN: not attune-opt %s --attn-form-stages 2>&1 | FileCheck %s

// CHECK: error: graph: the function 'f' does not end in attn.return
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
