"""Tenants on CPU cores beside tenants on the GPU (004, chapter 5)."""
import unittest

import h5py
import yaml

from harness import ROOT, ScenarioTest

MACHINE = ROOT / "configs/gpus/sms_16c1g.yaml"
TINY = ROOT / "configs/gpus/tiny.yaml"
HOST = ROOT / "configs/hosts/pcie3.yaml"
WORKLOADS = ROOT / "configs/workloads"
CORES_OF_TINY = "override: {gpu.cpu.cores: 3, gpu.memory.dram.write_queue: 0, gpu.memory.dram.gpu_queue: 16}\n"

# As a CPU core of 004 with its neighbours, from many misses to few: what Table 5.3 says of its misses, and what the
# kinds of models/workload/cpu/cpu_profiles.cpp say of the rest.
PROFILES = {
    "mcf": (155.3, 0.4, 4, 0.2), "lbm": (69.63, 0.9, 1.5, 0.25), "GemsFDTD": (63.61, 0.65, 2.2, 0.25),
    "soplex": (52.45, 0.9, 1.5, 0.25), "leslie3d": (38.13, 0.9, 1.5, 0.25), "libquantum": (26.27, 0.9, 1.5, 0.25),
    "xalancbmk": (22.32, 0.4, 4, 0.2), "milc": (21.93, 0.9, 1.5, 0.25), "omnetpp": (21.85, 0.4, 4, 0.2),
    "sphinx3": (17.24, 0.9, 1.5, 0.25), "cactusADM": (14.99, 0.65, 2.2, 0.25), "hmmer": (8.65, 0.65, 2.2, 0.25),
    "astar": (7.6, 0.4, 4, 0.2), "bzip2": (6.08, 0.65, 2.2, 0.25), "h264ref": (1.86, 0.9, 1.5, 0.25),
    "gromacs": (1.67, 0.65, 2.2, 0.25), "gobmk": (1.19, 0.4, 4, 0.2), "sjeng": (1.08, 0.4, 4, 0.2),
    "gcc": (0.33, 0.4, 4, 0.2), "wrf": (0.21, 0.9, 1.5, 0.25), "dealII": (0.14, 0.65, 2.2, 0.25),
    "namd": (0.11, 0.65, 2.2, 0.25), "perlbench": (0.11, 0.4, 4, 0.2), "calculix": (0.06, 0.9, 1.5, 0.25),
    "povray": (0.01, 0.65, 2.2, 0.25), "tonto": (0.01, 0.65, 2.2, 0.25),
}
DRAM_SCHEDULERS = ["fr-fcfs", "cfr-fcfs", "par-bs", "{name: atlas, quantum: 3000}", "{name: tcm, quantum: 3000}",
                   "{name: ctcm, quantum: 3000}", "sms"]

# Banks turn from writes to reads each by itself, and misses come evenly.
OTHER_MACHINE = ("--set", "gpu.memory.dram.turnaround=bank", "--set", "gpu.cpu.misses=spread")


class CoresTest(ScenarioTest):
    """A folder with s.yaml."""

    def scenario_file(self, tenants, gpu=TINY, more=CORES_OF_TINY, name="s.yaml"):
        return self.write(name, f"gpu: {gpu}\nhost: {HOST}\n{more}tenants:\n"
                          + "".join(f"  - {{{tenant}}}\n" for tenant in tenants))


class CpuCores(CoresTest):
    def four_tenants(self, **more):
        """One on the GPU, three on cores; they read again what they wrote."""
        self.write("t.txt", "".join(f"{i % 40} {i * 64 % 8192:#x} {i * 832 % 16384}\n" for i in range(2000)))
        return self.scenario_file([
            f"name: add, workload: {WORKLOADS}/vector_add.yaml, parameters: {{n: 4096}}, relaunch: true",
            "name: many, cpu: {profile: mcf, memory: 64KiB}, instructions: 20000",
            "name: few, cpu: {profile: astar, memory: 64KiB}, instructions: 100000, arrival: 3us",
            "name: traced, cpu: {trace: t.txt, memory: 64KiB}"], **more)

    def run_it(self, *arguments, output="s.h5", ranks=0):
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", output, *arguments, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def totals(self, kind, output="s.h5"):
        with h5py.File(self.folder / output) as file:
            return {name: int(values[...].sum()) for name, values in file[f"final/stats/{kind}"].items()}

    def rows(self, output="s.h5"):
        with h5py.File(self.folder / output) as file:
            return {row["tenant"].decode(): row for row in file["tenants"][:]}

    def test_a_profile_alone_does_what_it_says(self):
        """Within 5 %: misses, row locality, bank parallelism, share of writes."""
        for name, expected in PROFILES.items():
            with self.subTest(profile=name):
                instructions = int(40e6 / expected[0])
                self.scenario_file([f"name: one, cpu: {{profile: {name}}}, instructions: {instructions}"], gpu=MACHINE,
                                   more="simulation: {epoch: 1ms}\npolicies: {translation: ideal}\n")
                self.run_it()
                core, memory = self.totals("cpu"), self.totals("partition")
                rows = memory["row_hits"] + memory["row_misses"]
                found = (1000 * core["reads"] / core["instructions"], memory["row_hits"] / rows,
                         core["bank_cycles"] / core["outstanding_cycles"],
                         core["writes"] / (core["reads"] + core["writes"]))
                for quantity, got, wanted in zip(("misses", "rows", "banks", "writes"), found, expected):
                    self.assertAlmostEqual(got / wanted, 1, delta=0.05, msg=quantity)

    def test_all_layouts_and_dram_schedulers_give_the_same_bits(self):
        self.four_tenants()
        for scheduler, *more in (*((name,) for name in DRAM_SCHEDULERS), ("sms", *OTHER_MACHINE)):
            setting = ("--set", f"policies.dram_scheduler={scheduler}", *more)
            self.run_it(*setting, output="first.h5")
            layouts = [(2, 0), (1, 2), (1, 3)] if scheduler == "sms" else [(2, 0)]
            for threads, ranks in layouts:
                with self.subTest(scheduler=scheduler, more=more, threads=threads, ranks=ranks):
                    self.run_it(*setting, "--threads", threads, "--check", output="other.h5", ranks=ranks)
                    with h5py.File(self.folder / "other.h5", "r+") as file:
                        del file["final/digests"]
                    difference = self.lockstep("diff", "first.h5", "other.h5")
                    self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_what_cores_read_is_compared_with_what_they_wrote(self):
        self.four_tenants()
        printed = self.run_it("--check").stdout
        for name in ("many", "few", "traced"):
            self.assertRegex(printed, rf"check passed: {name}, [1-9]\d+ lines that it read")

    def test_a_core_has_a_row_in_its_own_cycles(self):
        self.four_tenants()
        self.run_it()
        rows = self.rows()
        self.assertEqual({name: row["runs_on"] for name, row in rows.items()},
                         {"add": b"gpu", "many": b"cpu", "few": b"cpu", "traced": b"cpu"})
        many, few = rows["many"], rows["few"]
        self.assertEqual(many["warp_instructions"], 20000)
        self.assertEqual(many["cycles"], many["end"] // 312500)
        self.assertEqual(few["cycles"], (few["end"] - few["arrival"]) // 312500)
        self.assertAlmostEqual(many["instructions_per_cycle"], 20000 / many["cycles"])
        self.assertGreater(few["instructions_per_cycle"], many["instructions_per_cycle"])
        self.assertEqual(rows["traced"]["warp_instructions"], sum(i % 40 + 1 for i in range(2000)))

    def test_the_gpu_notices_them_and_nothing_of_them_is_in_its_l2(self):
        self.four_tenants()
        self.run_it()
        with h5py.File(self.folder / "s.h5") as file:
            waited = file["interference/dram"][:]
            misses = file["final/stats/partition/sector_misses"][:].sum(axis=0)
        self.assertGreater(waited[0, 1], 0)
        self.assertGreater(waited[1, 0], 0)
        self.assertGreater(misses[0], 0)
        self.assertEqual(list(misses[1:]), [0, 0, 0])

    def outstanding(self, output):
        """Unanswered reads of mcf while it has any."""
        core = self.totals("cpu", output)
        return core["read_cycles"] / core["outstanding_cycles"]

    def test_spread_misses_are_more_at_a_time(self):
        self.scenario_file(["name: one, cpu: {profile: mcf}, instructions: 200000"], gpu=MACHINE,
                           more="policies: {translation: ideal}\n")
        for misses in ("grouped", "spread"):
            self.run_it("--set", f"gpu.cpu.misses={misses}", output=f"{misses}.h5")
        reads = self.totals("cpu", "spread.h5")
        self.assertAlmostEqual(1000 * reads["reads"] / reads["instructions"], 155.3, delta=1)
        # 128 instructions hold 128 * 155.3 / 1000 = 19.9 misses.
        self.assertLess(self.outstanding("spread.h5"), 20)
        self.assertGreater(self.outstanding("spread.h5"), 1.05 * self.outstanding("grouped.h5"))

    def test_banks_that_work_for_the_gpu_are_counted_beside_cores(self):
        self.four_tenants()
        self.run_it()
        with h5py.File(self.folder / "s.h5") as file:
            counts = {name: file[f"final/stats/partition/{name}"][:] for name in ("outstanding_cycles", "bank_cycles")}
            banks = file["final/stats/partition/outstanding_cycles"].shape[0] * 16
        for tenant in range(4):
            time, busy = (counts[name][:, tenant].sum() for name in ("outstanding_cycles", "bank_cycles"))
            self.assertGreater(time, 0)
            self.assertTrue(time <= busy <= banks * time)
        self.scenario_file([f"name: add, workload: {WORKLOADS}/vector_add.yaml, parameters: {{n: 4096}}"], more="")
        self.run_it()
        self.assertEqual(self.totals("partition")["bank_cycles"], 0)

    def test_the_more_a_frame_computes_the_less_the_gpu_asks_for(self):
        asked = []
        for work in (0, 64, 256):
            frames = f"name: frames, workload: {WORKLOADS}/frames.yaml, parameters: {{n: 65536, work: {work}}}"
            self.scenario_file([frames], gpu=MACHINE, more="policies: {translation: ideal}\n")
            self.run_it("--check")
            memory = self.totals("partition")
            with h5py.File(self.folder / "s.h5") as file:
                asked.append((memory["row_hits"] + memory["row_misses"]) / file["final/end"][()])
        self.assertGreater(asked[0], asked[1])
        self.assertGreater(asked[1], 1.5 * asked[2])

    def test_windows_are_as_long_as_the_links_of_the_controllers(self):
        tenants = [f"name: c{i}, cpu: {{profile: mcf}}, instructions: 1000000" for i in range(16)]
        self.scenario_file(tenants, gpu=MACHINE, more="simulation: {epoch: 100us, stop_at: 200us}\n"
                           "policies: {translation: ideal, dram_scheduler: sms}\n")
        run = self.lockstep("run", "s.yaml", "--output", "s.h5")
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertNotIn("windows", run.stderr)
        with h5py.File(self.folder / "s.h5") as file:
            self.assertGreaterEqual(200_000 / file["run"].attrs["windows"], 50)

    def test_compare_weighs_the_gpu(self):
        self.four_tenants()
        run = self.lockstep("compare", "s.yaml", "--quiet", "--gpu-weight", "0,1,10")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = yaml.safe_load((self.folder / "s.compare.yaml").read_text())
        cpu, gpu = found["cpu_weighted_speedup"], found["gpu_speedup"]
        self.assertAlmostEqual(cpu, sum(1 / found["tenants"][name]["slowdown"] for name in ("many", "few", "traced")))
        self.assertAlmostEqual(found["cpu_gpu_weighted_speedup"][0], cpu)
        self.assertAlmostEqual(found["cpu_gpu_weighted_speedup"][1], cpu + gpu)
        self.assertAlmostEqual(found["cpu_gpu_weighted_speedup"][10], cpu + 10 * gpu)
        self.assertGreaterEqual(found["cpu_maximum_slowdown"], found["tenants"]["many"]["slowdown"])
        self.assertIn("CPU+GPU, weight 10", run.stdout)


class Mistakes(CoresTest):
    def assert_refused(self, place, *parts, tenants, more=CORES_OF_TINY):
        self.scenario_file(tenants, more=more)
        run = self.lockstep("run", "s.yaml", "--quiet")
        self.assertEqual(run.returncode, 1, run.stdout)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        for part in (place, *parts):
            self.assertIn(part, lines[0])

    def test_more_tenants_than_cores(self):
        tenants = [f"name: c{i}, cpu: {{profile: mcf}}, instructions: 1000" for i in range(4)]
        self.assert_refused("s.yaml:8:5", "tenant c3 needs a CPU core, and gpu.cpu.cores is 3", tenants=tenants)
        self.assert_refused("s.yaml:4:5", "gpu.cpu.cores is 0", tenants=tenants, more="")

    def test_what_means_nothing_to_a_core(self):
        for key in ("sms: 1", f"workload: {WORKLOADS}/vector_add.yaml", "priority: 1"):
            with self.subTest(key):
                self.assert_refused("s.yaml:5:", key.split(":", maxsplit=1)[0],
                                    "has no effect for a tenant on a CPU core",
                                    tenants=[f"name: one, cpu: {{profile: mcf}}, {key}"])

    def test_a_profile_that_never_ends(self):
        self.assert_refused("s.yaml:5:5", "never ends", "instructions", tenants=["name: one, cpu: {profile: mcf}"])

    def test_a_trace_that_ends_early(self):
        self.write("t.txt", "9 0x40\n")
        self.assert_refused("s.yaml:5:", "instructions", "t.txt ends after 10 instructions",
                            tenants=["name: one, cpu: {trace: t.txt}, instructions: 11"])

    def test_a_trace_that_leaves_its_memory(self):
        self.write("t.txt", "9 0x40\n9 65536\n")
        self.assert_refused("t.txt:2:3", "address 65536 lies outside of the tenant's memory",
                            tenants=["name: one, cpu: {trace: t.txt, memory: 64KiB}"])

    def test_a_profile_that_nobody_knows(self):
        self.assert_refused("s.yaml:5:", "no profile \"lbn\"", "did you mean \"lbm\"?",
                            tenants=["name: one, cpu: {profile: lbn}, instructions: 9"])

    def test_words_that_the_machine_does_not_know(self):
        tenants = ["name: one, cpu: {profile: lbm}, instructions: 9"]
        for key in ("gpu.cpu.misses: spread-out", "gpu.memory.dram.turnaround: rank"):
            with self.subTest(key):
                name, value = key.split(": ")
                self.assert_refused("s.yaml:3:", name, value, tenants=tenants,
                                    more=f"override: {{gpu.cpu.cores: 3, {key}}}\n")

    def test_a_frame_of_less_than_no_work(self):
        self.assert_refused("frames.yaml:22:20", "is -1, not a whole number", tenants=[
            f"name: frames, workload: {WORKLOADS}/frames.yaml, parameters: {{work: -1}}"])

    def test_memory_that_is_not_there(self):
        self.assert_refused("s.yaml:5:", "touch", "of gpu.memory.capacity",
                            tenants=["name: one, cpu: {profile: lbm, memory: 1GiB}, instructions: 9"])


if __name__ == "__main__":
    unittest.main()
