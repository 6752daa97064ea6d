#!/usr/bin/env python3
"""Checks who includes whom: check.py ROOT prints each #include that points the wrong way and exits 1 if there is one."""
import pathlib
import re
import sys

STANDARD = re.compile(r"[a-z0-9_]+")  # <vector>: no dot, no folder
POSIX = re.compile(r"[a-z0-9_]+|(sys/|netinet/|arpa/)?[a-z0-9_]+\.h")
HALIDE_RUNTIME = re.compile(r"HalideRuntime\w*\.h")
HALIDE = re.compile(r"Halide\w*\.h")
MLIR = re.compile(r"(mlir|llvm)/.*")
OUTSIDE = re.compile(r"(?!mlir/|llvm/|Halide).*")  # any other library
ANY = re.compile(r".*")

# Halide expressions with the language's arithmetic.
NUMBERS = ("codegen/bf16.h", "codegen/lowered.h", "codegen/opaque_real.h", "codegen/store_beside.h", "codegen/strict.h", "codegen/vector_math.h")

# folder: (what its quoted includes begin with, what its includes in angle brackets are)
RULES = {
    "dsl": (("dsl/",), (STANDARD,)),
    "runtime": (("runtime/",), (POSIX, HALIDE_RUNTIME)),
    "codegen": (("codegen/", "dsl/", "runtime/abi.h", "runtime/cpu.h", "runtime/halide_type.h", "runtime/library.h", "runtime/storage.h", "runtime/trailer.h", "schedules/choice.h", "schedules/schedules.h"), (MLIR, HALIDE, OUTSIDE)),
    "schedules": (("schedules/", "codegen/asked_line.h", "codegen/machine.h", "codegen/stage.h", *NUMBERS), (HALIDE, OUTSIDE)),
    "samples": (("samples/", "dsl/", "runtime/"), (HALIDE_RUNTIME, OUTSIDE)),
    "tools": (("tools/", "dsl/", "runtime/", "codegen/", "schedules/"), (ANY,)),
    "tests": (("tests/", "dsl/", "runtime/", "codegen/", "schedules/", "tools/", "samples/", "bench/"), (ANY,)),
    "bench": (("bench/", "dsl/", "runtime/", "codegen/", "schedules/", "tools/"), (ANY,)),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def problem(root, folder, bracket, name):
    """The sentence about one #include, or None if it is allowed."""
    quoted, angled = RULES[folder]
    if bracket == "<":
        if any(pattern.fullmatch(name) for pattern in angled):
            return None
        return f"{folder} may not include <{name}>"
    if "/" not in name and folder == "samples":
        return None  # a sample reads like a project outside: its own files, and generated headers of kernels
    if "/" not in name and folder in ("tests", "bench") and not any(root.glob(f"{folder}/**/{name}")):
        return None  # the generated header of a kernel
    if not name.startswith(quoted):
        return f'{folder} may not include "{name}"; it may include {", ".join(quoted)}'
    return None if (root / name).exists() else f'"{name}" is not a path from the root of the repository'


def main(root):
    checked, wrong = 0, 0
    for folder in RULES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".hpp", ".c", ".cpp") or path.is_relative_to(root / "tests/includes"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if not (found := INCLUDE.match(line)):
                    continue
                checked += 1
                if sentence := problem(root, folder, *found.groups()):
                    wrong += 1
                    print(f"{path.relative_to(root)}:{number}: {sentence}")
    print(f"{checked} includes checked, {wrong} wrong")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
