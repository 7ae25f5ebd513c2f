"""Independent thread scheduling and member masks at capture: as on the machine."""
import unittest

from capture_harness import CaptureTest, build, needs_nvcc


@needs_nvcc
class CapturedScheduling(CaptureTest):
    @classmethod
    def setUpClass(cls):
        cls.owner = cls.share_a_folder()
        cls.program = build("scheduling", cls.owner.folder)

    def test_lanes_that_wait_for_each_other_all_get_to_run(self):
        done = self.capture(self.program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("right", done.stdout)
        self.replay("out.workload")

    def test_masks_that_name_absent_lanes_are_told_once(self):
        warnings = [line for line in self.capture(self.program).stderr.splitlines() if "warning: " in line]
        self.assertEqual(len(warnings), 2, warnings)
        self.assertIn("mask 0xffffffff goes on without lanes 1-3, 5-7", warnings[0])
        self.assertIn("kernel partly(int*)", warnings[0])
        self.assertIn("lane 0 executes an instruction with the mask 0x00000000", warnings[1])

    def test_a_gpu_before_volta_has_no_turns(self):
        done = self.capture(self.program, options=("--gpu", "gtx1080ti"))
        self.assertIn("does not get on", done.stderr)
        self.assertIn("sm.thread_scheduling: warp", done.stderr)


if __name__ == "__main__":
    unittest.main()
