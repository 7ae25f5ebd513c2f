"""Blocks that leave an SM because of a fault and return, their contexts in GPU memory (000, section 4.1)."""
import unittest

import h5py

import printing_kernel
from harness import ROOT, ScenarioTest

MANAGED = f"{ROOT}/configs/workloads/managed_add.yaml"
SCHEMES = ("warp-disable-commit", "warp-disable-last-check", "replay-queue", "operand-log")


def policies(scheme, switching):
    return f"policies: {{exception_scheme: {scheme}, block_switching: {switching}}}"


def count(path, name):
    with h5py.File(path, "r") as file:
        return int(file[f"final/stats/sm/{name}"][()].sum())


class BlockSwitching(ScenarioTest):
    def run_checked(self, scheme, switching, output, *options, ranks=0):
        scenario = self.scenario(MANAGED, more=policies(scheme, switching))
        done = self.lockstep("run", scenario, "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_blocks_leave_and_return_with_every_scheme_and_results_are_right(self):
        for scheme in SCHEMES:
            for ideal in ("false", "true"):
                with self.subTest(scheme=scheme, ideal=ideal):
                    self.run_checked(scheme, f"{{name: on-fault, threshold: 0, ideal: {ideal}}}", "out.h5")
                    output = self.folder / "out.h5"
                    self.assertGreater(count(output, "blocks_saved"), 0)
                    self.assertEqual(count(output, "blocks_saved"), count(output, "blocks_restored"))
                    self.assertEqual(count(output, "context_bytes_saved"), count(output, "context_bytes_restored"))

    def test_no_block_leaves_for_a_fault_that_is_not_behind_the_threshold(self):
        self.run_checked("replay-queue", "{name: on-fault, threshold: 1000000}", "out.h5")
        output = self.folder / "out.h5"
        self.assertEqual(count(output, "blocks_saved"), 0)
        self.assertGreater(count(output, "fault_notices"), 0)
        self.assertEqual(count(output, "fault_notices"), count(output, "kept_for_near_faults"))

    def test_every_layout_writes_the_same(self):
        switching = "{name: on-fault, threshold: 0, max_wait: 2us}"
        self.run_checked("operand-log", switching, "one.h5", "--threads", 1)
        for name, threads, ranks in (("threads.h5", 2, 0), ("two.h5", 1, 2), ("three.h5", 1, 3)):
            self.run_checked("operand-log", switching, name, "--threads", threads, ranks=ranks)
            done = self.lockstep("diff", "one.h5", name)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_block_that_leaves_between_its_warps_prints_is_heard_once(self):
        """Blocks of 768 threads end amid pages: some of their warps print while others fault."""
        self.write("k.ptx", printing_kernel.PTX)
        self.write("w.yaml", printing_kernel.WORKLOAD)
        printed, saved = [], []
        for switching in ("none", "{name: on-fault, threshold: 0}"):
            more = (f"policies: {{exception_scheme: replay-queue, block_switching: {switching}, prefetcher: none}}\n"
                    "override: {gpu.sm.blocks: 1, gpu.vm.fault_granule: 4KiB}")
            scenario = self.scenario("w.yaml", "{blocks: 24, block: 768}", more)
            done = self.lockstep("run", scenario, "--quiet", "--check", "--output", "out.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
            printed.append(sorted(line for line in done.stdout.splitlines() if " name " in line))
            saved.append(count(self.folder / "out.h5", "blocks_saved"))
        self.assertEqual(len(printed[0]), 24 * 768)
        self.assertEqual(printed[0], printed[1])
        self.assertEqual(saved[0], 0)
        self.assertGreater(saved[1], 0)

    def test_a_scheme_that_stalls_cannot_give_a_block_up(self):
        done = self.lockstep("validate", self.scenario(MANAGED, more=policies("stall-on-fault", "on-fault")))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"scenario\.yaml:\d+:\d+: policies\.block_switching on-fault takes a block away")

    def test_contexts_that_do_not_fit_are_refused_in_one_line(self):
        scenario = self.scenario(MANAGED, more=policies("replay-queue", "{name: on-fault, extra_blocks: 64}"))
        done = self.lockstep("run", scenario, "--set", "gpu.memory.capacity=1MiB", "--output", "out.h5")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"scenario\.yaml:\d+:\d+: contexts of 65 blocks of \d+ bytes")


if __name__ == "__main__":
    unittest.main()
