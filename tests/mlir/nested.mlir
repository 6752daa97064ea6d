// Text that is nested deeper than graphs are does not reach the parser.
// RUN: not attune-opt %s 2>&1 | FileCheck %s

// CHECK: nested.mlir: line 5: is nested deeper than 32 levels; graphs are not
module attributes {x.y = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]} {}
