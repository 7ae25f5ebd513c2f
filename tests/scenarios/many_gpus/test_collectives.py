"""Collectives: steps that stand for copies and sums among the GPUs of a tenant."""
import unittest

import numpy

from harness import ROOT
from machines import WORKLOADS, ManyGpusTest

FABRIC = f"fabric: {ROOT}/configs/fabrics/nvswitch2.yaml"
COUNT = 600


def program(collective, gpus, count=COUNT, kind="f32", arrived=True):
    """Buffers a0, a1, ... with contents of their own, one collective, and what it leaves."""
    names = [f"a{k}" for k in range(gpus)]
    buffers = "".join(f"  a{k}: {{type: {kind}, count: {count}, memory: device, gpu: {k}, "
                      f"init: {{linear: {{start: {1000 * k}, step: 1}}}}}}\n" for k in range(gpus))
    if arrived:
        buffers += "".join(f"  t{k}: {{type: {kind}, count: {count // gpus}, memory: device, gpu: {k}}}\n"
                           for k in range(gpus))
    upload = "".join(f"  - copy: {{buffer: {name}, to: device}}\n" for name in names)
    home = "".join(f"  - copy: {{buffer: {name}, to: host}}\n  - save: {name}\n" for name in names)
    return (f"module: {WORKLOADS}/ring_all_reduce.ptx\nbuffers:\n{buffers}program:\n{upload}"
            f"  - collective: {{{collective}}}\n{home}")


class Collectives(ManyGpusTest):
    def run_collective(self, operation, gpus, more=""):
        lists = f"buffers: [{', '.join(f'a{k}' for k in range(gpus))}]"
        self.write("w.yaml", program(f"operation: {operation}, {lists}{more}", gpus))
        tenant = f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
        with self.run_it(self.machine([tenant], f"gpus: {gpus}", FABRIC), "o.h5", "--check", "--overwrite") as file:
            self.kernels = len(file["kernels"])
            return [file[f"buffers/t0/a{k}"][:] for k in range(gpus)]

    @staticmethod
    def sums(gpus):
        return f", arrived: [{', '.join(f't{k}' for k in range(gpus))}], kernel: add_part"

    def test_all_reduce_leaves_the_sum_on_all_gpus(self):
        for gpus in (2, 3, 4):
            with self.subTest(gpus=gpus):
                expected = sum(numpy.arange(COUNT) + 1000 * k for k in range(gpus))
                for left in self.run_collective("all_reduce", gpus, self.sums(gpus)):
                    numpy.testing.assert_array_equal(left, expected)
                self.assertEqual(self.kernels, gpus * (gpus - 1))

    def test_reduce_scatter_leaves_each_gpu_the_sum_of_its_part(self):
        part = COUNT // 4
        expected = sum(numpy.arange(COUNT) + 1000 * k for k in range(4))
        for k, left in enumerate(self.run_collective("reduce_scatter", 4, self.sums(4))):
            numpy.testing.assert_array_equal(left[k * part:(k + 1) * part], expected[k * part:(k + 1) * part])

    def test_all_gather_copies_each_gpus_part_to_all(self):
        part = COUNT // 4
        expected = numpy.concatenate([numpy.arange(k * part, (k + 1) * part) + 1000 * k for k in range(4)])
        for left in self.run_collective("all_gather", 4):
            numpy.testing.assert_array_equal(left, expected)
        self.assertEqual(self.kernels, 0)

    def test_broadcast_copies_the_first_buffer(self):
        for left in self.run_collective("broadcast", 3):
            numpy.testing.assert_array_equal(left, numpy.arange(COUNT))

    def test_part_of_the_buffers(self):
        left = self.run_collective("all_reduce", 3, self.sums(3) + ", count: 300, stream: 5, block: 32, grid: 2")
        expected = sum(numpy.arange(COUNT) + 1000 * k for k in range(3))
        for k in range(3):
            numpy.testing.assert_array_equal(left[k][:300], expected[:300])
            numpy.testing.assert_array_equal(left[k][300:], numpy.arange(300, COUNT) + 1000 * k)


class Mistakes(ManyGpusTest):
    def assert_refused(self, text, collective, **how):
        self.write("w.yaml", program(collective, 2, **how))
        run = self.lockstep("validate", self.machine(["workload: w.yaml, gpus: [0, 1]"], more=FABRIC))
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, r"w\.yaml:\d+:\d+: ")
        self.assertIn(text, run.stderr)

    def test_mistakes(self):
        sums = "operation: all_reduce, buffers: [a0, a1], arrived: [t0, t1], kernel: add_part"
        for text, collective in (
                ("no collective is called", "operation: reduce, buffers: [a0, a1]"),
                ("a collective has two GPUs or more", "operation: broadcast, buffers: [a0]"),
                ("lie on the same GPU", "operation: broadcast, buffers: [a0, t0]"),
                ("differ in type or length", "operation: broadcast, buffers: [a0, t1]"),
                ('no buffer "b"', "operation: broadcast, buffers: [a0, b]"),
                ("do not divide into 2 parts", f"{sums}, count: 3"),
                ("kernel", "operation: all_reduce, buffers: [a0, a1], arrived: [t0, t1]"),
                ("arrived", "operation: all_reduce, buffers: [a0, a1], kernel: add_part"),
                ("does not hold a part", sums.replace("[t0, t1]", "[t1, t0]")),
                ("is for sums", "operation: broadcast, buffers: [a0, a1], kernel: add_part"),
                ("a stream is a number", f"{sums}, stream: 70000"),
                ("by", f"{sums}, by: copies")):
            with self.subTest(collective):
                self.assert_refused(text, collective)
        run = self.lockstep("validate", self.machine(["workload: w.yaml, gpus: [0, 1]"]))
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
