"""commands.py ATTUNE PAGE: runs the commands of the page's console blocks in a folder with its headers, and compares what they print where the page shows it.

A line of a block that begins with `$ attune` is a command, what follows up to the next one is its output. Of commands of `check` the page need not show it; with
ATTUNE_UPDATE=1 what the others print is written into the page. A header is the last C++ block before the block of commands, under the name that the first of them has.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(cpp|console)\n(.*?)^```$", flags=re.M | re.S)


class Wrong(Exception):
    """What is wrong with a command, in words."""


def commands_of(block):
    """[(command, shown output)] of a console block."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)
    if parts[0]:
        raise Wrong(f"a block begins with '{parts[0].splitlines()[0]}'; a command begins with '$ '")
    return list(zip(parts[1::2], parts[2::2]))


def said(attune, folder, command):
    words = shlex.split(command)
    if words[0] != "attune":
        raise Wrong(f"'{command}': is no command of attune")
    result = subprocess.run([attune, *words[1:]], cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise Wrong(f"{command}: ended with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout


def block_as_it_is(attune, folder, block, header):
    """The block with what its commands print; those of check stay as they are."""
    commands = commands_of(block)
    for name in re.findall(r"\S+\.h\b", " ".join(command for command, _ in commands)):
        (folder / name).write_text(header)
    text = ""
    for command, shown in commands:
        printed = said(attune, folder, command)
        text += f"$ {command}\n" + (shown if command.split()[1] == "check" else printed)
    return text


def run(attune, path):
    page, count, header = path.read_text(), 0, ""
    with tempfile.TemporaryDirectory() as folder:
        fresh, end = "", 0
        for match in BLOCK.finditer(page):
            fresh += page[end:match.start(2)]
            end = match.start(2)
            if match[1] == "cpp":
                header = match[2]
                continue
            fresh += block_as_it_is(attune, pathlib.Path(folder), match[2], header)
            end = match.end(2)
            count += len(commands_of(match[2]))
        fresh += page[end:]
    if count == 0:
        raise Wrong("the page has no commands")
    if fresh != page and "ATTUNE_UPDATE" in os.environ:
        path.write_text(fresh)
    elif fresh != page:
        new = next(line for line, old in zip(fresh.splitlines() + [""], page.splitlines() + [""]) if line != old)
        raise Wrong(f"shows other output than the commands print: '{new}'; ATTUNE_UPDATE=1 writes it anew")
    print(f"{count} commands")


if __name__ == "__main__":
    try:
        run(sys.argv[1], pathlib.Path(sys.argv[2]))
    except Wrong as wrong:
        sys.exit(f"{sys.argv[2]}: {wrong}")
