"""Tenants that share: relaunch, instructions, and `lockstep compare`."""
import unittest

import h5py
import yaml

from harness import ROOT, ScenarioTest

NEVER = 2**63 - 1

# By device memory only, so that short rounds are short; four SMs, two for each.
SCENARIO = """\
gpu: {root}/configs/gpus/tiny.yaml
host: {root}/configs/hosts/pcie3.yaml
simulation: {{epoch: 5us}}
policies: {{sharing: spatial}}
tenants:
  - {{name: long, workload: {root}/configs/workloads/bfs.yaml, sms: 1, arrival: 3us,
     parameters: {{vertices: 512, edges: 4096}}{long}}}
  - {{name: short, workload: {root}/configs/workloads/sgemm.yaml, sms: 3, parameters: {{n: 32}}{short}}}
"""


class Sharing(ScenarioTest):
    def share(self, long="", short=""):
        return self.write("s.yaml", SCENARIO.format(root=ROOT, long=long, short=short))

    def run_it(self, output="s.h5", *arguments, ranks=0, status=0):
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", output, *arguments, ranks=ranks)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def tenants(self, output="s.h5"):
        with h5py.File(self.folder / output) as file:
            rows = file["tenants"][:]
            return {row["tenant"].decode(): row for row in rows}

    def totals(self, output="s.h5", counter="stats/sm/warp_instructions"):
        with h5py.File(self.folder / output) as file:
            return file[counter][:].sum(axis=(0, 1))

    def assert_same_in_every_layout(self):
        for threads, ranks in ((2, 0), (1, 2)):
            with self.subTest(threads=threads, ranks=ranks):
                self.run_it("other.h5", "--threads", threads, "--check", ranks=ranks)
                diff = self.lockstep("diff", "s.h5", "other.h5")
                self.assertEqual(diff.returncode, 0, diff.stdout)

    def assert_error(self, *parts, command):
        run = self.lockstep(*command)
        self.assertEqual(run.returncode, 1, run.stdout)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertTrue(lines[0].startswith("lockstep: "), run.stderr)
        for part in parts:
            self.assertIn(part, lines[0])


class Relaunch(Sharing):
    def test_tenants_run_once_without_it(self):
        self.share()
        self.run_it()
        rows = self.tenants()
        self.assertEqual([rows[t]["rounds"] for t in ("long", "short")], [1, 1])
        self.assertGreater(rows["long"]["end"], 2 * rows["short"]["end"])
        for index, name in enumerate(("long", "short")):
            self.assertEqual(rows[name]["warp_instructions"], self.totals()[index])

    def test_short_tenant_keeps_contention_up_until_the_long_one_is_done(self):
        self.share()
        self.run_it("once.h5")
        self.share(short=", relaunch: true")
        self.run_it()
        once, again = self.tenants("once.h5"), self.tenants()
        for column in ("end", "cycles", "warp_instructions", "thread_instructions"):
            self.assertEqual(again["short"][column], once["short"][column], column)
        self.assertGreaterEqual(again["short"]["rounds"], 2)
        self.assertEqual(again["long"]["rounds"], 1)
        self.assertEqual(again["long"]["warp_instructions"], once["long"]["warp_instructions"])
        executed = self.totals()[1]
        self.assertGreaterEqual(executed,
                                again["short"]["rounds"] * again["short"]["warp_instructions"])
        with h5py.File(self.folder / "s.h5") as file:
            last = file["final/end"][()]
            launched = file["kernels"]["launched"][file["kernels"]["tenant"] == 1]
        self.assertGreater(launched[-1], again["short"]["end"])
        self.assertLess(last - again["long"]["end"], 50e9, "the run went on for more than 50 us")

    def test_both_may_start_over(self):
        self.share(long=", relaunch: true", short=", relaunch: true")
        self.run_it("s.h5", "--check")
        self.assertEqual(self.tenants()["long"]["rounds"], 1)

    def test_check_compares_what_the_first_round_left(self):
        self.share(short=", relaunch: true")
        run = self.run_it("s.h5", "--check")
        self.assertIn("check passed: long", run.stdout)
        self.assertIn("check passed: short", run.stdout)

    def test_layout_changes_nothing(self):
        self.share(short=", relaunch: true")
        self.run_it("s.h5", "--check")
        self.assert_same_in_every_layout()

    def test_managed_memory_is_released_and_faults_again(self):
        self.write("s.yaml", SCENARIO.format(root=ROOT, long="", short=", relaunch: true")
                   .replace("/sgemm.yaml", "/vector_add.yaml").replace("{n: 32}", "{n: 1024}")
                   .replace("/bfs.yaml", "/sgemm.yaml")
                   .replace("{vertices: 512, edges: 4096}", "{n: 192}"))
        self.run_it("s.h5", "--check")
        row = self.tenants()["short"]
        self.assertGreater(row["far_faults"], 0)
        self.assertGreaterEqual(row["rounds"], 2)
        faults = self.totals(counter="stats/host/far_faults")[1]
        self.assertGreaterEqual(faults, row["rounds"] * row["far_faults"])
        self.assert_same_in_every_layout()

    def test_tenants_are_stopped_in_the_middle_of_faults_and_evictions(self):
        tenant = ("  - {{name: {}, workload: " + str(ROOT) + "/configs/workloads/vector_add.yaml, "
                  "parameters: {{n: {}}}, sms: {}, relaunch: true{}}}\n")
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\n"
                   f"host: {ROOT}/configs/hosts/pcie3.yaml\n"
                   "policies: {sharing: spatial}\noverride: {gpu.memory.capacity: 1MiB}\n"
                   "tenants:\n" + tenant.format("a", 65536, 2, "") + tenant.format("b", 30000, 1, "")
                   + tenant.format("c", 100000, 1, ", instructions: 20000"))
        run = self.run_it("s.h5", "--check")
        self.assertIn("check passed: a", run.stdout)
        self.assertIn("check passed: b", run.stdout)
        self.assertGreater(self.totals(counter="stats/host/pages_evicted").sum(), 0)
        self.assert_same_in_every_layout()


class Instructions(Sharing):
    def test_tenant_is_measured_with_the_block_that_reaches_them(self):
        self.share()
        self.run_it("whole.h5")
        self.share(long=", instructions: 3000", short=", relaunch: true")
        run = self.run_it("s.h5", "--check")
        whole, row = self.tenants("whole.h5")["long"], self.tenants()["long"]
        self.assertGreaterEqual(row["warp_instructions"], 3000)
        self.assertLess(row["warp_instructions"], whole["warp_instructions"])
        self.assertLess(row["end"], whole["end"])
        self.assertAlmostEqual(row["instructions_per_cycle"],
                               row["warp_instructions"] / row["cycles"])
        self.assertEqual(row["rounds"], 0)
        self.assertIn("check of long: left out, since it was stopped", run.stdout)
        self.assertIn("check passed: short", run.stdout)

    def test_measured_tenant_runs_on_while_others_are_not_done(self):
        self.share(short=", instructions: 1000")
        self.run_it("s.h5", "--check")
        row = self.tenants()["short"]
        self.assertGreaterEqual(self.totals()[1], row["warp_instructions"])
        self.assertEqual(row["rounds"], 1)

    def test_program_that_ends_before_is_measured_at_its_end(self):
        self.share()
        self.run_it("without.h5")
        self.share(short=", instructions: 1000000000")
        self.run_it()
        for name in ("long", "short"):
            self.assertEqual(self.tenants()[name], self.tenants("without.h5")[name])

    def test_layout_changes_nothing(self):
        self.share(long=", instructions: 3000, relaunch: true", short=", relaunch: true")
        self.run_it("s.h5", "--check")
        self.assert_same_in_every_layout()


class Compare(Sharing):
    def compare(self, *arguments, ranks=0):
        run = self.lockstep("compare", *arguments, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def result(self, name="s.compare.yaml"):
        return yaml.safe_load((self.folder / name).read_text())

    def ipc(self, file, tenant):
        """From the counters, not from the program's own quotient."""
        row = self.tenants(file)[tenant]
        return float(row["warp_instructions"]) / float(row["cycles"])

    def assert_follows_from(self, result, shared, alone):
        names = list(alone)
        self.assertEqual(list(result["tenants"]), names)
        speed = {name: (self.ipc(alone[name], name), self.ipc(shared, name)) for name in names}
        for name in names:
            row = result["tenants"][name]
            self.assertAlmostEqual(row["ipc_alone"], speed[name][0])
            self.assertAlmostEqual(row["ipc_shared"], speed[name][1])
            self.assertAlmostEqual(row["slowdown"], speed[name][0] / speed[name][1])
        slowdowns = [alone / shared for alone, shared in speed.values()]
        self.assertAlmostEqual(result["weighted_speedup"], sum(1 / s for s in slowdowns))
        self.assertAlmostEqual(result["harmonic_speedup"], len(names) / sum(slowdowns))
        self.assertAlmostEqual(result["mean_slowdown"], sum(slowdowns) / len(names))
        self.assertAlmostEqual(result["maximum_slowdown"], max(slowdowns))
        self.assertAlmostEqual(result["ipc_throughput"], sum(s for _, s in speed.values()))

    FILES = {"long": "s-alone-long.h5", "short": "s-alone-short.h5"}

    def test_numbers_follow_from_the_files(self):
        self.share(short=", relaunch: true")
        out = self.compare("s.yaml", "--quiet")
        self.assert_follows_from(self.result(), "s.h5", self.FILES)
        for word in ("long", "short", "weighted speedup (STP)", "harmonic speedup", "mean slowdown (ANTT)",
                     "unfairness", "IPC throughput"):
            self.assertIn(word, out)

    def test_alone_is_the_same_part_of_the_machine_from_time_zero_and_once(self):
        self.share(short=", relaunch: true")
        self.compare("s.yaml", "--quiet")
        with h5py.File(self.folder / "s-alone-long.h5") as file:
            config = yaml.safe_load(file["config"][()])
            self.assertEqual(file["tenants"]["arrival"][0], 0)
        self.assertEqual([t["sms"] for t in config["tenants"]], [1])
        self.assertEqual(self.tenants("s-alone-short.h5")["short"]["rounds"], 1)
        blocks = self.totals_by_sm("s-alone-short.h5")
        self.assertEqual([b > 0 for b in blocks], [True, True, True, False])

    def totals_by_sm(self, output):
        with h5py.File(self.folder / output) as file:
            return file["stats/sm/blocks"][:].sum(axis=(0, 2))

    def test_alone_has_the_whole_gpu_when_tenants_take_turns(self):
        self.share()
        self.compare("s.yaml", "--quiet", "--set", "policies.sharing=exclusive")
        self.assert_follows_from(self.result(), "s.h5", self.FILES)
        self.assertTrue(all(b > 0 for b in self.totals_by_sm("s-alone-long.h5")))

    def test_settings_for_the_runs_alone_are_theirs_only(self):
        self.share()
        self.compare("s.yaml", "--quiet", "--alone-set", "policies.dram_scheduler=fcfs")
        for file, scheduler in (("s-alone-long.h5", "fcfs"), ("s-alone-short.h5", "fcfs"), ("s.h5", "fr-fcfs")):
            with h5py.File(self.folder / file) as output:
                chosen = yaml.safe_load(output["config"][()])["policies"]["dram_scheduler"]
            self.assertEqual(chosen["name"] if isinstance(chosen, dict) else chosen, scheduler)

    def test_says_who_waited_behind_whom(self):
        self.share()
        self.run_it()
        with h5py.File(self.folder / "s.h5") as file:
            for name, counter in (("l2_bank", "partition/l2_wait_behind"), ("dram", "partition/dram_wait_behind"),
                                  ("walkers", "gmmu/walker_wait_behind"), ("l2_evictions", "partition/evicted_by")):
                delays = file[f"interference/{name}"][:]  # of clocks of 1 GHz
                self.assertEqual(delays.tolist(), file[f"final/stats/{counter}"][:].sum(axis=0).tolist())
            self.assertTrue((file["interference/dram"][:] > 0).all())

    def test_files_go_to_a_folder(self):
        self.share()
        self.compare("s.yaml", "--quiet", "--output", "out")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()),
                         ["s-alone-long.h5", "s-alone-short.h5", "s.compare.yaml", "s.h5"])

    def test_finished_files_give_the_same(self):
        self.share()
        self.compare("s.yaml", "--quiet")
        first = self.result()
        arguments = ["--shared", "s.h5"]
        for name, file in self.FILES.items():
            arguments += ["--alone", f"{name}={file}"]
        self.compare(*arguments)
        self.assertEqual(self.result(), first)
        self.compare("s.yaml", "--alone", "long=s-alone-long.h5", "--quiet")
        self.assertEqual(self.result(), first)

    def test_every_layout_gives_the_same(self):
        self.share(short=", relaunch: true")
        self.compare("s.yaml", "--quiet")
        first = self.result()
        self.compare("s.yaml", "--quiet", "--threads", 2)
        self.assertEqual(self.result(), first)
        self.compare("s.yaml", "--quiet", ranks=2)
        self.assertEqual(self.result(), first)

    # Mistakes.

    def finished(self):
        self.share()
        self.compare("s.yaml", "--quiet")

    def test_nothing_to_compare(self):
        self.assert_error("nothing to compare", "--shared", command=["compare"])

    def test_unknown_tenant(self):
        self.finished()
        self.assert_error("no tenant medium", "long, short",
                          command=["compare", "s.yaml", "--alone", "medium=s-alone-long.h5"])

    def test_run_of_another_tenant(self):
        self.finished()
        for file in ("s-alone-short.h5", "s.h5"):
            self.assert_error(file, "not a run of tenant long alone",
                              command=["compare", "s.yaml", "--alone", f"long={file}"])

    def test_a_setting_for_the_runs_alone_must_be_one(self):
        self.share()
        self.assert_error("nobody", command=["compare", "s.yaml", "--alone-set", "policies.nobody=1"])

    def test_missing_alone_run(self):
        self.finished()
        self.assert_error("no run of tenant short alone", "--alone short=FILE",
                          command=["compare", "--shared", "s.h5", "--alone",
                                   "long=s-alone-long.h5"])

    def test_missing_file(self):
        self.share()
        self.assert_error("nothing.h5", "No such file",
                          command=["compare", "s.yaml", "--shared", "nothing.h5"])

    def test_form_of_alone(self):
        self.share()
        self.assert_error("--alone long", "tenant=FILE",
                          command=["compare", "s.yaml", "--alone", "long"])

    def test_file_of_a_run_that_has_not_finished(self):
        self.finished()
        with h5py.File(self.folder / "s.h5", "a") as file:
            del file["tenants"]
        self.assert_error("s.h5", "/tenants", "has not finished",
                          command=["compare", "s.yaml", "--shared", "s.h5"])

    def test_run_that_was_stopped_before_a_tenant_was_done(self):
        self.share()
        self.run_it("s.h5", "--set", "simulation.stop_at=10us", status=4)
        self.assertEqual(self.tenants()["long"]["end"], NEVER)
        self.assert_error("tenant long had not finished", "stop_at",
                          command=["compare", "s.yaml", "--shared", "s.h5", "--quiet"])

    def test_a_folder_that_cannot_be_made(self):
        self.share()
        self.write("file", "")
        self.assert_error("file/out: Not a directory", "choose another --output",
                          command=["compare", "s.yaml", "--output", "file/out"])


if __name__ == "__main__":
    unittest.main()
