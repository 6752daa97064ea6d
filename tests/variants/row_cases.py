"""Cases whose results are numbers of rows alone."""

import numpy as np

from reference_formulas import B, case, D, K, normal, Q

x = {"q": normal(B, Q, D), "k": normal(3, K, D)}
similar = np.einsum("bid,njd->bnij", x["q"].astype(float), x["k"].astype(float))
case("late_interaction", x, similar.max(axis=-1).sum(axis=-1))
x = {**x, "lengths": np.array([K, 1, 0])}
seen = np.where(np.arange(K) < x["lengths"][:, None, None], similar, -np.inf)
case("late_interaction-padded", x, seen.max(axis=-1).sum(axis=-1), padded=True)
x = {"x": normal(Q, D), "weight": normal(K, D), "target": np.array([0, 3, K - 1, -100, 2])[:Q]}
logits = x["x"].astype(float) @ x["weight"].astype(float).T
for name, cap in ("cross_entropy", 0), ("cross_entropy-capped", 1.5):
    logit = cap * np.tanh(logits / cap) if cap else logits
    lse = np.log(np.exp(logit).sum(axis=-1))
    loss = np.where(x["target"] < 0, 0, lse - logit[np.arange(len(logit)), np.maximum(x["target"], 0)])
    case(name, x, {"out": loss, "lse": lse}, lse=True, **({"cap": cap} if cap else {}))
