// Stages are formed once: text that has some already is refused.
// RUN: attune-opt %s --attn-specialise --attn-form-stages | not attune-opt --attn-form-stages 2>&1 | FileCheck %s

// CHECK: error: form stages: 'f' has stages already; text without attn.stage is right
func.func @f(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> {
  %0 = attn.softmax %x {over = "a"} : (!attn.tensor<a, real>) -> !attn.tensor<a, real>
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
