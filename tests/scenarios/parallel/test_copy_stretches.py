"""Copies in stretches give the results of copies line by line, which links with fewer lines in flight send."""
import unittest

import h5py
from segments import SegmentsTest

from harness import ROOT, ScenarioTest, todays

# Parts that begin and end within lines, both directions at once, streams beside a kernel, content of each kind.
WORKLOAD = """\
module: {root}/configs/workloads/vector_add.ptx
parameters: {{n: 40000}}
buffers:
  a: {{type: f32, count: n, memory: device, init: {{uniform: {{low: 0, high: 1, seed: 1}}}}}}
  b: {{type: f32, count: n, memory: device, init: {{linear: {{start: 0, step: 0.5}}}}}}
  c: {{type: f32, count: n, memory: device}}
  d: {{type: f32, count: n, memory: device, init: {{normal: {{mean: 0, deviation: 1, seed: 2}}}}}}
program:
  - copy: {{buffer: a, to: device, offset: 3, count: n - 12}}
  - copy: {{buffer: a, to: device, count: 3}}
  - copy: {{buffer: a, to: device, offset: n - 9, count: 9}}
  - copy: {{buffer: b, to: device, stream: 1}}
  - copy: {{buffer: d, to: device, offset: 1, count: 1, stream: 2}}
  - synchronize
  - launch: {{kernel: vector_add, grid: [ceil(n / 256)], block: [256], arguments: [a, b, c, n], stream: 3}}
  - copy: {{buffer: d, to: device, stream: 1}}
  - copy: {{buffer: a, to: host, offset: 5, count: n - 7, stream: 2}}
  - synchronize
  - copy: {{buffer: a, to: device}}
  - launch: {{kernel: vector_add, grid: [ceil(n / 256)], block: [256], arguments: [a, d, b, n]}}
  - copy: {{buffer: c, to: host, stream: 1}}
  - copy: {{buffer: b, to: host, stream: 2}}
  - synchronize
"""
LAYOUTS = [(2, 0), (1, 2), (1, 3), (2, 2)]  # threads, ranks
LINE_BY_LINE = ("--set", "host.lines_in_flight=4095")
# Each GPU has a tenant of its own; a component serves the link of each.
TWO_GPUS = """\
gpu: {root}/configs/gpus/tiny.yaml
gpus: 2
host: {root}/configs/hosts/pcie3.yaml
tenants:
  - {{name: one, workload: w.yaml, gpu: 0}}
  - {{name: two, workload: w.yaml, parameters: {{n: 30001}}, gpu: 1}}
policies: {{sharing: spatial, placement: fixed}}
simulation: {{epoch: 1us}}
"""


class CopyStretches(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("w.yaml", WORKLOAD.format(root=ROOT))

    def run_it(self, output, *arguments, **layout):
        run = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", output, *arguments, **layout)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def assert_same(self, *settings):
        self.run_it("lines.h5", *LINE_BY_LINE, *settings)
        self.run_it("stretches.h5", *settings)
        difference = self.lockstep("diff", "lines.h5", "stretches.h5")
        differing = [line.split()[0] for line in difference.stdout.splitlines() if line.startswith("  /")]
        self.assertEqual(differing, ["/config"], difference.stdout)

    def assert_same_in_layouts(self):
        self.run_it("first.h5")
        for threads, ranks in LAYOUTS:
            with self.subTest(threads=threads, ranks=ranks):
                self.run_it("other.h5", "--threads", threads, ranks=ranks)
                difference = self.lockstep("diff", "first.h5", "other.h5")
                self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_they_give_the_times_of_single_lines(self):
        self.scenario("w.yaml", more="simulation: {epoch: 1us}")
        self.assert_same()

    def test_whatever_else_decides_when_lines_are_served(self):
        self.scenario("w.yaml", more="simulation: {epoch: 3us}")
        for settings in todays((
                ("gpu.copy_engines=1",), ("host.link_order=fifo",), ("host.link_curve=affine",),
                ("policies.dram_scheduler=par-bs",), ("policies.cache_policy=eaf",), ("gpu.memory.l2.ports=2",),
                ("gpu.memory.dram.write_queue=0",), ("gpu.noc.clock=400MHz",)), share=2):
            with self.subTest(settings=settings):
                self.assert_same(*(word for setting in settings for word in ("--set", setting)))

    def test_two_tenants_take_turns_as_with_single_lines(self):
        for order in ("round-robin", "priority", "fifo"):
            self.scenario("w.yaml", more="  - {name: two, workload: w.yaml, parameters: {n: 30001}, priority: 1}\n"
                                         f"simulation: {{epoch: 2us}}\noverride: {{host.link_order: {order}}}")
            self.assert_same()

    def test_every_layout_gives_the_same_bits(self):
        self.scenario("w.yaml", more="simulation: {epoch: 1us}")
        self.assert_same_in_layouts()

    def test_a_stretch_under_way_is_counted_up_to_the_epoch(self):
        self.scenario("w.yaml", more="simulation: {epoch: 500ns}")
        self.run_it("o.h5")
        with h5py.File(self.folder / "o.h5") as file:
            moved = file["stats/link/bytes"][:]
        moved = moved.reshape(len(moved), -1).sum(axis=1)
        # The link moves at most 11.3 bytes a nanosecond and direction.
        self.assertLessEqual(moved.max(), 2 * 500 * 11.3 + 256)
        self.assertEqual(moved.sum(), 4 * ((40000 - 12) + 3 + 9 + 40000 + 1 + 40000 + (40000 - 7) + 3 * 40000))

    def test_links_of_several_gpus_give_the_times_of_single_lines(self):
        fabric = f"fabric: {ROOT}/configs/fabrics/nvswitch2.yaml\n"
        for more in ("", fabric, "override: {gpu.copy_engines: 1, host.link_order: fifo}\n"):
            with self.subTest(more=more):
                self.write("scenario.yaml", TWO_GPUS.format(root=ROOT) + more)
                self.assert_same()

    def test_links_of_several_gpus_give_the_same_bits_in_every_layout(self):
        self.write("scenario.yaml", TWO_GPUS.format(root=ROOT))
        self.assert_same_in_layouts()

    def test_behind_an_uplink_lines_go_one_by_one(self):
        self.write("scenario.yaml", TWO_GPUS.format(root=ROOT)
                   + "override: {host.uplinks: [{gpus: [0, 1], bandwidth: 9GB/s}]}\n")
        self.assert_same()


class InterruptedCopies(SegmentsTest):
    def test_runs_in_segments_end_as_the_uninterrupted_one(self):
        self.write("w.yaml", WORKLOAD.format(root=ROOT))
        self.scenario("w.yaml", more="simulation: {epoch: 1us}")
        self.assert_resumes()

    def test_so_do_those_of_several_gpus(self):
        self.write("w.yaml", WORKLOAD.format(root=ROOT))
        self.write("scenario.yaml", TWO_GPUS.format(root=ROOT))
        self.assert_resumes()

    def assert_resumes(self):
        whole = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", "whole.h5")
        self.assertEqual((whole.returncode, whole.stderr), (0, ""))
        layouts = [{}, {"threads": 2}, {"ranks": 2}, {"ranks": 3}]
        for number, stop in enumerate(("2us", "3.7us", "9us", "17.3us", "31us", "45us")):
            stopped = self.end(self.start("--checkpoint-at-stop", "--set", f"simulation.stop_at={stop}",
                                          resume=self.resumable(), **layouts[number % len(layouts)]))
            self.assertEqual(stopped[0], 4, stopped)
        self.finish()
        self.assert_same_result()


if __name__ == "__main__":
    unittest.main()
