module {
  func.func @causal(%arg0: !attn.tensor<batch, heads, queries, depth, real> {attn.name = "q"}, %arg1: !attn.tensor<batch, heads, keys, depth, real> {attn.name = "k"}, %arg2: !attn.tensor<batch, heads, keys, value_depth, real> {attn.name = "v"}) -> !attn.tensor<batch, heads, queries, value_depth, real> {
    %0 = attn.matmul %arg0, %arg1 {over = ["depth"]} : (!attn.tensor<batch, heads, queries, depth, real>, !attn.tensor<batch, heads, keys, depth, real>) -> !attn.tensor<batch, heads, queries, keys, real>
    %1 = attn.constant {kind = "real", value = 1} : () -> !attn.tensor<real>
    %2 = attn.extent {dim = "depth"} : () -> !attn.tensor<i64>
    %3 = attn.sqrt %2 : (!attn.tensor<i64>) -> !attn.tensor<real>
    %4 = attn.divide %1, %3 : (!attn.tensor<real>, !attn.tensor<real>) -> !attn.tensor<real>
    %5 = attn.scale %0, %4 : (!attn.tensor<batch, heads, queries, keys, real>, !attn.tensor<real>) -> !attn.tensor<batch, heads, queries, keys, real>
    %6 = attn.index {dim = "queries"} : () -> !attn.tensor<queries, i64>
    %7 = attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
    %8 = attn.greater_equal %6, %7 : (!attn.tensor<queries, i64>, !attn.tensor<keys, i64>) -> !attn.tensor<queries, keys, boolean>
    %9 = attn.mask %5, %8 : (!attn.tensor<batch, heads, queries, keys, real>, !attn.tensor<queries, keys, boolean>) -> !attn.tensor<batch, heads, queries, keys, real>
    %10 = attn.softmax %9 {over = "keys"} : (!attn.tensor<batch, heads, queries, keys, real>) -> !attn.tensor<batch, heads, queries, keys, real>
    %11 = attn.matmul %10, %arg2 {over = ["keys"]} : (!attn.tensor<batch, heads, queries, keys, real>, !attn.tensor<batch, heads, keys, value_depth, real>) -> !attn.tensor<batch, heads, queries, value_depth, real>
    attn.return %11 {dims = [["batch", "heads", "queries", "value_depth"]], names = ["out"]} : !attn.tensor<batch, heads, queries, value_depth, real>
  }
}

