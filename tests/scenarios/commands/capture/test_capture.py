"""Captured CUDA programs: what is recorded is what the program got, and every replay gets it again.

programs/ holds small programs, one for each family of the runtime's entries, and recordings/ what `lockstep capture`
made of each.  The recordings are always replayed.  Where nvcc is there the programs are built and captured anew; the
recording must be the one that is kept (LOCKSTEP_RENEW_RECORDINGS=1 replaces it).
"""
import os
import re
import shutil
import subprocess
import unittest

import h5py
import numpy

from capture_harness import HERE, LIBRARIES, NVCC, CaptureTest, build, needs_nvcc
from harness import ROOT, todays

PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))
RENEW = os.environ.get("LOCKSTEP_RENEW_RECORDINGS") == "1"

# The kernel of the recording saxpy, which stores what a product of matrices gives.
PRODUCTS = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5saxpyifPKfPf(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
  .reg .b32 %r<9>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [y];
  mov.b32 %r1, 0x0c000c00;  // 2^-12
  mov.b32 %r2, 0x08000800;  // 2^-13
  mov.f32 %f1, 0f3f800000;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f1}, {%r1, %r1, %r1, %r1}, {%r2, %r2},
    {%f1, %f1, %f1, %f1};
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f2;
  ret;
}
"""


def rows(folder):
    """Steps, data and module of a recording, to compare."""
    with h5py.File(folder / "program.h5") as file:
        content = {name: file[name][()].tobytes() for name in file}
    return content, (folder / "module.ptx").read_text(), (folder / "workload.yaml").read_text()


class Recordings(CaptureTest):
    """One generated test per recording that is kept."""


class Programs(CaptureTest):
    """One generated test per program."""


def replay_test(name):
    def test(self):
        told = self.replay(HERE / f"recordings/{name}.workload")
        self.assertIn("check passed: one", told)

    return test


def capture_test(name):
    def test(self):
        done = self.capture(build(name, self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{name} right", done.stdout)
        kept, new = HERE / f"recordings/{name}.workload", self.folder / "out.workload"
        if RENEW:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(new, kept)
        self.assertEqual(rows(new)[0], rows(kept)[0])
        self.assertEqual(rows(new)[2], rows(kept)[2])
        again = self.capture(self.folder / name, output="again.workload")
        self.assertEqual(again.returncode, 0, again.stderr)
        for file in ("program.h5", "module.ptx", "workload.yaml"):
            self.assertEqual((new / file).read_bytes(), (self.folder / "again.workload" / file).read_bytes(), file)

    return needs_nvcc(test)


for program in todays(PROGRAMS):
    setattr(Recordings, f"test_{program}_is_replayed", replay_test(program))
    setattr(Programs, f"test_{program}_is_recorded_as_it_is_kept", capture_test(program))


class AnyLayout(CaptureTest):
    """A replay gives the same bits however it runs."""

    def same(self, *more, **how):
        scenario = self.scenario(HERE / "recordings/streams.workload")
        if not (self.folder / "one.h5").exists():
            self.assertEqual(self.lockstep("run", scenario, "--output", "one.h5").returncode, 0)
        done = self.lockstep("run", scenario, "--output", "other.h5", *more, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lockstep("diff", "one.h5", "other.h5").returncode, 0)

    def test_threads(self):
        self.same("--threads", "2")

    def test_ranks(self):
        self.same(ranks=2)
        self.same(ranks=3)

    def test_a_tenant_that_starts_over_replays_its_recording_again(self):
        workload = HERE / "recordings/managed.workload"
        extra = f"  - {{name: two, workload: {HERE}/recordings/streams.workload, relaunch: true}}"
        told = self.replay(workload, extra=extra)
        self.assertIn("check passed: two", told)

    def test_a_checkpoint_keeps_the_place_in_the_program(self):
        tenants = "".join(f"  - {{name: t{i}, workload: {HERE}/recordings/{name}.workload}}\n"
                          for i, name in enumerate(("managed", "streams", "forms")))
        self.write("scenario.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                                    f"simulation: {{epoch: 20us}}\ntenants:\n{tenants}")
        self.assertEqual(self.lockstep("run", "scenario.yaml", "--output", "whole.h5").returncode, 0)
        with h5py.File(self.folder / "whole.h5") as file:
            end = int(file["epochs/time"][-1]) // 1_000_000_000  # us
        resumed = 0
        for part in range(1, 6):
            stop = f"simulation.stop_at={max(20, end * part // 6)}us"
            cut = self.lockstep("run", "scenario.yaml", "--output", "o.h5", "--set", stop,
                                "--checkpoint-every", "0.001s")
            self.assertIn(cut.returncode, (0, 4), cut.stderr)  # 4: not all were done by then
            if not (self.folder / "o.ckpt").exists():
                continue  # it was over before its first checkpoint
            done = self.lockstep("run", "scenario.yaml", "--output", "o.h5", "--resume", "o.ckpt", "--threads", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.lockstep("diff", "whole.h5", "o.h5").returncode, 0)
            resumed += 1
        self.assertGreater(resumed, 0)


class Extracts(CaptureTest):
    """A region of interest begins with the memory as it was there."""

    def test_later_launches_bring_what_they_brought_in_the_whole(self):
        done = self.lockstep("extract", HERE / "recordings/managed.workload", "--launches", 2, 4,
                             "--output", "middle.workload")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 launches", done.stderr)
        self.replay(self.folder / "middle.workload")

    def test_expectations_stay(self):
        done = self.lockstep("extract", HERE / "recordings/streams.workload", "--launches", 2, 4,
                             "--output", "end.workload")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 copies to the host brought what they brought", self.replay(self.folder / "end.workload"))

    def test_products_of_matrices_have_the_bits_of_the_gpu_that_was_recorded(self):
        """Sixteen products of 2^-25 and 1: Hopper's tensor cores keep them, Ampere's lose each."""
        folder = self.folder / "products.workload"
        shutil.copytree(HERE / "recordings/saxpy.workload", folder)
        (folder / "module.ptx").write_text(PRODUCTS)
        text = (folder / "workload.yaml").read_text()
        launch = re.search(r"    - launch: .*\n", text)[0]
        text = text.replace(launch, 2 * launch.replace("grid: [40], block: [128]", "grid: [1], block: [32]"))
        (folder / "workload.yaml").write_text(text)
        for arithmetic, result in (("hopper", 1 + 2**-21), ("ampere", 1), (None, 1)):
            with h5py.File(folder / "program.h5", "a") as file:
                if "arithmetic" in file:
                    del file["arithmetic"]
                if arithmetic:
                    file.create_dataset("arithmetic", data=numpy.array([arithmetic.encode()]))
            part = f"{arithmetic}.workload"
            done = self.lockstep("extract", folder, "--launches", 1, 1, "--output", part)
            self.assertEqual(done.returncode, 0, done.stderr)
            with h5py.File(self.folder / part / "program.h5") as file:
                left = file["blocks"][()].reshape(-1).view("<f4")
                self.assertIn(numpy.float32(result), left)
                if result == 1:
                    self.assertNotIn(numpy.float32(1 + 2**-21), left)
                kept = [name.decode() for name in file["arithmetic"][()]] if "arithmetic" in file else []
            self.assertEqual(kept, [arithmetic] if arithmetic else [])

    def test_launches_that_are_not_there(self):
        done = self.lockstep("extract", HERE / "recordings/saxpy.workload", "--launches", 0, 1,
                             "--output", "no.workload")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 to 1 are not launches of", done.stderr)
        self.assertFalse((self.folder / "no.workload").exists())


class WrittenPrograms(CaptureTest):
    """A short program stands in workload.yaml: it is what people read and what runs."""

    def edited(self, name, *changes):
        """A copy of a recording with the text of its workload.yaml changed."""
        folder = self.folder / "edited.workload"
        shutil.copytree(HERE / f"recordings/{name}.workload", folder)
        workload = folder / "workload.yaml"
        text = workload.read_text()
        for old, new in changes:
            self.assertEqual(text.count(old), 1, text)
            text = text.replace(old, new)
        workload.write_text(text)
        return folder

    def refused(self, name, old, new, *words):
        workload = self.edited(name, (old, new))
        done = self.lockstep("run", self.scenario(workload), "--quiet")
        self.assertEqual(done.returncode, 1, done.stdout)
        line = (workload / "workload.yaml").read_text()
        line = line[:line.index(new)].count("\n") + 1
        self.assertRegex(done.stderr, rf"workload.yaml:{line}:\d+: ")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_the_steps_do_what_the_recording_says(self):
        for name in ("streams", "managed", "forms", "symbols", "graph_nodes"):
            folder = self.folder / f"{name}.workload"
            shutil.copytree(HERE / f"recordings/{name}.workload", folder)
            self.assertEqual(self.lockstep("run", self.scenario(folder), "--output", "written.h5").returncode, 0)
            text = (folder / "workload.yaml").read_text()
            program = text.index("program:\n")
            self.assertGreater(text.count("recorded:", program), 1, name)
            (folder / "workload.yaml").write_text(text[:program] + "program: {recording: program.h5}\n")
            self.assertEqual(self.lockstep("run", self.scenario(folder), "--output", "recorded.h5").returncode, 0)
            self.assertEqual(self.lockstep("diff", "written.h5", "recorded.h5").returncode, 0, name)

    def test_a_changed_argument_changes_what_the_program_gets(self):
        workload = self.edited("saxpy", ("[5000, 2, memory_0, memory_1]", "[5000, 3, memory_0, memory_1]"))
        done = self.lockstep("run", self.scenario(workload), "--check", "--output", "out.h5")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("copy 0 to the host: byte", done.stderr)

    def test_a_program_that_was_changed_is_checked_without_what_was_recorded(self):
        def saved(*changes):
            last = "    - copy: {buffer: memory_1, count: 20000, to: host, recorded: 3}\n"
            workload = self.edited("saxpy", *changes,
                                   (last, last.replace(", recorded: 3", "") + "    - save: memory_1\n"))
            self.replay(workload)
            shutil.rmtree(workload)
            with h5py.File(self.folder / "out.h5") as file:
                return file["buffers/one/memory_1"][()].view("<f4")[:5000]

        x = saved(("[5000, 2,", "[5000, 3,")) - saved()
        fewer = saved(("[5000, 2,", "[4000, 2,"))
        self.assertTrue((saved()[4000:] != fewer[4000:]).any())
        self.assertTrue((saved()[:4000] == fewer[:4000]).all())
        with h5py.File(HERE / "recordings/saxpy.workload/program.h5") as file:
            first = file["blocks"][()].reshape(-1).view("<f4")[:4096]  # the content of memory_0
        self.assertTrue((abs(x[:4096] - first) < 1e-3 * (1 + abs(first))).all())

    def test_a_region_of_a_changed_program_has_the_change(self):
        self.edited("saxpy", ("[5000, 2,", "[5000, 3,"))
        done = self.lockstep("extract", "edited.workload", "--launches", 0, 0, "--output", "part.workload")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[5000, 3, memory_0, memory_1]", (self.folder / "part.workload/workload.yaml").read_text())

    def test_a_loop_around_recorded_steps(self):
        launch = re.search(r"    - launch: .*\n", (HERE / "recordings/saxpy.workload/workload.yaml").read_text())[0]
        loop = "    - repeat:\n        times: 3\n        program:\n      " + launch
        workload = self.edited("saxpy", (launch, loop), (", recorded: 3", ""))
        self.replay(workload)
        told = self.lockstep("describe", workload).stdout
        self.assertIn("       3        120        15360  saxpy(int, float, float const*, float*)", told)

    def test_the_run_is_repeated_from_its_output(self):
        workload = HERE / "recordings/symbols.workload"
        self.replay(workload, output="first.h5")
        again = self.lockstep("run", "--config-of", "first.h5", "--check", "--output", "again.h5")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.lockstep("diff", "first.h5", "again.h5").returncode, 0)

    def test_a_run_is_repeated_as_it_was_after_its_program_was_changed(self):
        workload = self.edited("saxpy", (", recorded: 3", ""))
        self.replay(workload, output="first.h5")
        text = (workload / "workload.yaml").read_text()
        (workload / "workload.yaml").write_text(text.replace("grid: [40]", "grid: [41]"))
        again = self.lockstep("run", "--config-of", "first.h5", "--check", "--output", "again.h5")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.lockstep("diff", "first.h5", "again.h5").returncode, 0)

    def test_data_that_was_not_recorded(self):
        self.refused("saxpy", "to: host, recorded: 3", "to: host, recorded: 9",
                     "step 9 of the recording has no data, or is not there")

    def test_data_of_a_launch(self):
        self.refused("saxpy", "to: host, recorded: 3", "to: host, recorded: 2", "has no data")

    def test_more_than_was_recorded(self):
        self.refused("saxpy", "memory_1, count: 20000, to: host", "memory_1, count: 20001, to: host",
                     "gets 20001 bytes, the recording has 20000 for this step")

    def test_structure_with_a_word_too_few(self):
        text = (HERE / "recordings/symbols.workload/workload.yaml").read_text()
        words = re.search(r"arguments: \[\[([^]]*)\]", text)[1]
        fewer = words.rsplit(", ", 1)[0]
        self.refused("symbols", f"[[{words}]", f"[[{fewer}]", "argument 1 of kernel", "the list makes")

    def test_recorded_data_without_a_recording(self):
        text = (ROOT / "configs/workloads/vector_add.yaml").read_text()
        self.write("workload.yaml", text.replace("module: ", f"module: {ROOT}/configs/workloads/").replace(
            "program:\n", "program:\n  - write: {buffer: a, recorded: 0}\n"))
        done = self.lockstep("run", self.scenario(self.folder / "workload.yaml"), "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("this program has no recording", done.stderr)


class Mistakes(CaptureTest):
    """Each gets one line."""

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(len(done.stderr.strip().split("\n")), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "out.workload").exists())

    def test_program_that_is_not_there(self):
        self.refused(self.capture("./nothing"), "./nothing: cannot be started: No such file or directory")

    def test_describe_tells_what_is_in_a_recording(self):
        done = self.lockstep("describe", HERE / "recordings/symbols.workload")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 copies to the host, 92 bytes", done.stdout)
        self.assertIn("1          1           32  void apply<long long>(Job, long long)", done.stdout)

    def test_list_names_the_entries_that_are_not_there(self):
        done = self.lockstep("capture", "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cudaMallocMipmappedArray\n", done.stdout)
        self.assertNotIn("cudaMalloc\n", done.stdout)
        self.assertIn("cuMemCreate\n", done.stdout)
        self.assertNotIn("cuMemAlloc_v2\n", done.stdout)

    def test_program_that_never_calls_cuda(self):
        self.refused(self.capture("/bin/true"), "/bin/true: called no CUDA runtime of ours", "-cudart shared")

    def test_output_that_is_there_already(self):
        (self.folder / "out.workload").mkdir()
        done = self.capture("/bin/true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("out.workload: is there already", done.stderr)

    def test_gpu_that_is_not_there(self):
        done = self.lockstep("capture", "--output", "out.workload", "--gpu", "v101", "--", "/bin/true")
        self.refused(done, "v101.yaml", "v100")

    @needs_nvcc
    def test_access_behind_the_end_of_memory_ends_the_recording_when_strict(self):
        source = self.write("behind.cu", """
            #include <cstdio>
            __global__ void last(int* to) { to[threadIdx.x] = threadIdx.x; }
            int main() {
              int* memory;
              cudaMalloc(&memory, 31 * sizeof(int));
              last<<<1, 32>>>(memory);
              std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
            }
            """)
        program = self.folder / "behind"
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_75", source, "-o", program], check=True)
        lenient = self.capture(program, output="lenient.workload")
        self.assertIn("cudaSuccess", lenient.stdout)
        self.assertIn("warning: kernel _Z4lastPi uses memory 0 bytes behind the 124 that were asked for",
                      lenient.stderr)
        done = self.lockstep("capture", "--strict", "--output", "out.workload", "--", program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cudaErrorLaunchFailure", done.stdout)
        self.assertIn("out-of-bounds global store of 4 bytes", done.stderr)
        self.assertIn("the recording ends before this launch", done.stderr)

    @needs_nvcc
    def test_failed_assertion_is_the_error_that_programs_expect(self):
        source = self.write("asserting.cu", """
            #include <cassert>
            #include <cstdio>
            __global__ void check(int limit) { assert(threadIdx.x < limit); }
            int main() {
              check<<<1, 32>>>(32);
              check<<<1, 32>>>(20);
              std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
            }
            """)
        program = self.folder / "asserting"
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_75", source, "-o", program], check=True)
        done = self.capture(program)
        self.assertEqual((done.returncode, done.stdout), (1, "cudaErrorAssert\n"), done.stderr)
        self.assertIn("assertion `threadIdx.x < limit` failed at", done.stderr)
        self.replay("out.workload")

    @needs_nvcc
    def test_program_with_machine_code_only(self):
        program = build("saxpy", self.folder, "-gencode", "arch=compute_80,code=sm_80")
        done = self.capture(program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no PTX, only machine code for sm_", done.stderr)
        self.assertIn("-arch=sm_75", done.stderr)

    def test_recording_that_was_damaged(self):
        damaged = self.folder / "damaged.workload"
        shutil.copytree(HERE / "recordings/saxpy.workload", damaged)
        with h5py.File(damaged / "program.h5") as file:
            place = file["blocks"].id.get_chunk_info(0)
        with open(damaged / "program.h5", "r+b") as file:
            file.seek(place.byte_offset + place.size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 0xFF]))
        done = self.lockstep("run", self.scenario(damaged), "--quiet")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("program.h5", done.stderr)

    def test_runtime_outside_of_a_capture_says_what_it_is_for(self):
        code = f"import ctypes; ctypes.CDLL('{LIBRARIES}/libcudart.so.13').cudaDeviceSynchronize()"
        done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("lockstep capture -- PROGRAM", done.stderr)


class Expectations(CaptureTest):
    """What the program got is compared in a replay, so a recording that was changed is noticed."""

    def test_a_changed_kernel_is_noticed(self):
        changed = self.folder / "changed.workload"
        shutil.copytree(HERE / "recordings/saxpy.workload", changed)
        module = changed / "module.ptx"
        text = module.read_text()
        self.assertIn("fma.rn.f32 %f4, %f2, %f1, %f3", text)
        module.write_text(text.replace("fma.rn.f32 %f4, %f2, %f1, %f3", "mul.f32 %f4, %f2, %f1"))
        done = self.lockstep("run", self.scenario(changed), "--check", "--output", "out.h5")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("check failed: one: copy 0 to the host: byte ", done.stderr)
        self.assertIn("when it was recorded", done.stderr)

    def test_configuration_names_no_paths(self):
        self.replay(HERE / "recordings/saxpy.workload")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertNotIn(str(ROOT), file["config"][()].decode())


if __name__ == "__main__":
    unittest.main()
