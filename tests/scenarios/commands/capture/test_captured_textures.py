"""Recordings with textures and surfaces: any layout, and what is refused."""
import subprocess
import unittest

from test_capture import CaptureTest as Capturing, HERE, NVCC, needs_nvcc


class AnyLayout(Capturing):
    """Headers and texels are memory like any other: a replay gives the same bits however it runs."""

    def test_threads_and_ranks(self):
        scenario = self.scenario(HERE / "recordings/textures.workload")
        self.assertEqual(self.lockstep("run", scenario, "--check", "--output", "one.h5").returncode, 0)
        for more, ranks in ((("--threads", "2"), 0), ((), 2), ((), 3)):
            done = self.lockstep("run", scenario, "--check", "--output", "other.h5", *more, ranks=ranks)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.lockstep("diff", "one.h5", "other.h5").returncode, 0)


class Refused(Capturing):
    """What is not supported is named where it is asked for."""

    def capture_of(self, source):
        program = self.folder / "program"
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_75", self.write("program.cu", source), "-o", program],
                       check=True)
        return self.capture(program)

    @needs_nvcc
    def test_kernel_that_fetches_from_a_cube(self):
        done = self.capture_of("""
            #include <cstdio>
            __global__ void first(int* to) { *to = 1; }
            __global__ void look(cudaTextureObject_t sky, float* to) { *to = texCubemap<float>(sky, 1, 2, 3); }
            int main() {
              float* memory;
              cudaMalloc(&memory, 512);
              first<<<1, 1>>>(reinterpret_cast<int*>(memory));
              look<<<1, 1>>>(0, memory);
              std::puts(cudaGetErrorName(cudaGetLastError()));
            }
            """)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"kernel look\(unsigned long long, float\*\): module 0 of the program:\d+:\d+: "
                                      r"tex.cube.v4.f32.f32: this geometry is not supported")

    @needs_nvcc
    def test_entries_for_mipmaps_are_named(self):
        done = self.capture_of("""
            #include <cstdio>
            __global__ void first(int* to) { *to = 1; }
            int main() {
              int* memory;
              cudaMalloc(&memory, 512);
              first<<<1, 1>>>(memory);
              cudaMipmappedArray_t levels;
              const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
              const cudaError_t error = cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(8, 8, 0), 3);
              std::puts(cudaGetErrorName(error));
            }
            """)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cudaErrorNotSupported", done.stdout)
        self.assertIn("cudaMallocMipmappedArray is not there", done.stderr)


if __name__ == "__main__":
    unittest.main()
