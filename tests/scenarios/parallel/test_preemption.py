"""A more urgent tenant takes SMs from another one (policies.preemption)."""
import re
import unittest

import h5py

from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"
TECHNIQUES = ("none", "drain", "switch", "flush", "chimera", "chimera-plus", "dual-kernel")


def text(policies, second="{n: 4096}", more=""):
    return (f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: 20us}}\npolicies: {{{policies}}}\n"
            "tenants:\n"
            f"  - {{name: batch, workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 128}}}}\n"
            f"  - {{name: urgent, workload: {WORKLOADS}/vector_add.yaml, parameters: {second}, priority: 1,"
            f" arrival: 20us, latency_bound: 2us{more}}}\n")


def preempted(technique, scheme="replay-queue"):
    return f"preemption: {technique}, exception_scheme: {scheme}"


def again(technique, arrivals="{poisson: 15us, count: 6}", more=""):
    """Blocks of an urgent task come again and again while another tenant keeps the GPU busy."""
    return (text(preempted(technique), "{blocks: 6, rounds: 10}", f", deadline: 30us{more}")
            .replace("vector_add", "urgent").replace("parameters: {n: 128}", "parameters: {n: 128}, relaunch: true")
            .replace("arrival: 20us", f"arrivals: {arrivals}"))


class Preemption(ScenarioTest):
    def run_checked(self, output, *options, ranks=0):
        done = self.lockstep("run", "scenario.yaml", "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)

    def counts(self, name):
        with h5py.File(self.folder / name, "r") as file:
            stats = file["final/stats"]
            end = dict(zip(file["tenants"]["tenant"].astype(str), file["tenants"]["end"]))
            return end, {key: stats[f"dispatcher/{key}"][()].sum(axis=0).tolist()
                         for key in ("sms_taken", "preemption_time", "blocks_returned", "blocks_moved",
                                     "blocks_restarted", "wasted_instructions")}, {
                key: int(stats[f"sm/{key}"][()].sum())
                for key in ("blocks_saved", "blocks_restored", "blocks_flushed", "flushed_instructions")}

    def test_the_urgent_tenant_ends_sooner_the_other_later_and_results_are_right(self):
        ends = {}
        for technique in TECHNIQUES:
            self.write("scenario.yaml", text(preempted(technique)))
            self.run_checked("out.h5")
            ends[technique], dispatcher, sm = self.counts("out.h5")
            taken = technique != "none"
            self.assertEqual(dispatcher["sms_taken"][0] > 0, taken)
            self.assertEqual(dispatcher["preemption_time"][1] > 0, taken)
            self.assertEqual(sm["blocks_saved"] > 0, technique == "switch")
            self.assertEqual(sm["blocks_saved"], sm["blocks_restored"])
            self.assertEqual(sm["blocks_flushed"] > 0, technique in ("flush", "chimera", "chimera-plus", "dual-kernel"))
            self.assertEqual(sm["blocks_flushed"], sum(dispatcher["blocks_restarted"]))
            self.assertEqual(sm["flushed_instructions"], dispatcher["wasted_instructions"][0])
        for technique in TECHNIQUES[1:]:
            self.assertLess(ends[technique]["urgent"], ends["none"]["urgent"])
            self.assertGreater(ends[technique]["batch"], ends["none"]["batch"])

    def test_blocks_that_wait_for_pages_are_taken_as_well(self):
        policies = preempted("switch", "{name: operand-log, bytes: 16KiB}") + ", prefetcher: none"
        self.write("scenario.yaml", text(policies).replace("sgemm.yaml, parameters: {n: 128}", "managed_add.yaml"))
        self.run_checked("out.h5")
        _, dispatcher, sm = self.counts("out.h5")
        self.assertGreater(sm["blocks_saved"], 0)
        self.assertEqual(sm["blocks_saved"], sm["blocks_restored"])

    def test_contexts_hold_the_registers_that_their_kind_says(self):
        saved = {}
        for kind in ("occupied", "live", "live-compressed"):
            self.write("scenario.yaml", text(preempted(f"{{name: switch, context: {kind}}}")))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                stats = file["final/stats/sm"]
                occupied, live, saved[kind] = stats["context_parts"][()].sum(axis=(0, 1)).tolist()[:3]
                registers = stats["context_registers"][()].sum(axis=(0, 1)).tolist()
                self.assertEqual(stats["context_bytes_saved"][()].sum(), stats["context_parts"][..., 2:5].sum())
            self.assertLess(live, occupied)
            self.assertEqual(sum(registers) > 0, kind == "live-compressed")
            if kind == "occupied":
                self.assertEqual(saved[kind], occupied)
        self.assertGreater(saved["occupied"], saved["live"])
        self.assertGreater(saved["live"], saved["live-compressed"])

    def test_blocks_stop_at_points_if_they_are_to(self):
        for points in ("none", "selective"):
            self.write("scenario.yaml", text(preempted(f"{{name: switch, context: live, points: {points}}}")))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                stats = file["final/stats"]
                stops = stats["sm/context_stops"][()].sum(axis=(0, 1)).tolist()
                placed = [int(stats[f"dispatcher/{key}"][()].sum()) for key in ("points", "barrier_points")]
                passed = stats["sm/points_passed"][()].sum(axis=(0, 1))
                lines = int(stats["sm/context_lines"][()].sum())
                moved = sum(int(stats[f"sm/context_bytes_{way}"][()].sum()) for way in ("saved", "restored"))
            fault, barrier, barrier_point, point, asleep, elsewhere = stops
            self.assertEqual((fault, asleep), (0, 0))
            self.assertGreater(barrier + barrier_point + elsewhere, 0)
            self.assertEqual(barrier_point + point > 0, points == "selective")
            self.assertEqual(sum(placed) > 0, points == "selective")
            self.assertEqual((passed > 0).tolist(), [count > 0 for count in placed])
            self.assertGreaterEqual(128 * lines, moved)
            self.assertEqual(elsewhere > 0, points == "none")

    def test_in_place_less_goes_through_memory(self):
        counts = {}
        for in_place in ("false", "true"):
            self.write("scenario.yaml", again(f"{{name: switch, in_place: {in_place}}}", "{every: 20us, count: 4}"))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                stats = file["final/stats/sm"]
                counts[in_place] = {name: int(stats[name][()].sum()) for name in
                                    ("context_bytes_saved", "blocks_saved", "blocks_restored")}
                counts[in_place]["kept"] = int(stats["context_parts"][..., 5].sum())
        self.assertEqual(counts["false"]["kept"], 0)
        self.assertGreater(counts["true"]["kept"], 0)
        self.assertGreater(counts["true"]["blocks_saved"], 0)
        saved = {key: each["context_bytes_saved"] / each["blocks_saved"] for key, each in counts.items()}
        self.assertLess(saved["true"], saved["false"])

    def test_in_place_three_priorities_end(self):
        """What two grids would leave on one SM does not keep a third from it."""
        third = (f"  - {{name: first, workload: {WORKLOADS}/reduction.yaml, priority: 2, latency_bound: 2us, "
                 "arrivals: {every: 23us, count: 3}}\n")
        self.write("scenario.yaml", again("{name: switch, in_place: true}", "{every: 20us, count: 4}") + third)
        self.run_checked("out.h5")
        _, dispatcher, sm = self.counts("out.h5")
        self.assertGreater(sm["blocks_saved"], 0)
        self.assertEqual(sm["blocks_saved"], sm["blocks_restored"])

    def test_switching_and_preemption_save_alike(self):
        self.assertRegex(
            self.refused(preempted("{name: switch, context: live}") + ", block_switching: on-fault"),
            r"scenario\.yaml:\d+:\d+: policies\.preemption and policies\.block_switching save blocks with different")

    def test_every_layout_writes_the_same(self):
        for technique in ("{name: switch, context: live-compressed-block, points: selective, in_place: true}",
                          "chimera",
                          "{name: dual-kernel, rounds: serial, points: selective}",
                          "{name: dual-kernel, drain_estimate: quantile, drain_quantile: 90}",
                          "{name: planned, plan: plan.yaml}",
                          "{name: switch, traffic: share, signal: 9000}, sharing: {name: time-sliced, slice: 20us}"):
            self.write("scenario.yaml", again(technique))
            self.write("plan.yaml", "".join(f"- {{urgent: {kernel}, others: {('drain', 'switch')[kernel % 2]}}}\n"
                                            for kernel in range(9)))
            self.run_checked("one.h5", "--threads", 1)
            for name, threads, ranks in (("threads.h5", 2, 0), ("two.h5", 1, 2), ("three.h5", 1, 3)):
                self.run_checked(name, "--threads", threads, ranks=ranks)
                done = self.lockstep("diff", "one.h5", name)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_run_stopped_amid_the_tasks_goes_on_to_the_same_bits(self):
        def run(output, *options, status=0, ranks=0):
            done = self.lockstep("run", "scenario.yaml", "--output", output, *options, ranks=ranks)
            self.assertEqual(done.returncode, status, done.stderr)
        for technique, threads, ranks in (("dual-kernel", 2, 0),
                                          ("{name: dual-kernel, drain_estimate: quantile}", 1, 2)):
            self.write("scenario.yaml", again(technique))
            run("whole.h5")
            run("part.h5", "--checkpoint-at-stop", "--set", "simulation.stop_at=61us", status=4)
            run("part.h5", "--resume", "part.ckpt", "--threads", threads, ranks=ranks)
            done = self.lockstep("diff", "whole.h5", "part.h5")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_stays_on_chip_needs_places_side_by_side(self):
        self.write("scenario.yaml", text(preempted("{name: switch, in_place: true}")))
        done = self.lockstep("validate", "scenario.yaml", "--set", "gpu.sm.placement=aligned")
        self.assertRegex(done.stderr, r"^lockstep: scenario\.yaml:\d+:\d+: policies\.preemption in_place .* and "
                                      r"gpu\.sm\.placement aligned .*\n$")

    def test_parts_of_sms_are_made_room_in_by_switching_alone(self):
        for technique in ("drain", "flush", "chimera", "dual-kernel"):
            self.assertRegex(self.refused(preempted(technique) + ", sharing: smk"),
                             rf"scenario\.yaml:\d+:\d+: policies\.preemption {technique} takes whole .*smk lets all")
        for more in ("in_place: true", "signal: 1000"):
            self.assertRegex(self.refused(preempted(f"{{name: switch, {more}}}") + ", sharing: smk"),
                             r"scenario\.yaml:\d+:\d+: policies\.preemption switch has in_place or a signal, .*smk")

    def test_contexts_must_fit_into_memory(self):
        self.write("scenario.yaml", text(preempted("switch")))
        done = self.lockstep("validate", "scenario.yaml", "--set", "gpu.memory.capacity=1MiB")
        self.assertRegex(done.stderr, r"^lockstep: scenario\.yaml:\d+:\d+: contexts of \d+ blocks of \d+ bytes .*"
                                      r"leave nothing of gpu\.memory\.capacity.*\n$")

    def test_dual_kernel_shares_no_sms_that_tenants_own(self):
        self.assertRegex(self.refused(preempted("dual-kernel") + ", sharing: spatial"),
                         r"scenario\.yaml:\d+:\d+: policies\.preemption dual-kernel takes whole SMs .*spatial gives")

    def test_tenants_have_the_gpu_in_turn_if_it_has_time_slices(self):
        policies = preempted("switch") + ", sharing: {name: time-sliced, slice: 15us}"
        second = f"workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 128}}"
        same = re.sub(r"workload: \S+vector_add.yaml, parameters: {n: 4096}, priority: 1", second, text(policies))
        self.write("scenario.yaml", same)
        self.run_checked("out.h5")
        ends, counts, sm = self.counts("out.h5")
        self.assertGreater(min(counts["sms_taken"]), 3)
        self.assertGreater(min(counts["blocks_moved"][0], sm["blocks_restored"]), 0)
        self.write("scenario.yaml", same.replace(policies, preempted("none")))
        self.run_checked("out.h5")
        in_order, _, _ = self.counts("out.h5")
        self.assertGreater(ends["batch"], in_order["batch"])

    def test_time_slices_need_whole_sms(self):
        for technique in ("none", "dual-kernel"):
            said = self.refused(preempted(technique) + ", sharing: time-sliced")
            self.assertRegex(said, r"scenario\.yaml:\d+:\d+: policies\.sharing time-sliced gives each .*"
                                   f"{technique} takes no whole SMs")

    def test_time_slices_throw_nothing_away(self):
        for technique in ("flush", "chimera", "chimera-plus"):
            said = self.refused(preempted(technique) + ", sharing: time-sliced")
            self.assertRegex(said, rf"scenario\.yaml:\d+:\d+: .*{technique} may throw away what a block did .*"
                                   r" - choose preemption: drain or switch")

    def test_signals_let_one_sm_after_the_other_make_room(self):
        self.write("scenario.yaml", text(preempted("{name: switch, signal: 20000}")))
        self.run_checked("out.h5")
        with h5py.File(self.folder / "out.h5", "r") as file:
            rows = file["preemptions"][()]
        rows = rows[rows["urgent"] == rows["grid"]]
        self.assertGreater(len(set(rows["asked"].tolist())), 4)
        self.assertGreater(len(set(rows["sm"].tolist())), 1)

    def test_each_block_that_made_room_has_a_row(self):
        for technique, does in (("drain", b"drain"), ("switch", b"switch"), ("flush", b"flush")):
            self.write("scenario.yaml", text(preempted(technique)))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                rows = file["preemptions"][()]
                saved = int(file["final/stats/sm/context_bytes_saved"][()].sum())
            self.assertEqual(set(rows["technique"]), {does})
            self.assertTrue((rows["released"] > rows["asked"]).all())
            self.assertEqual(set(rows["bound"]), {2 * 10**9})
            self.assertTrue(((rows["stopped"] >= rows["asked"]) & (rows["stopped"] <= rows["released"])).all())
            in_time = rows["released"] - rows["asked"] <= rows["bound"]
            self.assertEqual(rows["kept"].tolist(), [b"yes" if one else b"no" for one in in_time])
            self.assertEqual(rows["bytes"].sum(), saved)
            self.assertEqual((rows["returned"] < 2**63 - 1).all(), technique != "drain")
            self.assertTrue((rows["returned"] >= rows["released"]).all())
            of_parts = rows["register_bytes"].astype(int) + rows["shared_bytes"]
            self.assertTrue((of_parts <= rows["bytes"]).all())
            self.assertEqual((of_parts > 0).all(), technique == "switch")
            self.assertEqual((rows["lost"] > 0).any(), technique == "flush")

    def test_estimates_say_what_they_go_by(self):
        self.write("scenario.yaml", text(preempted("dual-kernel")))
        self.run_checked("out.h5")
        with h5py.File(self.folder / "out.h5", "r") as file:
            rows, stats = file["preemptions"][()], file["final/stats/dispatcher"]
            chosen, widened = (int(stats[key][()].sum()) for key in ("places_chosen", "places_widened"))
            candidates = int(stats["candidates"][()].sum())
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertEqual(row["predictor"] == b"-", row["technique"] != b"drain")
            self.assertLessEqual(row["executed"] > 0, row["cycles"] > 0)
            self.assertLessEqual(row["technique"] == b"flush", row["idempotent"] == 1)
        self.assertGreater(chosen, 0)
        self.assertLessEqual(widened, chosen)
        self.assertLessEqual(chosen, candidates)

    def test_without_traffic_a_context_takes_what_its_stated_registers_take(self):
        waits = {}
        for traffic in ("share", "real"):
            (self.folder / "few.yaml").write_text(
                (WORKLOADS / "sgemm.yaml").read_text().replace("module: ", f"module: {WORKLOADS}/")
                .replace("launch: {", "launch: {registers: 8, "))
            self.write("scenario.yaml", text(preempted(f"{{name: switch, traffic: {traffic}}}")).replace(
                f"{WORKLOADS}/sgemm.yaml", "few.yaml"))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                rows = file["preemptions"][()]
            waits[traffic] = (rows["released"] - rows["asked"]).astype(int)
            self.assertGreater(len(rows), 0)
            self.assertTrue((rows["register_bytes"] > 256 * 8 * 4).all())
        self.assertEqual(len(set((waits["share"] // 10**8).tolist())), 1)
        self.assertLess(waits["share"].max(), waits["real"].max())

    def test_what_is_flushed_does_not_count_as_executed(self):
        executed = {}
        for technique in ("none", "flush"):
            self.write("scenario.yaml", text(preempted(technique)))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                executed[technique] = file["tenants"]["warp_instructions"].tolist()
        self.assertEqual(executed["flush"], executed["none"])

    def refused(self, policies):
        self.write("scenario.yaml", text(policies))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_a_kernel_that_begins_with_an_atomic_can_never_be_flushed(self):
        (self.folder / "queue.ptx").write_text(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry take(.param .u64 head) {\n"
            "  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n  ld.param.u64 %rd1, [head];\n"
            "  atom.global.add.u32 %r1, [%rd1], 1;\n  ret;\n}\n")
        (self.folder / "queue.yaml").write_text(
            "module: queue.ptx\nbuffers:\n  head: {type: u32, count: 1, memory: device}\n"
            "program:\n  - launch: {kernel: take, grid: [64], block: [64], arguments: [head]}\n"
            "  - copy: {buffer: head, to: host}\n")
        self.write("scenario.yaml", text(preempted("flush")).replace(
            f"{WORKLOADS}/sgemm.yaml, parameters: {{n: 128}}", "queue.yaml"))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertRegex(done.stderr, r"scenario\.yaml:6:5: kernel take of tenant batch begins with .* flush can never")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_an_oracle_knows_blocks_from_an_earlier_run_of_the_same_scenario(self):
        self.write("scenario.yaml", again("none"))
        self.run_checked("alone.h5", "--set", "simulation.record_blocks=true")
        self.write("scenario.yaml", again("{name: oracle, profile: alone.h5}"))
        self.run_checked("out.h5")
        with h5py.File(self.folder / "alone.h5", "r") as file:
            kernels, blocks = file["kernels"][()], file["thread_blocks"][()]
            end = file["tenants"]["end"][0]
        batch = [row for row in range(len(kernels)) if kernels[row]["tenant"] == 0 and kernels[row]["done"] <= end]
        of_batch = blocks[[grid in batch for grid in blocks["grid"]]]
        longest = int((of_batch["done"] - of_batch["started"]).max())
        with h5py.File(self.folder / "out.h5", "r") as file:
            rows = file["preemptions"][()]
        drained = rows[(rows["technique"] == b"drain") & (rows["expected"] < 2**62)]
        self.assertGreater(len(drained), 0)
        self.assertLessEqual(int(drained["expected"].max()), longest)

    def test_a_profile_may_end_amid_a_kernel_of_a_tenant_that_is_launched_again(self):
        def until_the_last_task(technique):
            return (again(technique, "{every: 130us, count: 4}").replace("sgemm", "hotspot")
                    .replace("{n: 128}", "{width: 128, height: 128, steps: 2, launches: 6}"))
        self.write("scenario.yaml", until_the_last_task("none"))
        self.run_checked("alone.h5", "--set", "simulation.record_blocks=true")
        with h5py.File(self.folder / "alone.h5", "r") as file:
            kernels, ran = file["kernels"][()], file["thread_blocks"]["grid"].tolist()
        cut = [row for row, kernel in enumerate(kernels) if kernel["done"] < 2**63 - 1
               and ran.count(row) < kernel["blocks_x"] * kernel["blocks_y"] * kernel["blocks_z"]]
        self.assertNotEqual(cut, [])
        self.write("scenario.yaml", until_the_last_task("{name: oracle, profile: alone.h5}"))
        self.run_checked("out.h5")

    def test_an_oracle_refuses_what_is_no_profile_of_the_scenario(self):
        self.write("scenario.yaml", text(preempted("none")))
        self.run_checked("no_blocks.h5")
        self.run_checked("other.h5", "--set", "tenants.0.parameters.n=64", "--set", "simulation.record_blocks=true")
        self.run_checked("drained.h5", "--set", "policies.preemption=drain", "--set", "simulation.record_blocks=true")
        for profile, said in (("no_blocks.h5", "does not say how long blocks ran"),
                              ("other.h5", "is a profile of another scenario: .*n"),
                              ("drained.h5", "is of a run whose blocks were preempted, with drain"),
                              ("absent.h5", "absent.h5")):
            said_all = self.refused(preempted(f"{{name: oracle, profile: {profile}}}"))
            self.assertRegex(said_all, rf"{profile}: .*{said}|{said}", profile)
        self.assertRegex(self.refused(preempted("oracle")), r"scenario\.yaml:\d+:\d+: .*name the output")

    def test_tenants_with_sms_of_their_own_cannot_take_any(self):
        self.assertRegex(self.refused("preemption: drain, sharing: spatial"),
                         r"scenario\.yaml:\d+:\d+: policies\.preemption drain takes whole SMs")

    def test_a_program_that_arrives_again_and_again_has_a_row_for_each_start(self):
        def rows(arrivals, seed=1):
            self.write("scenario.yaml", again("flush", arrivals).replace("epoch: 20us", f"epoch: 20us, seed: {seed}"))
            self.run_checked("out.h5")
            with h5py.File(self.folder / "out.h5", "r") as file:
                self.assertEqual(int(file["tenants"]["rounds"][1]), 6)
                table = file["arrivals"][()]
            return table[table["tenant"] == 1]
        every = rows("{every: 15us, count: 6}")
        self.assertEqual((every["arrival"] // 10**9).tolist(), [0, 15, 30, 45, 60, 75])
        self.assertTrue((every["began"] >= every["arrival"]).all())
        self.assertTrue((every["began"][1:] >= every["ended"][:-1]).all())
        self.assertTrue(((every["ended"] <= every["arrival"] + 30 * 10**9) == (every["met"] == b"yes")).all())
        self.assertEqual((every["deadline"] - every["arrival"]).tolist(), [30 * 10**9] * 6)
        at = rows("{at: [1us, 2us, 3us, 40us, 41us, 200us]}")
        self.assertEqual((at["arrival"] // 10**9).tolist(), [1, 2, 3, 40, 41, 200])
        one, same, other = (rows("{poisson: 15us, count: 6}", seed)["arrival"].tolist() for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        gaps = [b - a for a, b in zip([0] + one, one)]
        self.assertTrue(all(gap > 0 for gap in gaps) and len(set(gaps)) == 6)
        uniform = rows("{uniform: [5us, 9us], count: 6}")["arrival"].tolist()
        self.assertTrue(all(5 * 10**9 <= b - a <= 9 * 10**9 for a, b in zip([0] + uniform, uniform)))

    def test_mistakes_in_arrivals_are_one_line(self):
        for arrivals, said in (("{every: 0us, count: 6}", "no time between arrivals"),
                               ("{every: 5us}", "count"), ("{every: 5us, count: 0}", "no number of arrivals"),
                               ("{at: [5us, 4us]}", "before the arrival before it"), ("{at: []}", "no times"),
                               ("{uniform: [5us, 4us], count: 3}", "least and the largest"),
                               ("{count: 3}", "write one of every, uniform, poisson and at"),
                               ("{poisson: 5us, count: 3, every: 2us}", "poisson"),
                               ("{every: 5us, count: 3}, relaunch: true", "leave one of them out")):
            self.write("scenario.yaml", again("flush", arrivals))
            done = self.lockstep("validate", "scenario.yaml")
            self.assertNotEqual(done.returncode, 0, arrivals)
            self.assertRegex(done.stderr, rf"^lockstep: scenario\.yaml:7:\d+: .*{said}.*\n$", arrivals)

    def test_a_deadline_lies_behind_the_arrival(self):
        self.write("scenario.yaml", again("flush").replace("deadline: 30us", "deadline: 0us"))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertRegex(done.stderr, r"scenario\.yaml:7:\d+: .*deadline.* lies before the arrival")

    def test_one_that_chooses_by_a_bound_needs_one(self):
        self.write("scenario.yaml", text(preempted("chimera")).replace(", latency_bound: 2us", ""))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertRegex(done.stderr, r"scenario\.yaml:7:5: tenant urgent may take SMs.* give it a latency_bound")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_bound_needs_code_that_can_stop(self):
        self.write("scenario.yaml", text(preempted("{name: switch, points: selective}"))
                   .replace("sgemm.yaml, parameters: {n: 128}", "vector_add.yaml, parameters: {n: 65536}"))
        done = self.lockstep("run", "scenario.yaml", "--output", "out.h5")
        self.assertRegex(done.stderr, r"scenario\.yaml:6:5: kernel \w+ of tenant batch has no preemption points: .*"
                                      r"tenant urgent has a latency_bound")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_bound_is_a_time(self):
        self.write("scenario.yaml", text(preempted("chimera")).replace("latency_bound: 2us", "latency_bound: 0us"))
        done = self.lockstep("validate", "scenario.yaml")
        self.assertRegex(done.stderr, r"scenario\.yaml:7:\d+: .*latency_bound.* write more than 0us")

    def test_a_scheme_that_stalls_can_be_flushed(self):
        self.write("scenario.yaml", text(preempted("flush", "stall-on-fault")))
        self.run_checked("out.h5")
        self.assertGreater(self.counts("out.h5")[2]["blocks_flushed"], 0)


if __name__ == "__main__":
    unittest.main()
