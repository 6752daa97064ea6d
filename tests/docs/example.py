"""example.py ATTUNE PAGE SECTION: writes the header of a section of the page into a folder and runs the section's commands there."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy

COMMANDS = ["check", "compile", "run"]


class Wrong(Exception):
    """What is wrong with a section, in words."""


def section_of(page, title):
    """The header and the commands of the section."""
    text = next((part for part in re.split(r"^## ", page, flags=re.M)[1:] if part.split("\n", 1)[0] == title), None)
    if text is None:
        raise Wrong(f"the page has no section '{title}'")
    headers = re.findall(r"^```cpp\n(.*?)^```$", text, flags=re.M | re.S)
    consoles = re.findall(r"^```console\n(.*?)^```$", text, flags=re.M | re.S)
    if len(headers) != 1 or len(consoles) != 1:
        raise Wrong(f"'{title}' has {len(headers)} headers and {len(consoles)} blocks of commands; expected one of each")
    commands = [shlex.split(line[2:]) for line in consoles[0].splitlines() if line.startswith("$ ")]
    if any(words[0] != "attune" for words in commands) or not set(COMMANDS) <= {words[1] for words in commands}:
        raise Wrong(f"'{title}' has the commands {[' '.join(words[:2]) for words in commands]}; expected attune {', '.join(COMMANDS)}")
    return headers[0], commands


def option(words, name):
    """The value of an option among a command's words; empty without it."""
    return words[words.index(name) + 1] if name in words else ""


def extents_of(text):
    return {dim: int(extent) for dim, extent in (pair.split("=") for pair in text.split(",") if pair)}


def save_inputs(folder, commands):
    """Arrays for the call: of the shape that is checked, with the extents that the kernel was compiled with. Integers are small, as lengths and ids are."""
    check, compiled, run = (next(words for words in commands if words[1] == name) for name in COMMANDS)
    kernel = json.loads((folder / run[2]).with_suffix(".json").read_text())
    extents = extents_of(option(check, "--shape")) | extents_of(option(compiled, "--set"))
    extents.setdefault("value_depth", extents.get("depth"))
    random = numpy.random.default_rng(1)
    for tensor in kernel["inputs"]:
        shape = [extents[dim] for dim in tensor["dims"]]
        array = random.standard_normal(shape).astype(numpy.float32) if tensor["type"] == "f32" else random.integers(1, 4, shape)
        numpy.save(folder / f"{tensor['name']}.npy", array)


def in_short(words):
    """A command that compiles, for long calls alone: `attune check` compiles the codes of another size of call, and codes take nearly all of the time."""
    return [*words, "--size", "large"] if words[0] == "compile" and "--size" not in words else words


def said(attune, folder, words):
    result = subprocess.run([attune, *words], cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise Wrong(f"attune {' '.join(words)}: ended with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout


def run(attune, page, title):
    header, commands = section_of(page, title)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / next(words for words in commands if words[1] == "check")[2]).write_text(header)
        for words in commands:
            if words[1] == "run":
                save_inputs(folder, commands)
            print(said(attune, folder, in_short(words[1:])), end="")
            if words[1] == "run" and not numpy.isfinite(numpy.load(folder / option(words, "--out").split("=")[1])).all():
                raise Wrong(f"the result of {' '.join(words)} is not finite")


if __name__ == "__main__":
    try:
        run(sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), sys.argv[3])
    except Wrong as wrong:
        sys.exit(f"{sys.argv[2]}: {wrong}")
