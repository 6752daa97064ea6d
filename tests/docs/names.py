"""names.py ROOT: every file and folder of the tree that a page or a comment names exists, and so does every heading that a page's link leads to.

Names are paths from ROOT that begin with one of its folders. In a page they stand in backquotes, and links are relative to the page. A name with NAME or
the like in it stands for many.
"""

import os
import pathlib
import re
import sys

SOURCES = (".h", ".cpp", ".c", ".py", ".cmake", ".txt", ".in")
LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]+)?\)")
QUOTED = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)*/?)`")
WRITTEN = re.compile(r"(?<![\w./<>-])((?:\w[\w-]*/)+[\w-]+\.(?:h|cpp|py|md|json|cmake))\b(?!\.in)")
COMMENT = re.compile(r"(?:^|\s)(?://[/<]*|/?\*|#)\s(.*)")
MANY = re.compile("NAME|STEM|TARGET|VARIANT")


def files_of(root):
    """All files but those of builds and of what is fetched."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in ("wrong", "__pycache__") and not (pathlib.Path(folder) / f / "CMakeCache.txt").exists())
        yield from (pathlib.Path(folder) / f for f in sorted(files))


def exists(root, name):
    return any(root.glob(name)) if "*" in name else (root / name).exists()


def headings(page):
    """The anchors of a page's headings, as web sites make them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M)
    return {"#" + re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def wrong_in_page(root, page):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for target, anchor in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            to = page.parent / target if target else page
            if not to.exists():
                yield number, f"links to {target}, which is not there"
            elif anchor and anchor not in headings(to):
                yield number, f"links to {target}{anchor}, and there is no such heading"
        for name in QUOTED.findall(line):
            if "/" in name and is_of_tree(root, name) and not exists(root, name):
                yield number, f"names {name}, which is not there"


def is_of_tree(root, name):
    first = name.split("/")[0]
    return not MANY.search(name) and first != "build" and first[0] != "." and (root / first).is_dir()


def wrong_in_source(root, source):
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        comment = COMMENT.search(line)
        for name in WRITTEN.findall(comment[1] if comment else ""):
            if is_of_tree(root, name) and not exists(root, name) and not exists(source.parent, name):
                yield number, f"names {name}, which is not there"


def main(root):
    looked, wrong = 0, 0
    for path in files_of(root):
        if path.suffix not in SOURCES + (".md",):
            continue
        looked += 1
        for number, sentence in (wrong_in_page if path.suffix == ".md" else wrong_in_source)(root, path):
            wrong += 1
            print(f"{path.relative_to(root).as_posix()}:{number}: {sentence}")
    print(f"{looked} files read, {wrong} names and links wrong")
    return 1 if wrong or not looked else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
