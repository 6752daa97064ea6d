func.func @f(%x: !attn.tensor<n, f32> {attn.name = "x"}) -> !attn.tensor<n, f32> {
  %y = "attn.stage"(%x) ({}) {kind = "pointwise"} : (!attn.tensor<n, f32>) -> !attn.tensor<n, f32>
  attn.return %y {names = ["out"], dims = [["\0A"]]} : !attn.tensor<n, f32>
}
