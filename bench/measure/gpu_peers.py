"""PyTorch on a GPU, for the rows that gpu_check measured: scaled_dot_product_attention, compiled FlexAttention, and products."""
import argparse
import json
import os
import pathlib
import sys
import time
import types

from flex import index_mask, index_score

BATCH_S, BATCHES, MOST_CALLS = 0.1, 7, 200  # as tools/gpu_check/timing.cpp has them
TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}


def wrong(sentence):
    print(f"gpu_peers: {sentence}", file=sys.stderr)
    sys.exit(2)


def read(path, how):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        wrong(f"'{path}': cannot be read: {error}; {how}")


def parameters_of(kernel):
    pairs = (item.split("=") for item in kernel["parameters"].replace(" ", "").split(",") if "=" in item)
    return {name: float(value) for name, value in pairs if value.replace(".", "", 1).isdigit()}


def calls_of(torch, kernel, tensors):
    """The peers of a row by name, each a function that prepares a call without arguments."""
    functional = torch.nn.functional
    row = types.SimpleNamespace(kernel=kernel["variant"], parameters=parameters_of(kernel))
    if row.kernel == "product":
        a, b = tensors["a"], tensors["b"]
        return {"matmul": lambda: lambda: a @ b}
    if not {"q", "k", "v"} <= set(tensors):
        return {}
    q, k, v = (x.reshape(x.shape[0], -1, *x.shape[-2:]) for x in (tensors["q"], tensors["k"], tensors["v"]))
    grouped = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
    mask, score = index_mask(row), index_score(torch, row, q.shape[1], q.device)
    calls = {}
    if score is None and row.kernel != "sliding_window":
        calls["sdpa"] = lambda: lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=row.kernel == "causal", **grouped)

    def flex():
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        options = dict(grouped, score_mod=score)
        if mask is not None:
            options["block_mask"] = create_block_mask(mask, None, None, q.shape[2], k.shape[2], device=q.device)
        torch._dynamo.reset()
        compiled = torch.compile(lambda q, k, v: flex_attention(q, k, v, **options), dynamic=False)
        return lambda: compiled(q, k, v)

    return calls | {"flex": flex}


def milliseconds(torch, call):
    """Of one call: of batches that are waited for once, the fastest, behind two calls that compile and warm up."""
    def seconds(count):
        start = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        return time.perf_counter() - start

    seconds(1)
    best = seconds(1)
    count = max(1, min(MOST_CALLS, int(BATCH_S / best)))
    return 1e3 * min(best, *(seconds(count) / count for _ in range(BATCHES)))


def peers_of(torch, kernel, row):
    """The peers' times of a row, or why there are none."""
    real = getattr(torch, TYPES[kernel["type"]])
    tensors = {t["name"]: 2 * torch.rand(t["extents"], device="cuda", dtype=real) - 1 for t in row["call"]["tensors"][:row["call"]["inputs"]]}
    times = {}
    for name, prepare in calls_of(torch, kernel, tensors).items():
        try:
            times[name] = {"milliseconds": milliseconds(torch, prepare())}
        except Exception as error:  # torch's own of many kinds: one peer that cannot is no reason to miss the others
            times[name] = {"problem": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="of scripts/gpu-check pack, where gpu_check has run")
    folder = parser.parse_args().folder
    checks = read(folder / "checks.json", "scripts/gpu-check pack writes it")
    results = read(folder / "results.json", "gpu_check of that folder writes it")
    try:
        import torch
    except ImportError as error:
        print(f"gpu_peers: torch cannot be imported: {error}; nothing stands beside the results")
        return
    if not torch.cuda.is_available():
        print("gpu_peers: torch finds no device of CUDA; nothing stands beside the results")
        return
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    ours = {row["name"]: row["milliseconds"] for row in results["rows"] if "milliseconds" in row}
    results["torch"], results["peers"] = torch.__version__, {}
    for kernel in checks["kernels"]:
        if kernel["name"] not in ours:
            continue
        times = results["peers"][kernel["name"]] = peers_of(torch, kernel, kernel["quick" if results["is_quick"] else "full"])
        for name, peer in times.items():
            own = ours[kernel["name"]]
            said = peer.get("problem") or f"{peer['milliseconds']:.4g} ms, {peer['milliseconds'] / own:.2f} times Attune's {own:.4g} ms"
            print(f"{kernel['name']:<40} {name:<8} {said}", flush=True)
        temporary = folder / "results.json.new"
        temporary.write_text(json.dumps(results, indent=1) + "\n")
        os.replace(temporary, folder / "results.json")


if __name__ == "__main__":
    main()
