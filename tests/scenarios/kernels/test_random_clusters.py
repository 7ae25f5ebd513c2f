"""Random programs of clusters: loads, stores, atomics, st.async and copies between blocks, by addresses of the cluster
and generic ones, leave the memory that the functional machine leaves."""
import itertools
import os
import random
import time
import unittest

import test_clusters as clusters
from harness import ROOT, ScenarioTest

HEAD = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry mixed(.param .u64 in, .param .u64 out)
{
  .shared .align 16 .b8 rooms[%(bytes)d];
  .shared .align 16 .b8 counters[64];
  .shared .align 8 .b64 gate;
  .reg .pred %%p<8>;
  .reg .b32 %%r<64>;
  .reg .b64 %%rd<16>;
  ld.param.u64 %%rd4, [in];
  ld.param.u64 %%rd1, [out];
  mov.u32 %%r2, %%ctaid.x;
  mov.u32 %%r3, %%ntid.x;
  mov.u32 %%r4, %%tid.x;
  mad.lo.u32 %%r5, %%r2, %%r3, %%r4;
  mov.u32 %%r6, %%cluster_ctarank;
  mov.u32 %%r7, %%cluster_nctarank;
  mov.u32 %%r8, rooms;
  mov.u32 %%r9, counters;
  mov.u32 %%r10, gate;
  mul.wide.u32 %%rd5, %%r5, 16;
  add.u64 %%rd5, %%rd4, %%rd5;
  shl.b32 %%r11, %%r4, 4;
  add.u32 %%r12, %%r8, %%r11;
  mad.lo.u32 %%r13, %%r5, 2654435, 17;
  add.u32 %%r14, %%r13, 1;
  add.u32 %%r15, %%r13, 2;
  add.u32 %%r16, %%r13, 3;
  st.shared.v4.u32 [%%r12], {%%r13, %%r14, %%r15, %%r16};
  st.shared.v4.u32 [%%r12+%(half)d], {%%r13, %%r14, %%r15, %%r16};
  setp.ne.u32 %%p1, %%r4, 0;
  setp.lt.u32 %%p2, %%r4, 16;
  shl.b32 %%r17, %%r4, 2;
  add.u32 %%r17, %%r9, %%r17;
  @%%p2 st.shared.u32 [%%r17], 0;
  @%%p1 bra ready;
  mbarrier.init.shared::cta.b64 [%%r10], 1;
  fence.mbarrier_init.release.cluster;
ready:
"""

MEET = """\
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
"""

TAIL = """\
  ld.shared.v4.u32 {%%r20, %%r21, %%r22, %%r23}, [%%r12];
  ld.shared.v4.u32 {%%r24, %%r25, %%r26, %%r27}, [%%r12+%(half)d];
  and.b32 %%r30, %%r4, 15;
  shl.b32 %%r30, %%r30, 2;
  add.u32 %%r30, %%r9, %%r30;
  ld.shared.u32 %%r31, [%%r30];
  mad.lo.u32 %%r20, %%r24, 3, %%r20;
  mad.lo.u32 %%r21, %%r25, 5, %%r21;
  mad.lo.u32 %%r22, %%r26, 7, %%r22;
  mad.lo.u32 %%r23, %%r27, 11, %%r31;
  mul.wide.u32 %%rd2, %%r5, 16;
  add.u64 %%rd3, %%rd1, %%rd2;
  st.global.v4.u32 [%%rd3], {%%r20, %%r21, %%r22, %%r23};
  ret;
}
"""


TO_CLUSTER = "async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
COPIES = (f"cp.{TO_CLUSTER}", f"cp.{TO_CLUSTER}", f"cp.reduce.{TO_CLUSTER}.add.u32", f"cp.reduce.{TO_CLUSTER}.xor.b32",
          f"cp.reduce.{TO_CLUSTER}.max.u32")


class Program:
    """Rounds in which each thread reads a place of a block and writes one that no other thread writes."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size = self.random.choice((1, 2, 2, 3, 4, 5, 8))
        self.threads = self.random.choice((32, 64, 128))
        self.half = 16 * self.threads
        self.phase = 0

    def place(self, register, half):
        """The address of some thread's 16 bytes in a block of the cluster, as a bijection of threads."""
        pick = self.random.randrange
        return f"""\
  mad.lo.u32 %r40, %r4, {2 * pick(self.threads) + 1}, {pick(self.threads)};
  and.b32 %r40, %r40, {self.threads - 1};
  shl.b32 %r40, %r40, 4;
  add.u32 %r40, %r40, %r8;
  add.u32 %r40, %r40, {half * self.half};
  add.u32 %r41, %r6, {pick(self.size)};
  rem.u32 %r41, %r41, %r7;
  mapa.shared::cluster.u32 {register}, %r40, %r41;
"""

    def access(self, kind, register):
        """`kind` of access by an address of the cluster or a generic one: (preparation, operand, space)."""
        if self.random.random() < 0.7:
            return "", f"[{register}]", f"{kind}.shared::cluster"
        generic = f"  cvt.u64.u32 %rd8, {register};\n  cvta.shared::cluster.u64 %rd9, %rd8;\n"
        if kind == "ld" and self.random.random() < 0.5:  # some lanes read global memory
            generic += f"  and.b32 %r49, %r4, {self.random.choice((1, 2, 7))};\n  setp.eq.u32 %p6, %r49, 1;\n"
            generic += "  selp.b64 %rd9, %rd5, %rd9, %p6;\n"
        return generic, "[%rd9]", kind

    def round(self, number):
        source, target = number % 2, 1 - number % 2
        text = self.place("%r42", source)
        before, operand, load = self.access("ld", "%r42")
        text += before + f"  {load}.v4.u32 {{%r50, %r51, %r52, %r53}}, {operand};\n"
        guard = ""
        if self.random.random() < 0.5:
            text += f"  and.b32 %r45, %r4, {self.random.choice((1, 3, 5))};\n  setp.eq.u32 %p4, %r45, 1;\n"
            guard = "@%p4 "
        text += "".join(f"  mad.lo.u32 %r5{i}, %r5{i}, {2 * self.random.randrange(99) + 1}, %r5{(i + 1) % 4};\n"
                        for i in range(4))
        text += self.place("%r43", target)
        way = self.random.choice(("store", "store", "async", "copy"))
        if way == "store":
            before, operand, store = self.access("st", "%r43")
            width, registers = self.random.choice((("u32", "%r50"), ("v2.u32", "{%r50, %r51}"),
                                                   ("v4.u32", "{%r50, %r51, %r52, %r53}")))
            text += before + f"  {guard}{store}.{width} {operand}, {registers};\n"
        elif way == "async":
            text += self.expect(4 * self.threads) + """\
  mapa.shared::cluster.u32 %r44, %r10, %r41;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r43], %r50, [%r44];
""" + self.wait(number)
        else:
            shift = self.random.randrange(self.size)
            text += """\
  fence.proxy.async.shared::cta;
  bar.sync 0;
""" + self.expect(self.half) + f"""\
  @%p1 bra sent{number};
  add.u32 %r46, %r6, {shift};
  rem.u32 %r46, %r46, %r7;
  add.u32 %r47, %r8, {target * self.half};
  mapa.shared::cluster.u32 %r43, %r47, %r46;
  mapa.shared::cluster.u32 %r44, %r10, %r46;
  add.u32 %r48, %r8, {source * self.half};
  {self.random.choice(COPIES)} [%r43], [%r48], {self.half}, [%r44];
sent{number}:
""" + self.wait(number)
        for _ in range(self.random.randrange(3)):
            operation = self.random.choice(("add", "xor", "max"))
            text += f"""\
  add.u32 %r46, %r6, {self.random.randrange(self.size)};
  rem.u32 %r46, %r46, %r7;
  and.b32 %r47, %r4, {self.random.choice((0, 3, 15))};
  shl.b32 %r47, %r47, 2;
  add.u32 %r47, %r47, %r9;
  mapa.shared::cluster.u32 %r48, %r47, %r46;
  red.shared::cluster.{operation}.{"b32" if operation == "xor" else "u32"} [%r48], %r50;
""" + MEET
        return text + MEET

    def expect(self, bytes_):
        """Each block expects what comes for it, before any block sends."""
        return f"""\
  @%p1 bra expected{self.phase};
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], {bytes_};
expected{self.phase}:
""" + MEET

    def wait(self, number):
        parity = self.phase % 2
        self.phase += 1
        return f"""\
wait{number}:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [%r10], {parity};
  @!%p5 bra wait{number};
"""

    def text(self):
        values = {"bytes": 2 * self.half, "half": self.half}
        return HEAD % values + MEET + "".join(self.round(n) for n in range(self.random.randrange(2, 7))) + TAIL % values


class RandomClusters(ScenarioTest):
    def test_leave_what_the_functional_machine_leaves(self):
        clusters.write_files(self)
        first = int(os.environ.get("LOCKSTEP_SEED", time.time_ns() % 1_000_000))
        for seed in itertools.islice(itertools.count(first), 12):
            with self.subTest(LOCKSTEP_SEED=seed):
                program = Program(seed)
                scheme = random.Random(seed).choice(("stall-on-fault", "warp-disable-commit", "replay-queue",
                                                     "operand-log"))
                self.write("k.ptx", program.text())
                count = program.size * 3 * program.threads * 4
                self.write("w.yaml", f"module: k.ptx\nbuffers:\n  out: {{type: u32, count: {count}, memory: device}}\n"
                           f"  in: {{type: u32, count: {count}, memory: managed, init: {{permutation: {{seed: 1}}}}}}\n"
                           "program:\n"
                           f"  - launch: {{kernel: mixed, grid: [{3 * program.size}], block: [{program.threads}], "
                           f"cluster: [{program.size}], arguments: [in, out]}}\n  - copy: {{buffer: out, to: host}}\n")
                self.write("s.yaml", f"gpu: gpu.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                           "override: {gpu.sm.count: 8, gpu.dispatch.gpcs: [3, 5]}\n"
                           f"policies: {{exception_scheme: {scheme}}}\ntenants: [{{name: t0, workload: w.yaml}}]\n")
                run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
                self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
                self.assertIn("check passed", run.stdout)


if __name__ == "__main__":
    unittest.main()
