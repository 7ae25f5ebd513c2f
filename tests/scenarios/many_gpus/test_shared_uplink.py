"""GPUs behind a shared uplink slow each other down, as much as its rate says, and by nothing else."""
import unittest

from machines import PAGED, ManyGpusTest, datasets, ends

# Copies alone: 8 MiB there and back, at 16 GB/s for each direction.
BYTES = 8 << 20
COPIES = """\
module: {module}
buffers:
  data: {{type: u32, count: {count}, memory: device}}
program:
  - copy: {{buffer: data, to: device}}
  - copy: {{buffer: data, to: host}}
"""
LINK = 16e9


class SharedUplink(ManyGpusTest):
    def setUp(self):
        super().setUp()
        self.write("nothing.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n")
        self.write("copies.yaml", COPIES.format(module="nothing.ptx", count=BYTES // 4))

    def times_of_copies(self, gpus, uplinks):
        """Milliseconds that each of as many tenants takes, on GPUs of their own."""
        tenants = [f"workload: copies.yaml, gpu: {gpu}" for gpu in range(gpus)]
        host = f"uplinks: {uplinks}" if uplinks else ""
        with self.run_it(self.machine(tenants, f"gpus: {gpus}", host=host), "o.h5", "--check") as file:
            self.waited = file["interference/uplink"][:] if uplinks else None
            return [end * 1e-12 for end in ends(file)]

    def test_the_latency_of_an_uplink_is_that_of_its_gpus(self):
        """Such as of the way from another socket: as if the host link of these GPUs were as much longer."""
        def times(latency, more=""):
            tenants = [f"{PAGED}, gpu: 0", f"{PAGED}, gpu: 1"]
            scenario = self.machine(tenants, more=f"override: {{host.link_latency: {latency}}}",
                                    host=f"uplinks: [{{gpus: [1], bandwidth: 64GB/s{more}}}]")
            with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                return ends(file)

        near, far = times("400ns"), times("465ns")
        self.assertEqual(times("400ns", ", latency: 65ns"), [near[0], far[1]])
        self.assertGreater(far[1], near[1])

    def test_copies_take_the_time_that_the_uplinks_rate_says(self):
        alone = 2 * BYTES / LINK * 1e3  # milliseconds, both ways
        for gpus, uplinks, factor in (
                (2, "", 1),
                (2, "[{gpus: [0, 1], bandwidth: 32GB/s}]", 1),
                (2, "[{gpus: [0, 1], bandwidth: 16GB/s}]", 2),
                (2, "[{gpus: [0, 1], bandwidth: 8GB/s}]", 4),
                (3, "[{gpus: [0, 1, 2], bandwidth: 16GB/s}]", 3),
                (2, "[{gpus: [0], bandwidth: 16GB/s}, {gpus: [1], bandwidth: 16GB/s}]", 1)):
            with self.subTest(gpus=gpus, uplinks=uplinks):
                for time in self.times_of_copies(gpus, uplinks):
                    self.assertAlmostEqual(time / alone, factor, delta=0.01 * factor)

    def test_who_is_behind_no_uplink_is_not_slowed_down(self):
        uplinks = "[{gpus: [0, 1], bandwidth: 16GB/s}]"
        times = self.times_of_copies(3, uplinks)
        self.assertEqual(times[2], self.times_of_copies(2, "")[0])
        self.assertGreater(times[0], 1.9 * times[2])

    def test_the_output_says_who_waited_behind_whom(self):
        self.times_of_copies(3, "[{gpus: [0, 1], bandwidth: 16GB/s}]")
        half = BYTES / LINK * 1e9  # nanoseconds of one direction
        self.assertAlmostEqual(self.waited[0][1] / half, 2, delta=0.05)
        self.assertAlmostEqual(self.waited[1][0] / half, 2, delta=0.05)
        self.assertEqual(self.waited[2].sum() + self.waited[:, 2].sum(), 0)

    def test_page_migrations_share_it(self):
        paged = [f"{PAGED}, gpu: {gpu}" for gpu in (0, 1)]
        little = "override: {gpu.memory.capacity: 448KiB}"
        times = []
        for uplinks in ("uplinks: [{gpus: [0, 1], bandwidth: 64GB/s}]", "uplinks: [{gpus: [0, 1], bandwidth: 2GB/s}]"):
            with self.run_it(self.machine(paged, more=little, host=uplinks), "o.h5", "--check") as file:
                times.append(max(ends(file)))
                moved = sum(file[f"final/stats/gpu{gpu}/link/bytes"][:].sum() for gpu in (0, 1))
                self.assertEqual(file["final/stats/uplink/bytes"][:].sum(), moved, "all goes over the uplink")
        self.assertGreater(times[1], 1.2 * times[0])

    def test_remote_accesses_share_it(self):
        # Pinned memory, which kernels read and write over the link, beside copies of two other GPUs.
        remote = PAGED + ", memory: pinned, gpu: 0"
        times = {}
        for title, tenants in (("alone", [remote]), ("beside", [remote, "workload: copies.yaml, gpu: 1"])):
            host = "uplinks: [{gpus: [0, 1], bandwidth: 16GB/s}]"
            with self.run_it(self.machine(tenants, host=host), "o.h5", "--check") as file:
                times[title] = ends(file)[0]
                self.assertGreater(file["final/stats/uplink/bytes"][:].sum(axis=0)[0], 100000)
                waited = file["interference/uplink"][0]
        # Mostly they wait for their own answers; but a line of 8 ns may stand before each.
        self.assertGreater(times["beside"], 1.02 * times["alone"])
        self.assertGreater(waited[1], 0)

    def test_one_gpu_behind_an_uplink_of_its_own_rate_is_as_ever(self):
        fast = "uplinks: [{gpus: [0], bandwidth: 1000GB/s}]"
        with self.run_it(self.machine([PAGED], ""), "a.h5") as one, \
                self.run_it(self.machine([PAGED], "", host=fast), "b.h5") as two:
            self.assertEqual(ends(one), ends(two))
            expected = datasets(one["final/stats"])
            got = datasets(two["final/stats"])
            self.assertTrue(all((got[name] == values).all() for name, values in expected.items()))


if __name__ == "__main__":
    unittest.main()
