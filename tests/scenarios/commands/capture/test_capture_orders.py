"""What of the order of threads may show in a captured program: whole accesses, turns of warps, races that are named,
and sums by atomics, which a replay may get otherwise in their last digits.
"""
import re
import unittest

import h5py

from capture_harness import HERE, CaptureTest, build, needs_nvcc

CHECK_FAILED = 3


def build_order(name, folder):
    return build(name, folder, "-arch=sm_75", sources=(HERE / f"orders/{name}.cu",))


@needs_nvcc
class Accesses(CaptureTest):
    def test_vector_is_one_access(self):
        program = build_order("torn", self.folder)
        for attempt in range(3):
            done = self.capture(program, output=f"{attempt}.workload")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("torn right", done.stdout)


@needs_nvcc
class Turns(CaptureTest):
    def setUp(self):
        super().setUp()
        self.program = build_order("turns", self.folder)

    def test_warps_take_short_turns(self):
        done = self.capture(self.program, "racy")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("turns right", done.stdout)
        self.assertNotIn("race", done.stderr)
        self.replay("out.workload")

    def test_race_is_named_once_with_both_lines(self):
        done = self.capture(self.program, "racy", options=("--races",))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith("race in shared memory")]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertIn("kernel void sum<true>(float const*, float*, int), byte 0x0", said[0])
        lines = (self.folder / "out.workload/module.ptx").read_text().splitlines()
        places = re.findall(r"module\.ptx:(\d+) (loads|stores)", said[0])
        self.assertEqual([kind for _, kind in places], ["loads", "stores"])
        self.assertIn("ld.shared.f32", lines[int(places[0][0]) - 1])
        self.assertIn("st.shared.f32", lines[int(places[1][0]) - 1])
        threads = re.search(r"threads \((\d+), 0, 0\) and \((\d+), 0, 0\)", said[0])
        self.assertNotEqual(int(threads[1]) // 32, int(threads[2]) // 32)
        self.assertIn("races in shared memory: 1 pair of PTX lines in 1 kernel", done.stderr)

    def test_right_kernel_has_none(self):
        done = self.capture(self.program, options=("--races",))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("race in", done.stderr)
        self.assertIn("no races in shared memory", done.stderr)


@needs_nvcc
class Sums(CaptureTest):
    def setUp(self):
        super().setUp()
        done = self.capture(build_order("sums", self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("sums right", done.stdout)
        self.description = self.folder / "out.workload/workload.yaml"

    def change(self, pattern, by):
        text, count = re.subn(pattern, by, self.description.read_text())
        self.assertGreater(count, 0, self.description.read_text())
        self.description.write_text(text)

    def check(self):
        return self.lockstep("run", self.scenario("out.workload"), "--check", "--output", "out.h5")

    def test_last_digits_may_differ(self):
        self.replay("out.workload")

    def test_recording_says_which_floats(self):
        text = self.description.read_text()
        self.assertRegex(text, r"inexact: \[\{offset: 0, count: 1, type: f32, tolerance: \S+, magnitude: \S+\}, "
                               r"\{offset: 8, count: 1, type: f64,")
        self.assertRegex(text, r"count: 4000, .*inexact: \[\{offset: 0, count: 1000, type: f32|"
                               r"count: 4096, .*inexact: \[\{offset: 0, count: 1000, type: f32")
        self.assertEqual(text.count("inexact:"), 2)  # not what was made of the integer
        with h5py.File(self.folder / "out.workload/program.h5") as file:
            self.assertGreaterEqual(len(file["inexact"]), 3)

    def test_wrong_sum_fails_and_numbers_are_shown(self):
        self.change(r", 100000\]", ", 90000]")
        done = self.check()
        self.assertEqual(done.returncode, CHECK_FAILED, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr,
                         r"copy 0 to the host: f32 at byte 0 of 16 is \S+ \(0x\w{8}\), the program got \S+ \(0x\w{8}\)")

    def test_integers_beside_sums_are_exact(self):
        # One block more leaves the sum as it was, but for its last digits, and counts more threads.
        self.change(r"grid: \[40\]", "grid: [41]")
        done = self.check()
        self.assertEqual(done.returncode, CHECK_FAILED, done.stdout + done.stderr)
        self.assertIn("copy 0 to the host: byte 4 of 16", done.stdout + done.stderr)

    def test_tolerance_of_a_buffer_holds_for_its_copies(self):
        self.change(r", 100000\]", ", 90000]")
        self.change(r", inexact: ", ", tolerance: 0.9, inexact: ")
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_buffer_that_is_not_checked_has_copies_that_are_not(self):
        self.change(r"grid: \[40\]", "grid: [41]")
        self.change(r"(type: u8, count: \d+)", r"\1, check: false")
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_buffer_may_be_said_to_be_of_floats(self):
        self.change(r"memory_1: \{type: u8, count: 4096, (.*), inexact: .*\n",
                    r"memory_1: {type: f32, count: 1024, tolerance: 0.001, \1}\n")
        self.replay("out.workload")
        self.change(r", 100000\]", ", 99000]")
        self.change(r"memory_3: \{type: u8", r"memory_3: {check: false, type: u8")
        done = self.check()
        self.assertEqual(done.returncode, CHECK_FAILED, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"copy 0 to the host: f32 at byte \d+ of 4000 is ")

    def test_tolerance_without_floats_is_a_mistake(self):
        self.change(r", inexact: [^\n]*\}\]\}", "}")
        self.change(r"(type: u8, count: \d+)", r"\1, tolerance: 0.1")
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"workload\.yaml:\d+:\d+: buffer memory_0 of a recording has a tolerance but no "
                                      r"floats")


if __name__ == "__main__":
    unittest.main()
