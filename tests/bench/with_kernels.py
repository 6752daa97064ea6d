"""The measurements with kernels of tiny shapes, without peers."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import cases
import measure
from autoscheduled import SCHEDULERS, Autoscheduled
from goals import Row, read_goals, shrunk
from own import Attune, Kernel
from problem import Problem, Skipped

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
        for scheduler in SCHEDULERS:
            self.assertGreater(document["rows"]["sdpa"]["peers"][scheduler]["ratio"], 0)
            self.assertIn(scheduler, table)
        self.assertEqual(sorted(document["rows"]["growth_window"]["lengths"]), ["16", "32", "64"])
        self.assertGreater(document["rows"]["odd_1000"]["twin_ratio"], 0)
        self.assertGreater(document["rows"]["sdpa"]["unaligned_ratio"], 0)


class Tuning(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def tuned(self, rows, *more):
        result = subprocess.run([SOURCE / "bench/tune", "--shrink", "16", "--rows", rows, "--budget", "250s", "--tries", "1", "--build", BUILD, "--out", self.folder, *more],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result, json.loads((self.folder / "tuning.json").read_text())

    def test_a_run_tunes_each_kernel_once_and_measures_each_row_beside_the_defaults_of_another_machine(self):
        attune = Attune(SOURCE, BUILD)
        target = json.loads(attune.run("explain", "causal", "--json"))["target"]
        other = self.folder / "other.json"
        other.write_text(json.dumps({"target": target, "stages": {}, "tuned": [], "defaults": [
            {"schedule": "whole_rows", "size": "tiny", "small_up_to": 64, "parameters": {"register_rows": 1, "register_keys": 2, "register_vectors": 1}}]}))
        result, document = self.tuned("tiny_1,tiny_16", "--tuned", other)
        self.assertEqual([line for line in result.stderr.splitlines() if line.startswith("[")], ["[1/1] tiny_1, tiny_16"])
        self.assertEqual(sorted(document["rows"]), ["tiny_1", "tiny_16"])
        for name, row in document["rows"].items():
            self.assertGreater(row["ratio"], 0)
            self.assertIn(f"| `{name}`: ", result.stdout)
        self.assertRegex(result.stdout, r"\d of 2 rows are at least 1.1 times as fast as by the defaults; the least is \d+\.\d\d\n")
        row = next(row for row in read_goals(SOURCE / "bench/goals.toml") if row.name == "tiny_16")
        schedules = [code["schedule"] for code in Kernel(Attune(SOURCE, BUILD, [other]), row).codes]
        self.assertIn("tiny: whole_rows,register_rows=1,register_keys=2,register_vectors=1", schedules)

    def test_a_run_that_was_stopped_goes_on(self):
        measured = {"case": "as no measurement says", "default_s": 7.5, "tuned_s": 1.0, "ratio": 7.5, "codes": []}
        (self.folder / "tuning.json").write_text(json.dumps({
            "settings": {"rows": ["sdpa", "document", "tiny_16"], "budget": "250s", "tuned": []}, "is_complete": False, "rows": {"sdpa": measured, "tiny_16": measured}}))
        result, document = self.tuned("document,tiny_16")  # document brings sdpa, which shares a kernel with tiny_16
        self.assertNotIn("[1/2]", result.stderr)
        self.assertIn("[2/2] document", result.stderr)
        self.assertEqual(document["rows"]["sdpa"]["ratio"], 7.5)
        self.assertTrue(document["is_complete"])


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
            measure.Bench(attune, None, 0.1).row(shrunk(row, 16))
        self.assertIn("row 'causal': the result of attune differs from the reference by", str(caught.exception))


class Schedulers(unittest.TestCase):
    """Attention by Halide's autoschedulers, on odd extents."""

    SHAPE = {"batch": 2, "heads": 3, "queries": 37, "keys": 53, "depth": 16, "value_depth": 24}

    def setUp(self):
        self.attune = Attune(SOURCE, BUILD)

    def inputs(self, row):
        of = {"q": "batch heads queries depth", "k": "batch heads keys depth", "v": "batch heads keys value_depth"}
        return cases.make_inputs(row, row.shape, {"inputs": [{"name": n, "type": "f32", "dims": dims.split()} for n, dims in of.items()]})

    def test_results_are_the_references(self):
        for kernel, scheduler in (("scaled_dot_product", "adams2019"), ("causal", "mullapudi2016")):
            row = Row(name="tiny", case="tiny", kernel=kernel, shape=self.SHAPE)
            inputs = self.inputs(row)
            scheduled = Autoscheduled(self.attune, scheduler, row, inputs)
            difference, allowed = cases.difference(row, inputs, scheduled.result())
            self.assertLessEqual(difference, allowed, scheduler)
            self.assertGreater(scheduled.seconds(1), 0)
            scheduled.out[0, 0, 0, 0] += 1
            self.assertGreater(cases.difference(row, inputs, scheduled.out)[0], allowed)

    def test_a_slow_kernel_is_called_once(self):
        row = Row(name="tiny", case="tiny", kernel="causal", shape=self.SHAPE)
        scheduled = Autoscheduled(self.attune, "mullapudi2016", row, self.inputs(row))
        calls = []
        scheduled.call, scheduled.slow_s = lambda: calls.append(1), None
        scheduled.seconds(3)
        self.assertEqual(len(calls), 3)
        scheduled.slow_s = 2.5
        self.assertEqual(scheduled.seconds(3), 2.5)
        self.assertEqual(len(calls), 3)

    def test_what_is_not_written_is_skipped_in_words(self):
        for options in ({"kernel": "alibi"}, {"kernel": "causal", "type": "bf16"}):
            with self.assertRaises(Skipped) as caught:
                Autoscheduled(self.attune, "adams2019", Row(name="tiny", case="tiny", shape=self.SHAPE, **options), {})
            self.assertEqual(str(caught.exception), "is written for scaled_dot_product and causal in f32")


if __name__ == "__main__":
    unittest.main()
