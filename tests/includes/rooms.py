"""The rooms of the tree from the ground up, what each turns into what, and what its files may include: themselves, and rooms below them."""
import dataclasses
import re

STANDARD = re.compile(r"[a-z0-9_]+")  # <vector>: no dot, no folder
POSIX = re.compile(r"[a-z0-9_]+|(sys/|netinet/|arpa/)?[a-z0-9_]+\.h")
HALIDE_RUNTIME = re.compile(r"HalideRuntime\w*\.h")
HALIDE = re.compile(r"Halide\w*\.h")
MLIR = re.compile(r"(mlir|llvm)/.*")
OUTSIDE = re.compile(r"(?!mlir/|llvm/|Halide).*")  # any other library
ANY = re.compile(r".*")

NAMES = {STANDARD: "the standard library", POSIX: "POSIX", HALIDE_RUNTIME: "Halide's C runtime header", HALIDE: "Halide", MLIR: "MLIR", OUTSIDE: "other libraries", ANY: "anything"}


@dataclasses.dataclass(frozen=True)
class Room:
    folder: str    # a file belongs to the room with the longest folder that it lies in
    holds: str     # for the page
    includes: tuple  # folders with a slash at their end, or headers
    outside: tuple   # what includes in angle brackets may be

    @property
    def quoted(self):
        return (self.folder + "/", *self.includes)


TEMPLATE = ("schedules/common/", "schedules/records/", "codegen/halide/bodies/", "codegen/halide/numbers/", "codegen/halide/rewrites/", "codegen/targets/")
COMPILER = ("dsl/", "runtime/", "codegen/", "schedules/")


def template(folder, holds):
    return Room("schedules/" + folder, holds, TEMPLATE, (HALIDE, OUTSIDE))


# Each after those that it may include.
ROOMS = (
    Room("dsl", "the language: graphs, operations, variants, the interpreter", (), (STANDARD,)),
    Room("runtime", "opens kernel files and calls kernels", (), (POSIX, HALIDE_RUNTIME)),
    Room("codegen/files", "files written whole, processes, images for CUDA", (), (OUTSIDE,)),
    Room("codegen/targets", "the tables of targets and of elements", ("dsl/", "runtime/cpu.h", "runtime/storage.h"), (OUTSIDE,)),
    Room("codegen/plan", "what is computed together: the kinds of stages, and how they are found in a graph", ("dsl/",), (STANDARD,)),
    Room("codegen/dialect", "the dialect attn: types, operations, a graph as a module and back", ("dsl/", "runtime/abi.h", "codegen/plan/", "codegen/targets/"), (MLIR, OUTSIDE)),
    Room("codegen/passes", "a module becomes a module of stages, pass by pass (compile.cpp)",
         ("dsl/", "runtime/abi.h", "codegen/dialect/", "codegen/plan/", "codegen/targets/"), (MLIR, OUTSIDE)),
    Room("schedules/records", "parameters, defaults and tuned records, and how they are chosen", ("codegen/targets/",), (OUTSIDE,)),
    Room("codegen/steps", "a module of stages becomes a list of steps; what is asked of a code generator",
         ("dsl/", "runtime/abi.h", "codegen/dialect/", "codegen/plan/", "codegen/targets/", "schedules/records/"), (MLIR, OUTSIDE)),
    Room("codegen/halide/rewrites", "what is mended in Halide's lowering", (), (HALIDE, OUTSIDE)),
    Room("codegen/halide/numbers", "Halide expressions with the language's arithmetic", ("dsl/", "runtime/halide_type.h", "codegen/halide/rewrites/", "codegen/targets/"), (HALIDE, OUTSIDE)),
    Room("codegen/halide/bodies", "the bodies of stages as templates take them",
         ("dsl/", "codegen/halide/numbers/", "codegen/halide/rewrites/", "codegen/targets/"), (HALIDE, OUTSIDE)),
    Room("schedules/common", "what templates share",
         ("schedules/records/", "codegen/halide/bodies/", "codegen/halide/numbers/", "codegen/halide/rewrites/", "codegen/targets/"), (HALIDE, OUTSIDE)),
    template("online_softmax", "attention in tiles, never storing the scores"),
    template("split_keys", "attention of few queries: parts of the keys, then their merge"),
    template("whole_rows", "attention of a handful of queries and keys"),
    template("gemm", "products"),
    template("row_softmax", "softmax of stored scores"),
    template("chunked_scan", "recurrences"),
    template("pointwise", "everything elementwise"),
    template("gpu", "the templates for devices"),
    Room("schedules/mma", "the parameters of tensor cores' schedules", ("schedules/records/", "codegen/targets/"), (OUTSIDE,)),
    Room("schedules", "the list of templates", ("schedules/", "codegen/halide/bodies/", "codegen/targets/"), (HALIDE, OUTSIDE)),
    Room("codegen/halide/lower", "a stage's graph becomes its body; one file an operation", ("dsl/", "codegen/plan/", "codegen/halide/bodies/", "codegen/halide/numbers/"), (HALIDE, OUTSIDE)),
    Room("codegen/halide", "Halide as a code generator: a step becomes an object",
         ("codegen/files/cuda_image.h", "schedules/", "codegen/halide/", "codegen/steps/", "codegen/targets/"), (HALIDE, OUTSIDE)),
    Room("codegen/tensor_cores", "tensor cores as a code generator: attention and products on CUDA by MLIR",
         ("dsl/", "schedules/mma/", "schedules/records/", "codegen/files/cuda_image.h", "codegen/plan/", "codegen/steps/", "codegen/targets/"), (MLIR, OUTSIDE)),
    Room("codegen/output", "steps become a kernel file",
         ("dsl/", "runtime/abi.h", "runtime/library.h", "runtime/storage.h", "runtime/trailer.h", "schedules/records/", "codegen/dialect/", "codegen/files/",
          "codegen/halide/halide_generator.h", "codegen/halide/halide_runtime.h", "codegen/tensor_cores/tensor_cores_generator.h", "codegen/steps/", "codegen/targets/"),
         (MLIR, OUTSIDE)),
    Room("samples", "programs as users write them", ("dsl/", "runtime/"), (HALIDE_RUNTIME, OUTSIDE)),
    Room("tools", "the command line, the tuner, what measures", COMPILER, (ANY,)),
    Room("bench", "races beside peers", (*COMPILER, "tools/"), (ANY,)),
    Room("tests", "tests, in folders that mirror the ones they test", (*COMPILER, "tools/", "samples/", "bench/"), (ANY,)),
)


def room_of(path):
    """The room of a path from the root of the tree; None for one in no room."""
    inside = [room for room in ROOMS if path.startswith(room.folder + "/")]
    return max(inside, key=lambda room: len(room.folder), default=None)


def runs_up():
    """The sentences about rooms that may include one that the list has after them."""
    for number, room in enumerate(ROOMS):
        above = ROOMS[number + 1:]
        for include in room.includes:
            if (target := room_of(include)) is None and not any(r.folder.startswith(include) for r in ROOMS):
                yield f"room {room.folder} may include {include}, which is in no room"
            if target in above or any((r.folder + "/").startswith(include) for r in above):
                yield f"room {room.folder} may include {include}, which stands above it"


def table():
    """The rooms as the lines of a table in Markdown."""
    yield "| room | what it holds | includes, beside itself | libraries |"
    yield "| --- | --- | --- | --- |"
    for room in ROOMS:
        includes = ", ".join(f"`{name.rstrip('/')}`" for name in room.includes) or "nothing"
        libraries = ", ".join(NAMES[pattern] for pattern in room.outside)
        yield f"| `{room.folder}` | {room.holds} | {includes} | {libraries} |"
