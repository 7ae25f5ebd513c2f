"""Collectives: steps that stand for copies and sums among the GPUs of a tenant."""
import unittest

import numpy

from harness import ROOT
from machines import WORKLOADS, ManyGpusTest

FABRIC = f"fabric: {ROOT}/configs/fabrics/nvswitch2.yaml"
COUNT = 600


def names(what, gpus):
    return [f"{what}{k}" for k in range(gpus)]


def listed(what, gpus):
    return f"[{', '.join(names(what, gpus))}]"


def program(collective, gpus, count=COUNT, module="ring_all_reduce", again=0):
    """Buffers a0, a1, ... with contents of their own, one collective (or more), and what it leaves. t0, t1, ... have
    room for a part, u0, u1, ... for a buffer, v0, v1, ... for two, f0, f1, ... for the flags of six blocks."""
    buffers = "".join(f"  a{k}: {{type: f32, count: {count}, memory: device, gpu: {k}, "
                      f"init: {{linear: {{start: {1000 * k}, step: 1}}}}}}\n"
                      f"  t{k}: {{type: f32, count: {count // gpus}, memory: device, gpu: {k}}}\n"
                      f"  u{k}: {{type: f32, count: {count}, memory: device, gpu: {k}}}\n"
                      f"  v{k}: {{type: f32, count: {2 * count}, memory: device, gpu: {k}}}\n"
                      f"  f{k}: {{type: u32, count: 24, memory: device, gpu: {k}}}\n" for k in range(gpus))
    upload = "".join(f"  - copy: {{buffer: {name}, to: device}}\n" for name in names("a", gpus) + names("f", gpus))
    home = "".join(f"  - copy: {{buffer: {name}, to: host}}\n  - save: {name}\n" for name in names("a", gpus))
    return (f"module: {WORKLOADS}/{module}.ptx\nbuffers:\n{buffers}program:\n{upload}"
            + f"  - collective: {{{collective}}}\n" * (1 + again) + home)


class CollectivesTest(ManyGpusTest):
    def tenant(self, gpus):
        return f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"

    def run_collective(self, operation, gpus, more="", **how):
        self.write("w.yaml", program(f"operation: {operation}, buffers: {listed('a', gpus)}{more}", gpus, **how))
        scenario = self.machine([self.tenant(gpus)], f"gpus: {gpus}", FABRIC)
        with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
            self.kernels = file["kernels"][:]
            return [file[f"buffers/t0/{name}"][:] for name in names("a", gpus)]

    def assert_sums(self, left, gpus, count=COUNT, factor=1):
        expected = factor * sum(numpy.arange(count) + 1000 * k for k in range(gpus))
        for on_gpu in left:
            numpy.testing.assert_array_equal(on_gpu, expected)

    def assert_parts_of_sums(self, left, gpus):
        part = COUNT // gpus
        expected = sum(numpy.arange(COUNT) + 1000 * k for k in range(gpus))
        for k, on_gpu in enumerate(left):
            numpy.testing.assert_array_equal(on_gpu[k * part:(k + 1) * part], expected[k * part:(k + 1) * part])

    def assert_gathered(self, left, gpus):
        part = COUNT // gpus
        expected = numpy.concatenate([numpy.arange(k * part, (k + 1) * part) + 1000 * k for k in range(gpus)])
        for on_gpu in left:
            numpy.testing.assert_array_equal(on_gpu, expected)


def sums(gpus, arrived="t"):
    return f", arrived: {listed(arrived, gpus)}, kernel: add_part"


class Collectives(CollectivesTest):
    def test_all_reduce_leaves_the_sum_on_all_gpus(self):
        for algorithm, arrived, kernels in (("ring", "t", lambda n: n * (n - 1)), ("tree", "u", lambda n: n - 1),
                                            ("direct", "u", lambda n: n * (n - 1))):
            for gpus in (2, 3, 4, 5):
                with self.subTest(algorithm, gpus=gpus):
                    left = self.run_collective("all_reduce", gpus,
                                               f"{sums(gpus, arrived)}, algorithm: {algorithm}")
                    self.assert_sums(left, gpus)
                    self.assertEqual(len(self.kernels), kernels(gpus))

    def test_reduce_scatter_leaves_each_gpu_the_sum_of_its_part(self):
        self.assert_parts_of_sums(self.run_collective("reduce_scatter", 4, sums(4)), 4)
        self.assert_parts_of_sums(
            self.run_collective("reduce_scatter", 3, f"{sums(3, 'u')}, algorithm: direct"), 3)

    def test_all_gather_copies_each_gpus_part_to_all(self):
        for more in ("", ", algorithm: direct"):
            self.assert_gathered(self.run_collective("all_gather", 4, more), 4)
            self.assertEqual(len(self.kernels), 0)

    def test_broadcast_copies_the_first_buffer(self):
        for more in ("", ", algorithm: ring", ", algorithm: tree", ", algorithm: direct, stream: 65534"):
            with self.subTest(more):
                for left in self.run_collective("broadcast", 3, more):
                    numpy.testing.assert_array_equal(left, numpy.arange(COUNT))

    def test_part_of_the_buffers(self):
        left = self.run_collective("all_reduce", 3, sums(3) + ", count: 300, stream: 5, block: 32, grid: 2")
        expected = sum(numpy.arange(COUNT) + 1000 * k for k in range(3))
        for k in range(3):
            numpy.testing.assert_array_equal(left[k][:300], expected[:300])
            numpy.testing.assert_array_equal(left[k][300:], numpy.arange(300, COUNT) + 1000 * k)

    def test_a_tree_takes_any_number_of_elements(self):
        left = self.run_collective("all_reduce", 3, f"{sums(3, 'u')}, algorithm: tree, count: 7")
        numpy.testing.assert_array_equal(left[2][:7], 3 * numpy.arange(7) + 3000)


def by_kernel(gpus, more=", grid: 6, block: 64", kernel="ring_kernel"):
    return f", by: kernel, kernel: {kernel}, flags: {listed('f', gpus)}{more}"


class ByKernel(CollectivesTest):
    def run_it_all(self, operation, gpus, more="", **how):
        return self.run_collective(operation, gpus, f"{by_kernel(gpus)}{more}", module="ring_kernel", **how)

    def test_one_kernel_on_each_gpu_goes_round(self):
        for gpus in (2, 3, 4):
            for count in (600, 12 * 7):  # parts of whole vectors of four, and others
                with self.subTest(gpus=gpus, count=count):
                    left = self.run_it_all("all_reduce", gpus, f", arrived: {listed('u', gpus)}", count=count)
                    self.assert_sums(left, gpus, count)
                    self.assertEqual(len(self.kernels), gpus)
                    self.assertEqual(len(set(self.kernels["enqueued"])), 1)

    def test_the_other_operations(self):
        self.assert_parts_of_sums(self.run_it_all("reduce_scatter", 3, f", arrived: {listed('u', 3)}"), 3)
        self.assert_gathered(self.run_it_all("all_gather", 4), 4)

    def test_flags_count_on_from_one_collective_to_the_next(self):
        left = self.run_it_all("all_reduce", 3, f", arrived: {listed('u', 3)}", again=2)
        self.assert_sums(left, 3, factor=9)

    def test_it_starts_when_the_library_has(self):
        more = f"{by_kernel(2)}, arrived: {listed('u', 2)}"
        self.write("w.yaml", program(f"operation: all_reduce, buffers: {listed('a', 2)}{more}", 2,
                                     module="ring_kernel"))
        begun = []
        for start in ("0us", "20us"):
            scenario = self.machine([self.tenant(2)], "gpus: 2", FABRIC, host=f"collective_start: {start}")
            with self.run_it(scenario, "o.h5", "--overwrite") as file:
                begun.append(int(file["kernels"]["enqueued"][0]))
        self.assertEqual(begun[1] - begun[0], 20 * 10**9)


class TreesByKernel(CollectivesTest):
    def along_trees(self, operation, gpus, more="", shape=", grid: 6, block: 64", **how):
        if operation == "all_reduce":
            more = f", arrived: {listed('v', gpus)}{more}"
        return self.run_collective(operation, gpus, f"{by_kernel(gpus, shape, 'tree_kernel')}, algorithm: tree{more}",
                                   module="tree_kernel", **how)

    def assert_broadcast(self, left, count=COUNT):
        for on_gpu in left:
            numpy.testing.assert_array_equal(on_gpu, numpy.arange(count))

    def test_sums_come_to_all_gpus_by_one_kernel_on_each(self):
        for gpus in (2, 3, 4, 5, 8):
            for count in (600, 601):  # whole vectors of four, and not
                with self.subTest(gpus=gpus, count=count):
                    self.assert_sums(self.along_trees("all_reduce", gpus, count=count), gpus, count)
                    self.assertEqual(len(self.kernels), gpus)
                    self.assertEqual(len(set(self.kernels["enqueued"])), 1)

    def test_broadcast_of_the_first_buffer(self):
        for gpus in (2, 3, 5):
            with self.subTest(gpus=gpus):
                self.assert_broadcast(self.along_trees("broadcast", gpus))
                self.assertEqual(len(self.kernels), gpus)

    def test_many_chunks_are_on_their_way_up_and_down_at_once(self):
        """A chunk has 8192 elements."""
        for shape in (", grid: 2, block: 128", ", grid: 1, block: 96", ", grid: 1, block: 50"):
            with self.subTest(shape):
                left = self.along_trees("all_reduce", 4, shape=shape, count=40000)
                self.assert_sums(left, 4, 40000)
        self.assert_broadcast(self.along_trees("broadcast", 4, shape=", grid: 1, block: 128", count=40000), 40000)

    def test_more_blocks_than_vectors(self):
        left = self.along_trees("all_reduce", 3, ", count: 5")
        numpy.testing.assert_array_equal(left[2][:6], [3000, 3003, 3006, 3009, 3012, 2005])

    def test_flags_count_on_from_one_collective_to_the_next(self):
        self.assert_sums(self.along_trees("all_reduce", 3, again=2), 3, factor=9)

    def test_broadcasts_and_sums_share_their_flags(self):
        more = f", buffers: {listed('a', 4)}{by_kernel(4, kernel='tree_kernel')}, algorithm: tree"
        text = program(f"operation: all_reduce, arrived: {listed('v', 4)}{more}", 4, module="tree_kernel")
        before, step, rest = text.partition("  - collective: ")
        sums, _, home = rest.partition("\n")
        broadcast = f"  - collective: {{operation: broadcast{more}}}\n"
        self.write("w.yaml", f"{before}{broadcast}{step}{sums}\n{broadcast}{home}")
        with self.run_it(self.machine([self.tenant(4)], "gpus: 4", FABRIC), "o.h5", "--check") as file:
            for name in names("a", 4):
                numpy.testing.assert_array_equal(file[f"buffers/t0/{name}"][:], 4 * numpy.arange(COUNT))


class DirectlyByKernel(CollectivesTest):
    def send_directly(self, operation, gpus, more="", shape=", grid: 3, block: 64", **how):
        if operation in ("all_reduce", "reduce_scatter"):
            more = f", arrived: {listed('u', gpus)}{more}"
        return self.run_collective(operation, gpus,
                                   f"{by_kernel(gpus, shape, 'direct_kernel')}, algorithm: direct{more}",
                                   module="direct_kernel", **how)

    def test_sums_come_to_all_gpus_by_one_kernel_on_each(self):
        for gpus in (2, 3, 4, 5, 8):
            for count in (600 // gpus * gpus, 31 * gpus):  # parts of whole vectors of four, most of them, and others
                with self.subTest(gpus=gpus, count=count):
                    self.assert_sums(self.send_directly("all_reduce", gpus, count=count), gpus, count)
                    self.assertEqual(len(self.kernels), gpus)
                    self.assertEqual(len(set(self.kernels["enqueued"])), 1)

    def test_reduce_scatter_leaves_each_gpu_the_sum_of_its_part(self):
        for gpus in (2, 3, 4):
            with self.subTest(gpus=gpus):
                self.assert_parts_of_sums(self.send_directly("reduce_scatter", gpus), gpus)

    def test_all_gather(self):
        for gpus in (2, 3, 4):
            with self.subTest(gpus=gpus):
                self.assert_gathered(self.send_directly("all_gather", gpus), gpus)
                self.assertEqual(len(self.kernels), gpus)

    def test_broadcast_of_the_first_buffer(self):
        for gpus, count in ((2, 600), (3, 601), (5, 7)):
            with self.subTest(gpus=gpus, count=count):
                for on_gpu in self.send_directly("broadcast", gpus, count=count):
                    numpy.testing.assert_array_equal(on_gpu, numpy.arange(count))

    def test_blocks_of_any_shape(self):
        for shape in (", grid: 2, block: 128", ", grid: 1, block: 96", ", grid: 1, block: 50", ", grid: 6, block: 1"):
            with self.subTest(shape):
                self.assert_sums(self.send_directly("all_reduce", 4, shape=shape, count=4000), 4, 4000)

    def test_sums_are_in_the_order_of_the_copies(self):
        """Sums of values that rounding tells apart: the same bits."""
        left = []
        for module, how in (("ring_all_reduce", sums(3, "u")),
                            ("direct_kernel", f"{by_kernel(3, ', grid: 3, block: 64', 'direct_kernel')}, "
                                              f"arrived: {listed('u', 3)}")):
            step = f"operation: all_reduce, algorithm: direct, buffers: {listed('a', 3)}{how}"
            text = program(step, 3, module=module)
            for k in range(3):
                text = text.replace(f"init: {{linear: {{start: {1000 * k}, step: 1}}}}",
                                    f"init: {{uniform: {{low: -1, high: 1, seed: {k + 1}}}}}")
            self.write("w.yaml", text)
            with self.run_it(self.machine([self.tenant(3)], "gpus: 3", FABRIC), "o.h5", "--overwrite") as file:
                left.append(numpy.array([file[f"buffers/t0/{name}"][:] for name in names("a", 3)]))
        self.assertTrue(left[0].any())
        numpy.testing.assert_array_equal(left[0].view(numpy.uint32), left[1].view(numpy.uint32))

    def test_flags_count_on_from_one_collective_to_the_next(self):
        self.assert_sums(self.send_directly("all_reduce", 3, again=2), 3, factor=9)

    def test_all_operations_share_their_flags(self):
        """Parts of sums, gathered, broadcast, and added once more."""
        more = f", buffers: {listed('a', 4)}{by_kernel(4, ', grid: 3, block: 64', 'direct_kernel')}, algorithm: direct"
        text = program("here", 4, module="direct_kernel")
        steps = "".join(f"  - collective: {{operation: {operation}{more}{arrived}}}\n" for operation, arrived in (
            ("reduce_scatter", f", arrived: {listed('u', 4)}"), ("all_gather", ""), ("broadcast", ""),
            ("all_reduce", f", arrived: {listed('u', 4)}")))
        self.write("w.yaml", text.replace("  - collective: {here}\n", steps))
        with self.run_it(self.machine([self.tenant(4)], "gpus: 4", FABRIC), "o.h5", "--check") as file:
            self.assert_sums([file[f"buffers/t0/{name}"][:] for name in names("a", 4)], 4, factor=4)


class Mistakes(ManyGpusTest):
    def assert_refused(self, text, collective, gpus=2, **how):
        self.write("w.yaml", program(collective, gpus, **how))
        tenant = f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
        run = self.lockstep("validate", self.machine([tenant], f"gpus: {gpus}", FABRIC))
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, r"w\.yaml:\d+:\d+: ")
        self.assertIn(text, run.stderr)

    def test_mistakes(self):
        sums = "operation: all_reduce, buffers: [a0, a1], arrived: [t0, t1], kernel: add_part"
        trees = ("operation: all_reduce, buffers: [a0, a1], kernel: add_part, by: kernel, algorithm: tree, "
                 "flags: [f0, f1]")
        direct = trees.replace("tree", "direct")
        for text, collective in (
                ("no collective is called", "operation: reduce, buffers: [a0, a1]"),
                ("a collective has two GPUs or more", "operation: broadcast, buffers: [a0]"),
                ("lie on the same GPU", "operation: broadcast, buffers: [a0, t0]"),
                ("differ in type or length", "operation: broadcast, buffers: [a0, t1]"),
                ('no buffer "b"', "operation: broadcast, buffers: [a0, b]"),
                ("do not divide into 2 parts", f"{sums}, count: 3"),
                ("kernel", "operation: all_reduce, buffers: [a0, a1], arrived: [t0, t1]"),
                ("arrived", "operation: all_reduce, buffers: [a0, a1], kernel: add_part"),
                ("does not hold what arrives", sums.replace("[t0, t1]", "[t1, t0]")),
                ("is for sums", "operation: broadcast, buffers: [a0, a1], kernel: add_part"),
                ("a stream is a number", f"{sums}, stream: 70000"),
                ("no algorithm is called", f"{sums}, algorithm: star"),
                ("leaves each GPU a part", "operation: all_gather, buffers: [a0, a1], algorithm: tree"),
                ("what arrives", f"{sums}, algorithm: tree"),
                ("is not done by", f"{sums}, by: hand"),
                ("flags", f"{sums}, by: kernel"),
                ("is for kernels that wait", f"{sums}, flags: [f0, f1]"),
                ("2 words for each of 24 blocks", f"{sums}, by: kernel, flags: [f0, f1]"),
                ("differ in type or length", f"{direct.replace('a1', 't1')}, arrived: [u0, u1], grid: 6"),
                ("a collective has two GPUs or more",
                 "operation: all_gather, buffers: [a0], by: kernel, algorithm: direct"),
                ("do not divide into 2 parts", f"{direct}, arrived: [u0, u1], grid: 6, count: 3"),
                ("arrived", f"{direct}, grid: 6"),
                ("does not hold what arrives", f"{direct}, arrived: [u1, u0], grid: 6"),
                ("2 words for each of 13 blocks", f"{direct}, arrived: [u0, u1], grid: 13"),
                ("takes 4 arguments, got 10", f"{direct}, arrived: [u0, u1], grid: 6"),
                ("is for sums", f"{direct.replace('all_reduce', 'all_gather')}, arrived: [u0, u1], grid: 6"),
                ("no kernel broadcasts round a ring", "operation: broadcast, buffers: [a0, a1], by: kernel"),
                ("what arrives", f"{sums}, by: kernel, flags: [f0, f1], grid: 6, algorithm: tree"),
                ("4 words for each of 7 blocks", f"{trees}, arrived: [u0, u1], grid: 7"),
                ("takes 4 arguments, got 17", f"{trees}, arrived: [u0, u1], grid: 6"),
                ("takes 4 arguments, got 11", f"{sums}, by: kernel, flags: [f0, f1], grid: 6")):
            with self.subTest(collective):
                self.assert_refused(text, collective)
        run = self.lockstep("validate", self.machine(["workload: w.yaml, gpus: [0, 1]"]))
        self.assertEqual(run.returncode, 1)

    def test_more_gpus_than_a_direct_kernel_knows(self):
        for gpus, text in ((16, "takes 4 arguments"), (17, "15 other GPUs directly, and these are 16")):
            self.assert_refused(text, f"operation: broadcast, buffers: {listed('a', gpus)}, algorithm: direct, "
                                      f"by: kernel, kernel: add_part, flags: {listed('f', gpus)}, grid: 1", gpus)


if __name__ == "__main__":
    unittest.main()
