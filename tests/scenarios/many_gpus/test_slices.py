"""Slices of a GPU (MIG): what a tenant has there nobody else touches, whatever the neighbours do."""
import unittest

import h5py

from machines import COPIED, DENSE, PAGED, ManyGpusTest, datasets, ends

SLICES = "{1g: {sms: 1, memory: 1}, 2g: {sms: 2, memory: 2}, 3g: {sms: 3, memory: 4}, 7g: {sms: 7, memory: 8}}"
LAYOUTS = [(2, 0), (1, 2), (1, 3)]  # threads, ranks
# Nothing of it goes over the host link but its launches.
CHURN = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry churn(.param .u64 data, .param .u32 rounds)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r3, %r2, %r4;
  mul.wide.u32 %d2, %r5, 256;
  add.u64 %d1, %d1, %d2;
again:
  ld.global.u32 %r6, [%d1];
  add.u32 %r6, %r6, %r1;
  st.global.u32 [%d1], %r6;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
"""
CHURNING = ("module: churn.ptx\nbuffers:\n  data: {type: u32, count: 65536, memory: device}\nprogram:\n"
            "  - launch: {kernel: churn, grid: [8], block: [128], arguments: [data, 9]}\n  - synchronize\n")
WRONG = ("module: churn.ptx\nbuffers:\n  data: {type: u32, count: 64, memory: device}\nprogram:\n"
         "  - launch: {kernel: churn, grid: [9], block: [128], arguments: [data, 3]}\n  - synchronize\n")


class SlicesTest(ManyGpusTest):
    def setUp(self):
        super().setUp()
        self.write("churn.ptx", CHURN)
        self.write("churn.yaml", CHURNING)
        self.write("wrong.yaml", WRONG)

    def divided(self, tenants, gpus="", more="", slices=SLICES):
        override = f"gpu.sm.count: 8, gpu.memory.partitions: 8, gpu.mig: {slices}"
        return self.machine(tenants, gpus, f"override: {{{override}}}\n{more}")


class Slices(SlicesTest):
    NEIGHBOURS = ("workload: churn.yaml", DENSE, f"{COPIED}, arrival: 1us", PAGED)

    def test_a_tenant_ends_at_the_same_femtosecond_whatever_its_neighbours_do(self):
        mine = "workload: churn.yaml, mig: 3g"
        with self.run_it(self.divided([mine]), "alone.h5", "--check") as file:
            alone, counted = ends(file)[0], datasets(file["final/stats/gpu1/partition"])
        for neighbour in self.NEIGHBOURS:
            for slices in (["1g"], ["2g"], ["3g"], ["2g", "1g", "1g"]):
                with self.subTest(neighbour, slices=slices):
                    others = [f"{neighbour}, mig: {one}, relaunch: true" for one in slices]
                    with self.run_it(self.divided([mine, *others]), "o.h5", "--check", "--overwrite") as file:
                        self.assertEqual(ends(file)[0], alone)
                        now = datasets(file["final/stats/gpu1/partition"])
                        for key in counted:
                            self.assertEqual(now[key].tolist(), counted[key].tolist(), key)

    def test_copies_of_both_directions_take_turns_at_the_only_copy_engine_of_a_slice(self):
        self.write("copies.yaml", "module: churn.ptx\nbuffers:\n"
                                  "  up: {type: u32, count: 1048576, memory: device}\n"
                                  "  down: {type: u32, count: 1048576, memory: device}\nprogram:\n"
                                  "  - copy: {buffer: up, to: device, stream: 1}\n"
                                  "  - copy: {buffer: down, to: host, stream: 2}\n  - synchronize\n")
        times = []
        for engines in (1, 2):
            slices = f"{{1g: {{sms: 1, memory: 1, copy_engines: {engines}}}, 7g: {{sms: 7, memory: 8}}}}"
            scenario = self.divided(["workload: copies.yaml, mig: 1g"], slices=slices)
            with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                times.append(ends(file)[0])
        self.assertGreater(times[0] / times[1], 1.4)  # the slice's only partition takes them both

    def test_without_slices_neighbours_are_felt(self):
        found = set()
        for neighbour in self.NEIGHBOURS[:2]:
            tenants = ["workload: churn.yaml, sms: 3", f"{neighbour}, sms: 3, relaunch: true"]
            scenario = self.divided(tenants, more="policies: {sharing: spatial}")
            with self.run_it(scenario, "o.h5", "--overwrite") as file:
                found.add(ends(file)[0])
        self.assertEqual(len(found), 2)

    def test_a_slice_has_its_part_of_sms_partitions_and_memory(self):
        with self.run_it(self.divided([f"{DENSE}, mig: 2g", f"{DENSE}, mig: 3g"]), "o.h5", "--check") as file:
            instances = [[len(file[f"final/stats/{gpu}/{kind}/{counter}"])
                          for kind, counter in (("sm", "skips"), ("partition", "activates"))]
                         for gpu in ("gpu1", "gpu2")]
            self.assertEqual(instances, [[2, 2], [3, 4]])
            config = file["config"][()].decode()
            self.assertIn("capacity: 64", config)

    def test_a_mistake_ends_the_tenant_of_its_slice_only(self):
        with self.run_it(self.divided(["workload: churn.yaml, mig: 3g"])) as file:
            alone = ends(file)[0]
        scenario = self.divided(["workload: churn.yaml, mig: 3g", "workload: wrong.yaml, mig: 2g"])
        run = self.lockstep("run", scenario, "--quiet", "--output", "o.h5", "--overwrite")
        self.assertEqual(run.returncode, 1)
        self.assertIn("data", run.stderr)
        with h5py.File(self.folder / "o.h5", "r") as file:
            self.assertEqual(ends(file)[0], alone)

    def test_slices_share_the_link_of_their_gpu(self):
        times = []
        for count in (1, 2):
            with self.run_it(self.divided([f"{COPIED}, mig: 2g"] * count), "o.h5", "--overwrite", "--check") as file:
                times.append(max(ends(file)))
                if count == 2:
                    waits = file["interference/uplink"][:]
                    self.assertGreater(waits[0][1] + waits[1][0], 0)
        self.assertGreater(times[1], 1.3 * times[0])

    def test_any_layout_writes_the_same(self):
        tenants = [f"{DENSE}, mig: 3g", f"{PAGED}, mig: 2g", f"{COPIED}, mig: 1g"]
        scenario = self.divided(tenants, more="simulation: {epoch: 20us, record_faults: true}")
        self.run_it(scenario, "first.h5", "--check").close()
        for threads, ranks in LAYOUTS:
            with self.subTest(threads=threads, ranks=ranks):
                self.run_it(scenario, "o.h5", "--check", "--overwrite", "--threads", threads, ranks=ranks).close()
                difference = self.lockstep("diff", "first.h5", "o.h5")
                self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_a_whole_gpu_stands_beside_a_divided_one(self):
        tenants = [f"{DENSE}, gpu: 0, mig: 3g", f"{DENSE}, gpu: 1"]
        with self.run_it(self.divided(tenants, "gpus: 2"), "o.h5", "--check") as file:
            self.assertEqual(list(file["tenants"]["gpu"]), [2, 1])


class Mistakes(SlicesTest):
    def test_mistakes(self):
        for text, tenants, gpus in (
                ("sms, too", [f"{DENSE}, mig: 2g, sms: 2"], ""),
                ('has no slice "4g"', [f"{DENSE}, mig: 4g"], ""),
                ("does not fit", [f"{DENSE}, mig: 3g"] * 3, ""),
                ("does not fit", [f"{DENSE}, mig: 7g", f"{DENSE}, mig: 1g"], ""),
                ("which is divided", [f"{DENSE}, mig: 3g, gpu: 0", f"{DENSE}, gpu: 0"], "gpus: 2"),
                ("names no GPU", [f"{DENSE}, mig: 3g", DENSE], ""),
                ("does not say of which GPU", [f"{DENSE}, mig: 3g"], "gpus: 2"),
                ("names several", [f"{DENSE}, mig: 3g, gpus: [0, 1]"], "gpus: 2"),
                ("there is no GPU 2", [f"{DENSE}, mig: 3g, gpu: 2"], "gpus: 2")):
            with self.subTest(text):
                self.assert_refused(self.divided(tenants, gpus), text)
        self.assert_refused(self.machine([f"{DENSE}, mig: 3g"], ""), "cannot be divided")
        for slices, text in (("{3g: {sms: 9, memory: 4}}", "SMs of its GPU"),
                             ("{3g: {sms: 3, memory: 9}}", "eighths"), ("{3g: {sms: 3}}", "memory"),
                             ("{3g: {sms: 3, memory: 4, copies: 2}}", "copies")):
            with self.subTest(slices):
                self.assert_refused(self.divided([f"{DENSE}, mig: 3g"], slices=slices), text)


if __name__ == "__main__":
    unittest.main()
