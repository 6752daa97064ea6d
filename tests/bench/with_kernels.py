"""The measurements with kernels of tiny shapes, without peers."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import measure
from goals import read_goals
from own import Attune, Kernel
from problem import Problem

SOURCE, BUILD = pathlib.Path(__file__).resolve().parents[2], pathlib.Path(os.environ["ATTUNE_BUILD"])


class TinyRun(unittest.TestCase):
    def test_rows_of_every_kind(self):
        rows = ["document", "decode_bf16", "odd_1000", "linear_512", "growth_window"]
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([SOURCE / "bench/run", "--no-peers", "--shrink", "16", "--rows", ",".join(rows), "--build", BUILD, "--out", folder],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            document = json.loads((pathlib.Path(folder) / "results.json").read_text())
            table = (pathlib.Path(folder) / "table.txt").read_text()
        for name in rows:
            row = document["rows"][name]
            self.assertTrue("skipped" in row or row["figure"] > 0, name)
            self.assertIn(name, table)
            self.assertTrue("skipped" in row or all("met" in goal for goal in row["goals"]), name)
        self.assertIn("sdpa", document["rows"])  # which document is compared with
        self.assertEqual(sorted(document["rows"]["growth_window"]["lengths"]), ["16", "32", "64"])
        self.assertGreater(document["rows"]["odd_1000"]["twin_ratio"], 0)


class WrongResults(unittest.TestCase):
    def test_a_row_with_another_kernels_result_is_refused(self):
        attune = Attune(SOURCE, BUILD)
        row = next(row for row in read_goals(SOURCE / "bench/goals.toml") if row.name == "causal")

        class OfAllKeys(Kernel):
            """The kernel of plain attention, which takes the same arguments."""

            def __init__(self, attune, row):
                wrong = row.__class__(**(vars(row) | {"kernel": "scaled_dot_product"}))
                super().__init__(attune, wrong)

        measure.Kernel = OfAllKeys
        with self.assertRaises(Problem) as caught:
            measure.Bench(attune, None, 0.1, shrink=16).row(row)
        self.assertIn("row 'causal': the result of attune differs from the reference by", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
