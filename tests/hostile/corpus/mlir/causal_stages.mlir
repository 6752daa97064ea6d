module {
  func.func @causal(%arg0: !attn.tensor<batch, heads, queries, depth, f32> {attn.name = "q"}, %arg1: !attn.tensor<batch, heads, keys, depth, f32> {attn.name = "k"}, %arg2: !attn.tensor<batch, heads, keys, value_depth, f32> {attn.name = "v"}) -> !attn.tensor<batch, heads, queries, value_depth, f32> {
    %0 = attn.stage "online_softmax" (%arg3 = %arg0, %arg4 = %arg1, %arg5 = %arg2) {decisions = {reason = "the weights of queries x keys are used by one matmul alone"}} : (!attn.tensor<batch, heads, queries, depth, f32>, !attn.tensor<batch, heads, keys, depth, f32>, !attn.tensor<batch, heads, keys, value_depth, f32>) -> !attn.tensor<batch, heads, queries, value_depth, f32> {
      %1 = attn.index {dim = "queries"} : () -> !attn.tensor<queries, i64>
      %2 = attn.index {dim = "keys"} : () -> !attn.tensor<keys, i64>
      %3 = attn.greater_equal %1, %2 : (!attn.tensor<queries, i64>, !attn.tensor<keys, i64>) -> !attn.tensor<queries, keys, boolean>
      %4 = attn.constant {kind = "real", value = 1} : () -> !attn.tensor<f32>
      %5 = attn.extent {dim = "depth"} : () -> !attn.tensor<i64>
      %6 = attn.sqrt %5 : (!attn.tensor<i64>) -> !attn.tensor<f32>
      %7 = attn.divide %4, %6 : (!attn.tensor<f32>, !attn.tensor<f32>) -> !attn.tensor<f32>
      %8 = attn.multiply %arg3, %7 : (!attn.tensor<batch, heads, queries, depth, f32>, !attn.tensor<f32>) -> !attn.tensor<batch, heads, queries, depth, f32>
      %9 = attn.matmul %8, %arg4 {over = ["depth"]} : (!attn.tensor<batch, heads, queries, depth, f32>, !attn.tensor<batch, heads, keys, depth, f32>) -> !attn.tensor<batch, heads, queries, keys, f32>
      %10 = attn.constant {kind = "real", value = "-inf"} : () -> !attn.tensor<f32>
      %11 = attn.select %3, %9, %10 : (!attn.tensor<queries, keys, boolean>, !attn.tensor<batch, heads, queries, keys, f32>, !attn.tensor<f32>) -> !attn.tensor<batch, heads, queries, keys, f32>
      %12 = attn.softmax %11 {over = "keys"} : (!attn.tensor<batch, heads, queries, keys, f32>) -> !attn.tensor<batch, heads, queries, keys, f32>
      %13 = attn.matmul %12, %arg5 {over = ["keys"]} : (!attn.tensor<batch, heads, queries, keys, f32>, !attn.tensor<batch, heads, keys, value_depth, f32>) -> !attn.tensor<batch, heads, queries, value_depth, f32>
      attn.yield %13 : !attn.tensor<batch, heads, queries, value_depth, f32>
    }
    attn.return %0 {dims = [["batch", "heads", "queries", "value_depth"]], names = ["out"]} : !attn.tensor<batch, heads, queries, value_depth, f32>
  }
}

