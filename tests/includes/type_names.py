#!/usr/bin/env python3
"""Finds types of one name that are defined twice: type_names.py ROOT prints each and exits 1 if there is one. Two in one namespace are one type to the linker,
which takes the functions of either for both."""
import collections
import pathlib
import re
import sys

FOLDERS = ("codegen", "dsl", "runtime", "schedules", "tools")  # what is linked into one program

NAMESPACE = re.compile(r"(?:inline )?namespace ?(?P<name>[\w:]*) ?\{")
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|union) (?:alignas\([^)]*\) |\[\[\w+\]\] )?(?P<name>\w+)(?: final)?(?: : [^;]*)? ?\{")


def types_in(text):
    """(namespace::name, line) of each type that is defined in named namespaces alone: others have no name beyond their source."""
    inside = []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := NAMESPACE.match(line):
            inside.append(opened["name"])
        elif line.startswith("}  // namespace") and inside:
            inside.pop()
        elif (defined := TYPE.match(line)) and "" not in inside:
            yield "::".join([*inside, defined["name"]]), number


def main(root):
    places = collections.defaultdict(list)
    for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp")):
        for name, number in types_in(path.read_text(errors="replace")):
            places[name].append(f"{path.relative_to(root).as_posix()}:{number}")
    wrong = [f"{name} is defined in {' and in '.join(where)}; a type has a name of its own" for name, where in places.items() if len(where) > 1]
    print("\n".join([*wrong, f"{len(places)} types, {len(wrong)} wrong"]))
    return 1 if wrong or not places else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
