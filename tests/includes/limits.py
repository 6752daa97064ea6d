#!/usr/bin/env python3
"""Holds files against their limits: limits.py ROOT prints each header, source and function that is longer than CONTRIBUTING.md says, and exits 1 if
there is one. It also prints exceptions that are none."""
import ast
import pathlib
import re
import sys

LINES = {".h": 150, ".hpp": 150, ".c": 300, ".cpp": 300, ".py": 300}
FUNCTION = 40
FOLDERS = ("bench", "codegen", "dsl", "runtime", "samples", "schedules", "tests", "tools")

# A path, or `path: function`, and why it may be longer.
EXCEPTIONS = {
    "tests/ptx/block_run.cpp: execute": "a case for each kind of instruction",
    "tests/ptx/device_tensors.cpp: a call in C takes tensors on a device, and memory there": "one call, from its library to its end",
    "tests/ptx/module.cpp: parse_statement": "a branch for each form of an instruction",
    "tests/tools/gpu_check.cpp: what is packed for OpenCL is compared and measured beside the peaks": "sections that begin with the same folder",
    "tests/variants/blocks.cpp: mask_scenes": "a table with a row for each mask",
}

# The last line of a function's head, as clang-format leaves it: at the start of a line, or indented in its class.
HEAD = re.compile(r"^(?P<indent> {0,4})(?!namespace|class|struct|enum|union|extern|if|for|while|switch|else|do|try|return|\}|//)\S.*\)[^=;]*\{$|"
                  r"^(?P<macro>)TEST_CASE.*\{$")


def functions_of_cpp(lines):
    """(name, number of lines) of each function, with its head and its last brace."""
    for number, line in enumerate(lines):
        if not (head := HEAD.match(line)):
            continue
        first = number
        while first > 0 and lines[first].lstrip().startswith((":", ",")):  # of a constructor's members
            first -= 1
        brace = re.compile(f" {{0,{len(head['indent'] or '')}}}}}")  # of the last line of several the indent is more than the brace's
        end = next((n for n in range(number + 1, len(lines)) if brace.match(lines[n])), number)
        name = re.search(r'"([^"]*)"', line) if "TEST_CASE" in line else re.search(r"(\w+)\(", lines[first])
        yield name[1] if name else line.strip(), end - first + 1


def functions_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


def too_long(path, name):
    """(key, sentence) of the file and of its functions, where they are longer than they may be."""
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    if len(lines) > LINES[path.suffix]:
        yield name, f"{name} has {len(lines)} lines; up to {LINES[path.suffix]} are right"
    for function, length in functions_of_python(text) if path.suffix == ".py" else functions_of_cpp(lines):
        if length > FUNCTION:
            yield f"{name}: {function}", f"{name}: '{function}' has {length} lines; functions have up to {FUNCTION}"


def main(root):
    files = sorted(p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in LINES and p.is_file())
    found = {key: sentence for path in files for key, sentence in too_long(path, path.relative_to(root).as_posix())}
    wrong = [sentence for key, sentence in found.items() if key not in EXCEPTIONS]
    needless = [f"'{key}' is an exception, and not too long" for key in EXCEPTIONS if key not in found and (root / key.split(":")[0]).exists()]
    print("\n".join(needless + wrong + [f"{len(files)} files measured, {len(wrong)} wrong"]))
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
