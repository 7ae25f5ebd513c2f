"""Managed memory of tenants on several GPUs: pages go from GPU to GPU, and bytes are what the program says."""
import unittest

from harness import ROOT
from machines import COPIED, PAGED, WORKLOADS, ManyGpusTest
from segments import SegmentsTest

GRAPH = f"workload: {WORKLOADS}/managed_graph.yaml, parameters: {{vertices: 1024, edges: 4096}}, gpus: [0, 1]"
POLICIES = ("migrate", "duplicate")
LAYOUTS = [(2, 0), (1, 2), (1, 3), (2, 2)]  # threads, ranks
# Each GPU adds to words of its own in the same pages, again and again.
TURNS = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry turns(.param .u64 words, .param .u32 me, .param .u32 gpus, .param .u32 rounds)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [words];
  ld.param.u32 %r1, [me];
  ld.param.u32 %r2, [gpus];
  ld.param.u32 %r3, [rounds];
  mov.u32 %r4, %tid.x;
  mov.u32 %r7, %ctaid.x;
  mov.u32 %r8, %ntid.x;
  mad.lo.u32 %r4, %r7, %r8, %r4;
  mad.lo.u32 %r5, %r4, %r2, %r1;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d1, %d1, %d2;
again:
  ld.volatile.global.u32 %r6, [%d1];
  mad.lo.u32 %r6, %r6, 3, %r3;
  st.volatile.global.u32 [%d1], %r6;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra again;
  ret;
}
.visible .entry await(.param .u64 flag, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [flag];
  ld.param.u64 %d2, [out];
again:
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  st.global.u32 [%d2], %r1;
  ret;
}
.visible .entry raise(.param .u64 flag)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [flag];
  mov.u32 %r1, 7;
  st.volatile.global.u32 [%d1], %r1;
  ret;
}
.visible .entry look(.param .u64 table, .param .u64 sums, .param .u32 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [table];
  ld.param.u64 %d2, [sums];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d3, %r2, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  mov.u32 %r4, 0;
again:
  ld.global.u32 %r5, [%d1];
  add.u32 %r4, %r4, %r5;
  add.u64 %d1, %d1, 512;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  st.global.u32 [%d2], %r4;
  ret;
}
"""


def storm(gpus, rounds):
    launches = "".join(f"  - launch: {{kernel: turns, gpu: {g}, grid: [1], block: [512], "
                       f"arguments: [words, {g}, {gpus}, {rounds}]}}\n" for g in range(gpus))
    return (f"module: turns.ptx\nbuffers:\n  words: {{type: u32, count: {512 * gpus}, memory: managed, "
            f"init: {{linear: {{start: 0, step: 1}}}}}}\nprogram:\n{launches}  - synchronize\n  - read: words\n"
            "  - save: words\n")


def readers(gpus, store):
    """All GPUs read a table; then one stores to it, and all read again."""
    sums = "".join(f"  sums{g}: {{type: u32, count: 128, memory: managed}}\n" for g in range(gpus))
    looks = "".join(f"  - launch: {{kernel: look, gpu: {g}, grid: [1], block: [128], "
                    f"arguments: [table, sums{g}, 64]}}\n" for g in range(gpus))
    change = ("  - launch: {kernel: turns, gpu: 1, grid: [1], block: [128], arguments: [table, 0, 1, 2]}\n"
              "  - synchronize\n") if store else ""
    return (f"module: turns.ptx\nbuffers:\n  table: {{type: u32, count: 8192, memory: managed, "
            f"init: {{linear: {{start: 5, step: 1}}}}}}\n{sums}program:\n{looks}  - synchronize\n{change}"
            f"{looks}  - synchronize\n")


WAITING = """\
module: turns.ptx
buffers:
  flag: {type: u32, count: 1, memory: device, gpu: 1}
  out: {type: u32, count: 1, memory: device, gpu: 0}
program:
  - launch: {kernel: await, gpu: 0, grid: [1], block: [1], arguments: [flag, out]}
  - launch: {kernel: raise, gpu: 1, grid: [1], block: [1], arguments: [flag]}
  - synchronize
"""


class SharedMemoryTest(ManyGpusTest):
    def setUp(self):
        super().setUp()
        self.write("turns.ptx", TURNS)

    def shared(self, tenants, policy, gpus=2, more="", override="", name="s.yaml"):
        handling = "fault_handling: {name: host, cost_model: linear, handling: 1us}"
        policies = f"policies: {{peer_policy: {policy}, prefetcher: none, {handling}}}"
        fabric = f"fabric: {ROOT}/configs/fabrics/nvswitch2.yaml"
        return self.machine(tenants, f"gpus: {gpus}", f"{policies}\n{fabric}\n{override}\n{more}", name=name)

    def counted(self, file, counter):
        """Of all GPUs."""
        return sum(int(file[f"final/stats/{gpu}/host/{counter}"][:].sum())
                   for gpu in file["final/stats"] if gpu.startswith("gpu"))


class SharedMemory(SharedMemoryTest):
    def test_gpus_that_take_pages_from_each_other_leave_the_right_bytes(self):
        for policy in POLICIES:
            for gpus in (2, 3):
                with self.subTest(policy, gpus=gpus):
                    self.write("w.yaml", storm(gpus, 200))
                    tenant = f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
                    quick = f"{{name: {policy}, stays: 0us}}"
                    with self.run_it(self.shared([tenant], quick, gpus), "o.h5", "--check", "--overwrite") as file:
                        expected = list(range(512 * gpus))
                        for r in range(200, 0, -1):
                            expected = [(3 * v + r) & 0xffffffff for v in expected]
                        self.assertEqual(list(file["buffers/t0/words"][:]), expected)
                        # Pages went to and fro, not once to each.
                        self.assertGreater(self.counted(file, "far_faults"), 20 * gpus)

    def test_a_page_is_on_one_gpu_under_migrate_and_on_all_that_read_it_under_duplicate(self):
        moved = {}
        for policy in POLICIES:
            for store in (False, True):
                self.write("w.yaml", readers(3, store))
                scenario = self.shared(["workload: w.yaml, gpus: [0, 1, 2]"], policy, 3)
                with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                    moved[policy, store] = self.counted(file, "pages_migrated")
        self.assertEqual(moved["duplicate", False], 3 * 8)   # once to each GPU, for both reads
        self.assertGreater(moved["migrate", False], 3 * 8)
        # The store took one page from the two others; they read it again.
        self.assertLessEqual(moved["duplicate", True], 3 * 8 + 4)
        self.assertGreater(moved["duplicate", True], 3 * 8)

    def test_a_kernel_that_waits_for_another_gpus_kernel_is_refused_by_the_check(self):
        self.write("w.yaml", WAITING)
        scenario = self.shared(["workload: w.yaml, gpus: [0, 1]"], "migrate")
        self.run_it(scenario, "o.h5", "--overwrite").close()
        run = self.lockstep("run", scenario, "--quiet", "--check", "--output", "o.h5")
        self.assertEqual(run.returncode, 3)
        self.assertRegex(run.stderr + run.stdout, r"turns\.ptx:\d+: kernel await.*one after the other")

    def test_a_page_stays_for_as_long_as_the_policy_says(self):
        faults = []
        for stays in ("0us", "40us"):
            self.write("w.yaml", storm(2, 200))
            policy = f"{{name: migrate, stays: {stays}}}"
            with self.run_it(self.shared(["workload: w.yaml, gpus: [0, 1]"], policy), "o.h5", "--check",
                             "--overwrite") as file:
                faults.append(self.counted(file, "far_faults"))
        self.assertLess(faults[1], faults[0] / 2)

    def test_graph_with_little_memory_and_a_neighbour(self):
        for policy in POLICIES:
            with self.subTest(policy):
                scenario = self.shared([GRAPH, f"{PAGED}, gpu: 1"], policy,
                                       override="override: {gpu.memory.capacity: 448KiB}")
                self.run_it(scenario, "o.h5", "--check", "--overwrite").close()

    def test_refused(self):
        for step, text in (("prefetch: {buffer: words, to: gpu}", "says where managed memory goes"),
                           ("advise: {buffer: words, preferred: host}", "says where managed memory goes")):
            self.write("w.yaml", storm(2, 2) + f"  - {step}\n")
            self.assert_refused(self.shared(["workload: w.yaml, gpus: [0, 1]"], "migrate"), text)
        self.write("w.yaml", storm(2, 2))
        self.assert_refused(self.shared(["workload: w.yaml, gpus: [0, 1]"], "give"), "give")

    place_of_mistakes = r"\.yaml:"


class Layouts(SharedMemoryTest, SegmentsTest):
    def scenarios(self):
        recorded = "simulation: {epoch: 20us, record_faults: true}"
        self.write("w.yaml", storm(2, 20))
        for policy in POLICIES:
            yield policy, self.shared([GRAPH, "workload: w.yaml, gpus: [1, 0]", f"{COPIED}, gpu: 1"], policy,
                                      more=recorded, override="override: {gpu.memory.capacity: 512KiB}")

    def assert_equal_files(self, one, other):
        difference = self.lockstep("diff", one, other)
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_threads_and_ranks(self):
        for title, scenario in self.scenarios():
            self.run_it(scenario, "first.h5", "--check", "--overwrite").close()
            for threads, ranks in LAYOUTS:
                with self.subTest(title, threads=threads, ranks=ranks):
                    self.run_it(scenario, "other.h5", "--check", "--overwrite", "--threads", threads,
                                ranks=ranks).close()
                    self.assert_equal_files("first.h5", "other.h5")

    def test_interrupted_and_resumed(self):
        for title, scenario in self.scenarios():
            scenario.rename(self.folder / "scenario.yaml")
            _, seconds = self.run_whole()
            for first, second in (((2, 1), (0, 2)), ((0, 1), (3, 1))):
                with self.subTest(title, first=first, second=second):
                    _, over = self.interrupt(0.5 * seconds, ranks=first[0], threads=first[1])
                    if not over:
                        self.finish(ranks=second[0], threads=second[1])
                    self.assert_same_result()


if __name__ == "__main__":
    unittest.main()
