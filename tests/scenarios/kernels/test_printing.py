"""What kernels print reaches the user: the same lines in the same order in any layout."""
import unittest

from harness import ROOT, ScenarioTest
from printing_kernel import PTX, WORKLOAD


class Printing(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)
        self.write("w.yaml", WORKLOAD)

    @staticmethod
    def lines(blocks):
        return [f"{block:3d}  0 name {block / 2:.1f}" for block in range(blocks)]

    def run_once(self, *settings, **more):
        run = self.lockstep("run", "scenario.yaml", "--quiet", *settings, **more)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_each_thread_is_heard_once(self):
        self.scenario("w.yaml")
        self.assertEqual(sorted(self.run_once().splitlines()), self.lines(40))

    def test_any_layout_prints_the_same_in_the_same_order(self):
        self.scenario("w.yaml", "{blocks: 12, block: 64}")
        first = self.run_once("--output", "first.h5")
        self.assertEqual(first.count("\n"), 12 * 64)
        for threads, ranks in ((2, 0), (1, 2), (1, 3), (2, 2)):
            with self.subTest(threads=threads, ranks=ranks):
                other = self.run_once("--threads", threads, "--output", "other.h5", ranks=ranks)
                self.assertEqual(other, first)
                self.assertEqual(self.lockstep("diff", "first.h5", "other.h5").returncode, 0)

    def test_checking_prints_nothing_more(self):
        self.scenario("w.yaml")
        checked = self.run_once("--check").splitlines()
        self.assertEqual(sorted(line for line in checked if " name " in line), self.lines(40))

    def test_a_line_left_open_ends_with_its_tenant(self):
        self.scenario("w.yaml", "{blocks: 1, last: 0}")
        self.assertEqual(self.run_once(), "  0  0 name 0.0\nbegun\n")

    def test_lines_of_several_tenants_bear_their_names(self):
        self.write(
            "scenario.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\n"
            f"host: {ROOT}/configs/hosts/pcie3.yaml\n"
            "tenants:\n"
            "  - {name: one, workload: w.yaml, parameters: {blocks: 3}}\n"
            "  - {name: two, workload: w.yaml, parameters: {blocks: 2}}\n")
        expected = [f"one: {line}" for line in self.lines(3)]
        expected += [f"two: {line}" for line in self.lines(2)]
        self.assertEqual(sorted(self.run_once().splitlines()), expected)

    def test_another_declaration_of_vprintf_is_refused(self):
        self.write("k.ptx", PTX.replace(".param .b64 a);", ".param .b32 a);", 1))
        self.scenario("w.yaml")
        run = self.lockstep("run", "scenario.yaml", "--quiet")
        self.assertEqual(run.returncode, 1)
        self.assertIn("k.ptx:4:31: vprintf takes a format and a buffer of arguments", run.stderr)


if __name__ == "__main__":
    unittest.main()
