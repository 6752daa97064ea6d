"""The variants as FlexAttention takes them: functions of the indices of a pair. `row` has the kernel's name and its parameters."""


def index_mask(row):
    """What a mask of indices alone lets through; None for a kernel without one."""
    window = row.parameters.get("window")
    if row.kernel == "causal":
        return lambda b, h, i, j: i >= j
    if row.kernel == "sliding_window":
        return lambda b, h, i, j: (i >= j) & (i - j < window)
    return None


def index_score(torch, row, heads, device):
    """How a score changes by its indices and parameters alone; None for a kernel that leaves it."""
    if row.kernel == "alibi":
        slopes = torch.exp2(-8.0 * torch.arange(1, heads + 1, device=device) / heads)
        return lambda s, b, h, i, j: s + slopes[h] * (j - i)
    if row.kernel == "soft_cap":
        cap = row.parameters["cap"]
        return lambda s, b, h, i, j: cap * torch.tanh(s / cap)
    return None
