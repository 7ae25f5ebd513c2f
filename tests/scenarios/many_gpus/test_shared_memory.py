"""Managed memory of tenants on several GPUs: pages go from GPU to GPU, and bytes are what the program says."""
import unittest

from harness import ROOT, todays
from machines import COPIED, PAGED, WORKLOADS, ManyGpusTest
from segments import SegmentsTest

GRAPH = f"workload: {WORKLOADS}/managed_graph.yaml, parameters: {{vertices: 1024, edges: 4096}}, gpus: [0, 1]"
POLICIES = ("migrate", "duplicate", "remote", "driver", "grit")
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


def crowd(gpus):
    """Rounds over more words than a GPU's memory holds, of which each GPU changes its own."""
    launches = "".join(f"  - launch: {{kernel: turns, gpu: {g}, grid: [64], block: [512], "
                       f"arguments: [words, {g}, {gpus}, 2]}}\n" for g in range(gpus))
    return (f"module: turns.ptx\nbuffers:\n  words: {{type: u32, count: {64 * 512 * gpus}, memory: managed, "
            f"init: {{linear: {{start: 0, step: 1}}}}}}\nprogram:\n{launches}  - synchronize\n{launches}"
            "  - synchronize\n  - read: words\n")


def alone(rounds):
    """GPU 0 changes a page, then GPU 1 does, many times."""
    return ("module: turns.ptx\nbuffers:\n  words: {type: u32, count: 1024, memory: managed, "
            "init: {linear: {start: 0, step: 1}}}\nprogram:\n"
            "  - launch: {kernel: turns, gpu: 0, grid: [1], block: [128], arguments: [words, 0, 2, 1]}\n"
            "  - synchronize\n"
            f"  - launch: {{kernel: turns, gpu: 1, grid: [1], block: [128], arguments: [words, 1, 2, {rounds}]}}\n"
            "  - synchronize\n  - read: words\n")


def spilling(gpus, rounds):
    """GPU 0 goes over more than its memory holds, again and again; the others have nothing to do."""
    launches = ("  - launch: {kernel: turns, gpu: 0, grid: [48], block: [512], arguments: [words, 0, 1, 2]}\n"
                "  - synchronize\n") * rounds
    other = "  - launch: {kernel: turns, gpu: 1, grid: [1], block: [32], arguments: [few, 0, 1, 1]}\n"
    return (f"module: turns.ptx\nbuffers:\n  words: {{type: u32, count: {48 * 512}, memory: managed, "
            f"init: {{linear: {{start: 0, step: 1}}}}}}\n  few: {{type: u32, count: 32, memory: managed}}\n"
            f"program:\n{other}{launches}  - read: words\n")


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

    def counted(self, file, counter, kind="host"):
        """Of all GPUs."""
        return sum(int(file[f"final/stats/{gpu}/{kind}/{counter}"][:].sum())
                   for gpu in file["final/stats"] if gpu.startswith("gpu"))

    def counted_on(self, file, gpu, counter, kind="host"):
        return int(file[f"final/stats/gpu{gpu}/{kind}/{counter}"][:].sum())


class SharedMemory(SharedMemoryTest):
    def test_gpus_that_take_pages_from_each_other_leave_the_right_bytes(self):
        for policy in todays(POLICIES):
            for gpus in (2, 3):
                with self.subTest(policy, gpus=gpus):
                    self.write("w.yaml", storm(gpus, 200))
                    tenant = f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
                    never = ", threshold: 0" if policy in ("remote", "grit") else ""
                    quick = f"{{name: {policy}, stays: 0us{never}}}"
                    with self.run_it(self.shared([tenant], quick, gpus), "o.h5", "--check", "--overwrite") as file:
                        expected = list(range(512 * gpus))
                        for r in range(200, 0, -1):
                            expected = [(3 * v + r) & 0xffffffff for v in expected]
                        self.assertEqual(list(file["buffers/t0/words"][:]), expected)
                        fault_count = self.counted(file, "far_faults")
                        if policy == "remote":  # a fault for each page and GPU
                            pages = (gpus + 1) // 2
                            self.assertEqual(fault_count, gpus * pages)
                            self.assertEqual(self.counted(file, "faults_remote"), (gpus - 1) * pages)
                            self.assertGreater(self.counted(file, "served", "port"), 0)
                        elif policy in ("driver", "grit"):  # pages go to and fro until the policy says otherwise
                            self.assertGreater(self.counted(file, "faults_remote"), 0)
                            self.assertGreater(fault_count, gpus)
                        else:  # pages went to and fro, not once to each
                            self.assertGreater(fault_count, 20 * gpus)

    def test_a_page_is_on_one_gpu_under_migrate_and_on_all_that_read_it_under_duplicate(self):
        moved = {}
        for policy in ("migrate", "duplicate"):
            for store in (False, True):
                self.write("w.yaml", readers(3, store))
                scenario = self.shared(["workload: w.yaml, gpus: [0, 1, 2]"], policy, 3)
                with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                    moved[policy, store] = (self.counted(file, "pages_migrated") + self.counted(file, "pages_fetched"))
        self.assertEqual(moved["duplicate", False], 3 * 8)   # once to each GPU, for both reads
        self.assertGreater(moved["migrate", False], 3 * 8)
        # The store took one page from the two others; they read it again.
        self.assertLessEqual(moved["duplicate", True], 3 * 8 + 4)
        self.assertGreater(moved["duplicate", True], 3 * 8)

    def test_a_mapped_page_that_is_evicted_is_given_up_by_all_first(self):
        for gpus in (2, 3):
            with self.subTest(gpus=gpus):
                self.write("w.yaml", crowd(gpus))
                tenant = f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
                scenario = self.shared([tenant], "remote", gpus, override="override: {gpu.memory.capacity: 144KiB}")
                with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                    self.assertGreater(self.counted(file, "pages_evicted"), 20)
                    self.assertGreater(self.counted(file, "faults_remote"), 20)

    def test_a_mapped_page_moves_to_a_gpu_that_uses_it_up_to_the_threshold(self):
        rounds = 300  # of which each sends four loads and four stores
        self.write("w.yaml", alone(rounds))
        served = {}
        for threshold in (0, 16, 800, 10**6):
            policy = f"{{name: remote, stays: 0us, threshold: {threshold}}}"
            with self.run_it(self.shared(["workload: w.yaml, gpus: [0, 1]"], policy), "o.h5", "--check",
                             "--overwrite") as file:
                moves = threshold in (16, 800)
                self.assertEqual(self.counted_on(file, 1, "faults_counted"), moves)
                self.assertEqual(self.counted_on(file, 1, "pages_fetched"), moves)
                served[threshold] = self.counted_on(file, 0, "served", "port")
        self.assertEqual(served[0], served[10**6])
        self.assertLess(served[16], served[800])
        self.assertLess(served[800], served[0])

    def test_page_route_over_the_fabric_where_there_is_a_way_and_the_policy_lets_them(self):
        self.write("w.yaml", storm(2, 200))
        none = self.machine(["workload: w.yaml, gpus: [0, 1]"], "gpus: 2",
                            "policies: {peer_policy: {name: migrate, stays: 0us}, prefetcher: none}")
        host = self.shared(["workload: w.yaml, gpus: [0, 1]"], "{name: migrate, stays: 0us, page_route: host}",
                           name="host.yaml")
        fabric = self.shared(["workload: w.yaml, gpus: [0, 1]"], "{name: migrate, stays: 0us}", name="fabric.yaml")
        for scenario in (none, host):
            with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                self.assertEqual(self.counted(file, "pages_fetched"), 0)
                self.assertGreater(self.counted(file, "pages_migrated"), 20)
        with self.run_it(fabric, "o.h5", "--check", "--overwrite") as file:
            fetched = self.counted(file, "pages_fetched")
            self.assertGreater(fetched, 20)
            self.assertEqual(self.counted(file, "copied_bytes", "port"), 4096 * fetched)
            self.assertEqual(self.counted(file, "pages_migrated"), 1)  # to whoever was first
            self.assertEqual(self.counted(file, "pages_written_back"), 1)  # for the CPU

    def test_bytes_that_came_over_the_fabric_reach_the_cpu_from_a_gpu_that_has_only_read_them(self):
        self.write("w.yaml", "module: turns.ptx\nbuffers:\n  table: {type: u32, count: 1024, memory: managed}\n"
                   "  sums: {type: u32, count: 128, memory: managed}\nprogram:\n"
                   "  - launch: {kernel: turns, gpu: 0, grid: [1], block: [512], arguments: [table, 0, 2, 3]}\n"
                   "  - synchronize\n"
                   "  - launch: {kernel: look, gpu: 1, grid: [1], block: [128], arguments: [table, sums, 4]}\n"
                   "  - synchronize\n  - read: table\n  - save: table\n")
        with self.run_it(self.shared(["workload: w.yaml, gpus: [0, 1]"], "migrate"), "o.h5", "--check",
                         "--overwrite") as file:
            self.assertEqual(self.counted_on(file, 1, "pages_fetched"), 1)
            self.assertEqual(self.counted_on(file, 1, "pages_written_back"), 1)
            self.assertEqual(int(file["buffers/t0/table"][0]), 3 * 3 * 3 + 2 * 3 + 1)

    def test_a_copy_of_a_page_comes_from_a_gpu_that_has_one(self):
        self.write("w.yaml", readers(3, False))
        with self.run_it(self.shared(["workload: w.yaml, gpus: [0, 1, 2]"], "duplicate", 3), "o.h5", "--check",
                         "--overwrite") as file:
            self.assertEqual(self.counted(file, "pages_migrated"), 8)
            self.assertEqual(self.counted(file, "pages_fetched"), 2 * 8)

    def test_evicted_page_route_to_a_neighbour_and_come_back_or_are_reached_there(self):
        self.write("w.yaml", spilling(3, 3))
        tenant = ["workload: w.yaml, gpus: [0, 1, 2]"]
        little = "override: {gpu.memory.capacity: 96KiB, host.link_bandwidth: 500MB/s}"
        for policy in ("migrate", "remote"):
            ended = {}
            for spill in ("host", "neighbour", "least-loaded"):
                with self.subTest(policy, spill=spill):
                    choice = f"{{name: {policy}, stays: 0us, spill: {spill}}}"
                    scenario = self.shared(tenant, choice, 3, override=little)
                    with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                        ended[spill] = float(file["tenants"]["end"][0])
                        self.assertGreater(self.counted_on(file, 0, "pages_evicted"), 10)
                        spilled = self.counted_on(file, 0, "pages_spilled")
                        if spill == "host":
                            self.assertEqual(spilled, 0)
                        else:
                            self.assertGreater(spilled, 8)
                            again = "pages_fetched" if policy == "migrate" else "faults_remote"
                            self.assertGreater(self.counted_on(file, 0, again), 8)
            self.assertLess(ended["neighbour"], ended["host"])

    def test_policies_that_change_their_minds_with_each_fault_leave_the_right_bytes(self):
        self.write("w.yaml", crowd(3).replace("[64]", "[16]"))
        choices = ("{name: grit, faults: 1, threshold: 1, stays: 0us}",
                   "{name: grit, faults: 2, threshold: 3, stays: 0us}",
                   "{name: remote, threshold: 1, stays: 0us, spill: neighbour}",
                   "{name: driver, events: 1, pin: 1us, stays: 0us, spill: least-loaded}")
        for choice in todays(choices):
            for batch in ("per-page", "all-waiting"):
                with self.subTest(choice, batch=batch):
                    scenario = self.shared(["workload: w.yaml, gpus: [0, 1, 2]"], choice, 3,
                                           override="override: {gpu.memory.capacity: 176KiB}")
                    text = scenario.read_text().replace("prefetcher: none", "prefetcher: tree")
                    scenario.write_text(text.replace("handling: 1us", f"handling: 1us, batch: {batch}"))
                    with self.run_it(scenario, "o.h5", "--check", "--overwrite") as file:
                        moved = self.counted(file, "pages_fetched") + self.counted(file, "pages_migrated")
                        self.assertGreater(moved, 20)

    def test_a_tenant_that_ends_by_a_mistake_leaves_nothing_under_way(self):
        launches = "".join(f"  - launch: {{kernel: turns, gpu: {g}, grid: [{90 if g == 1 else 64}], block: [512], "
                           f"arguments: [words, {g}, 3, 30]}}\n" for g in range(3))
        self.write("w.yaml", f"module: turns.ptx\nbuffers:\n  words: {{type: u32, count: {64 * 512 * 3}, "
                             f"memory: managed}}\nprogram:\n{launches}  - synchronize\n")
        for policy in todays(POLICIES):
            with self.subTest(policy):
                choice = f"{{name: {policy}, stays: 0us, spill: neighbour}}"
                scenario = self.shared(["workload: w.yaml, gpus: [0, 1, 2]"], choice, 3,
                                       override="override: {gpu.memory.capacity: 144KiB}")
                run = self.lockstep("run", scenario, "--quiet", "--output", "o.h5", "--overwrite")
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertIn("outside of every buffer", run.stderr)

    def test_a_policy_that_maps_pages_is_refused_without_ways(self):
        self.write("w.yaml", storm(2, 2))
        tenants = ["workload: w.yaml, gpus: [0, 1]"]
        self.assert_refused(self.machine(tenants, "gpus: 2", "policies: {peer_policy: remote}"),
                            "GPU 0 has no way to GPU 1", "fabric: nvswitch2")
        pairs = "fabric: {name: f, kind: direct, rate: 5GB/s, pairs: [{gpus: [0, 1]}]}"
        self.write("three.yaml", storm(3, 2))
        self.assert_refused(self.machine(["workload: three.yaml, gpus: [0, 1, 2]"], "gpus: 3",
                                         f"policies: {{peer_policy: remote}}\n{pairs}"),
                            "GPU 0 has no way to GPU 2", "fabric.pairs")
        self.run_it(self.machine(tenants, "gpus: 3", f"policies: {{peer_policy: remote}}\n{pairs}"), "o.h5",
                    "--overwrite").close()

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
        for policy in todays(POLICIES):
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
            choice = f"{{name: {policy}, spill: {'neighbour' if policy in ('migrate', 'remote') else 'host'}}}"
            yield policy, self.shared([GRAPH, "workload: w.yaml, gpus: [1, 0]", f"{COPIED}, gpu: 1"], choice,
                                      more=recorded, override="override: {gpu.memory.capacity: 512KiB}")

    def assert_equal_files(self, one, other):
        difference = self.lockstep("diff", one, other)
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_threads_and_ranks(self):
        for title, scenario in todays(self.scenarios()):
            self.run_it(scenario, "first.h5", "--check", "--overwrite").close()
            for threads, ranks in LAYOUTS:
                with self.subTest(title, threads=threads, ranks=ranks):
                    self.run_it(scenario, "other.h5", "--check", "--overwrite", "--threads", threads,
                                ranks=ranks).close()
                    self.assert_equal_files("first.h5", "other.h5")

    def test_interrupted_and_resumed(self):
        for title, scenario in todays(self.scenarios()):
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
