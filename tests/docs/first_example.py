"""first_example.py ATTUNE ROOT: the variant that README.md begins with compiles, docs/language.md begins with the same one, the mistake that README
shows is refused in the sentence that it quotes, and the command with which it makes a kernel makes one."""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def first_header(page):
    """The first C++ block of a page."""
    return re.search(r"^```cpp\n(.*?)^```$", page.read_text(), flags=re.M | re.S)[1]


def run(words, header):
    """(exit status, what is printed) of a command beside the header."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "sliding_window.h").write_text(header)
        result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def signature(attune, header):
    return run([attune, "show", "sliding_window.h", "--struct", "SlidingWindow", "--signature", "--param", "window=512"], header)


def problem(attune, root):
    header = first_header(root / "README.md")
    if first_header(root / "docs/language.md") != header:
        return "docs/language.md begins with another variant than README.md"
    status, printed = signature(attune, header)
    if status != 0 or not printed.startswith("sliding_window (window=512)\n"):
        return f"the first variant of README.md is refused: {printed}"
    sentence = re.search(r'graph_error<attune::Text\{"(.*?)"', (root / "README.md").read_text())[1]
    wrong = header.replace("softmax(scores, keys)", "softmax(scores, depth)")
    status, printed = signature(attune, wrong)
    if wrong == header or status != 2 or sentence not in printed:
        return f"README.md says that the wrong variant is refused with '{sentence}', but attune says: {printed}"
    command = re.search(r"^\$ attune (compile .*)$", (root / "README.md").read_text(), flags=re.M)[1]
    status, printed = run([attune, *shlex.split(command)], header)
    if status != 0:
        return f"README.md's 'attune {command}' is refused: {printed}"
    return ""


if __name__ == "__main__":
    sys.exit(problem(sys.argv[1], pathlib.Path(sys.argv[2])) or 0)
