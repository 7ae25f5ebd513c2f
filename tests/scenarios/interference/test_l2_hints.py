"""Eviction priorities of a program change what an L2 keeps where its replacement honours them, elsewhere nothing."""
import unittest

import h5py

from segments import SegmentsTest
from harness import ROOT

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry walk(.param .u64 table, .param .u64 stream, .param .u64 out, .param .u32 rounds)
{
.reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
.shared .align 16 .b8 room[256];
ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [stream]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [rounds];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 64, %r2;
POLICIES
mov.u32 %r9, room; mad.lo.u32 %r9, %r2, 4, %r9;
mov.u32 %r5, 0; mov.u32 %r6, 0;
again:
and.b32 %r7, %r5, 31; mad.lo.u32 %r7, %r7, 64, %r2; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd6, %rd1, %rd6;
cp.async.ca.shared.globalHINT [%r9], [%rd6], 4KEEP;
cp.async.wait_all;
ld.shared.u32 %r10, [%r9];
mad.lo.u32 %r7, %r5, 512, %r4; mul.wide.u32 %rd7, %r7, 4; add.s64 %rd7, %rd2, %rd7;
ld.global.cgHINT.u32 %r11, [%rd7]GO;
xor.b32 %r11, %r11, %r10; add.u32 %r6, %r6, %r11;
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra again;
mul.wide.u32 %rd8, %r4, 4; add.s64 %rd8, %rd3, %rd8;
st.globalHINT.u32 [%rd8], %r6GO;
ret;
}
"""
HINTS = {"POLICIES": "createpolicy.fractional.L2::evict_last.b64 %rd4; "
                     "createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0;",
         "HINT": ".L2::cache_hint", "KEEP": ", %rd4", "GO": ", %rd5"}
WORKLOAD = """\
module: walk.ptx
parameters: {rounds: 128}
buffers:
  table: {type: u32, count: 2048, memory: device, init: {uniform: {low: 0, high: 1000, seed: 1}}}
  stream: {type: u32, count: 512 * rounds, memory: device, init: {uniform: {low: 0, high: 1000, seed: 2}}}
  out: {type: u32, count: 512, memory: device}
program:
  - copy: {buffer: table, to: device}
  - copy: {buffer: stream, to: device}
  - launch: {kernel: walk, grid: [8], block: [64], arguments: [table, stream, out, rounds]}
  - copy: {buffer: out, to: host}
"""

# Each round writes 256 bytes that only its block reads, once, and is done with them.
SCRATCH = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry walk(.param .u64 table, .param .u64 stream, .param .u64 out, .param .u32 rounds)
{
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [stream]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [rounds];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 64, %r2;
and.b32 %r8, %r2, 31; setp.eq.u32 %p2, %r8, 0;
mov.u32 %r5, 0; mov.u32 %r6, 0;
again:
mad.lo.u32 %r7, %r5, 512, %r4; mul.wide.u32 %rd7, %r7, 4; add.s64 %rd7, %rd2, %rd7;
add.u32 %r9, %r6, %r7; st.global.u32 [%rd7], %r9;
xor.b32 %r10, %r7, 63; mul.wide.u32 %rd8, %r10, 4; add.s64 %rd8, %rd2, %rd8;
bar.sync 0;
ld.global.cg.u32 %r11, [%rd8]; mad.lo.u32 %r6, %r6, 3, %r11;
bar.sync 0;
DONE
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra again;
mul.wide.u32 %rd8, %r4, 4; add.s64 %rd8, %rd3, %rd8;
st.global.u32 [%rd8], %r6;
ret;
}
"""
DISCARD = "@%p2 discard.global.L2 [%rd7], 128;"


class Discards(SegmentsTest):
    """What is discarded need not go to DRAM; the bytes stay, so that a check finds what it finds elsewhere."""

    def written_back(self, replacement, done):
        self.write("walk.ptx", SCRATCH.replace("DONE", done))
        self.write("walk.yaml", WORKLOAD)
        self.write("scenario.yaml", (
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\nsimulation: {{epoch: 2us}}\n"
            "override: {gpu.compute_capability: '8.0', gpu.memory.l2.size: 32KiB, gpu.memory.l2.write: back}\n"
            f"policies: {{replacement: {replacement}}}\n"
            "tenants: [{name: one, workload: walk.yaml}]\n"))
        run = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", "out.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            return int(file["final/stats/partition/writebacks"][()].sum())

    def test_discarded_lines_are_not_written_back(self):
        kept = self.written_back("hints", "")
        self.assertLess(self.written_back("hints", DISCARD), 0.6 * kept)

    def test_nobody_hears_of_discards_where_hints_are_not_honoured(self):
        self.assertEqual(self.written_back("lru", DISCARD), self.written_back("lru", ""))

    def test_every_layout_writes_the_same_also_interrupted(self):
        self.written_back("hints", DISCARD)
        self.assert_same_in_any_layout()


class L2Hints(SegmentsTest):
    def scenario_of(self, replacement, hints):
        text = KERNEL
        for word, meaning in HINTS.items():
            text = text.replace(word, meaning if hints else "")
        self.write("walk.ptx", text)
        self.write("walk.yaml", WORKLOAD)
        self.write("scenario.yaml", (
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\nsimulation: {{epoch: 2us}}\n"
            "override: {gpu.compute_capability: '8.0', gpu.memory.l2.size: 8KiB,"
            " gpu.sm.l1.caches_global_loads: false}\n"
            f"policies: {{replacement: {replacement}}}\n"
            "tenants: [{name: one, workload: walk.yaml}]\n"))

    def hits(self, replacement, hints, output="out.h5"):
        self.scenario_of(replacement, hints)
        done = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / output) as file:
            return int(file["final/stats/partition/sector_hits"][()].sum())

    def test_lines_that_shall_stay_hit_and_a_stream_makes_room(self):
        self.assertGreater(self.hits("hints", True), 1.5 * self.hits("lru", True))

    def test_hints_have_no_effect_where_nobody_honours_them(self):
        counted = []
        for hints in (True, False):
            self.hits("lru", hints)
            with h5py.File(self.folder / "out.h5") as file:
                partition = file["final/stats/partition"]
                counted.append({name: partition[name][()].tolist() for name in partition})
        self.assertEqual(*counted)

    def test_a_program_without_hints_runs_as_with_lru(self):
        self.assertEqual(self.hits("hints", False), self.hits("lru", False))

    def test_every_layout_writes_the_same_also_interrupted(self):
        self.scenario_of("hints", True)
        self.assert_same_in_any_layout()


if __name__ == "__main__":
    unittest.main()
