"""Kernels of C++ are called in messages what they are called there, whoever tells of them."""
import unittest

from harness import ScenarioTest

NAME, TITLE = "_Z3addILi4EEvPjj", "add<4>(unsigned int*, unsigned int)"
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry %s(.param .u64 a, .param .u32 n) {
  .reg .pred %%p<2>;
  .reg .b64 %%rd<4>;
  .reg .b32 %%r<6>;
  ld.param.u64 %%rd1, [a];
  ld.param.u32 %%r1, [n];
  mul.wide.u32 %%rd2, %%r1, 4;
  add.u64 %%rd3, %%rd1, %%rd2;
again:
  ld.volatile.global.u32 %%r2, [%%rd3];
  setp.eq.u32 %%p1, %%r2, 0;
  @%%p1 bra again;
  ret;
}
""" % NAME


class KernelNames(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)

    def say(self, *command, n=0, module="k.ptx", copy=""):
        self.write("w.yaml", f"module: {module}\nbuffers: {{a: {{type: u32, count: 1024, memory: device}}}}\nprogram:\n"
                             f"{copy}  - launch: {{kernel: {NAME}, grid: [1], block: [32], arguments: [a, {n}]}}\n")
        self.scenario("w.yaml", more="simulation: {epoch: 50us, progress_limit: 2ms}")
        return self.lockstep(*command).stderr

    def test_a_forgotten_copy(self):
        self.assertIn(f": kernel {TITLE} reads device buffer a", self.say("validate", "scenario.yaml"))

    def test_who_waits_for_ever(self):
        said = self.say("run", "scenario.yaml", "--quiet", copy="  - copy: {buffer: a, to: device}\n")
        self.assertIn(f"tenant one, kernel {TITLE} (k.ptx), block (0, 0, 0)", said)

    def test_an_access_that_only_the_interpreter_refuses(self):
        """Behind the buffer, in its page."""
        fill = "  - fill: {buffer: a, value: 1}\n  - copy: {buffer: a, to: device}\n"
        self.write("k.ptx", PTX.replace("@%p1 bra again;", "").replace("volatile.", ""))
        said = self.say("run", "scenario.yaml", "--quiet", "--check", "--no-bounds", n=1030, copy=fill)
        self.assertIn(f"kernel {TITLE}, block (0, 0, 0)", said)

    def test_one_that_two_modules_have(self):
        self.write("other.ptx", PTX)
        said = self.say("validate", "scenario.yaml", module="[k.ptx, other.ptx]")
        self.assertIn(f": {TITLE} is defined twice", said)


if __name__ == "__main__":
    unittest.main()
