"""Cases of masks by position and by what the caller gives."""

import numpy as np

from reference_formulas import attend, B, booleans, case, D, H, K, normal, Q, qkv, V, where

for queries, keys in ((5, 7), (7, 5)):
    x = qkv(queries, keys)
    case(f"causal-{queries}x{keys}", x, attend(x, where(lambda b, h, i, j: i >= j)))
    case(f"causal_offset-{queries}x{keys}", x, attend(x, where(lambda b, h, i, j: j <= i + keys - queries)))
    for left, right in ((2, 0), (-1, 1), (1, -1), (0, 3)):
        case(f"window-{queries}x{keys}_{left}_{right}".replace("-1", "all"), x,
             attend(x, where(lambda b, h, i, j: (left < 0 or i - left <= j) and (right < 0 or j <= i + right))), left=left, right=right)
    case(f"window-{queries}x{keys}_bottom_right", x,
         attend(x, where(lambda b, h, i, j: i + keys - queries - 2 <= j <= i + keys - queries + 1)), left=2, right=1, alignment="bottom_right")

x = qkv(11, 11)
case("sliding_window", x, attend(x, where(lambda b, h, i, j: j <= i and i - j < 3)), window=3)
case("window-dilated", x, attend(x, where(lambda b, h, i, j: abs(i - j) <= 6 and abs(i - j) % 3 == 0)), left=6, right=6, dilation=3)
case("sinks", x, attend(x, where(lambda b, h, i, j: (j < 2 or i - j < 3) and j <= i)), sinks=2, window=3)
case("strided", x, attend(x, where(lambda b, h, i, j: j <= i and (i - j < 4 or (i - j) % 4 == 0))), stride=4)
case("chunked", x, attend(x, where(lambda b, h, i, j: i // 4 == j // 4)), chunk=4)
case("chunked-causal", x, attend(x, where(lambda b, h, i, j: i // 4 == j // 4 and j <= i)), chunk=4, causal=True)
case("chunked-block_causal", x, attend(x, where(lambda b, h, i, j: i // 4 >= j // 4)), chunk=4, before=True)

x = qkv(12, 12)
block_of = lambda i: i % 6 // 2
case("block_diffusion", x, attend(x, where(lambda b, h, i, j: (block_of(i) == block_of(j) and (i < 6) == (j < 6)) or
                                          (block_of(i) > block_of(j) and i < 6 and j >= 6) or
                                          (block_of(i) >= block_of(j) and i >= 6 and j >= 6))), block=2)

x = qkv(prefix=np.array([3, 0]))
case("prefix_lm", x, attend(x, where(lambda b, h, i, j: j < x["prefix"][b] or i >= j)))
x = qkv(9, 9, **{"global": booleans(B, 9, share=0.25)})
seen = lambda b, i, j: abs(i - j) <= 1 or x["global"][b, i] or x["global"][b, j]
case("global_window", x, attend(x, where(lambda b, h, i, j: seen(b, i, j))), window=1)
case("global_window-causal", x, attend(x, where(lambda b, h, i, j: seen(b, i, j) and j <= i)), window=1, causal=True)

# A canvas of 5 x 4 (width 5), a neighbourhood of 3 x 3: the centre is clamped one row and one column from the border.
x = qkv(20, 20, batch=1, heads=1)
clamp = lambda c, reach, size: min(max(c, reach), size - 1 - reach)
case("neighbourhood", x, attend(x, where(lambda b, h, i, j: abs(clamp(i % 5, 1, 5) - j % 5) <= 1 and abs(clamp(i // 5, 1, 4) - j // 5) <= 1)),
     width=5, kernel_width=3, kernel_height=3)

x = qkv(9, 9, ids=np.array([[0, 0, 1, 1, 1, 2, 2, 2, 2], [4, 4, 4, 4, 0, 0, 3, 4, 0]]))
case("document", x, attend(x, where(lambda b, h, i, j: x["ids"][b, i] == x["ids"][b, j])))
case("document-causal", x, attend(x, where(lambda b, h, i, j: x["ids"][b, i] == x["ids"][b, j] and j <= i)), causal=True)
x = qkv(9, 9, ids=np.array([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2, 2, 3, 3]]),
        prefixes=np.array([[0, 0, 0, 0, 0, 0, 0, 0, 0], [-1, -1, -1, -1, 0, 0, 0, 2, 2]]))
case("document-shared_prefix", x, attend(x, where(lambda b, h, i, j: (x["ids"][b, i] == x["ids"][b, j] and j <= i) or
                                                  (x["ids"][b, i] != x["prefixes"][b, i] == x["ids"][b, j]))), causal=True, prefixes=True)
x = qkv(9, 9, offsets=np.array([0, 2, 6, 9]))
start = lambda i: max(o for o in x["offsets"] if o <= i)
case("document-packed", x, attend(x, where(lambda b, h, i, j: start(i) <= j <= i)), causal=True, offsets=True)

# A tree of 4 guesses behind 3 keys: 0 is the root of 1 and 2, 3 is below 1.
parents = [-1, 0, 0, 1]
ancestors = np.zeros((B, 4, 4), dtype=bool)
for guess in range(4):
    at = guess
    while at >= 0:
        ancestors[:, guess, at] = True
        at = parents[at]
x = qkv(4, 7, ancestors=ancestors)
case("tree", x, attend(x, where(lambda b, h, i, j: j < 3 or x["ancestors"][b, i, j - 3])))

x = qkv(7, 9, chosen=np.array([[[[0, 2], [1, 1], [2, -1]]] * H, [[[2, 1], [-1, -1], [0, 1]]] * H]))
case("chosen_blocks", x, attend(x, where(lambda b, h, i, j: j // 4 in x["chosen"][b, h, i // 3])), query_block=3, key_block=4)
case("chosen_blocks-causal", x, attend(x, where(lambda b, h, i, j: j // 4 in x["chosen"][b, h, i // 3] and j <= i)),
     query_block=3, key_block=4, causal=True)
x = qkv(7, 9, chosen=booleans(B, H, 3, 3))
case("chosen_blocks-mask", x, attend(x, where(lambda b, h, i, j: x["chosen"][b, h, i // 3, j // 4])), query_block=3, key_block=4, is_mask=True)
x = {"q": normal(B, 2, H, Q, D), "k": normal(B, 2, K, D), "v": normal(B, 2, K, V),
     "chosen": np.array([[[0, 3, 5], [6, -1, -1], [2, 1, 0], [-1, -1, -1], [4, 6, 2]], [[1, 2, 9], [0, 1, 2], [3, 4, 5], [6, 5, 4], [-1, 0, 6]]])}
merged = {"q": x["q"].reshape(B, 2 * H, Q, D), "k": np.repeat(x["k"], H, axis=1), "v": np.repeat(x["v"], H, axis=1)}
case("chosen_keys", x, attend(merged, where(lambda b, h, i, j: j in x["chosen"][b, i])).reshape(B, 2, H, Q, V))
