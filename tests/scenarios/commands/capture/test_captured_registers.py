"""Launches whose blocks want more registers than an SM has: the program's own machine code decides, as on hardware."""
import unittest

from capture_harness import LAUNCH, CaptureTest, build, needs_nvcc

# k<K> needs at least K registers a thread; its blocks have 1024.
PROGRAM = r"""
#include <cstdio>
template <int K> __global__ void k(const float* a, const long* at, float* o, int n) {
  float v[K];
  int t = threadIdx.x;
  #pragma unroll
  for (int i = 0; i < K; i++) v[i] = a[(at[i] * n + t) & 4095];
  __syncthreads();
  float s = 0;
  #pragma unroll
  for (int i = 0; i < K; i++) s = s * v[K - 1 - i] + v[i];
  o[t] = s;
}
template <int K> void go() {
  float *a, *o;
  long* at;
  cudaMalloc(&a, 16384);
  cudaMalloc(&o, 4096);
  cudaMalloc(&at, 8 * K);
  cudaMemset(a, 0, 16384);
  cudaMemset(at, 0, 8 * K);
  k<K><<<1, 1024>>>(a, at, o, 3);
  k<K><<<1, 1024>>>(a, at, o, 3);
  printf("%d: %s\n", K, cudaGetErrorString(cudaGetLastError()));
}
int main() { go<52>(); go<56>(); go<60>(); }
"""
REFUSED = "too many resources requested for launch"


class Registers(CaptureTest):
    def captured(self, *options):
        source = self.write("wide.cu", PROGRAM)
        done = self.capture(build("wide", self.folder, *options, sources=(source,)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    @needs_nvcc
    def test_what_ptxas_gave_64_registers_is_launched_and_runs(self):
        done = self.captured("-arch=sm_75")
        self.assertIn("52: no error\n56: no error\n", done.stdout)
        self.assertGreaterEqual(self.count(LAUNCH), 4)  # and fills of memory
        self.replay("out.workload")

    @needs_nvcc
    def test_what_ptxas_gave_72_is_refused_and_a_line_says_so_once(self):
        done = self.captured("-arch=sm_75")
        self.assertIn(f"60: {REFUSED}\n", done.stdout)
        lines = [line for line in done.stderr.splitlines() if "refused" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("k<60>", lines[0])
        self.assertIn("a block needs 73728 registers, an SM has 65536 (1024 threads with 72 registers each) - launch "
                      "at most 896 threads a block, or build it with __launch_bounds__(1024)", lines[0])

    @needs_nvcc
    def test_without_machine_code_it_is_launched_and_a_line_says_how(self):
        done = self.captured("-gencode", "arch=compute_75,code=compute_75")
        self.assertNotIn(REFUSED, done.stdout)
        self.assertRegex(done.stderr, r"kernel .*k<60>.* has \d+ registers a thread here, of which 64 fit with blocks "
                                      r"of 1024: a run keeps the rest in local memory")
        self.replay("out.workload")


if __name__ == "__main__":
    unittest.main()
