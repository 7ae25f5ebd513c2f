"""Programs with matrix instructions and asynchronous copies as tenants: preempted, faulting, in a memory that is too
small, in any layout."""
import collections
import re
import unittest

import h5py

from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"
SCHEMES = ("stall-on-fault", "warp-disable-commit", "warp-disable-last-check", "replay-queue",
           "{name: operand-log, bytes: 16KiB}")
TECHNIQUES = ("drain", "switch", "flush", "dual-kernel")
LEAVE_NOTHING = (r"contexts of (\d+) blocks of (\d+) bytes for each of (\d+) SMs leave nothing of "
                 r"gpu.memory.capacity, (\d+)")
PROGRAMS = {"gemm_mma": "{m: 512, n: 256, k: 128}", "sgemm_async": "{n: 96}"}
LAYOUTS = ((2, 0), (1, 2), (1, 3))  # threads, ranks


class AsynchronousTenants(ScenarioTest):
    def tenants(self, program, technique, scheme, more=""):
        """The program in managed memory, and a more urgent tenant that takes its SMs from it.  Their memory is too
        small by far, beside what contexts take of it."""
        self.scenario_of(program, technique, scheme, more, "gpu.memory.oversubscription: 250%")
        found = re.search(LEAVE_NOTHING, self.lockstep("validate", "scenario.yaml").stderr)
        if found:
            blocks, each, sms, rest = map(int, found.groups())
            capacity = -(-(blocks * each * sms + rest) // 8192) * 8192
            self.scenario_of(program, technique, scheme, more, f"gpu.memory.capacity: {capacity}B")

    def scenario_of(self, program, technique, scheme, more, memory):
        gpu = self.write("gpu.yaml", (ROOT / "configs/gpus/tiny.yaml").read_text().replace(
            'compute_capability: "7.0"', 'compute_capability: "8.0"'))
        self.write("scenario.yaml", (
            f"gpu: {gpu}\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            f"simulation: {{epoch: 20us}}\noverride: {{{memory}}}\n"
            f"policies: {{preemption: {technique}, exception_scheme: {scheme}{more}}}\n"
            "tenants:\n"
            f"  - {{name: batch, workload: {WORKLOADS}/{program}.yaml, parameters: {PROGRAMS[program]},"
            " memory: managed}\n"
            f"  - {{name: urgent, workload: {WORKLOADS}/vector_add.yaml, parameters: {{n: 4096}}, priority: 1,"
            " arrival: 60us, latency_bound: 2us, memory: managed}\n"))

    def run_checked(self, output, *options, ranks=0):
        done = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("check passed"), 2, done.stdout)

    def assert_same(self, first, second):
        difference = self.lockstep("diff", first, second)
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_every_scheme_and_technique_leaves_the_right_products(self):
        met_by_any = collections.Counter()
        for program in PROGRAMS:
            met = collections.Counter()
            for scheme in SCHEMES:
                for technique in TECHNIQUES:
                    with self.subTest(program=program, scheme=scheme, technique=technique):
                        self.tenants(program, technique, scheme, ", prefetcher: none")
                        self.run_checked("out.h5")
                        with h5py.File(self.folder / "out.h5") as file:
                            for name in ("sm/blocks_saved", "sm/blocks_flushed", "host/pages_evicted"):
                                met[technique, name] += int(file[f"final/stats/{name}"][()].sum())
            with self.subTest(program=program):
                self.assertGreater(sum(met[technique, "host/pages_evicted"] for technique in TECHNIQUES), 0, met)
                self.assertGreater(met["switch", "sm/blocks_saved"], 0, met)
                self.assertGreater(met["flush", "sm/blocks_flushed"] + met["flush", "sm/blocks_saved"], 0, met)
            met_by_any += met
        # Large blocks end sooner than two kernels make room for each other.
        moved = met_by_any["dual-kernel", "sm/blocks_flushed"] + met_by_any["dual-kernel", "sm/blocks_saved"]
        self.assertGreater(moved, 0, met_by_any)

    def test_blocks_that_leave_at_faults_leave_the_right_products(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.tenants(program, "switch", "replay-queue", ", block_switching: {name: on-fault, threshold: 0}")
                self.run_checked("out.h5")

    def test_every_layout_writes_the_same(self):
        for program in PROGRAMS:
            self.tenants(program, "switch", "replay-queue")
            self.run_checked("first.h5")
            for threads, ranks in LAYOUTS:
                with self.subTest(program=program, threads=threads, ranks=ranks):
                    self.run_checked("other.h5", "--threads", threads, ranks=ranks)
                    self.assert_same("first.h5", "other.h5")


if __name__ == "__main__":
    unittest.main()
