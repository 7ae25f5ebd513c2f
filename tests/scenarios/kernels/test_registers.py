"""Blocks whose registers do not fit an SM: their kernel is made again with those that do."""
import unittest

import h5py

from harness import ScenarioTest

VALUES = 80


def kernel(bounds=""):
    """k(data): all of its values are live at the barrier."""
    loads = "".join(f"ld.global.u32 %v{i}, [%rd3+{4 * i}];\n" for i in range(VALUES))
    sums = "".join(f"mad.lo.u32 %r1, %r1, 5, %v{i};\n" for i in reversed(range(VALUES)))
    return (".version 7.8\n.target sm_70\n.address_size 64\n"
            f".visible .entry k(.param .u64 data)\n{bounds}{{\n"
            f".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b32 %v<{VALUES}>;\n"
            "ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
            f"{loads}bar.sync 0;\n{sums}bar.sync 0;\nst.global.u32 [%rd3], %r1;\nret;\n}}\n")


SUMS, TERMS = 128, 80


def many_sums():
    """k(data, n): sums with terms that are live together, stored to rows n apart, two to each address."""
    loads = [f"ld.global.u32 %v{i}, [%rd3+{4 * i}];" for i in range(SUMS)] + ["bar.sync 0;"]
    loads += [f"ld.global.u32 %q{i}, [%rd3+{4 * (SUMS + i)}];" for i in range(TERMS)] + ["bar.sync 0;"]
    sums = [f"add.u32 %v{i}, %v{i}, %q{i};" for i in range(TERMS)] + ["bar.sync 0;"]
    stores = [f"mul.wide.u32 %to{2 * i}, %r2, {i + 3};\nadd.s64 %to{2 * i + 1}, %rd3, %to{2 * i};\n"
              f"st.global.u32 [%to{2 * i + 1}], %v{2 * i};\nst.global.u32 [%to{2 * i + 1}+4096], %v{2 * i + 1};"
              for i in range(SUMS // 2)]
    return (".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u32 n)\n{\n"
            f".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b64 %to<{SUMS}>; .reg .b32 %v<{SUMS}>; .reg .b32 %q<{TERMS}>;\n"
            "ld.param.u64 %rd1, [data]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
            "add.s64 %rd3, %rd1, %rd2;\n" + "\n".join(loads + sums + stores) + "\nret;\n}\n")


WORKLOAD = """\
module: k.ptx
parameters: {block: 1024}
buffers:
  data: {type: u32, count: 2048, memory: device, init: {uniform: {low: 0, high: 1000, seed: 1}}}
program:
  - copy: {buffer: data, to: device}
  - launch: {kernel: k, grid: [2], block: [block], arguments: [data]}
  - copy: {buffer: data, to: host}
"""
NOTE = (r"kernel k wants \d+ registers a thread: with blocks of 1024 threads it gets (\d+), and (\d+) bytes of local "
        r"memory")


class Registers(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", kernel())
        # One block at a time, so that blocks do not race.
        self.write("w.yaml", WORKLOAD.replace("grid: [2]", "grid: [1]"))

    def run_one(self, *more, output="out.h5", parameters="{}", **how):
        done = self.lockstep("run", self.scenario("w.yaml", parameters), "--check", "--output", output, *more, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def accesses(self, output="out.h5"):
        with h5py.File(self.folder / output) as file:
            return int(file["final/stats/sm/memory_instructions"][()].sum())

    def test_a_block_of_1024_threads_runs_with_64_registers(self):
        self.assertRegex(self.run_one(), NOTE)

    def test_what_does_not_fit_is_stored_and_loaded(self):
        self.run_one(parameters="{block: 512}", output="half.h5")
        self.run_one()
        self.assertGreater(self.accesses(), 2 * self.accesses("half.h5"))

    def test_smaller_blocks_keep_all_registers(self):
        self.assertNotIn("registers", self.run_one(parameters="{block: 512}"))

    def test_it_is_as_if_the_source_had_named_the_threads(self):
        self.run_one(output="one.h5")
        self.write("k.ptx", kernel(".maxntid 1024, 1, 1\n"))
        self.assertNotIn("registers", self.run_one(output="other.h5"))
        self.assertEqual(self.accesses("one.h5"), self.accesses("other.h5"))

    def test_every_layout_gives_the_same_bits(self):
        self.run_one(output="one.h5")
        for more, ranks in ((("--threads", "2"), 0), ((), 2), ((), 3)):
            with self.subTest(more=more, ranks=ranks):
                self.run_one(*more, output="other.h5", ranks=ranks)
                self.assertEqual(self.lockstep("diff", "one.h5", "other.h5").returncode, 0)

    def test_validation_says_it_too(self):
        self.assertRegex(self.lockstep("validate", self.scenario("w.yaml")).stderr, NOTE)

    def test_a_launch_that_states_more_is_refused_in_one_line(self):
        self.write("w.yaml", WORKLOAD.replace("block: [block]", "block: [block], registers: 72"))
        for verb in ("run", "validate"):
            done = self.lockstep(verb, self.scenario("w.yaml"))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr,
                             r"w.yaml:7:\d+: kernel k: a block needs 73728 registers, an SM has 65536 \(1024 threads "
                             r"with 72 registers each, as the launch states\) - launch at most 896 threads a block")
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_kernel_whose_rows_do_not_fit_is_tried_in_the_order_that_needs_fewer(self):
        """It has enough registers, but pairs and single ones take rows of their own: addresses must not go ahead."""
        self.write("k.ptx", many_sums())
        self.write("k.yaml", WORKLOAD.replace("[data]}", "[data, 32]}").replace("2048", "32768")
                   .replace("grid: [2]", "grid: [1]"))
        run = self.lockstep("run", self.scenario("k.yaml", "{block: 32}"), "--check", "--output", "out.h5",
                            "--set", "gpu.sm.unroll_loops=true")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            accesses = int(file["final/stats/sm/memory_instructions"][()].sum())
        self.assertEqual(accesses, SUMS + TERMS + SUMS, "nothing is stored to local memory")


if __name__ == "__main__":
    unittest.main()
