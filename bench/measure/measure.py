"""Measures the rows of bench/goals.toml."""

import dataclasses
import math
import os
import subprocess
import tempfile
import time

import numpy

import cases
from autoscheduled import SCHEDULERS, Autoscheduled
from own import Kernel
from problem import Skipped
from timing import STRETCH_S, Samples, in_turn, paired_ratio, seconds_of

UNALIGNED_BYTES = 16  # beyond a line: where malloc and std::vector put memory
REST_S = 0.05  # onnxruntime's threads wait for up to 30 ms: without a rest its calls and Attune's on two threads took 1.3 to 1.8 times as long


@dataclasses.dataclass
class Stand:
    """What a row measures: kept between visits, for compiling and checking takes longer than they do."""

    kernel: Kernel
    inputs: dict
    own: object       # the bound call
    contenders: dict  # seconds(repeats) by name
    skipped: dict     # peers that are not measured, with what says why


class Bench:
    """Measures rows with a budget of seconds for each visit of one."""

    def __init__(self, attune, peers, budget_s):
        self.attune, self.peers, self.budget_s, self.stands = attune, peers, budget_s, {}

    def row(self, row):
        if row.threads > (os.cpu_count() or 1):
            raise Skipped(f"needs {row.threads} CPUs; this machine has {os.cpu_count()}")
        row = dataclasses.replace(row, peers=row.peers if self.peers else [p for p in row.peers if p == "by_hand" or p in SCHEDULERS])
        self.attune.set_threads(row.threads)
        if self.peers:
            self.peers.set_threads(row.threads)
        return {"kernel": self.kernel, "compile_time": self.compile_time, "file_size": self.file_size, "growth": self.growth}[row.kind](row)

    def kernel(self, row):
        if row.type != "f32" and self.attune.peak("bf16", "zen4", 1) == 0 and row.peak == "bf16":
            raise Skipped("this CPU has no bf16 dot products (vdpbf16ps)")
        if row.name not in self.stands:
            self.stands[row.name] = self.stand(row)
        stand, reads = self.stands[row.name], []
        samples = in_turn(stand.contenders, self.budget_s, between=lambda: self.add_read(reads, row), rest_s=REST_S if row.threads > 1 else 0)
        peak = max(reads) if reads else 1 / samples["peak"].minimum if "peak" in samples else 0
        return self.result(row, stand.kernel, stand.inputs, samples, dict(stand.skipped), peak) | {"workspace_bytes": stand.own.workspace_bytes()}

    def stand(self, row):
        kernel = Kernel(self.attune, row)
        inputs = cases.make_inputs(row, row.shape, kernel.manifest)
        own = kernel.bind(inputs, row.shape)
        cases.check(row, inputs, "attune", own.result())
        contenders, skipped = {"attune": own.seconds, "unaligned": kernel.bind(inputs, row.shape, UNALIGNED_BYTES).seconds}, {}
        for name in row.peers:
            try:
                contenders[name] = self.peer(name, row, inputs, own)
            except Skipped as reason:
                skipped[name] = {"skipped": str(reason)}
        if row.twin:
            shape = row.shape | row.twin
            twin_inputs = cases.make_inputs(row, shape, kernel.manifest)
            twin = kernel.bind(twin_inputs, shape)
            cases.check(row, twin_inputs, "attune", twin.result())
            contenders["twin"] = twin.seconds
        if row.peak != "read" and self.attune.peak(row.peak, kernel.target, row.threads) > 0:
            contenders["peak"] = self.peak(row, kernel.target, max(STRETCH_S, own.seconds(1)))
        return Stand(kernel, inputs, own, contenders, skipped)

    def peak(self, row, target, stretch_s):
        """The CPU's arithmetic as a contender: seconds that 1e9 operations take, for a stretch as long as the kernel is called for."""
        return lambda repeats: 1 / self.attune.peak(row.peak, target, row.threads, stretch_s)

    def add_read(self, reads, row):
        if row.peak == "read" and len(reads) < 5:  # the best of passes, which take a second
            reads.append(self.attune.peak("read", "", row.threads))

    def peer(self, name, row, inputs, own):
        """seconds(repeats) of a peer whose result is right."""
        if name == "by_hand":
            return self.by_hand(row, inputs)
        if name in SCHEDULERS:
            scheduled = Autoscheduled(self.attune, name, row, inputs)
            cases.check(row, inputs, name, scheduled.result())
            return scheduled.seconds
        call = self.peers.call(name, row, inputs)
        cases.check(row, inputs, name, self.peers.result(name, row, inputs, call, own.out.shape))
        return seconds_of(call)

    def by_hand(self, row, inputs):
        arrays = [inputs[n] for n in "qkv"] + [numpy.zeros_like(inputs["q"])]
        queries, keys = row.shape["queries"], row.shape["keys"]

        def seconds(repeats):  # holds the arrays
            return self.attune.bench.attune_bench_hand_seconds(*(x.ctypes.data for x in arrays), queries, keys, repeats)

        if row.shape["depth"] != 64 or seconds(1) < 0:
            raise Skipped("the loops by hand are for AVX-512, depth 64 and at most 64 x 64")
        cases.check(row, inputs, "by_hand", arrays[3])
        return seconds

    def result(self, row, kernel, inputs, samples, peers, peak):
        own = samples["attune"]
        amount = cases.work(row, inputs, row.shape)
        speed = (amount or 1) / own.minimum
        result = {"own": described(own), "peers": peers, "target": kernel.target, "compile_seconds": kernel.compile_seconds,
                  "speed": speed, "noise": own.noise, "figure": own.minimum, "unit": "s", "normalised": own.minimum}
        if amount:
            result |= {"work": amount, "counts": row.counts, "peak": peak, "peak_kind": row.peak, "peak_share": speed / 1e9 / peak if peak else None,
                       "normalised": peak * 1e9 / speed}
        if row.beside.get("on") == "visited":
            tiles = kernel.tiles("large", "online_softmax")
            visited = cases.visited_pairs(row, inputs, row.shape, tiles["register_rows"], tiles["edge_tile"])
            result["visible_share"] = cases.pairs(row, inputs, row.shape) / visited
        result["unaligned_ratio"] = 1 / paired_ratio(samples["unaligned"], own)
        for name in row.peers:
            if name in samples:
                peers[name] = described(samples[name]) | {"ratio": paired_ratio(samples[name], own)}
        if row.twin:
            shape = row.shape | row.twin
            twin_work = cases.work(row, inputs, shape)
            result["twin"] = described(samples["twin"])
            result["twin_ratio"] = paired_ratio(samples["twin"], own) * amount / twin_work
        return result

    def compile_time(self, row):
        seconds = [Kernel(self.attune, row).compile_seconds for _ in range(3)]
        sizes = len(Kernel(self.attune, row).codes)
        each = Samples(1, [s / sizes for s in seconds])
        result = {"own": described(each), "peers": {}, "seconds": each.minimum, "speed": 1 / each.minimum, "noise": each.noise, "figure": each.minimum,
                  "unit": "s", "normalised": each.minimum}
        if "flex" in row.peers:
            shape = {"batch": 1, "heads": 2, "queries": 256, "keys": 256, "depth": 64, "value_depth": 64}
            inputs = cases.make_inputs(row, shape, Kernel(self.attune, row).manifest)
            started = time.perf_counter()
            self.peers.call("flex", row, inputs)
            first = time.perf_counter() - started
            result["peers"]["flex"] = described(Samples(1, [first])) | {"ratio": first / each.minimum}
        return result

    def file_size(self, row):
        path, _, _ = self.attune.compile(row)
        with tempfile.NamedTemporaryFile() as stripped:
            subprocess.run(["strip", "-o", stripped.name, path.with_suffix(".o"), "--strip-unneeded"], check=True)
            kilobytes = os.path.getsize(stripped.name) / 1e3
        return {"own": {}, "peers": {}, "kilobytes": kilobytes, "noise": 0.0, "figure": kilobytes, "unit": "kB", "normalised": kilobytes}

    def growth(self, row):
        kernel, calls, pairs = Kernel(self.attune, row), {}, []
        for length in row.lengths:
            shape = row.shape | {"queries": length, "keys": length, "tokens": length}
            inputs = cases.make_inputs(row, shape, kernel.manifest)
            call = kernel.bind(inputs, shape)
            cases.check(row, inputs, "attune", call.result())
            calls[str(length)] = call.seconds
            pairs.append((length, cases.pairs(row, inputs, shape)))
        samples = in_turn(calls, self.budget_s, least_rounds=3)
        slope, work_slope = slope_of([(int(length), s.minimum) for length, s in samples.items()]), slope_of(pairs)
        longest = samples[str(row.lengths[-1])]
        return {"own": described(longest), "peers": {}, "slope": slope, "work_slope": work_slope, "noise": longest.noise, "figure": slope,
                "unit": "slope", "normalised": slope, "lengths": {length: s.minimum for length, s in samples.items()}}


def slope_of(points):
    """Of the straight line that fits the points best on a log-log plot."""
    x, y = ([math.log(p[axis]) for p in points] for axis in (0, 1))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def described(samples):
    return {"seconds_min": samples.minimum, "seconds_median": samples.median, "rounds": len(samples.seconds), "calls_a_round": samples.repeats}
