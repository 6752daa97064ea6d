func.func @f(%x: !attn.tensor<a=1073741824, b=1073741824, real> {attn.name = "x"}) -> !attn.tensor<c, real> {
  %y = attn.merge %x {from = ["a", "b"], into = "c"} : (!attn.tensor<a=1073741824, b=1073741824, real>) -> !attn.tensor<c, real>
  attn.return %y {names = ["out"], dims = [["c"]]} : !attn.tensor<c, real>
}
