"""phrases.py ROOT PAGE: compiles each piece of code in the last columns of the page's tables, as a value of a graph that has what the page says."""

import os
import pathlib
import re
import subprocess
import sys

HEAD = """#include "dsl/variants/attention.h"
using namespace attune;
/// The graph of a line of the page: no problem of a rule of the language stands in it.
template <class Line>
constexpr bool is_right(Line line) {
  Graph g;
  const Attention a(g);
  const Value value = line(g, a, a.batch, a.heads, a.queries, a.keys, a.depth);
  g.output("value", value, g.node(value.id).type.dims);
  g.finish();
  return g.problem().view().empty();
}
"""
LINE = """#line {number} "{page}"
static_assert(is_right([](Graph& g, const Attention& a, [[maybe_unused]] Dim batch, [[maybe_unused]] Dim heads, [[maybe_unused]] Dim queries,
                          [[maybe_unused]] Dim keys, [[maybe_unused]] Dim depth) {{
  [[maybe_unused]] const Dim tokens = g.dim("tokens"), model = g.dim("model");
  [[maybe_unused]] const Value x = g.input("x", {{batch, tokens, model}}), scores = a.scores();
#line {number} "{page}"
  return Value({code});
}}), "a rule of the language is against this line");
"""


def lines_of(page):
    """(number, code) of each row whose last cell is one piece of code; a row with another last cell is wrong."""
    wrong, found = [], []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("| ") or line.startswith("| ---") or line.endswith("| a graph |"):
            continue
        cell = re.split(r"(?<!\\)\|", line)[-2].strip()
        if re.fullmatch(r"`[^`]+`", cell):
            found.append((number, cell.strip("`").replace("\\|", "|")))
        else:
            wrong.append(f"{page}:{number}: '{cell}' is not one piece of code")
    return found, wrong


def main(root, page):
    found, wrong = lines_of(page)
    if wrong or not found:
        print("\n".join(wrong or [f"{page} has no line of code in a table"]))
        return 1
    program = HEAD + "".join(LINE.format(number=number, page=page, code=code) for number, code in found)
    result = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", f"-I{root}", "-x", "c++", "-"], input=program, text=True)
    print(f"{len(found)} lines of {page.name} compiled")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
