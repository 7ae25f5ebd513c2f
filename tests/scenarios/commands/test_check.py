"""What --check says."""
import unittest

from one_kernel import OneKernel


class Check(OneKernel):
    def test_check_counts_what_it_compared(self):
        for old, new, said in (
                ("", "", "check passed: one, 1 buffer\n"),
                ("memory: device}", "memory: device, check: false}",
                 "check of one: no buffer was compared, all have `check: false`\n"),
                ("program:\n", "  scratch: {type: u32, count: 4, memory: device, check: false}\nprogram:\n",
                 "check passed: one, 1 buffer (1 not compared: `check: false`)\n")):
            with self.subTest(new=new):
                self.workload(old, new)
                run = self.lockstep("run", "s.yaml", "--quiet", "--check")
                self.assertEqual((run.returncode, run.stdout, run.stderr), (0, said, ""))

    def test_check_warns_of_a_device_buffer_to_which_nothing_was_written(self):
        self.kernel("st.global.u32 [%rd3+0], %r2;", "ld.global.u32 %r4, [%rd3+0];\n  st.global.u32 [%rd3+0], %r4;")
        run = self.lockstep("run", "s.yaml", "--quiet", "--check")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout.splitlines(), [
            "check of one: k.ptx:14: kernel k reads device buffer out before anything was written to it "
            "- add copy: {buffer: out, to: device} before the launch", "check passed: one, 1 buffer"])

    def test_without_check_the_warning_comes_before_the_run_where_it_is_sure(self):
        warning = ("lockstep: warning: tenant one: k.ptx:14: kernel k reads device buffer out before anything was "
                   "written to it - add copy: {buffer: out, to: device} before the launch\n")
        self.kernel("st.global.u32 [%rd3+0], %r2;", "ld.global.u32 %r4, [%rd3+0];\n  st.global.u32 [%rd3+0], %r4;")
        for arguments in (["validate", "s.yaml"], ["run", "s.yaml"]):
            run = self.lockstep(*arguments)
            self.assertEqual((run.returncode, run.stderr), (0, warning))
        self.assertNotIn("warning", self.lockstep("run", "s.yaml", "--check").stderr)
        self.workload("program:\n", "program:\n  - copy: {buffer: out, to: device}\n")
        self.assertEqual(self.lockstep("run", "s.yaml").stderr, "")

    def test_check_that_fails(self):
        self.kernel("st.global.u32 [%rd3+0], %r2;", "mov.u32 %r4, %clock;\n  st.global.u32 [%rd3+0], %r4;")
        run = self.lockstep("run", "s.yaml", "--quiet", "--check")
        self.assertEqual((run.returncode, run.stdout), (3, ""), run.stderr)
        self.assertRegex(run.stderr, r"^check failed: tenant one, buffer out .*, element 0: expected .*, got .*\n$")


if __name__ == "__main__":
    unittest.main()
