"""Programs with libraries that bring kernels or a CUDA runtime of their own, and what the GPU says of itself."""
import pathlib
import shutil
import subprocess
import unittest

from capture_harness import LIBRARIES, NVCC, CaptureTest, needs_nvcc

TOOLKIT = pathlib.Path(NVCC).resolve().parent.parent / "lib64" if NVCC else pathlib.Path("/nonexistent")

ASKING = """
extern "C" int cuGetExportTable(const void** table, const void* id);
extern "C" int ask(int runtime) {
  // What every CUDA runtime asks for, and what a compiler does.
  static const unsigned char ids[2][16] = {
      {0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41, 0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28},
      {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}};
  const void* table = &table;
  return cuGetExportTable(&table, ids[runtime]) == 500 && !table ? 0 : 1;
}
"""
USING = """
#include <cstddef>
#include <cstdlib>
extern "C" int ask(int runtime);
extern "C" int cudaMalloc(void** pointer, std::size_t bytes);
extern "C" int cudaMemset(void* to, int value, std::size_t bytes);
int main(int count, char** arguments) {
  void* memory = nullptr;
  if (count > 2 && (cudaMalloc(&memory, 64) != 0 || cudaMemset(memory, 1, 64) != 0)) return 1;
  return ask(std::atoi(arguments[1])) | ask(std::atoi(arguments[1]));
}
"""


class RuntimesInside(CaptureTest):
    """A table of the driver's that is not documented is not there: whoever asks goes on with an error."""

    def build_asking(self, in_library):
        asking, using = self.write("asking.cpp", ASKING), self.write("using.cpp", USING)
        needed = [LIBRARIES / "libcuda.so.1", LIBRARIES / "libcudart.so.13"]
        if in_library:
            subprocess.run(["c++", "-shared", "-fPIC", asking, *needed, "-o", self.folder / "libasking.so"], check=True)
            sources = [using, self.folder / "libasking.so", f"-Wl,-rpath,{self.folder}"]
        else:
            sources = [using, asking]
        subprocess.run(["c++", *sources, *needed, "-o", self.folder / "using"], check=True)
        return self.folder / "using"

    def test_a_library_with_a_runtime_of_its_own_is_named_once(self):
        done = self.capture(self.build_asking(True), "1", "and memory")
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("lockstep")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("libasking.so cannot be captured: it has its own way to the GPU", lines[0])
        self.replay("out.workload")

    def test_a_compiler_goes_on_without_a_word(self):
        done = self.capture(self.build_asking(True), "0", "and memory")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("lockstep capture:", done.stderr)

    def test_a_program_with_a_runtime_inside_is_told_how_to_build_it(self):
        for arguments in (["1"], ["1", "and memory"]):
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            done = self.capture(self.build_asking(False), *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn("called no CUDA runtime of ours", done.stderr)
            self.assertIn("-cudart shared", done.stderr)


@needs_nvcc
class Toolkit(CaptureTest):
    """Libraries of the CUDA toolkit, where they are there."""

    def build(self, name, text, *libraries):
        for library in libraries:
            if not list(TOOLKIT.glob(f"lib{library}.so*")):
                self.skipTest(f"there is no {library}")
        source = self.write(f"{name}.cu", text)
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_75", source, "-o", self.folder / name,
                        *(f"-l{library}" for library in libraries), "-lcuda"], check=True)
        return self.folder / name

    def test_kernels_that_are_compiled_at_run_time(self):
        program = self.build("compiled", """
            #include <cstdio>
            #include <cuda.h>
            #include <nvrtc.h>
            #include <vector>
            int main() {
              const char* text = "extern \\"C\\" __global__ void k(int* a) { a[threadIdx.x] = threadIdx.x * 3; }";
              const char* options[] = {"--gpu-architecture=compute_75"};
              nvrtcProgram program;
              size_t bytes = 0;
              nvrtcCreateProgram(&program, text, "k.cu", 0, nullptr, nullptr);
              if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) return 1;
              nvrtcGetPTXSize(program, &bytes);
              std::vector<char> ptx(bytes);
              nvrtcGetPTX(program, ptx.data());
              CUdevice device;
              CUcontext context;
              CUmodule module;
              CUfunction kernel;
              CUdeviceptr memory;
              int got[32];
              cuInit(0);
              cuDeviceGet(&device, 0);
              cuDevicePrimaryCtxRetain(&context, device);
              cuCtxSetCurrent(context);
              if (cuModuleLoadData(&module, ptx.data()) || cuModuleGetFunction(&kernel, module, "k")) return 2;
              cuMemAlloc(&memory, sizeof got);
              void* arguments[] = {&memory};
              cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
              cuMemcpyDtoH(got, memory, sizeof got);
              std::puts(got[7] == 21 ? "right" : "wrong");
            }
            """, "nvrtc")
        done = self.capture(program)
        self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
        self.replay("out.workload")

    def test_a_library_without_ptx_is_named_when_its_kernel_is_launched(self):
        inside = self.write("inside.cu", """
            __global__ void inside(int* to) { *to = 3; }
            extern "C" int work(int* to) { inside<<<1, 1>>>(to); return cudaGetLastError(); }
            """)
        subprocess.run([NVCC, "-cudart", "shared", "-gencode", "arch=compute_80,code=sm_80", "-shared", "-Xcompiler",
                        "-fPIC", inside, "-o", self.folder / "libinside.so"], check=True)
        using = self.write("uses.cu", """
            #include <cstdio>
            extern "C" int work(int* to);
            int main() { int* memory; cudaMalloc(&memory, 4); std::printf("%d\\n", work(memory)); }
            """)
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_75", using, "-o", self.folder / "uses", f"-L{self.folder}",
                        "-linside", "-Xlinker", "-rpath", "-Xlinker", self.folder], check=True)
        done = self.capture(self.folder / "uses")
        self.assertEqual((done.returncode, done.stdout), (1, "209\n"), done.stderr)
        self.assertRegex(done.stderr, r"module \d+ of libinside\.so: has no PTX, only machine code for sm_80")

    def test_a_library_of_machine_code_gives_its_own_error_and_is_named(self):
        program = self.build("multiplying", """
            #include <cstdio>
            #include <cusparse.h>
            int main() {
              cusparseHandle_t handle;
              std::puts(cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS ? "created" : "not created");
            }
            """, "cusparse")
        done = self.capture(program)
        self.assertEqual((done.returncode, done.stdout), (1, "not created\n"), done.stderr)
        self.assertRegex(done.stderr, r"libcusparse\.so\.\d+ cannot be captured: it has its own way to the GPU")

    def test_the_gpu_has_the_generation_and_sizes_of_its_description(self):
        program = self.build("properties", """
            #include <cstdio>
            #include <cuda.h>
            __global__ void which(int* to) {
            #ifdef __CUDA_ARCH__
              *to = __CUDA_ARCH__;
            #endif
            }
            int main() {
              cudaDeviceProp p;
              cudaFuncAttributes f;
              int *to, arch = 0, major = 0, minor = 0, shared = 0, clock = 0, memory_clock = 0;
              cudaGetDeviceProperties(&p, 0);
              cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
              cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
              cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, 0);
              cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
              cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, 0);
              cudaFuncGetAttributes(&f, which);
              cudaMalloc(&to, 4);
              which<<<1, 1>>>(to);
              cudaMemcpy(&arch, to, 4, cudaMemcpyDeviceToHost);
              const bool same = p.major == major && p.minor == minor && p.sharedMemPerBlock == shared;
              std::printf("%d.%d %s sms %d threads %d shared %zu %zu %zu reserved %zu registers %d clock %d "
                          "memory %d x %d "
                          "ptx %d code %d binary %d\\n", p.major, p.minor, same ? "same" : "different",
                          p.multiProcessorCount, p.maxThreadsPerMultiProcessor, p.sharedMemPerBlock,
                          p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock,
                          p.regsPerMultiprocessor, clock, memory_clock, p.memoryBusWidth, f.ptxVersion, arch,
                          f.binaryVersion);
            }
            """)
        source = self.folder / "properties.cu"
        subprocess.run([NVCC, "-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75", "-gencode",
                        "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=compute_90", source,
                        "-o", program], check=True)
        for gpu, told in (
                ("v100", "7.0 same sms 80 threads 2048 shared 49152 98304 98304 reserved 0 registers 65536 "
                 "clock 1312000 "
                         "memory 878000 x 4096 ptx 75 code 750 binary 70\n"),
                ("a100", "8.0 same sms 108 threads 2048 shared 49152 166912 167936 reserved 1024 registers 65536 "
                         "clock 1410000 memory 1215000 x 5120 ptx 80 code 800 binary 80\n")):
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            done = self.capture(program, options=("--gpu", gpu))
            self.assertEqual((done.returncode, done.stdout), (0, told), done.stderr)
        done = self.capture(program, options=("--gpu", "gtx1080ti"), output="pascal.workload")
        self.assertIn("6.1 same sms 28 threads 2048 shared 49152 49152 98304", done.stdout)


if __name__ == "__main__":
    unittest.main()
