"""Blocks leave by the techniques of a plan; a run goes on from a checkpoint with other entries for later requests."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"
TECHNIQUES = ("flush", "switch", "drain")


def text(preemption):
    return (f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: 20us}}\npolicies: {{preemption: {preemption}, exception_scheme: replay-queue}}\n"
            f"tenants:\n  - {{name: batch, workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 128}}, relaunch: true}}\n"
            f"  - {{name: urgent, workload: {WORKLOADS}/urgent.yaml, parameters: {{blocks: 6, rounds: 10}}, "
            "priority: 1, latency_bound: 2us, arrivals: {every: 37us, count: 8}}\n")


PLANNED = "{name: planned, plan: plan.yaml}"


class PlannedPreemption(ScenarioTest):
    def run_to(self, output, *options, status=0, ranks=0):
        done = self.lockstep("run", "scenario.yaml", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, output):
        with h5py.File(self.folder / output, "r") as file:
            return file["preemptions"][()], file["arrivals"][()]

    def numbers(self):
        """Kernels that took SMs, in the order of their requests, and when they arrived."""
        self.write("plan.yaml", "[]\n")
        self.write("scenario.yaml", text(PLANNED))
        self.run_to("first.h5", "--check")
        rows, arrivals = self.rows("first.h5")
        return sorted(set(rows["urgent"].tolist())), sorted(arrivals["arrival"][arrivals["tenant"] == 1].tolist())

    def refused(self, preemption):
        self.write("scenario.yaml", text(preemption))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        return done.stderr

    def test_without_entries_it_is_the_dual_kernel(self):
        self.numbers()
        self.write("scenario.yaml", text("dual-kernel"))
        self.run_to("dual.h5")
        for one, other in zip(self.rows("first.h5"), self.rows("dual.h5")):
            self.assertEqual(one.tolist(), other.tolist())

    def test_each_request_follows_its_entry(self):
        urgent, _ = self.numbers()
        self.assertGreaterEqual(len(urgent), 3)
        self.write("plan.yaml", "".join(f"- {{urgent: {number}, others: {technique}}}\n"
                                        for number, technique in zip(urgent, TECHNIQUES)))
        self.run_to("out.h5", "--check")
        rows, _ = self.rows("out.h5")
        for number, technique in zip(urgent, TECHNIQUES):
            did = set(rows["technique"][rows["urgent"] == number].astype(str))
            self.assertIn(technique, did)
            self.assertLessEqual(did, {technique} | ({"switch"} if technique == "flush" else set()))

    def test_later_entries_may_change_behind_a_checkpoint_and_earlier_ones_may_not(self):
        urgent, arrivals = self.numbers()
        first = f"- {{urgent: {urgent[0]}, others: switch}}\n"
        last = f"- {{urgent: {urgent[-1]}, others: drain}}\n"
        self.write("plan.yaml", first + last)
        self.run_to("whole.h5")
        for name, layout, ranks in (("one", (), 0), ("two", ("--threads", 2), 0), ("three", (), 2)):
            self.write("plan.yaml", first)
            self.run_to(f"{name}.h5", "--checkpoint-at-stop", "--set",
                        f"simulation.stop_at={arrivals[-1] // 1000}ps", status=4)
            self.write("plan.yaml", first + last)
            self.run_to(f"{name}.h5", "--resume", f"{name}.ckpt", *layout, ranks=ranks)
            done = self.lockstep("diff", "whole.h5", f"{name}.h5")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.write("plan.yaml", first)
        self.run_to("o.h5", "--checkpoint-at-stop", "--set", f"simulation.stop_at={arrivals[-1] // 1000}ps", status=4)
        self.write("plan.yaml", last)
        done = self.lockstep("run", "scenario.yaml", "--output", "o.h5", "--resume", "o.ckpt")
        self.assertRegex(done.stderr, rf"plan of policies\.preemption differs for kernel {urgent[0]}")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))

    def test_a_plan_is_a_file_that_it_can_follow(self):
        for plan, said in (("- {urgent: 1, others: wait}\n", r"plan\.yaml:1:23: .*'wait' is no technique"),
                           ("- {urgent: 1}\n- {urgent: 1}\n", r"plan\.yaml:2:3: .*has an entry already"),
                           ("- {urgent: 1, block: []}\n", r"plan\.yaml:1:15: .*block")):
            self.write("plan.yaml", plan)
            self.assertRegex(self.refused(PLANNED), said)
        self.assertRegex(self.refused("planned"), r"scenario\.yaml:\d+:\d+: .*name the file")
        self.assertRegex(self.refused("{name: planned, plan: none.yaml}"), r"none\.yaml")


if __name__ == "__main__":
    unittest.main()
