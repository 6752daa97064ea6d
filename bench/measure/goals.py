"""bench/goals.toml as rows, checked: a wrong word in it is refused with the words that there are."""

import tomllib
from dataclasses import dataclass, field, fields, replace

from problem import Problem

KINDS = ("kernel", "compile_time", "file_size", "growth")
COUNTS = ("flops", "bytes", "time")
PEAKS = ("fma", "bf16", "read")
BESIDE_ON = ("visible", "visited")  # whose arithmetic counts: that of visible pairs, or of all pairs in the blocks that are computed
PEERS = ("torch", "torch_compiled", "flex", "onnxruntime", "openvino", "onednn", "numpy", "by_hand", "adams2019", "mullapudi2016")
GOALS = ("peak", "best_peer", "unaligned", "twin", "most_us", "most_s", "most_kb", "most_workspace_kb", "growth") + tuple(f"peer.{name}" for name in PEERS)


@dataclass
class Row:
    name: str
    case: str
    kernel: str
    kind: str = "kernel"
    parameters: dict = field(default_factory=dict)
    shape: dict = field(default_factory=dict)
    set: list = field(default_factory=list)
    type: str = "f32"
    target: str = "host"
    threads: int = 1
    counts: str = "flops"
    peak: str = "fma"
    peers: list = field(default_factory=list)
    twin: dict = field(default_factory=dict)  # extents of the shape that this one is compared with
    beside: dict = field(default_factory=dict)  # row and times: the speed of this row over that of the other; on: see BESIDE_ON
    lengths: list = field(default_factory=list)
    goals: dict = field(default_factory=dict)
    stretch: dict = field(default_factory=dict)

    @property
    def is_bf16(self):
        """Inputs and outputs are stored so; products of it may be asked for beside that."""
        return self.type.split(",")[0] == "bf16"


def one_of(row, what, value, known):
    if value not in known:
        raise Problem(f"goals, row '{row}': {what} '{value}' is not known; there are {', '.join(known)}")


def checked(table, names):
    known = [f.name for f in fields(Row)]
    name = table.get("name", "without a name")
    for key in table:
        one_of(name, "key", key, known)
    for key in ("name", "case", "kernel"):
        if key not in table:
            raise Problem(f"goals, row '{name}': has no {key}")
    row = Row(**table)
    if row.name in names:
        raise Problem(f"goals, row '{row.name}': is there twice; names are unique")
    one_of(name, "kind", row.kind, KINDS)
    one_of(name, "counts", row.counts, COUNTS)
    one_of(name, "peak", row.peak, PEAKS)
    for peer in row.peers:
        one_of(name, "peer", peer, PEERS)
    for goal in (*row.goals, *row.stretch):
        one_of(name, "goal", goal, GOALS)
        if goal.startswith("peer.") and goal[5:] not in row.peers:
            raise Problem(f"goals, row '{name}': goal '{goal}' names a peer that is not measured; the row's peers are {', '.join(row.peers)}")
    if row.beside:
        one_of(name, "beside", row.beside["row"], names)
        one_of(name, "beside on", row.beside.get("on", "visible"), BESIDE_ON)
    return row


def parse_goals(text):
    """The rows of the table in its order."""
    rows = []
    for table in tomllib.loads(text)["row"]:
        rows.append(checked(table, [row.name for row in rows]))
    return rows


def read_goals(path):
    return parse_goals(path.read_text())


def chosen(rows, names):
    """The rows of the names, and those that they are compared with."""
    for name in names:
        if name not in [row.name for row in rows]:
            raise Problem(f"--rows {name}: there is no such row; there are {', '.join(row.name for row in rows)}")
    wanted = set(names) | {row.beside["row"] for row in rows if row.name in names and row.beside}
    return [row for row in rows if row.name in wanted]


def shrunk(row, most):
    """The row with extents of at most so many; lengths begin there. Rows of a linear are cheap and stay."""

    def at_most(shape):
        return {dim: extent if dim == "rows" else min(extent, most) for dim, extent in shape.items()}

    known = {dim: int(extent) for dim, extent in (s.split("=") for s in row.set)}
    return replace(row, shape=at_most(row.shape), twin=at_most(row.twin), set=[f"{dim}={extent}" for dim, extent in at_most(known).items()],
                   lengths=[most * 2**n for n in range(3)] if row.lengths else [])
