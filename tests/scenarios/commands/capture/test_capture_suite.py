"""What suite.py tells of the programs of a folder."""
import csv
import subprocess
import unittest

from capture_harness import NVCC, CaptureTest, needs_nvcc
from harness import LOCKSTEP, ROOT

# Says with its first argument how large an array is, and compares it, but for the words "nothing" and "wrong".
PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void twice(int *a) { a[threadIdx.x] *= 2; }
int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 0;
  const char *says = argc > 2 ? argv[2] : "";
  if (n == 0) return 5;
  int *host = (int *)malloc(n * sizeof(int)), *device;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, host, n * sizeof(int), cudaMemcpyHostToDevice);
  twice<<<1, n>>>(device);
  cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < n; ++i) right &= host[i] == (strcmp(says, "wrong") == 0 ? 3 : 2) * i;
  if (strcmp(says, "nothing") != 0) printf(right ? "PASS, failures: 0\\n" : "FAIL\\n");
}
"""
MAKEFILE = """\
program = made
$(program): main.cu
\t$(CC) $(EXTRA_CFLAGS) -arch=$(ARCH) main.cu -o $@
"""


@needs_nvcc
class CaptureSuite(CaptureTest):
    def test_programs_with_makefiles_run_with_the_arguments_given_and_say_whether_they_are_right(self):
        arguments = {"right": "32", "wrong": "32 wrong", "nothing": "'32' nothing  # a comment", "without": "",
                     "broken": "32"}
        for name in arguments:
            folder = self.folder / "programs" / name
            folder.mkdir(parents=True)
            (folder / "main.cu").write_text(PROGRAM if name != "broken" else "int main( {}")
            (folder / "Makefile").write_text(MAKEFILE)
        (self.folder / "programs/other").mkdir()
        listed = self.write("arguments.txt", "".join(f"{name} {words}\n" for name, words in arguments.items()))
        done = subprocess.run(["/usr/bin/python3", ROOT / "jobs/capture/suite.py", self.folder / "programs", "--only",
                               "^(?!other)", "--make", "ARCH=sm_75", "--make", "EXTRA_CFLAGS=-cudart shared",
                               "--nvcc", NVCC, "--arguments", listed, "--replay", "^right", "--lockstep", LOCKSTEP,
                               "--table", self.folder / "table.csv"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, "one says that its results are wrong" + done.stderr)
        with open(self.folder / "table.csv", encoding="utf-8") as file:
            rows = {row["program"]: row for row in csv.DictReader(file)}
        told = {name: tuple(row[column] for column in ("built", "captured", "results", "replayed"))
                for name, row in rows.items()}
        self.assertEqual(told, {"right": ("yes", "yes", "right", "right"), "wrong": ("yes", "yes", "wrong", ""),
                                "nothing": ("yes", "yes", "", ""), "without": ("yes", "part", "", ""),
                                "broken": ("no", "", "", "")})
        self.assertIn("ended with status 5", rows["without"]["reason"])
        self.assertIn("captured: 3 of 5", done.stdout)

    def test_a_program_runs_for_each_of_its_lines_with_values_of_names_that_its_sources_define(self):
        sized = PROGRAM.replace("argc > 1 ? atoi(argv[1]) : 0", "SIZE")
        sized = sized.replace("argc > 2 ? argv[2]", "argc > 1 ? argv[1]")
        for name in ("sized", "unlisted"):
            (self.folder / "programs" / name).mkdir(parents=True)
            (self.folder / "programs" / name / "main.cu").write_text("#  define SIZE 0\n" + sized)
        listed = self.write("arguments.txt", "sized -DSIZE=32\nsized -DSIZE=32 wrong\nsized -DWIDTH=32\nsized\n")
        done = subprocess.run(["/usr/bin/python3", ROOT / "jobs/capture/suite.py", self.folder / "programs", "--listed",
                               "--arguments", listed, "--nvcc", NVCC, "--lockstep", LOCKSTEP, "--table",
                               self.folder / "table.csv"], capture_output=True, text=True, check=False)
        with open(self.folder / "table.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        told = {row["program"]: tuple(row[column] for column in ("built", "captured", "results", "replayed"))
                for row in rows}
        self.assertEqual(told, {"sized -DSIZE=32": ("yes", "yes", "right", "right"),
                                "sized -DSIZE=32 wrong": ("yes", "yes", "wrong", "right"),
                                "sized -DWIDTH=32": ("no", "", "", ""), "sized": ("yes", "part", "", "right")},
                         done.stderr)
        self.assertEqual(rows[2]["reason"], "error: no source has #define WIDTH")


if __name__ == "__main__":
    unittest.main()
