// What no graph can be is refused with the sentence of the language.
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @softmax(%x: !attn.tensor<queries, real> {attn.name = "x"}) -> !attn.tensor<queries, real> {
  // expected-error @+1 {{softmax: runs over keys, which x does not have: x is [queries]}}
  %0 = attn.softmax %x {over = "keys"} : (!attn.tensor<queries, real>) -> !attn.tensor<queries, real>
  attn.return %0 {names = ["out"], dims = [["queries"]]} : !attn.tensor<queries, real>
}
// -----
func.func @arity(%x: !attn.tensor<queries, real> {attn.name = "x"}) -> !attn.tensor<queries, real> {
  // expected-error @+1 {{add: takes 2 operands, got 1}}
  %0 = attn.add %x : (!attn.tensor<queries, real>) -> !attn.tensor<queries, real>
  attn.return %0 {names = ["out"], dims = [["queries"]]} : !attn.tensor<queries, real>
}
// -----
func.func @kinds(%x: !attn.tensor<queries, real> {attn.name = "x"}, %i: !attn.tensor<queries, i64> {attn.name = "i"}) -> !attn.tensor<queries, real> {
  // expected-error @+1 {{add: a is real and b is i64; kinds must agree (to_real and to_i64 convert)}}
  %0 = attn.add %x, %i : (!attn.tensor<queries, real>, !attn.tensor<queries, i64>) -> !attn.tensor<queries, real>
  attn.return %0 {names = ["out"], dims = [["queries"]]} : !attn.tensor<queries, real>
}
// -----
func.func @composite(%x: !attn.tensor<queries, real> {attn.name = "x"}, %s: !attn.tensor<keys, real> {attn.name = "s"}) -> !attn.tensor<queries, real> {
  // expected-error @+1 {{scale: factor has keys, which x does not have: x is [queries]}}
  %0 = attn.scale %x, %s : (!attn.tensor<queries, real>, !attn.tensor<keys, real>) -> !attn.tensor<queries, real>
  attn.return %0 {names = ["out"], dims = [["queries"]]} : !attn.tensor<queries, real>
}
// -----
func.func @result(%x: !attn.tensor<a, b, real> {attn.name = "x"}) -> !attn.tensor<a, b, real> {
  // expected-error @+1 {{exp: the result is stated as real [b x a]; it is real [a x b]}}
  %0 = attn.exp %x : (!attn.tensor<a, b, real>) -> !attn.tensor<b, a, real>
  attn.return %0 {names = ["out"], dims = [["a", "b"]]} : !attn.tensor<b, a, real>
}
// -----
func.func @field(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> {
  // expected-error @+1 {{softmax: field 'over' is missing; it must be a name in quotes}}
  %0 = attn.softmax %x : (!attn.tensor<a, real>) -> !attn.tensor<a, real>
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
func.func @form(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> {
  // expected-error @+1 {{softmax: field 'over' is of another form; it must be a name in quotes}}
  %0 = attn.softmax %x {over = 3} : (!attn.tensor<a, real>) -> !attn.tensor<a, real>
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
func.func @unknown_field(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> {
  // expected-error @+1 {{softmax: has no field 'axis'; fields are over}}
  %0 = attn.softmax %x {over = "a", axis = 1} : (!attn.tensor<a, real>) -> !attn.tensor<a, real>
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
// expected-error @+1 {{tensor: names a twice}}
func.func @twice(%x: !attn.tensor<a, a, real> {attn.name = "x"})
// -----
// expected-error @+1 {{tensor: does not end in an element; the elements are real, f32, bf16, f16, i32, i64, i8, u8, boolean}}
func.func @element(%x: !attn.tensor<a, b> {attn.name = "x"})
// -----
// expected-error @+1 {{tensor: the extent of a is 0; it must be positive}}
func.func @zero(%x: !attn.tensor<a=0, real> {attn.name = "x"})
// -----
// expected-error @+1 {{attn: has no type 'memref'; it has tensor}}
func.func @type(%x: !attn.memref<a, real> {attn.name = "x"})
// -----
// expected-error @+1 {{input: argument 0 has no name; {attn.name = "q"} gives one}}
func.func @name(%x: !attn.tensor<a, real>) -> !attn.tensor<a, real> {
  attn.return %x {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
// expected-error @+1 {{input: x is there twice; every input has a name of its own}}
func.func @names(%x: !attn.tensor<a, real> {attn.name = "x"}, %y: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> {
  attn.return %x {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
func.func @order(%x: !attn.tensor<a, b, real> {attn.name = "x"}) -> !attn.tensor<a, b, real> {
  // expected-error @+1 {{output: out is written as [a x c], but the value is [a x b]; each of its dims once, in any order, is right}}
  attn.return %x {names = ["out"], dims = [["a", "c"]]} : !attn.tensor<a, b, real>
}
// -----
func.func @memory(%x: !attn.tensor<a, b, real> {attn.name = "x"}) -> !attn.tensor<a, b, real> {
  // expected-error @+1 {{output: out is written as [b x a], but the function's result is [a x b]}}
  attn.return %x {names = ["out"], dims = [["b", "a"]]} : !attn.tensor<a, b, real>
}
// -----
// expected-error @+1 {{tensor: a is 3 in one type and 4 in another; a dim has one extent}}
func.func @extents(%x: !attn.tensor<a=3, real> {attn.name = "x"}, %y: !attn.tensor<a=4, real> {attn.name = "y"}) -> !attn.tensor<a=3, real> {
  attn.return %x {names = ["out"], dims = [["a"]]} : !attn.tensor<a=3, real>
}
// -----
// expected-error @+1 {{tensor: b is 4; it must be 3, which follows from [a]}}
func.func @formula(%x: !attn.tensor<a=3, real> {attn.name = "x"}) -> !attn.tensor<b=4, real> {
  %0 = attn.rename %x {from = "a", to = "b"} : (!attn.tensor<a=3, real>) -> !attn.tensor<b=4, real>
  attn.return %0 {names = ["out"], dims = [["b"]]} : !attn.tensor<b=4, real>
}
// -----
func.func @stage(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> {
  %0 = attn.stage "pointwise" (%y = %x) : (!attn.tensor<a, real>) -> !attn.tensor<a, real> {
    %1 = attn.index {dim = "a"} : () -> !attn.tensor<a, i64>
    // expected-error @+1 {{yield: its operands differ from the results of the stage in type}}
    attn.yield %1 : !attn.tensor<a, i64>
  }
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
// expected-error @+1 {{graph: attn.dims is not of the form {keys = {formula = "product", operands = ["tokens"], value = 1}}}}
func.func @dims(%x: !attn.tensor<a, real> {attn.name = "x"}) -> !attn.tensor<a, real> attributes {attn.dims = {a = {formula = "power", operands = ["b"], value = 2}}} {
  attn.return %x {names = ["out"], dims = [["a"]]} : !attn.tensor<a, real>
}
// -----
func.func @stage_without_yield(%x: !attn.tensor<a, f32> {attn.name = "x"}) -> !attn.tensor<a, f32> {
  // expected-error @+1 {{stage: its region does not end in attn.yield}}
  %0 = attn.stage "pointwise" (%y = %x) : (!attn.tensor<a, f32>) -> (!attn.tensor<a, f32>) {
    %1 = attn.exp %y : (!attn.tensor<a, f32>) -> !attn.tensor<a, f32>
  }
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, f32>
}
// -----
func.func @stage_of_no_kind(%x: !attn.tensor<a, f32> {attn.name = "x"}) -> !attn.tensor<a, f32> {
  // expected-error @+1 {{stage: there is no kind 'conv'; there are online_softmax, weighted_sum, gemm, row_softmax, recurrence, row_walk, reduce, write_rows, pointwise}}
  %0 = attn.stage "conv" (%y = %x) : (!attn.tensor<a, f32>) -> (!attn.tensor<a, f32>) {
    %1 = attn.exp %y : (!attn.tensor<a, f32>) -> !attn.tensor<a, f32>
    attn.yield %1 : !attn.tensor<a, f32>
  }
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, f32>
}
// -----
func.func @stage_of_another_kind(%x: !attn.tensor<a, f32> {attn.name = "x"}) -> !attn.tensor<a, f32> {
  // expected-error @+1 {{stage 'gemm': its body is no gemm}}
  %0 = attn.stage "gemm" (%y = %x) : (!attn.tensor<a, f32>) -> (!attn.tensor<a, f32>) {
    %1 = attn.softmax %y {over = "a"} : (!attn.tensor<a, f32>) -> !attn.tensor<a, f32>
    attn.yield %1 : !attn.tensor<a, f32>
  }
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, f32>
}
// -----
func.func @stage_of_nothing(%x: !attn.tensor<a, f32> {attn.name = "x"}) -> !attn.tensor<a, f32> {
  // expected-error @+1 {{stage: its region does not end in attn.yield}}
  %0 = "attn.stage"(%x) ({}) {kind = "pointwise"} : (!attn.tensor<a, f32>) -> !attn.tensor<a, f32>
  attn.return %0 {names = ["out"], dims = [["a"]]} : !attn.tensor<a, f32>
}
// -----
// expected-error @+1 {{tensor: the extent of a is 99999999999; kernels count up to 1073741824}}
func.func @large(%x: !attn.tensor<a=99999999999, f32> {attn.name = "x"}) -> !attn.tensor<a, f32>
