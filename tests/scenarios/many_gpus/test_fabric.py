"""Tenants on several GPUs: copies, loads, stores and atomics in each other's memory, at the rates of their links."""
import json
import unittest

import h5py

from harness import ROOT
from machines import DENSE, GATHER, HALO, PAGED, RING, ManyGpusTest, datasets, ends

FABRICS = ROOT / "configs/fabrics"
WORKLOADS = ROOT / "configs/workloads"
HOST_LINK = 16e9  # bytes per second
NOTHING = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n"


def copies(ways, mebibytes):
    """A program that copies so much over each of the ways ("0>1"), all at the same time."""
    lines = "".join(f"  - copy: {{buffer: from{i}, into: to{i}, stream: {i}}}\n" for i in range(len(ways)))
    count = mebibytes * 262144
    buffers = "".join(f"  {name}{i}: {{type: u32, count: {count}, memory: device, gpu: {way[at]}, init: {init}}}\n"
                      for i, way in enumerate(ways)
                      for name, at, init in (("from", 0, f"{{uniform: {{low: 0, high: 9, seed: {i + 1}}}}}"),
                                             ("to", 2, "zero")))
    upload = "".join(f"  - copy: {{buffer: from{i}, to: device}}\n" for i in range(len(ways)))
    return (f"module: nothing.ptx\nbuffers:\n{buffers}program:\n{upload}  - synchronize\n  - delay: 1us\n"
            f"{lines}  - synchronize\n")


class FabricTest(ManyGpusTest):
    def setUp(self):
        super().setUp()
        self.write("nothing.ptx", NOTHING)

    def joined(self, tenants, gpus=2, fabric="nvswitch2", more="", name="s.yaml"):
        fabric = fabric if fabric.startswith("{") else f"{FABRICS}/{fabric}.yaml"
        return self.machine(tenants, f"gpus: {gpus}", f"fabric: {fabric}\n{more}", name=name)

    def rate(self, ways, fabric, gpus=2, more=""):
        """GB/s of each of the copies, without what comes before and behind them: uploads, and the time of no bytes."""
        taken = []
        for mebibytes in (1, 2):
            self.write("copies.yaml", copies(ways, mebibytes))
            tenant = f"workload: copies.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
            with self.run_it(self.joined([tenant], gpus, fabric, more), "o.h5", "--check", "--overwrite") as file:
                upload = len(ways) * mebibytes * (1 << 20) / HOST_LINK * 1e15
                taken.append(ends(file)[0] - upload)
        return (1 << 20) / ((taken[1] - taken[0]) * 1e-15) / 1e9


class Copies(FabricTest):
    def test_buffer_of_another_gpu_gets_the_bytes(self):
        self.write("copies.yaml", """\
module: nothing.ptx
buffers:
  a: {type: f64, count: 1000, memory: device, gpu: 0, init: {linear: {start: 1, step: 2}}}
  b: {type: f64, count: 1500, memory: device, gpu: 1}
program:
  - copy: {buffer: a, to: device}
  - copy: {buffer: a, into: b, offset: 3, count: 900, at: 501}
  - copy: {buffer: b, to: host}
  - save: b
""")
        with self.run_it(self.joined(["workload: copies.yaml, gpus: [0, 1]"]), "o.h5", "--check") as file:
            saved = file["buffers/t0/b"][:]
            self.assertEqual(list(saved[:501]) + list(saved[1401:]), [0] * 600)
            self.assertEqual(list(saved[501:1401]), [1 + 2 * i for i in range(3, 903)])
            self.assertEqual(file["final/stats/gpu0/port/copied_bytes"][:].sum(), 7200)
            self.assertEqual(file["final/stats/gpu1/port/served"][:].sum(), file["final/stats/gpu1/port/served"][0, 0])

    def test_published_rates(self):
        fast = "override: {gpu.memory.partitions: 64}"  # more than the links of an H100 carry
        pair = "{name: p, kind: direct, rate: 25GB/s, latency: 60ns, pairs: [{gpus: [0, 1], links: 3}]}"
        for fabric, published in (("nvswitch2", 270.5), ("nvswitch3", 396), ("nvlink1", 18.4), (pair, 68.5),
                                  ("pcie3_peer", 9.2)):
            with self.subTest(fabric):
                self.assertAlmostEqual(self.rate(["0>1"], fabric, more=fast) / published, 1, delta=0.05)

    def test_both_ways_at_once_do_not_slow_each_other_down(self):
        self.assertAlmostEqual(self.rate(["0>1", "1>0"], "nvlink1") / self.rate(["0>1"], "nvlink1"), 1, delta=0.02)

    def test_a_gpu_has_one_way_in_from_a_switch_and_one_out(self):
        slow = "{name: slow, kind: switch, rate: 9GB/s}"
        alone = self.rate(["0>1"], slow, 4)
        self.assertAlmostEqual(self.rate(["0>3", "1>3", "2>3"], slow, 4) / alone, 1 / 3, delta=0.02)
        self.assertAlmostEqual(self.rate(["0>1", "0>2"], slow, 4) / alone, 1 / 2, delta=0.02)
        self.assertAlmostEqual(self.rate(["0>1", "2>3"], slow, 4) / alone, 1, delta=0.02)

    def test_copies_among_all_gpus_of_a_switch_keep_every_way_busy(self):
        """None of them goes ahead of the others to one GPU."""
        slow = "{name: slow, kind: switch, rate: 9GB/s, lines_in_flight: 64}"
        ways = [f"{a}>{b}" for a in range(4) for b in range(4) if a != b]
        self.assertGreater(self.rate(ways, slow, 4) * 3 / self.rate(["0>1"], slow, 4), 0.85)

    def test_direct_links_are_nobody_elses(self):
        link = "{name: link, kind: direct, rate: 9GB/s}"
        self.assertAlmostEqual(self.rate(["0>3", "1>3", "2>3"], link, 4) / self.rate(["0>3"], link, 4), 1, delta=0.02)

    def test_the_output_says_who_waited_behind_whom_at_a_port(self):
        self.write("copies.yaml", copies(["0>1"], 1))
        tenants = ["workload: copies.yaml, gpus: [0, 2]", "workload: copies.yaml, gpus: [1, 2]"]
        slow = "{name: slow, kind: switch, rate: 9GB/s}"
        with self.run_it(self.joined(tenants, 3, slow), "o.h5", "--check") as file:
            waits = file["interference/gpu2/port_in"][:]
            self.assertGreater(waits[0][1], 1000)
            self.assertGreater(waits[1][0], 1000)
            self.assertEqual(file["interference/gpu0/port_in"][:].sum(), 0)


class Kernels(FabricTest):
    def test_loads_stores_and_atomics_reach_memory_of_another_gpu(self):
        with self.run_it(self.joined([GATHER]), "o.h5", "--check") as file:
            final = file["final/stats"]
            self.assertGreater(final["gpu1/port/requests"][:].sum(), 1000)
            self.assertEqual(final["gpu0/port/requests"][:].sum(), 0)
            self.assertEqual(final["gpu0/port/served"][:].sum(), final["gpu1/port/requests"][:].sum())
            self.assertEqual([int(gpu) for gpu in file["kernels"]["gpu"]], [1, 1])
            self.assertGreater(final["gpu1/sm/warp_instructions"][:].sum(), 0)
            self.assertEqual(final["gpu0/sm/warp_instructions"][:].sum(), 0)
            self.assertEqual(file["tenants"]["warp_instructions"][0], final["gpu1/sm/warp_instructions"][:].sum())

    def test_all_gpus_work_at_the_same_time(self):
        for tenant in (HALO, RING):
            with self.run_it(self.joined([tenant], 4), "o.h5", "--check", "--overwrite") as file:
                first = file["kernels"][:][:4]
                self.assertEqual(sorted(first["gpu"]), [0, 1, 2, 3])
                for one, other in zip(first, first[1:]):
                    self.assertLess(other["launched"], one["done"])

    def test_a_remote_load_takes_both_ways_longer(self):
        """One thread chases a pointer: there and back through the fabric, and through the network at the near end."""
        chase = (WORKLOADS / "pointer_chase.yaml").read_text(encoding="utf-8")
        times = {}
        for gpu in (0, 1):
            changed = chase.replace("memory: device", f"memory: device, gpu: {gpu}", 1)
            self.write("chase.yaml", changed.replace("pointer_chase.ptx", f"{WORKLOADS}/pointer_chase.ptx"))
            fabric = "{name: f, kind: switch, rate: 1000GB/s, latency: 500ns}"
            with self.run_it(self.joined(["workload: chase.yaml, gpus: [0, 1]"], 2, fabric), f"{gpu}.h5",
                             "--check") as file:
                times[gpu] = file["buffers/t0/cycles"][0] / 2048  # hops; a cycle has 1 ns
        # 2 x 500 ns, and 60 + 20 cycles between SM and port.
        self.assertAlmostEqual(times[1] - times[0], 1080, delta=15)

    def test_other_tenants_keep_their_bits(self):
        """Who has a GPU for itself hears nothing of tenants that use the fabric."""
        tenants = [f"{GATHER}", f"{DENSE}, gpu: 2"]
        with self.run_it(self.joined(tenants, 3), "o.h5", "--check") as file, \
                self.run_it(self.machine([DENSE], "", name="one.yaml"), "one.h5") as alone:
            self.assertEqual(ends(file)[1], ends(alone)[0])
            expected, got = datasets(alone["final/stats"]), datasets(file["final/stats/gpu2"])
            for name, values in expected.items():
                if name != "sm/skipped_cycles":
                    self.assertTrue((got[name] == values).all(), name)

    def test_a_tenant_that_starts_over_uses_peers_again(self):
        tenants = [f"{GATHER}, relaunch: true", f"{PAGED}, gpu: 2"]
        with self.run_it(self.joined(tenants, 3), "o.h5", "--check") as file:
            self.assertGreater(file["tenants"]["rounds"][0], 1)

    def test_a_kernel_that_reaches_outside_ends_its_tenant_on_all_gpus(self):
        tenants = [GATHER.replace("n: 2048", "n: 2048, bins: 1000000"), f"{DENSE}, gpu: 1"]
        wrong = (WORKLOADS / "peer_gather.yaml").read_text(encoding="utf-8").replace("count: bins", "count: 64")
        self.write("wrong.yaml", wrong.replace("peer_gather.ptx", f"{WORKLOADS}/peer_gather.ptx"))
        tenants[0] = tenants[0].replace(f"{WORKLOADS}/peer_gather.yaml", "wrong.yaml")
        scenario = self.joined(tenants, more="policies: {sharing: spatial}")
        run = self.lockstep("run", scenario, "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("tenant t0, kernel scatter", run.stderr)
        self.assertIn("outside of every buffer", run.stderr)
        with h5py.File(self.folder / "o.h5") as file:
            self.assertEqual(file["tenants"]["rounds"][1], 1, "the other tenant goes on")

    def test_a_run_is_repeated_from_its_output(self):
        self.run_it(self.joined([GATHER]), "o.h5").close()
        run = self.lockstep("run", "--config-of", "o.h5", "--quiet", "--output", "again.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        difference = self.lockstep("diff", "o.h5", "again.h5")
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_what_is_made_of_outputs_knows_them(self):
        self.run_it(self.joined([GATHER, f"{DENSE}, gpu: 1"], more="policies: {sharing: spatial}"), "o.h5").close()
        for command in (["report", "o.h5"], ["export", "o.h5", "--format", "csv", "--output", "o.csv"],
                        ["export", "o.h5", "--format", "perfetto", "--output", "o.json"], ["watch", "o.h5"],
                        ["plot", "o.h5"]):
            run = self.lockstep(*command)
            self.assertEqual(run.returncode, 0, f"{command}: {run.stderr}")

    def test_a_trace_has_kernels_of_each_gpu_in_rows_of_their_own(self):
        self.run_it(self.joined([RING], 4), "o.h5").close()
        done = self.lockstep("export", "o.h5", "--format", "perfetto", "--output", "o.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "o.json").read_text())["traceEvents"]
        rows = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(rows, {f"gpu{gpu}/kernels 0" for gpu in range(4)})

    def test_compare_runs_a_tenant_alone_on_all_of_its_gpus(self):
        scenario = self.joined([GATHER, f"{DENSE}, gpu: 1"], more="policies: {sharing: spatial}")
        run = self.lockstep("compare", scenario, "--output", "c")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "c/s-alone-t0.h5") as alone:
            self.assertGreater(alone["final/stats/gpu0/port/served"][:].sum(), 0)


class Mistakes(FabricTest):
    place_of_mistakes = r"\.yaml:"  # of a workload as well

    def test_peers_without_a_way(self):
        self.assert_refused(self.machine([GATHER]), "kernel gather uses buffer table", "GPU 1 has no way to GPU 0",
                            "give the scenario a fabric")
        pairs = "{name: p, kind: direct, rate: 20GB/s, pairs: [{gpus: [0, 1]}, {gpus: [1, 2]}]}"
        self.assert_refused(self.joined([RING], 4, pairs), "buffer data2 is copied", "GPU 2 has no way to GPU 3",
                            "fabric.pairs")

    def test_fabrics(self):
        self.assert_refused(self.machine([DENSE], "", "fabric: {name: f, rate: 1GB/s}"), "the machine has one")
        self.assert_refused(self.joined([DENSE], 2, "{name: f}"), "rate")
        self.assert_refused(self.joined([DENSE], 2, "{name: f, rate: 1GB/s, kind: mesh}"), "kind")
        self.assert_refused(self.joined([DENSE], 2, "{name: f, rate: 1GB/s, kind: direct, pairs: [{gpus: [0, 3]}]}"),
                            "GPU 3 is not there")
        self.assert_refused(self.joined([DENSE], 2, "{name: f, rate: 1GB/s, kind: direct, pairs: "
                                        "[{gpus: [0, 1], rate: 2GB/s}]}"), "rate")
        self.assert_refused(self.machine([DENSE], more="fabric: nvswitch9"), "nvswitch9")

    def test_gpus_of_a_tenant(self):
        for gpus, text in (("[0, 2]", "there is no GPU 2"), ("[1, 1]", "GPU 1 is named twice"), ("[]", "name one"),
                           ("[0, 1], gpu: 0", "leave one of them out")):
            self.assert_refused(self.joined([GATHER.replace("[0, 1]", gpus)]), text)
        self.assert_refused(self.joined([GATHER.replace("gpus: [0, 1]", "gpu: 0")]),
                            "buffer index is on GPU 1 of tenant t0, which has 1")

    def test_what_a_tenant_on_several_gpus_cannot_have(self):
        for change, text in ((", instructions: 1000", "instructions"), (", memory: managed", "only a device buffer"),
                             (", set: {buffers.index.memory: pinned}", "only a device buffer")):
            self.assert_refused(self.joined([GATHER + change]), text)
        self.assert_refused(self.joined([GATHER], more="policies: {page_manager: mosaic}"), "moves pages")

    def test_copies(self):
        head = """\
module: nothing.ptx
buffers:
  a: {type: u32, count: 9, memory: device}
  b: {type: u32, count: 5, memory: device, gpu: 1}
  c: {type: u8, count: 9, memory: device, gpu: 1}
  d: {type: u32, count: 9, memory: device}
program:
  - copy: """
        for step, text in (("{buffer: a, into: x}", 'no buffer "x"'), ("{buffer: a, into: c}", "another type"),
                           ("{buffer: a, into: d}", "lie on the same GPU"), ("{buffer: a}", "to"),
                           ("{buffer: a, into: b, to: host}", "both say where the copy goes"),
                           ("{buffer: a, to: host, at: 3}", "into")):
            self.write("w.yaml", head + step + "\n")
            self.assert_refused(self.joined(["workload: w.yaml, gpus: [0, 1]"]), text)
        self.write("w.yaml", head + "{buffer: a, into: b}\n")
        run = self.lockstep("run", self.joined(["workload: w.yaml, gpus: [0, 1]"]), "--quiet")
        self.assertEqual(run.returncode, 1)
        self.assertIn("9 elements do not fit into buffer b", run.stderr)


if __name__ == "__main__":
    unittest.main()
