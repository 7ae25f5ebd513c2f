"""How much memory of this computer `--check` takes: three bytes for each byte of a buffer that is touched, at most."""
import os
import subprocess
import unittest

from harness import LOCKSTEP, ScenarioTest, environment

MIB = 1 << 20

# Some threads touch a word each, `step` words apart.
TOUCH = """.version 7.0
.target sm_70
.address_size 64
.visible .entry touch(.param .u64 a, .param .u64 n, .param .u64 step) {
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [n];
  ld.param.u64 %rd3, [step];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd4, %r4;
  mul.lo.u64 %rd4, %rd4, %rd3;
  setp.ge.u64 %p1, %rd4, %rd2;
  @%p1 bra end;
  shl.b64 %rd5, %rd4, 2;
  add.u64 %rd6, %rd1, %rd5;
  ld.global.u32 %r5, [%rd6];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%rd6], %r5;
end:
  ret;
}
"""
LAUNCH = "  - launch: {kernel: touch, grid: [2], block: [64], arguments: [a, n, step]}\n"


class CheckMemory(ScenarioTest):
    def scenario_of(self, size, memory, steps, more=""):
        self.write("touch.ptx", TOUCH)
        self.write("w.yaml", f"module: touch.ptx\nparameters: {{n: {size // 4}, step: {size // 4 // 100}}}\n"
                             f"buffers: {{a: {{type: u32, count: n, memory: {memory}{more}}}}}\nprogram:\n{steps}")
        self.scenario("w.yaml")

    def peak(self, *options):
        """Bytes of memory that a run holds at most."""
        command = [LOCKSTEP, "run", "scenario.yaml", "--quiet", "--overwrite", "--threads", "1", "--output", "o.h5",
                   "--set", "gpu.memory.capacity=1GiB", *options]
        with subprocess.Popen(command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as run:
            said = run.stderr.read()
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual((run.returncode, said), (0, ""))
        return used.ru_maxrss * 1024

    def taken_by_check(self):
        return self.peak("--check") - self.peak()

    def test_a_dense_buffer_takes_three_times_its_bytes_at_most(self):
        size = 48 * MIB
        begin = ", init: {linear: {start: 1, step: 3}}"
        there, back = "  - copy: {buffer: a, to: device}\n", "  - copy: {buffer: a, to: host}\n"
        for name, memory, steps in (("there", "device", there + LAUNCH), ("and back", "device", there + LAUNCH + back),
                                    ("managed", "managed", LAUNCH + "  - read: a\n"), ("pinned", "pinned", LAUNCH)):
            with self.subTest(name):
                self.scenario_of(size, memory, steps, begin)
                self.assertLess(self.taken_by_check(), 3 * size + 4 * MIB)

    def test_of_a_sparse_buffer_counts_what_is_touched(self):
        for size, memory in ((512 * MIB, "device"), (16 << 30, "managed")):
            with self.subTest(memory):
                self.scenario_of(size, memory, LAUNCH + "  - synchronize\n")
                self.assertLess(self.taken_by_check(), 48 * MIB)

    def test_what_this_computer_has_not_is_said_before_the_run(self):
        """With another /proc/meminfo in the place of this computer's; mounting needs the right to."""
        self.scenario_of(48 * MIB, "device", LAUNCH)
        self.write("meminfo", "MemAvailable:      131072 kB\n")
        place = ("unshare", "--mount", "sh", "-c", 'mount --bind meminfo /proc/meminfo && exec "$@"', "sh")
        if subprocess.run([*place, "true"], cwd=self.folder, check=False).returncode != 0:
            self.skipTest("no namespaces")
        run = self.lockstep("run", "scenario.yaml", "--check", "--output", "o.h5", before=place)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("note: if all 48 MiB of buffers are touched, the run takes 192 MiB with --check and 96 MiB "
                      "without, and 128 MiB are left - `check: false`", run.stderr)
        self.assertNotIn("are touched", self.lockstep("run", "scenario.yaml", "--output", "o.h5", before=place).stderr)


if __name__ == "__main__":
    unittest.main()
