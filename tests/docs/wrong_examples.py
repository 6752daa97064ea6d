"""wrong_examples.py ATTUNE: what example.py says of pages that are wrong."""

import sys
import unittest

from example import Wrong, run

ATTUNE = sys.argv.pop()

HEADER = """#include "dsl/variants/attention.h"
struct Plain {
  static constexpr std::string_view name = "plain";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(attune::Graph& g) const { attune::Attention a(g); a.output(a.scores()); }
};
"""
COMMANDS = """$ attune check plain.h --struct Plain --shape batch=1,heads=1,queries=5,keys=5,depth=8
$ attune compile plain.h --struct Plain --size tiny --shared -o kernels
$ attune run kernels/plain.so --in q=q.npy --in k=k.npy --in v=v.npy --out out=out.npy
"""


def page(header=HEADER, commands=COMMANDS):
    return f"# Page\n\n## One\n\nWords.\n\n```cpp\n{header}```\n\n```console\n{commands}```\n"


class WrongPages(unittest.TestCase):
    def refusal(self, *arguments):
        with self.assertRaises(Wrong) as caught:
            run(ATTUNE, *arguments)
        return str(caught.exception)

    def test_a_section_is_found_by_its_title(self):
        self.assertEqual(self.refusal(page(), "Two"), "the page has no section 'Two'")

    def test_a_section_has_a_header_and_its_three_commands(self):
        self.assertIn("has 0 headers", self.refusal(page().replace("```cpp", "```"), "One"))
        self.assertIn("expected attune check, compile, run", self.refusal(page(commands=COMMANDS.split("\n", 1)[1]), "One"))

    def test_what_attune_refuses_is_wrong(self):
        self.assertIn("ended with 2", self.refusal(page(header=HEADER.replace("a.scores()", "a.q")), "One"))
        self.assertIn("ended with 2", self.refusal(page(commands=COMMANDS.replace("--in v=v.npy ", "")), "One"))

    def test_a_right_page_is_right(self):
        run(ATTUNE, page(), "One")


if __name__ == "__main__":
    unittest.main()
