"""A more urgent tenant takes SMs from another one (policies.preemption)."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"
TECHNIQUES = ("none", "drain", "switch")


def text(policies, second="{n: 4096}", more=""):
    return (f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: 20us}}\npolicies: {{{policies}}}\n"
            "tenants:\n"
            f"  - {{name: batch, workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 128}}}}\n"
            f"  - {{name: urgent, workload: {WORKLOADS}/vector_add.yaml, parameters: {second}, priority: 1,"
            f" arrival: 20us{more}}}\n")


def preempted(technique, scheme="replay-queue"):
    return f"preemption: {technique}, exception_scheme: {scheme}"


class Preemption(ScenarioTest):
    def run_checked(self, output, *options, ranks=0):
        done = self.lockstep("run", "scenario.yaml", "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)

    def counts(self, name):
        with h5py.File(self.folder / name, "r") as file:
            stats = file["final/stats"]
            end = dict(zip(file["tenants"]["tenant"].astype(str), file["tenants"]["end"]))
            return end, {key: stats[f"dispatcher/{key}"][()].sum(axis=0).tolist()
                         for key in ("sms_taken", "preemption_time", "blocks_returned")}, {
                key: int(stats[f"sm/{key}"][()].sum()) for key in ("blocks_saved", "blocks_restored")}

    def test_the_urgent_tenant_ends_sooner_the_other_later_and_results_are_right(self):
        ends = {}
        for technique in TECHNIQUES:
            self.write("scenario.yaml", text(preempted(technique)))
            self.run_checked("out.h5")
            ends[technique], dispatcher, sm = self.counts("out.h5")
            taken = technique != "none"
            self.assertEqual(dispatcher["sms_taken"][0] > 0, taken)
            self.assertEqual(dispatcher["preemption_time"][1] > 0, taken)
            self.assertEqual(sm["blocks_saved"] > 0, technique == "switch")
            self.assertEqual(sm["blocks_saved"], sm["blocks_restored"])
        for technique in ("drain", "switch"):
            self.assertLess(ends[technique]["urgent"], ends["none"]["urgent"])
            self.assertGreater(ends[technique]["batch"], ends["none"]["batch"])

    def test_blocks_that_wait_for_pages_are_taken_as_well(self):
        policies = preempted("switch", "{name: operand-log, bytes: 16KiB}") + ", prefetcher: none"
        self.write("scenario.yaml", text(policies).replace("sgemm.yaml, parameters: {n: 128}", "managed_add.yaml"))
        self.run_checked("out.h5")
        _, dispatcher, sm = self.counts("out.h5")
        self.assertGreater(sm["blocks_saved"], 0)
        self.assertEqual(sm["blocks_saved"], sm["blocks_restored"])

    def test_contexts_hold_the_registers_that_their_kind_says(self):
        saved = {}
        for kind in ("occupied", "live", "live-compressed"):
            self.write("scenario.yaml", text(preempted(f"{{name: switch, context: {kind}}}")))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                stats = file["final/stats/sm"]
                occupied, live, saved[kind] = stats["context_parts"][()].sum(axis=(0, 1)).tolist()[:3]
                registers = stats["context_registers"][()].sum(axis=(0, 1)).tolist()
                self.assertEqual(stats["context_bytes_saved"][()].sum(), stats["context_parts"][..., 2:].sum())
            self.assertLess(live, occupied)
            self.assertEqual(sum(registers) > 0, kind == "live-compressed")
            if kind == "occupied":
                self.assertEqual(saved[kind], occupied)
        self.assertGreater(saved["occupied"], saved["live"])
        self.assertGreater(saved["live"], saved["live-compressed"])

    def test_blocks_stop_at_points_if_they_are_to(self):
        for points in ("none", "selective"):
            self.write("scenario.yaml", text(preempted(f"{{name: switch, context: live, points: {points}}}")))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                stops = file["final/stats/sm/context_stops"][()].sum(axis=(0, 1)).tolist()
            fault, barrier, barrier_point, point, asleep, elsewhere = stops
            self.assertEqual((fault, asleep), (0, 0))
            self.assertGreater(barrier + barrier_point + elsewhere, 0)
            self.assertEqual(barrier_point + point > 0, points == "selective")
            self.assertEqual(elsewhere > 0, points == "none")

    def test_switching_and_preemption_save_alike(self):
        self.assertRegex(
            self.refused(preempted("{name: switch, context: live}") + ", block_switching: on-fault"),
            r"scenario\.yaml:\d+:\d+: policies\.preemption and policies\.block_switching save blocks with different")

    def test_every_layout_writes_the_same(self):
        self.write("scenario.yaml",
                   text(preempted("{name: switch, context: live-compressed-block, points: selective}")))
        self.run_checked("one.h5", "--threads", 1)
        for name, threads, ranks in (("threads.h5", 2, 0), ("two.h5", 1, 2), ("three.h5", 1, 3)):
            self.run_checked(name, "--threads", threads, ranks=ranks)
            done = self.lockstep("diff", "one.h5", name)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def refused(self, policies):
        self.write("scenario.yaml", text(policies))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_tenants_with_sms_of_their_own_cannot_take_any(self):
        self.assertRegex(self.refused("preemption: drain, sharing: spatial"),
                         r"scenario\.yaml:\d+:\d+: policies\.preemption drain takes whole SMs")

    def test_a_scheme_that_stalls_cannot_give_a_block_up(self):
        self.assertRegex(self.refused("preemption: switch"),
                         r"scenario\.yaml:\d+:\d+: policies\.preemption switch stops a block")


if __name__ == "__main__":
    unittest.main()
