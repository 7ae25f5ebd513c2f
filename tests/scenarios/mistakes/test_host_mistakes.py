"""Steps of a host program that go wrong while kernels run end their tenant; the others go on."""
import unittest

from beside_others import WORKLOADS, BesideOthers

# The second launch cannot be made while the grid of the first is under way.
WORKLOAD = f"""\
module: {WORKLOADS}/vector_add.ptx
parameters: {{n: 65536, bad: 0}}
buffers:
  a: {{type: f32, count: n, memory: device}}
  b: {{type: f32, count: n, memory: device}}
  c: {{type: f32, count: n, memory: device}}
program:
  - launch: {{kernel: vector_add, grid: [256], block: [256], arguments: [a, b, c, n]}}
  - launch: {{kernel: vector_add, grid: [1], block: [256], arguments: [a, b, c, n / bad]}}
"""


class HostMistakes(BesideOthers):
    def setUp(self):
        super().setUp()
        self.beside_others(WORKLOAD)

    def test_a_launch_with_an_impossible_argument(self):
        run, line = self.run_with()
        self.assertRegex(line, r'w\.yaml:9:\d+: "n / bad" is not a finite number')
        self.assertEqual(run.stdout.count("check passed"), 2, run.stdout)

    def test_more_time_than_there_is(self):
        self.beside_others(WORKLOAD.partition("  - launch")[0] +
                           "  - repeat: {times: 4, program: [{delay: 2500s}]}\n", others=0)
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5",
                            "--set", "simulation.epoch=100s")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^lockstep: w\.yaml:8:\d+: the run would be longer than 9000")

    def test_a_value_that_a_buffer_cannot_hold(self):
        self.beside_others(WORKLOAD.partition("  - launch")[0].replace("device", "managed") +
                           "  - fill: {buffer: a, value: 1e300}\n")
        self.assert_ended(["w.yaml:8:", "buffer a of f32 cannot hold 1e+300"])

    def test_layouts_agree(self):
        self.assert_layouts_agree()


if __name__ == "__main__":
    unittest.main()
