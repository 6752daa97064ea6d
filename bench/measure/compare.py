"""bench/compare OLD.json NEW.json: says which rows got slower beyond the noise; exit status 1 if one did."""

import json
import pathlib
import sys

from problem import Problem, sentence_of

LEAST = 0.03  # below this a difference is never taken for one: clocks and placement in memory move results so much between runs


def read(path):
    try:
        document = json.loads(pathlib.Path(path).read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise Problem(f"{path}: cannot be read: {error}; a results.json of bench/run is right") from None
    if not isinstance(document, dict) or document.get("format") != 1:
        raise Problem(f"{path}: is no result of bench/run of format 1; a results.json of bench/run is right")
    return document


def changes(old, new):
    """(name, growth, noise) of the rows that both measured: growth is what the time grew by as a share, where a peak was measured
    beside it the time in units of that peak's."""
    for name, before in old["rows"].items():
        after = new["rows"].get(name, {})
        if "normalised" in before and "normalised" in after:
            yield name, after["normalised"] / before["normalised"] - 1, max(LEAST, 2 * (before["noise"] + after["noise"]))


def missing(old, new):
    return [name for name, row in old["rows"].items() if "normalised" in row and "normalised" not in new["rows"].get(name, {})]


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print("usage: bench/compare OLD.json NEW.json\n\n" + __doc__)
        return 0
    if len(arguments) != 2:
        raise Problem(f"has {len(arguments)} arguments; two files are right: OLD.json NEW.json")
    old, new = (read(path) for path in arguments)
    if old["machine"]["cpu"] != new["machine"]["cpu"]:
        raise Problem(f"the files are of different machines: {old['machine']['cpu']} and {new['machine']['cpu']}; a comparison needs two runs of one")
    slower, faster, compared = [], 0, 0
    for name, growth, noise in changes(old, new):
        compared += 1
        if growth > noise:
            before, after = (d["rows"][name] for d in (old, new))
            unit = before["unit"]
            slower.append(f"{name}: takes {100 * growth:.1f} % more than before, beyond the noise of {100 * noise:.1f} % "
                          f"({before['figure']:.4g} -> {after['figure']:.4g} {unit})")
        faster += growth < -noise
    slower += [f"{name}: was measured before and is not now" for name in missing(old, new)]
    for line in slower:
        print(line)
    print(f"{compared} rows compared, {len(slower)} worse, {faster} better")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(sentence_of("bench/compare", lambda: main(sys.argv[1:])))
