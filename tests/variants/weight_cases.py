"""Cases of weights that no softmax makes, or that are changed behind it."""

import math

import numpy as np

from reference_formulas import B, case, D, H, K, normal, products, Q, qkv, scaled, softmax, weighted

sees = np.tril(np.ones((Q, K)))
sigmoid = lambda s: 1 / (1 + np.exp(-s))
x = qkv()
case("sigmoid_attention", x, weighted(sigmoid(scaled(x)), x["v"]))
case("sigmoid_attention-causal", x, weighted(sigmoid(scaled(x) + 0.5 - math.log(K)) * sees, x["v"]), bias=0.5, key_bias=True, causal=True)
case("relu_attention", x, weighted(np.maximum(scaled(x), 0) / K, x["v"]))
case("relu_attention-squared", x, weighted(np.maximum(scaled(x), 0) ** 2 / K * sees, x["v"]), squared=True, causal=True)
x = qkv(log_gamma=-np.abs(normal(H)))
decay = np.exp(x["log_gamma"].astype(float)[:, None, None] * (np.arange(Q)[:, None] - np.arange(K)[None])) * sees
case("retention", x, weighted(scaled(x) * decay, x["v"]))
total = np.maximum(np.abs((scaled(x) * decay).sum(axis=-1, keepdims=True)), 1)
case("retention-normalised", x, weighted(scaled(x) * decay / total, x["v"]), normalised=True)
x = qkv()
case("linear_attention", x, weighted(products(x["q"], x["k"]), x["v"]))
elu = lambda y: np.where(y > 0, y.astype(float) + 1, np.exp(np.minimum(y.astype(float), 0)))
linear = products(elu(x["q"]), elu(x["k"])) * sees
linear = linear / linear.sum(axis=-1, keepdims=True)
case("linear_attention-causal", x, weighted(linear, x["v"]), feature_map="elu_plus_1", normalised=True, causal=True)
x = qkv(sink=normal(H, 1))
exps = np.exp(scaled(x))
case("sink_logit", x, weighted(exps / (exps.sum(axis=-1, keepdims=True) + np.exp(x["sink"].astype(float))[None, :, :, None]), x["v"]))
x = qkv()
exps = np.exp(scaled(x)) * sees
case("sink_logit-off_by_one", x, weighted(exps / (exps.sum(axis=-1, keepdims=True) + 1), x["v"]), learned=False, causal=True)
x = qkv(other_q=normal(B, H, Q, D), other_k=normal(B, H, K, D), **{"lambda": normal(H)})
other = softmax(products(x["other_q"], x["other_k"]) / math.sqrt(D)) * x["lambda"].astype(float)[None, :, None, None]
case("differential", x, weighted(softmax(scaled(x)) - other, x["v"]))
x = qkv(prob_weights=normal(B, H, Q, K))
case("prob_weights", x, weighted(softmax(scaled(x)) * x["prob_weights"], x["v"]))
