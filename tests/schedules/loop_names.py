#!/usr/bin/env python3
"""Checks the names of loops: loop_names.py ROOT prints each Var or RVar of schedules/ and codegen/ whose name a dim of a graph may have, and exits 1
if there is one. A loop of a dim has the dim's name, so that a schedule's own loops have names that no dim may have: they end in '-'."""
import pathlib
import re
import sys

DECLARATION = re.compile(r"\b(?:Halide::)?R?Var\b[^;]*")
NAME = re.compile(r'[({] *(?:dim\(\w+\) \+ )?"(\w+)"[)}]')


def names_of_dims(text):
    """The names in declarations of loops that could be those of dims."""
    return [name for declaration in DECLARATION.findall(re.sub(r"//.*", "", text)) for name in NAME.findall(declaration)]


def check(root):
    files = [path for folder in ("schedules", "codegen") for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".cpp")]
    loops, wrong = 0, 0
    for path in files:
        text = path.read_text()
        loops += len(re.findall(r'"\w+-"', text))
        for name in names_of_dims(text):
            wrong += 1
            print(f'{path.relative_to(root)}: the loop "{name}" may be a dim of a graph; "{name}-" may not')
    print(f"{loops} names of loops checked, {wrong} wrong")
    return wrong > 0 or loops == 0


if __name__ == "__main__":
    assert names_of_dims('const Var x("x-"), y("y"); // Var z("z")\nnumbers.emplace_back(Var(dim(n) + "_block"));\nVar a_{"a"};') == ["y", "_block", "a"]
    sys.exit(check(pathlib.Path(sys.argv[1])))
