"""What the programs of bench/ have in common: the rows that are chosen, the build, the machine."""

import argparse
import datetime
import json
import os
import pathlib

from goals import chosen, read_goals, shrunk
from problem import Problem

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Arguments(argparse.ArgumentParser):
    """A parser with the common options; a wrong one is a Problem."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.add_argument("--rows", default="", help="names of rows, with commas; all without it")
        self.add_argument("--build", type=pathlib.Path, default=SOURCE / "build", help="the build folder; build without it")
        self.add_argument("--tuned", type=pathlib.Path, action="append", default=[],
                          help="FILE of attune tune, by whose records and defaults kernels are compiled; may be given again")
        self.add_argument("--shrink", type=int, default=0, help="extents of at most so many, to try the program itself")

    def error(self, message):
        raise Problem(message + "; --help lists the options")

    def parsed(self, arguments):
        options = self.parse_args(arguments)
        if options.shrink < 0:
            raise Problem(f"--shrink {options.shrink}: is below 0; an extent is at least 1")
        return options


def rows_of(options):
    """The rows that the options choose, and those that they are compared with."""
    rows = read_goals(SOURCE / "bench/goals.toml")
    if options.rows:
        rows = chosen(rows, options.rows.split(","))
    return [shrunk(row, options.shrink) for row in rows] if options.shrink else rows


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    names = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    return {"cpu": names[0] if names else os.uname().machine, "cpus": os.cpu_count(), "load_before": os.getloadavg()[0]}


def document_of(**more):
    """What results begin with."""
    return {"format": 1, "date": datetime.date.today().isoformat(), "machine": machine()} | more


def write_whole(path, content):
    """Writes bytes. The file is whole, as it was or as it is to be, whenever the program is stopped or the disk is full."""
    fresh = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(content)
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Problem(f"'{path}': cannot be written: {error.strerror}") from error


def write_json(path, document):
    write_whole(path, (json.dumps(document, indent=1) + "\n").encode())
