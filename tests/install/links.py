"""links.py FOLDER: every link and picture of the pages in the folder leads to a file there; prints how many do."""

import pathlib
import re
import sys


def links_of(folder):
    """(page, target) of all links without a scheme."""
    for page in sorted(folder.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
            if ":" not in target:
                yield page, target


folder = pathlib.Path(sys.argv[1])
links = list(links_of(folder))
for page in ["README.md", "docs/language.md", "docs/examples.md"]:
    if not (folder / page).is_file():
        sys.exit(f"{folder}: has no {page}")
for page, target in links:
    if not (page.parent / target).exists():
        sys.exit(f"{page}: links to {target}, which is not installed")
if not links:
    sys.exit(f"{folder}: its pages have no links")
print(f"{len(links)} links lead to installed files")
