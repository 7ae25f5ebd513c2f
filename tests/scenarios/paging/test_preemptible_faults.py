"""Faults that squash instructions and take blocks away leave what a machine without faults leaves."""
import unittest

import h5py

from harness import ScenarioTest

# Each block has 64 KiB of its own, in eight rows. A thread adds up a column and writes each sum: what a faulting access
# reads, its address and its data, is overwritten behind it, and what commits meanwhile must not be done twice.
PTX = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry walk(.param .u64 out, .param .u64 in, .param .u64 total) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .pred %p;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [total];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, 16384, %r3;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd1, %rd1, %rd4;
  add.u64 %rd2, %rd2, %rd4;
  mov.u32 %r4, 0;
  mov.u32 %r6, 0;
row:
  ld.global.u32 %r5, [%rd2];
  add.u64 %rd2, %rd2, 8192;
  add.u32 %r4, %r4, %r5;
  st.global.u32 [%rd1], %r4;
  add.u64 %rd1, %rd1, 8192;
  add.u32 %r4, %r4, %r6;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p, %r6, 8;
  @%p bra row;
  red.global.add.u32 [%rd3], %r4;
  ret;
}
"""
WORKLOAD = """\
module: k.ptx
buffers:
  in: {type: u32, count: 524288, memory: managed, init: {linear: {start: 3, step: 1}}}
  out: {type: u32, count: 524288, memory: managed}
  total: {type: u32, count: 1, memory: managed}
program:
  - launch: {kernel: walk, grid: [32], block: [64], arguments: [out, in, total]}
  - synchronize
  - read: out
  - read: total
"""
SCHEMES = ("stall-on-fault", "warp-disable-commit", "warp-disable-last-check", "replay-queue", "operand-log")


class PreemptibleFaults(ScenarioTest):
    def go(self, scheme, switching="none", handling="host"):
        self.write("k.ptx", PTX)
        self.write("w.yaml", WORKLOAD)
        scenario = self.scenario(
            "w.yaml", more=f"policies: {{exception_scheme: {scheme}, block_switching: {switching}, "
            f"fault_handling: {handling}, prefetcher: none, page_manager: base-pages}}\noverride: {{gpu.sm.blocks: 2}}")
        done = self.lockstep("run", scenario, "--quiet", "--check", "--output", "out.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "out.h5", "r") as file:
            return {name: int(file[f"final/stats/sm/{name}"][()].sum())
                    for name in ("squashed_instructions", "reissued_instructions", "blocks_saved")}

    def test_what_does_not_go_together_is_refused_in_one_line(self):
        self.write("k.ptx", PTX)
        self.write("w.yaml", WORKLOAD)
        for policies, words in (
                ("exception_scheme: replay-queue, fault_handling: {name: host, replay: block-tlb}",
                 r"s.*\.yaml:\d+:\d+: policies.fault_handling host with replay: block-tlb keeps accesses in a blocked"),
                ("exception_scheme: stall-on-fault, fault_handling: local, page_manager: base-pages",
                 r"s.*\.yaml:\d+:\d+: policies.fault_handling local runs a handler in the place of the warp"),
                ("exception_scheme: replay-queue, fault_handling: {name: local, pool: 4096}, page_manager: base-pages",
                 r"s.*\.yaml:\d+:\d+: policies.fault_handling local keeps 262144 KiB of zeroed frames ready"),
                ("exception_scheme: {name: operand-log, bytes: 256B}",
                 r"w\.yaml:\d+:\d+: kernel walk: a block needs 2 entries of the operand log")):
            with self.subTest(policies=policies):
                done = self.lockstep("validate", self.scenario("w.yaml", more=f"policies: {{{policies}}}"))
                self.assertEqual(done.returncode, 1)
                lines = [line for line in done.stderr.splitlines() if line.startswith("lockstep: ")]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertRegex(lines[0], words)

    def test_with_every_scheme_what_is_overwritten_behind_a_fault_was_read_before(self):
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                counts = self.go(scheme)
                self.assertEqual(counts["squashed_instructions"] > 0, scheme != "stall-on-fault")
                self.assertGreaterEqual(counts["reissued_instructions"], counts["squashed_instructions"])

    def test_with_every_scheme_blocks_that_left_go_on_with_their_registers(self):
        for scheme in SCHEMES[1:]:
            with self.subTest(scheme=scheme):
                counts = self.go(scheme, "{name: on-fault, threshold: 0}", "local")
                self.assertGreater(counts["blocks_saved"], 0)


if __name__ == "__main__":
    unittest.main()
