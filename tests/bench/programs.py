"""The programs of the measurements, without a kernel: a tuning run that goes on, results that are written and compared, wrong options."""

import json
import pathlib
import resource
import subprocess
import tempfile
import unittest

from problem import Problem
from program import write_json, write_whole
from tune import begun, shared

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Tuning(unittest.TestCase):
    SETTINGS = {"rows": ["a"], "budget": "60s", "tuned": []}

    def begun(self, left):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tuning.json"
            path.write_text(left)
            return begun(path, self.SETTINGS)["rows"]

    def test_only_a_run_with_the_same_settings_that_was_stopped_goes_on(self):
        for is_complete, budget, rows in ((False, "60s", {"a": 1}), (True, "60s", {}), (False, "2m", {})):
            left = {"settings": self.SETTINGS | {"budget": budget}, "is_complete": is_complete, "rows": {"a": 1}}
            self.assertEqual(self.begun(json.dumps(left)), rows)

    def test_rows_of_one_kernel_share_their_budgets(self):
        self.assertEqual([shared(*given) for given in (("60s", 1), ("60s", 3), ("2m", 2), ("soon", 2))], ["60s", "180s", "4m", "soon"])

    def test_what_is_left_and_cannot_be_read_is_refused(self):
        with self.assertRaises(Problem) as caught:
            self.begun("{")
        self.assertRegex(str(caught.exception), "tuning.json: cannot be read: .*; without this file bench/tune begins anew")


def document(**figures):
    rows = {name: {"normalised": figure, "figure": figure, "unit": "s", "noise": 0.01} for name, figure in figures.items()}
    return {"format": 1, "machine": {"cpu": "made up"}, "rows": rows}


class Compare(unittest.TestCase):
    def compared(self, old, new):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, content in (("old", old), ("new", new)):
                paths.append(pathlib.Path(folder) / f"{name}.json")
                paths[-1].write_text(content if isinstance(content, str) else json.dumps(content))
            result = subprocess.run([SOURCE / "bench/compare", *paths], capture_output=True, text=True)
            return result.returncode, result.stdout + result.stderr.replace(folder, "FOLDER")

    def test_equal_runs_are_equal(self):
        self.assertEqual(self.compared(document(a=1.0, b=2.0), document(a=1.03, b=1.9)), (0, "2 rows compared, 0 worse, 1 better\n"))

    def test_a_slower_row_is_told_and_is_status_1(self):
        status, text = self.compared(document(a=1.0, b=2.0), document(a=1.2, b=2.0))
        self.assertEqual(status, 1)
        self.assertEqual(text, "a: takes 20.0 % more than before, beyond the noise of 4.0 % (1 -> 1.2 s)\n2 rows compared, 1 worse, 0 better\n")

    def test_noise_hides_a_difference(self):
        noisy = document(a=1.2)
        noisy["rows"]["a"]["noise"] = 0.1
        self.assertEqual(self.compared(document(a=1.0), noisy)[0], 0)

    def test_a_row_that_is_gone_is_told(self):
        gone = document(a=1.0)
        gone["rows"]["b"] = {"skipped": "no"}
        self.assertEqual(self.compared(document(a=1.0, b=1.0), gone), (1, "b: was measured before and is not now\n1 rows compared, 1 worse, 0 better\n"))

    def test_what_is_no_result_is_refused(self):
        status, text = self.compared("[1", document(a=1.0))
        self.assertEqual(status, 2)
        self.assertIn("bench/compare: FOLDER/old.json: cannot be read", text)
        other = document(a=1.0)
        other["machine"]["cpu"] = "another"
        self.assertEqual(self.compared(document(a=1.0), other),
                         (2, "bench/compare: the files are of different machines: made up and another; a comparison needs two runs of one\n"))


class Writing(unittest.TestCase):
    def test_a_file_is_whole_or_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            write_json(path, {"a": 1})
            before = path.read_text()
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # Python ignores the signal
            try:
                with self.assertRaises(Problem) as caught:
                    write_whole(path, b"x" * 2000)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            self.assertEqual(str(caught.exception), f"'{path}': cannot be written: File too large")
            self.assertEqual(path.read_text(), before)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [path])

    def test_a_full_disk_behind_standard_output_is_said(self):
        with open("/dev/full", "w") as full:
            ran = subprocess.run([SOURCE / "bench/run", "--list"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(ran.stderr, "bench/run: standard output: cannot be written: No space left on device\n")
        self.assertEqual(ran.returncode, 2)


class CommandLine(unittest.TestCase):
    def refused(self, program, *arguments):
        result = subprocess.run([SOURCE / "bench" / program, *arguments], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(len(result.stderr.splitlines()), 1)
        return result.stderr.strip()

    def test_wrong_options(self):
        self.assertEqual(self.refused("run", "--fast"), "bench/run: unrecognized arguments: --fast; --help lists the options")
        self.assertTrue(self.refused("run", "--rows", "sdpb").startswith("bench/run: --rows sdpb: there is no such row; there are sdpa, "))
        self.assertEqual(self.refused("run", "--no-peers", "--build", "/nowhere"),
                         "bench/run: /nowhere/bin/attune: does not exist; scripts/build makes it, --build names another build folder")
        self.assertEqual(self.refused("run", "--shrink", "-3"), "bench/run: --shrink -3: is below 0; an extent is at least 1")
        self.assertEqual(self.refused("tune", "--rows", "growth"), "bench/tune: --rows growth: none of them measures calls of a kernel that run here")
        self.assertEqual(self.refused("compare", "one"), "bench/compare: has 1 arguments; two files are right: OLD.json NEW.json")

    def test_help_is_no_error(self):
        for program in "run", "tune", "compare":
            result = subprocess.run([SOURCE / "bench" / program, "--help"], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0)
            self.assertIn("usage: bench/" + program, result.stdout)


if __name__ == "__main__":
    unittest.main()
