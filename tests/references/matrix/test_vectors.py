#!/usr/bin/python3
"""The simulator's matrix products agree exact arithmetic on many vectors.

TEST_ISA names the program of unit tests that computes them; VECTORS (default 1) how many products of each form and
arithmetic (a product m16n8 is 128 sums), or VECTOR_SUMS how many sums; VECTOR_SEED how they are drawn. tests/soak takes
10^5 sums of each (half an hour).
"""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Vectors(unittest.TestCase):
    def test_products_agree_with_rational_arithmetic(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "vectors.txt")
            many = ["--sums", os.environ["VECTOR_SUMS"]] if "VECTOR_SUMS" in os.environ else \
                ["--count", os.environ.get("VECTORS", "1")]
            subprocess.run([sys.executable, os.path.join(HERE, "vectors.py"), path, *many,
                            "--seed", os.environ.get("VECTOR_SEED", "2")], check=True)
            done = subprocess.run([os.environ["TEST_ISA"], "--gtest_filter=MatrixVectors.*"], check=False,
                                  env={**os.environ, "LOCKSTEP_MATRIX_VECTORS": path}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
            self.assertIn("[  PASSED  ] 1 test", done.stdout)


if __name__ == "__main__":
    unittest.main()
