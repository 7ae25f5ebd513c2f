"""/kernels: what is counted of each launch is its own, and the package derives from it what the program does."""
import sys
import unittest

import h5py
import numpy as np

from harness import ROOT
from one_kernel import OneKernel

sys.path.insert(0, str(ROOT / "jobs/analysis"))

import lockstep_analysis as la  # noqa: E402

# k(data, n): each thread adds n words of data, a line apart, and stores their sum to the first.
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry NAME(.param .u64 data, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  mov.u64 %rd4, %rd3;
  mov.u32 %r3, 0;
LOOP:
  ld.global.u32 %r4, [%rd3];
  add.u32 %r3, %r3, %r4;
  add.u64 %rd3, %rd3, 128;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  st.global.u32 [%rd4], %r3;
  ret;
}
"""
HEAD, BODY = PTX.split(".visible", 1)

WORKLOAD = """\
module: k.ptx
buffers:
  a: {type: u32, count: 16384, memory: MEMORY}
  b: {type: u32, count: 16384, memory: MEMORY}
program:
"""
SHORT = "  - launch: {kernel: few, grid: [2], block: [64], arguments: [a, 20], stream: 0}\n"
LONG = "  - launch: {kernel: many, grid: [3], block: [96], arguments: [b, 400], stream: 1}\n"

OF_SMS = {"warp_instructions": "warp_instructions", "thread_instructions": "thread_instructions",
          "issue_slots": "issue_slots", "warp_cycles": "warp_cycles", "l1_hits": "l1_hits", "l1_misses": "l1_misses",
          "l1_merges": "l1_merges", "l1_tlb_hits": "tlb_hits", "l1_tlb_misses": "tlb_misses",
          "l1_tlb_merges": "tlb_merges"}
OF_OTHERS = {"l2_tlb_hits": "gmmu/tlb_hits", "l2_tlb_misses": "gmmu/tlb_misses", "far_faults": "host/far_faults"}


class Kernels(OneKernel):
    def setUp(self):
        super().setUp()
        kernels = [".visible" + BODY.replace("NAME", name).replace("LOOP", f"LOOP_{name}") for name in ("few", "many")]
        self.write("k.ptx", HEAD + "".join(kernels))

    def simulate(self, program, name, *arguments, memory="device", ranks=0):
        self.write("w.yaml", WORKLOAD.replace("MEMORY", memory) + program)
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", name, *arguments, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return la.load(self.folder / name)

    def test_what_sms_count_of_kernels_adds_up_to_what_they_count_of_their_tenants(self):
        for scenario in ("two_tenants_tiny", "managed_add"):
            self.lockstep("run", ROOT / f"configs/scenarios/{scenario}.yaml", "--quiet", "--output", "r.h5")
            run = la.load(self.folder / "r.h5")
            table = run.table("kernels").groupby("tenant")
            for column, counter in OF_SMS.items():
                total = run.file[f"final/stats/sm/{counter}"][:].sum(axis=0)
                self.assertEqual(table[column].sum().to_list(), total.tolist(), counter)
            names = [name.decode() for name in run.file["axes/sm/stalls_names"][:]]
            stalls = run.file["final/stats/sm/stalls"][:].sum(axis=0)
            for place, cause in enumerate(names):
                self.assertEqual(table[f"stall_{cause}"].sum().to_list(), stalls[:, place].tolist(), cause)

    def test_a_kernels_counts_are_its_own_whoever_runs_beside_it(self):
        together = self.simulate(SHORT + LONG, "both.h5").table("kernels").set_index("kernel")
        self.assertLess(together["launched"]["many"], together["done"]["few"])
        for kernel, program in (("few", SHORT), ("many", LONG)):
            alone = self.simulate(program, f"{kernel}.h5").table("kernels").set_index("kernel")
            for columns in (["warp_instructions"], ["thread_instructions"], ["l1_hits", "l1_misses", "l1_merges"],
                            ["l1_tlb_hits", "l1_tlb_misses", "l1_tlb_merges"]):
                self.assertGreater(alone.loc[kernel, columns].sum(), 0)
                self.assertEqual(together.loc[kernel, columns].sum(), alone.loc[kernel, columns].sum(), columns)

    def test_what_others_count_of_kernels_one_after_the_other_adds_up_to_all_there_is(self):
        for memory in ("device", "managed"):
            run = self.simulate((SHORT + LONG + SHORT).replace("stream: 1", "stream: 0"), f"{memory}.h5", memory=memory)
            table = run.table("kernels")
            self.assertEqual(len(table), 3)
            for column, counter in OF_OTHERS.items():
                self.assertEqual(table[column].sum(), run.file[f"final/stats/{counter}"][:].sum(), counter)
            self.assertEqual(table["bytes_to_gpu"].sum(), run.file["final/stats/link/bytes"][1].sum())
            self.assertEqual(table["far_faults"].sum() > 0, memory == "managed")

    def test_what_partitions_count_beside_kernels_is_the_same_however_many_there_are(self):
        """Page tables are written and taken away, once."""
        beside = []
        for name, more in (("one.h5", ""), ("three.h5", LONG.replace("stream: 1", "stream: 0") + SHORT)):
            run = self.simulate(SHORT + more, name)
            table = run.table("kernels")
            lookups = table["l2_hits"] + table["l2_misses"]
            self.assertTrue((lookups > 0).all())
            beside.append(sum(run.file[f"final/stats/partition/sector_{what}"][:].sum() for what in ("hits", "misses"))
                          - lookups.sum())
        self.assertEqual(*beside)

    def test_no_layout_changes_what_is_counted(self):
        self.simulate(SHORT + LONG + SHORT + LONG, "one.h5", "--set", "simulation.epoch=1us")
        for name, arguments, ranks in (("threads.h5", ["--threads", "2"], 0), ("ranks.h5", [], 2)):
            self.simulate(SHORT + LONG + SHORT + LONG, name, "--set", "simulation.epoch=1us", *arguments, ranks=ranks)
            difference = self.lockstep("diff", "one.h5", name)
            self.assertEqual(difference.stdout, "equal outside /run\n")

    def test_epochs_do_not_change_what_is_counted(self):
        with h5py.File(self.simulate(SHORT + LONG, "long.h5", "--set", "simulation.epoch=1ms").path) as one, \
                h5py.File(self.simulate(SHORT + LONG, "short.h5", "--set", "simulation.epoch=300ns").path) as other:
            for column in one["kernels"].dtype.names:  # whole rows would differ where both are NaN
                np.testing.assert_array_equal(one["kernels"][column], other["kernels"][column], column)

    def test_the_metrics_of_a_launch_are_those_of_the_package(self):
        run = self.simulate(SHORT + LONG, "r.h5", memory="managed")
        table = run.table("kernels")
        for name in la.metrics.KERNEL_DEFINITIONS:
            np.testing.assert_array_equal(table[name], la.metrics.kernel_metric(run, table, name), name)
        self.assertTrue((table["occupancy"] > 0).all() and (table["occupancy"] <= 1).all())


if __name__ == "__main__":
    unittest.main()
