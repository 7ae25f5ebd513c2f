"""A program that makes mistakes gets the errors that hardware gives; one that means harm ends its own recording."""
import ast
import os
import shutil
import unittest

from capture_harness import HERE, LAUNCH, CaptureTest, build_host

REQUESTS = HERE / "hosts/requests.py"


def broken_requests():
    """The names of the table in requests.py."""
    for statement in ast.parse(REQUESTS.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "BROKEN":
            return [key.value for key in statement.value.keys]
    raise AssertionError("requests.py has no table of broken requests")


class Mistakes(CaptureTest):
    """Of the program."""

    def test_pointers_and_handles_that_are_none(self):
        for library in ("libcudart.so.13", "libcudart.so.11.0"):
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            done = self.capture(build_host("mistakes", self.folder, library=library))
            self.assertEqual((done.returncode, done.stdout), (0, "mistakes right\n"), done.stderr)
            self.replay("out.workload")

    def test_old_names_of_the_driver_do_what_newer_ones_do(self):
        done = self.capture(build_host("old_names", self.folder, library="libcuda.so.1"))
        self.assertEqual((done.returncode, done.stdout), (0, "old names right\n"), done.stderr)
        self.replay("out.workload")

    def test_program_that_loads_the_driver_and_asks_it_nothing(self):
        done = self.capture(build_host("old_names", self.folder, library="libcuda.so.1"), "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("loaded the CUDA driver's library of ours and asked nothing of the GPU", done.stderr)
        self.assertNotIn("-cudart shared", done.stderr)


class Requests(CaptureTest):
    """What a program writes to the channel by itself cannot harm the recording."""

    def ask(self, what):
        shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
        return self.capture("/usr/bin/python3", REQUESTS, what)

    def lines(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith("lockstep capture:")]

    def recorded_before(self, done):
        """Status 1, one line, and what stands before is there and replays."""
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(len(self.lines(done)), 1, done.stderr)
        self.assertFalse((self.folder / "out.workload.part").exists())
        self.assertEqual(self.count(LAUNCH), 1)
        self.replay("out.workload")

    def test_a_request_that_no_runtime_makes_ends_the_recording_before_it(self):
        for what in broken_requests():
            with self.subTest(what):
                done = self.ask(what)
                self.assertIn("is none that a CUDA runtime makes", self.lines(done)[0])
                self.assertNotIn("went on", done.stdout)
                self.recorded_before(done)

    def test_odd_numbers_are_errors_of_the_program(self):
        done = self.ask("harmless")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(r"name\x0a\x1b[31mof two lines is not there", done.stderr)
        self.assertEqual(self.count(LAUNCH), 1)
        self.replay("out.workload")

    def test_random_requests_never_end_the_capture_itself(self):
        went_on = 0
        for seed in range(int(os.environ.get("LOCKSTEP_SEEDS", "12"))):
            with self.subTest(seed=seed):
                done = self.ask(f"random {seed}")
                went_on += "went on to the end" in done.stdout
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertFalse((self.folder / "out.workload.part").exists(), done.stderr)
                self.assertGreaterEqual(self.count(LAUNCH), 1)
        self.assertGreater(went_on, 0)


if __name__ == "__main__":
    unittest.main()
