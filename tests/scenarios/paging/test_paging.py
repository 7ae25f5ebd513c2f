"""Paged memory on the tiny GPU: any layout the same bits, every policy the right bytes."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

SCENARIO = ROOT / "configs/scenarios/oversubscribed_tiny.yaml"
LAYOUTS = [(2, 0), (4, 0), (1, 1), (1, 2), (1, 3)]  # threads, ranks

POLICIES = [  # cost model, prefetcher, eviction
    ("uvmsmart", "none", "random"),
    ("uvmsmart", "random", "tree"),
    ("tanasic", "tree", "tree"),
    ("tanasic", "zheng-local512k", "sequential-local"),
    ("linear", "sequential-local", "lru"),
    ("linear", "tree", "random"),
    ("uvmsmart", "zheng-seq", "lfu"),
]


class Paging(ScenarioTest):
    """Four tenants whose pages come, go and come again."""

    def run_to(self, output, *settings, threads=1, ranks=0):
        run = self.lockstep("run", SCENARIO, "--quiet", "--check", "--threads", threads,
                            "--output", output, *settings, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertEqual(run.stdout.count("check passed"), 4, run.stdout)

    def assert_equal(self, one, other):
        difference = self.lockstep("diff", one, other)
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_layouts(self):
        self.run_to("first.h5")
        for threads, ranks in LAYOUTS:
            with self.subTest(threads=threads, ranks=ranks):
                self.run_to("other.h5", threads=threads, ranks=ranks)
                self.assert_equal("first.h5", "other.h5")

    def test_policies(self):
        for cost_model, prefetcher, eviction in POLICIES:
            settings = ["--set", f"policies.fault_handling.cost_model={cost_model}",
                        "--set", f"policies.prefetcher={prefetcher}",
                        "--set", f"policies.eviction={eviction}"]
            with self.subTest(cost_model=cost_model, prefetcher=prefetcher, eviction=eviction):
                self.run_to("one.h5", *settings)
                self.run_to("two.h5", *settings, threads=2)
                self.assert_equal("one.h5", "two.h5")


class TurnsAtTheDriver(ScenarioTest):
    """Two tenants fault on the same pages of theirs at once; the second one has the priority."""

    def queue_times(self, order):
        tenant = f"{{name: %s, workload: {ROOT}/configs/workloads/managed_add.yaml, sms: 2, " \
                 "parameters: {n: 65536, blocks: 8}, priority: %d}"
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"simulation: {{record_faults: true}}\n"
            f"policies: {{sharing: spatial, prefetcher: none, "
            f"fault_handling: {{name: host, order: {order}}}}}\n"
            f"tenants:\n  - {tenant % ('low', 1)}\n  - {tenant % ('high', 2)}\n")
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "o.h5") as file:
            faults = file["faults"][:]
        wait = faults["served"] - faults["arrived"]
        return [wait[faults["tenant"] == tenant].mean() for tenant in (0, 1)]

    def test_priority(self):
        low, high = self.queue_times("priority")
        self.assertLess(high, 0.7 * low)

    def test_equal_turns(self):
        for order in ("fifo", "round-robin"):
            low, high = self.queue_times(order)
            self.assertLess(abs(high - low), 0.2 * low)


# add(data, stride): thread t adds 1 to data[t * stride], many pages apart.
LARGE_PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 stride)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [stride];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.lo.u32 %r6, %r5, %r1;
  mul.wide.u32 %rd2, %r6, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  add.u32 %r7, %r7, 1;
  st.global.u32 [%rd3], %r7;
  ret;
}
"""

LARGE_WORKLOAD = """\
module: k.ptx
parameters: {n: 800000}
buffers:
  mostly: {type: u32, count: n, memory: managed, init: {value: 7}}
  ahead: {type: u32, count: n, memory: managed}
  away: {type: u32, count: n, memory: managed}
program:
  - advise: {buffer: mostly, read_mostly: true}
  - advise: {buffer: away, preferred: host}
  - prefetch: {buffer: mostly, to: gpu, offset: 1000, count: 5000}
  - prefetch: {buffer: ahead, to: gpu, offset: 600000, count: 10}
  - launch: {kernel: add, grid: [2], block: [64], arguments: [mostly, 4099]}
  - launch: {kernel: add, grid: [2], block: [64], arguments: [ahead, 4099]}
  - launch: {kernel: add, grid: [2], block: [64], arguments: [away, 4099]}
  - prefetch: {buffer: ahead, to: host, offset: 600000, count: 10}
  - synchronize
  - repeat: {until: {buffer: mostly, index: 4099, equals: 8}, program: [delay: 1us]}
  - advise: {buffer: away, preferred: none}
  - launch: {kernel: add, grid: [2], block: [64], arguments: [away, 4099]}
  - synchronize
  - read: ahead
"""


class LargePages(ScenarioTest):
    """What a program says about a part of a large page concerns the whole page."""

    def test_parts_of_large_pages(self):
        self.write("k.ptx", LARGE_PTX)
        self.write("w.yaml", LARGE_WORKLOAD)
        self.scenario("w.yaml")
        for capacity in ("6MiB", "32MiB"):
            with self.subTest(capacity=capacity):
                run = self.lockstep("run", "scenario.yaml", "--quiet", "--check",
                                    "--set", "policies.page_manager=large-pages",
                                    "--set", f"gpu.memory.capacity={capacity}")
                self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
                self.assertIn("check passed: one, 3 buffers", run.stdout)


if __name__ == "__main__":
    unittest.main()
