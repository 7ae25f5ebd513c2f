"""NVIDIA's CUDA samples with matrix instructions and asynchronous copies, where they are: right, captured and replayed.

LOCKSTEP_CUDA_SAMPLES says where: in a checkout of NVIDIA/cuda-samples; else Debian's package nvidia-cuda-samples has
them.
"""
import csv
import os
import pathlib
import subprocess
import unittest

from capture_harness import NVCC, CaptureTest, needs_nvcc
from harness import LOCKSTEP, ROOT

PLACES = [pathlib.Path(os.environ.get("LOCKSTEP_CUDA_SAMPLES", "/nonexistent")),
          *pathlib.Path("/usr/share/doc").glob("nvidia-cuda*/examples")]
SAMPLES = next((place for place in PLACES if (place / "Samples/3_CUDA_Features/cudaTensorCoreGemm").is_dir()), None)
WHERE = "there are no CUDA samples: set LOCKSTEP_CUDA_SAMPLES to a checkout of NVIDIA/cuda-samples"


@needs_nvcc
@unittest.skipUnless(SAMPLES, WHERE)
class CudaSamples(CaptureTest):
    def test_with_matrix_instructions_are_captured_and_replayed(self):
        table = self.folder / "table.csv"
        subprocess.run(["/usr/bin/python3", ROOT / "jobs/capture/suite.py", SAMPLES / "Samples", "--arguments",
                        ROOT / "jobs/capture/cuda_samples.txt", "--listed", "--arch", "sm_80", "--gpu", "a100",
                        "--include", SAMPLES / "Common", "--option=-std=c++17", "--nvcc", NVCC, "--lockstep", LOCKSTEP,
                        "--table", table], capture_output=True, check=False)
        with open(table, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 19)
        for row in rows:
            with self.subTest(row["program"]):
                self.assertEqual((row["built"], row["captured"], row["replayed"]), ("yes", "yes", "right"), row)
                self.assertNotEqual(row["results"], "wrong", row)


if __name__ == "__main__":
    unittest.main()
