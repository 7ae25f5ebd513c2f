"""However a captured program ends, its recording is whole up to there, or it is refused: never silently short."""
import os
import shutil
import subprocess
import unittest

from capture_harness import COPY_TO_HOST, DELAY, HERE, LAUNCH, NVCC, CaptureTest, build_host, needs_nvcc


class Endings(CaptureTest):
    """One program that ends in all these ways."""

    @classmethod
    def setUpClass(cls):
        cls.owner = cls.share_a_folder()
        cls.program = build_host("endings", cls.owner.folder)

    def recorded(self, rounds):
        """So many round trips, and they replay."""
        self.assertEqual(self.count(LAUNCH), rounds)
        self.assertEqual(self.count(COPY_TO_HOST), rounds)
        self.assertIn(f"{rounds} copies to the host brought what they brought", self.replay("out.workload"))

    def test_a_program_that_leaks_its_memory_is_whole(self):
        done = self.capture(self.program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.recorded(2)

    def test_a_crash_keeps_what_was_before(self):
        for how, says in (("crash", "Segmentation fault"), ("abort", "Aborted")):
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            done = self.capture(self.program, how)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"was ended by a signal: {says}; the recording has what it did until then", done.stderr)
            self.recorded(1)

    def test_an_early_exit_keeps_what_was_before(self):
        done = self.capture(self.program, "exit")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with status 3; the recording has what it did until then", done.stderr)
        self.recorded(1)

    def test_calls_of_several_threads_follow_each_other(self):
        done = self.capture(self.program, "threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.recorded(1 + 4 * 5)
        self.assertEqual(len(set(self.steps()["stream"])), 5)

    def test_a_child_that_calls_cuda_is_refused(self):
        done = self.capture(self.program, "fork")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a child that the program forked calls CUDA", done.stderr)
        self.recorded(2)

    def test_a_child_that_becomes_a_program_with_cuda_is_refused(self):
        done = self.capture(self.program, "exec")
        self.assertEqual(done.returncode, 1)
        self.assertIn("two processes of the program use CUDA", done.stderr)
        self.recorded(2)

    def test_a_child_that_calls_no_cuda_is_none_of_our_business(self):
        done = self.capture(self.program, "harmless fork")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.recorded(2)

    def test_the_same_program_gives_the_same_recording(self):
        self.capture(self.program)
        self.capture(self.program, output="again.workload")
        for file in ("program.h5", "module.ptx", "workload.yaml"):
            self.assertEqual((self.folder / "out.workload" / file).read_bytes(),
                             (self.folder / "again.workload" / file).read_bytes(), file)

    def test_host_time_is_recorded_where_it_is_asked_for(self):
        self.capture(self.program, "sleep")
        self.assertEqual(self.count(DELAY), 0)
        self.capture(self.program, "sleep", options=("--host-time",), output="timed.workload")
        steps = self.steps("timed.workload")
        delays = steps["bytes"][steps["kind"] == DELAY]
        self.assertGreaterEqual(delays.max(), 60_000_000_000_000)  # femtoseconds
        self.replay("timed.workload")

    def test_the_names_of_the_runtime_are_found(self):
        older = build_host("endings", self.folder, library="libcudart.so.12")
        for program in (older, self.program):
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            done = self.capture(program, "properties")
            self.assertEqual((done.returncode, done.stdout), (0, "Lockstep v100 has 80 SMs with 98304 bytes\n"))
            self.recorded(2)

    def test_a_program_under_the_address_sanitizer(self):
        program = build_host("endings", self.folder, "-fsanitize=address", "-g")
        done = self.capture(program, extra_environment={"ASAN_OPTIONS": "detect_leaks=0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.recorded(2)

    def test_a_full_disk_leaves_nothing(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk],
                                               capture_output=True, check=False).returncode != 0:
            self.skipTest("needs the right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        done = self.capture(self.program, "disk", output="disk/out.workload")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.strip().split("\n")), 1, done.stderr)
        self.assertIn("program.h5", done.stderr)
        self.assertEqual(list(disk.iterdir()), [])


class Refusals(CaptureTest):
    """One line says what to do."""

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stdout)
        lines = [line for line in done.stderr.strip().split("\n") if line.startswith("lockstep")]
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertFalse((self.folder / "out.workload").exists())
        self.assertFalse((self.folder / "out.workload.part").exists())

    def test_output_that_another_capture_writes(self):
        (self.folder / "out.workload.part").mkdir()
        done = self.capture("/bin/true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("out.workload.part: is there already, of a capture that runs or was killed", done.stderr)

    def test_library_that_is_missing(self):
        program = build_host("endings", self.folder)
        data = program.read_bytes()
        self.assertIn(b"libcudart.so.13\0", data)
        program.write_bytes(data.replace(b"libcudart.so.13\0", b"libcudart.so.10\0"))
        done = self.capture(program)
        self.refused(done, "a library that it needs is missing")
        self.assertIn("libcudart.so.10", done.stderr)

    @needs_nvcc
    def test_runtime_inside_of_the_program(self):
        program = self.folder / "saxpy"
        subprocess.run([NVCC, "-cudart", "static", "-arch=sm_75", HERE / "programs/saxpy.cu",
                        "-o", program], check=True)
        self.refused(self.capture(program), "called no CUDA runtime of ours", "-cudart shared")


if __name__ == "__main__":
    unittest.main()
