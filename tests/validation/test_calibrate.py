#!/usr/bin/python3
"""`lockstep calibrate`: what it advises about a GPU of which one parameter is off, and what it says of mistakes; and
measure_gpu, as far as there is no GPU."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
V100 = HERE.parents[1] / "configs/gpus/v100.yaml"
PROGRAM = HERE / "measure_gpu/measure_gpu.cu"


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def calibrate(self, measured, gpu=V100):
        file = self.folder / "measured.yaml"
        file.write_text(measured if isinstance(measured, str) else yaml.safe_dump(measured))
        return subprocess.run([os.environ["LOCKSTEP"], "calibrate", gpu, file, "--rows", HERE / "rows.yaml"],
                              capture_output=True, text=True, check=False)

    def mistake(self, measured):
        ended = self.calibrate(measured)
        self.assertNotEqual(ended.returncode, 0)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        return ended.stderr

    def test_names_the_parameter_that_is_off_and_its_right_value(self):
        text = V100.read_text()
        value = int(re.search(r"  request_latency: (\d+)", text).group(1))
        other = self.folder / "other.yaml"
        other.write_text(text.replace(f"  request_latency: {value}", f"  request_latency: {value - 21}"))
        ended = self.calibrate({"clock": "1380MHz", "measurements": [
            {"item": "L1 hit", "value": 29.9, "unit": "cycles"},
            {"item": "L2 hit", "value": 155.8, "unit": "ns"}]}, other)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        advice = re.search(r"gpu\.noc\.request_latency: (\d+) -> (\d+)", ended.stdout)
        self.assertIsNotNone(advice, ended.stdout)
        self.assertEqual(int(advice.group(1)), value - 21)
        self.assertAlmostEqual(int(advice.group(2)), value, delta=2)
        self.assertEqual(ended.stdout.count("->"), 1, ended.stdout)
        self.assertIn("L2 hit: measured 155.8 ns", ended.stdout)
        self.assertIn("1 of 2 rows are within 2 %", ended.stdout)

    def test_a_row_that_nothing_explains_alone_is_said_to_be_off(self):
        ended = self.calibrate({"measurements": [{"item": "L1 hits 4 words apart", "value": 8, "unit": "cycles/warp"}]})
        self.assertIn("no parameter alone explains  (L1 hits 4 words apart", ended.stdout)

    def test_mistakes_are_told_in_one_line(self):
        self.assertIn("no row of rows.yaml is called 'L3 hit'", self.mistake(
            {"measurements": [{"item": "L3 hit", "value": 1, "unit": "ns"}]}))
        self.assertIn("'L2 hit' is in cycles, rows.yaml has it in ns", self.mistake(
            {"measurements": [{"item": "L2 hit", "value": 200, "unit": "cycles"}]}))
        self.assertIn("must be a number above 0", self.mistake(
            {"measurements": [{"item": "L2 hit", "value": -1, "unit": "ns"}]}))
        self.assertIn("has no list `measurements`", self.mistake({"clock": "1380MHz"}))
        self.assertIn("measured.yaml:2:", self.mistake("measurements:\n  - {item"))


class MeasureGpu(unittest.TestCase):
    def test_measures_rows_that_there_are(self):
        rows = {row["item"] for row in yaml.safe_load((HERE / "rows.yaml").read_text())["rows"]}
        text = PROGRAM.read_text()
        named = re.findall(r'(?:add\(|operation\(all, )"([^"]+)"', text)
        named = [name for name in named if name not in ("init", "read", "scale", "triad", "points")]
        named += [f"stream {kind}, {threads} threads" for kind in ("init", "triad") for threads in (64, 256, 1024)]
        self.assertGreater(len(named), 18)
        self.assertLessEqual(set(named), rows)

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not there")
    def test_builds(self):
        with tempfile.TemporaryDirectory() as folder:
            built = subprocess.run(["nvcc", "-fmad=false", "-arch=sm_75", PROGRAM, "-o", f"{folder}/measure_gpu"],
                                   capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stderr)


if __name__ == "__main__":
    unittest.main()
