#!/usr/bin/env python3
"""Checks who includes whom, by the rooms of rooms.py: check.py ROOT prints each #include that points the wrong way and exits 1 if there is one.
check.py ROOT --page PAGE does the same for the table of rooms between two comments of a page; --write writes it there."""
import pathlib
import re
import sys

import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
BEGIN, END = "<!-- tests/includes/rooms.py -->", "<!-- end of rooms.py -->"


def problem(root, room, bracket, name):
    """The sentence about one #include of a file of the room, or None if it is allowed."""
    if bracket == "<":
        if any(pattern.fullmatch(name) for pattern in room.outside):
            return None
        return f"{room.folder} may not include <{name}>"
    if "/" not in name and room.folder == "samples":
        return None  # a sample reads like a project outside: its own files, and generated headers of kernels
    if "/" not in name and room.folder in ("tests", "bench") and not any(root.glob(f"{room.folder}/**/{name}")):
        return None  # the generated header of a kernel
    if not name.startswith(room.quoted):
        return f'{room.folder} may not include "{name}"; it may include {", ".join(room.quoted)}'
    return None if (root / name).exists() else f'"{name}" is not a path from the root of the repository'


def check_includes(root):
    checked, wrong = 0, 0
    for sentence in rooms.runs_up():
        wrong += 1
        print(sentence)
    for path in sorted(p for folder in sorted({r.folder.split("/")[0] for r in rooms.ROOMS}) for p in (root / folder).rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".hpp", ".c", ".cpp") or relative.startswith("tests/includes/"):
            continue
        room = rooms.room_of(relative)
        if room is None:
            wrong += 1
            print(f"{relative}: is in no room of rooms.py")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not (found := INCLUDE.match(line)):
                continue
            checked += 1
            if sentence := problem(root, room, *found.groups()):
                wrong += 1
                print(f"{relative}:{number}: {sentence}")
    print(f"{checked} includes checked, {wrong} wrong")
    return 1 if wrong or not checked else 0


def check_page(page, is_writing):
    text = page.read_text()
    if BEGIN not in text or END not in text:
        print(f"{page}: has no comments '{BEGIN}' and '{END}'")
        return 1
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    right = before + BEGIN + "\n" + "\n".join(rooms.table()) + "\n" + END + after
    if is_writing:
        page.write_text(right)
    elif text != right:
        print(f"{page}: its table of rooms is not that of rooms.py; check.py ROOT --page {page} --write writes it")
        return 1
    return 0


def main(arguments):
    if "--page" not in arguments:
        return check_includes(pathlib.Path(arguments[0]).resolve())
    return check_page(pathlib.Path(arguments[arguments.index("--page") + 1]), "--write" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
