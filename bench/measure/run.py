"""bench/run: measures Attune's kernels beside their peers in one run, as bench/goals.toml lists them."""

import os
import pathlib
import subprocess
import sys

from judge import judged
from measure import Bench
from own import Attune
from peers import Peers
from problem import Problem, Skipped, sentence_of
from program import SOURCE, Arguments, document_of, rows_of, write_json, write_whole
from report import drawn, markdown_of, summary_of, table_of


def parse(arguments):
    parser = Arguments(prog="bench/run", description="Measures Attune's kernels beside their peers, in one run, and says which goals are met.",
                       epilog="examples: bench/run | bench/run --rows sdpa,causal | bench/run --quick --out /tmp/quick")
    parser.add_argument("--quick", action="store_true", help="one second a row instead of six")
    parser.add_argument("--visits", type=int, default=None, metavar="N", help="how often each row is visited, over the whole run; the best visit counts. 3 without it, 1 with --quick")
    parser.add_argument("--no-peers", action="store_true", help="needs no PyTorch and no onnxruntime, measures nothing of them, and draws nothing")
    parser.add_argument("--out", type=pathlib.Path, default=None, help="folder of results.json, table.txt and plot.png; BUILD/bench/results without it")
    parser.add_argument("--list", action="store_true", help="the rows, measuring nothing")
    return parser.parsed(arguments)


def versions(has_peers):
    def output(*command):
        result = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE)
        return result.stdout.strip() if result.returncode == 0 else ""

    found = {"commit": output("git", "rev-parse", "--short", "HEAD")}
    if has_peers:
        from importlib.metadata import version
        found |= {name: version(name) for name in ("torch", "onnxruntime", "openvino", "onednn", "numpy")}
    return found


def measure_all(bench, rows, results, visits, keep):
    """Fills the results by name; what is skipped says why. All rows are visited in turn, several times: of a row the best visit counts, so that no
    neighbour's minute decides. keep() is called after each row, so that a run that is stopped loses nothing. Progress on stderr."""
    for visit in range(visits):
        for number, row in enumerate(rows, 1):
            so_far = results.get(row.name, {})
            if visit > 0 and ("skipped" in so_far or row.kind != "kernel"):
                continue  # the other kinds measure several things in turn as it is
            print(f"[{number}/{len(rows)}] {row.name}: {row.case}" + (f", visit {visit + 1} of {visits}" if visits > 1 else ""), file=sys.stderr, flush=True)
            try:
                result = bench.row(row)
            except Skipped as skipped:
                result = {"skipped": str(skipped)}
            if visit > 0 and result["normalised"] >= so_far["normalised"]:
                result = so_far
            results[row.name] = {"case": row.case, "threads": row.threads} | result
            for other in rows:
                if "own" in results.get(other.name, {}):
                    results[other.name]["goals"] = judged(other, results[other.name], results)
            keep()


def write(document, folder, has_plot):
    write_json(folder / "results.json", document)
    write_whole(folder / "table.md", (markdown_of(document) + "\n").encode())
    write_whole(folder / "table.txt", (table_of(document) + "\n" + summary_of(document) + "\n").encode())
    if has_plot:
        write_whole(folder / "plot.png", drawn(document))
    return ["results.json", "table.txt", "table.md"] + (["plot.png"] if has_plot else [])


def main(arguments):
    options = parse(arguments)
    rows = rows_of(options)
    if options.visits is not None and options.visits < 1:
        raise Problem(f"--visits {options.visits}: is none; 1 or more is right")
    if options.list:
        print("\n".join(f"{row.name:14} {row.case}" for row in rows))
        return 0
    attune = Attune(SOURCE, options.build.resolve(), options.tuned)
    document = document_of(versions=versions(not options.no_peers), rows={})
    visits = options.visits or (1 if options.quick or options.shrink else 3)
    row_s = 0.0 if options.shrink else 1.0 if options.quick else 6.0
    bench = Bench(attune, None if options.no_peers else Peers(attune), row_s / visits)
    folder = (options.out or options.build / "bench/results").resolve()

    def keep():
        document["machine"]["load_after"] = os.getloadavg()[0]
        write(document, folder, False)

    measure_all(bench, rows, document["rows"], visits, keep)
    files = write(document, folder, not options.no_peers)
    print(table_of(document))
    print(summary_of(document))
    print(f"{', '.join(files)}: in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(sentence_of("bench/run", lambda: main(sys.argv[1:])))
