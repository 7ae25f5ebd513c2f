"""A workload of several modules, and kernels of a module that nobody launches."""
import unittest

from one_kernel import PTX, OneKernel

HEADER = ".version 7.8\n.target sm_70\n.address_size 64\n"

# k stores what scale of another module makes of the thread's number and a variable there.
CALLING = HEADER + """\
.extern .func (.param .b32 y) scale(.param .b32 x);
.extern .global .u32 offset;
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  { .param .b32 x; .param .b32 y;
  st.param.b32 [x], %r2;
  call.uni (y), scale, (x);
  ld.param.b32 %r3, [y]; }
  ld.global.u32 %r4, [offset];
  add.u32 %r3, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
"""
CALLED = HEADER + """\
.visible .global .u32 offset = 5;
.visible .func (.param .b32 y) scale(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  mul.lo.u32 %r2, %r1, 3;
  st.param.b32 [y], %r2;
  ret;
}
"""
OTHER_KERNEL = ".visible .entry other()\n{\n  .reg .b32 %r<2>;\n  LINE\n  ret;\n}\n"


class LinkedModules(OneKernel):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", CALLING)
        self.write("scale.ptx", CALLED)
        self.workload("module: k.ptx", "module: [k.ptx, scale.ptx]")

    def run_lockstep(self, *arguments, **more):
        return self.lockstep("run", "s.yaml", "--quiet", *arguments, **more)

    def assert_refused(self, *parts):
        run = self.run_lockstep()
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)

    def test_call_each_other_on_any_layout(self):
        for more in ({}, {"ranks": 2}):
            run = self.run_lockstep("--check", **more)
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_lack_what_no_module_defines(self):
        self.workload("module: k.ptx", "module: [k.ptx]")
        self.assert_refused("k.ptx:5:", "external variable offset has no definition")

    def test_lack_a_file(self):
        (self.folder / "scale.ptx").unlink()
        self.assert_refused("w.yaml:1:", "scale.ptx")

    def test_define_a_function_twice(self):
        self.write("again.ptx", CALLED.replace("offset", "shift"))
        self.workload("module: k.ptx", "module: [k.ptx, scale.ptx, again.ptx]")
        self.assert_refused("again.ptx:5:", "scale is defined twice, first at", "scale.ptx:5:")


class KernelsThatNobodyLaunches(OneKernel):
    def test_may_do_what_is_not_supported(self):
        self.write("k.ptx", PTX.replace("SHIFT", "0") + OTHER_KERNEL.replace("LINE", "nonsense.u32 %r1, %r1;"))
        run = self.lockstep("run", "s.yaml", "--quiet", "--check")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_must_follow_the_grammar(self):
        self.write("k.ptx", PTX.replace("SHIFT", "0") + OTHER_KERNEL.replace("LINE", "add.u32 %r1 %r1, 1;"))
        run = self.lockstep("run", "s.yaml", "--quiet")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("k.ptx:20:", run.stderr)


if __name__ == "__main__":
    unittest.main()
