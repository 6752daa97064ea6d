// RUN: attune-opt --help | FileCheck %s
// The passes of Attune come first, those that LLVM brings behind them.
// CHECK: attune-opt [passes] INPUT.mlir -o OUTPUT.mlir
// CHECK-NOT: Options:
// CHECK: --attn-specialise
// CHECK-NEXT: --set=<string>
// CHECK-NEXT: --type=<string>
// CHECK-NEXT: --attn-joint-weights
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-expand
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-canonicalise
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-one-query
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-own-scores
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-keep-weights
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-part-log-sum-exp
// CHECK-NEXT: --fuse
// CHECK-NEXT: --attn-form-stages
// CHECK-NEXT: --fuse
// CHECK: USAGE:
