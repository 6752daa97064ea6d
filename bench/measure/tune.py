"""bench/tune: tunes the kernels of the benchmark's rows on this machine, and measures what that gave beside the defaults."""

import json
import os
import pathlib
import re
import sys

import numpy

import cases
from own import Attune, Kernel
from problem import Problem, sentence_of
from program import SOURCE, Arguments, document_of, rows_of, write_json
from report import time_text
from timing import in_turn, paired_ratio


def parse(arguments):
    parser = Arguments(prog="bench/tune", description="Tunes the kernels of the benchmark's rows on this machine, on one thread, and measures what that gave.",
                       epilog="examples: bench/tune | bench/tune --rows sdpa,decode --budget 2m | bench/tune --tuned other_machine.json --out /tmp/tuned. "
                       "A run that was stopped goes on where it was.")
    parser.add_argument("--budget", default="60s", help="of attune tune, for each row; rows that differ in extents alone share a kernel, and their budgets")
    parser.add_argument("--tries", type=int, default=None, help="of attune tune: at most so many candidates of each stage")
    parser.add_argument("--out", type=pathlib.Path, default=None, help="folder of TARGET.json and tuning.json; BUILD/bench/tuned without it")
    return parser.parsed(arguments)


def kernels_of(attune, rows):
    """The rows that measure calls, in groups of one kernel each."""
    kernels = {}
    for row in rows:
        if row.kind == "kernel":
            kernels.setdefault(tuple(attune.graph_options(row)), []).append(row)
    return kernels


def shared(budget, rows):
    """The budget of attune tune for so many rows. What is no time is left to it."""
    time = re.fullmatch(r"(\d+)([a-z]*)", budget)
    return f"{int(time[1]) * rows}{time[2]}" if time else budget


def integer_inputs(attune, options, row, folder):
    """The options by which attune tune measures with the row's own integers: what a mask hides follows from them."""
    signature = json.loads(attune.run("show", *options, "--signature", "--json"))
    integers = [tensor | {"type": tensor["kind"]} for tensor in signature["inputs"] if tensor["kind"] == "i64"]
    given = []
    for name, array in cases.make_inputs(row, row.shape, {"inputs": integers}).items():
        path = folder / f"{row.name}_{name}.npy"
        numpy.save(path, numpy.ascontiguousarray(array))
        given.append(f"--in={name}={path}")
    return given


def tune(attune, options, rows, asked, folder):
    """Tunes a kernel for the shapes of its rows. The path of the tuned file, which is there if any kernel of the target got a record."""
    target = json.loads(attune.run("explain", *options, "--json"))["target"]
    out = folder / f"{target}.json"
    shapes = {}  # the first row of each
    for row in rows:
        shapes.setdefault(",".join(f"{dim}={extent}" for dim, extent in row.shape.items()), row)
    inputs = [option for row in shapes.values() for option in integer_inputs(attune, options, row, folder)]
    tries = [] if asked.tries is None else [f"--tries={asked.tries}"]
    attune.run("tune", *options, *(f"--shape={shape}" for shape in shapes), *inputs, "--threads=1", f"--budget={shared(asked.budget, len(shapes))}", *tries,
               f"--out={out}", "--json")
    return out


def measure(row, by_default, tuned, seconds):
    """Times of the row by the defaults and as tuned, in turn."""
    kernels = {"by default": Kernel(by_default, row), "tuned": Kernel(tuned, row)}
    inputs = cases.make_inputs(row, row.shape, kernels["tuned"].manifest)
    calls = {name: kernel.bind(inputs, row.shape) for name, kernel in kernels.items()}
    for name, call in calls.items():
        cases.check(row, inputs, f"attune, {name}", call.result())
    by_default.set_threads(row.threads)
    samples = in_turn({name: call.seconds for name, call in calls.items()}, seconds)
    return {"case": row.case, "default_s": samples["by default"].minimum, "tuned_s": samples["tuned"].minimum,
            "ratio": paired_ratio(samples["by default"], samples["tuned"]), "codes": kernels["tuned"].codes}


def table_of(document):
    lines = ["| case | by default | tuned | times as fast |", "| --- | --- | --- | --- |"]
    for name, row in document["rows"].items():
        lines.append(f"| `{name}`: {row['case']} | {time_text(row['default_s'])} | {time_text(row['tuned_s'])} | {row['ratio']:.2f} |")
    return "\n".join(lines)


def summary_of(document):
    ratios = [row["ratio"] for row in document["rows"].values()]
    return f"{sum(ratio >= 1.1 for ratio in ratios)} of {len(ratios)} rows are at least 1.1 times as fast as by the defaults; the least is {min(ratios):.2f}"


def begun(path, settings):
    """What a run with these settings that was stopped has left, or a new document."""
    fresh = document_of(settings=settings, is_complete=False, rows={})
    try:
        left = json.loads(path.read_text())
    except OSError:
        return fresh
    except json.JSONDecodeError as error:
        raise Problem(f"{path}: cannot be read: {error}; without this file bench/tune begins anew") from None
    return fresh if left["is_complete"] or left["settings"] != settings else left


def main(arguments):
    options = parse(arguments)
    rows = [row for row in rows_of(options) if row.threads <= (os.cpu_count() or 1)]
    by_default = Attune(SOURCE, options.build.resolve(), options.tuned)
    kernels = kernels_of(by_default, rows)
    if not kernels:
        raise Problem(f"--rows {options.rows}: none of them measures calls of a kernel that run here")
    folder = (options.out or options.build / "bench/tuned").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "tuning.json"
    document = begun(results, {"rows": [row.name for row in rows], "budget": options.budget, "tuned": [str(path) for path in options.tuned]})
    for number, (graph, group) in enumerate(kernels.items(), 1):
        if all(row.name in document["rows"] for row in group):
            continue
        print(f"[{number}/{len(kernels)}] {', '.join(row.name for row in group)}", file=sys.stderr, flush=True)
        path = tune(by_default, graph, group, options, folder)
        tuned = Attune(SOURCE, options.build.resolve(), [*([path] if path.exists() else []), *options.tuned], "bench/tuned")
        for row in group:
            document["rows"][row.name] = measure(row, by_default, tuned, 0.0 if options.shrink else 3.0)
        write_json(results, document)
    document["is_complete"] = True
    write_json(results, document)
    print(table_of(document))
    print(summary_of(document))
    print(f"tuning.json and the records: in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(sentence_of("bench/tune", lambda: main(sys.argv[1:])))
