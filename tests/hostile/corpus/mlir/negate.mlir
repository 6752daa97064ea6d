func.func @f(%x: !attn.tensor<n, real> {attn.name = "x"}) -> !attn.tensor<n, real> {
  %y = attn.negate %x : (!attn.tensor<n, real>) -> !attn.tensor<n, real>
  attn.return %y {names = ["out"], dims = [["n"]]} : !attn.tensor<n, real>
}
