func.func @f(%x: !attn.tensor<n=99999999999, real> {attn.name = "x"}) -> !attn.tensor<n=99999999999, real> {
  %y = attn.negate %x : (!attn.tensor<n=99999999999, real>) -> !attn.tensor<n=99999999999, real>
  attn.return %y {names = ["out"], dims = [["n"]]} : !attn.tensor<n=99999999999, real>
}
