"""What somebody meets who has just built the program."""
import os
import pathlib
import re
import subprocess
import unittest

import h5py

from harness import ROOT, ScenarioTest

CONFIGS = ROOT / "configs"


class FirstSteps(ScenarioTest):
    def scenario_of(self, gpu="tiny", sharing="spatial", tenant="workload: vector_add, parameters: {n: 256}"):
        self.write("s.yaml", f"gpu: {gpu}\nhost: pcie3\npolicies: {{sharing: {sharing}}}\n"
                             f"tenants:\n  - {{name: one, {tenant}}}\n")

    def line(self, *arguments, status=1):
        run = self.lockstep(*arguments)
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (status, 1), run.stderr)
        return run.stderr

    def test_the_program_alone_says_what_it_can_do(self):
        alone = self.lockstep()
        self.assertEqual((alone.returncode, alone.stderr), (0, ""))
        self.assertEqual(alone.stdout, self.lockstep("--help").stdout)
        self.assertEqual(alone.stdout, self.lockstep("help").stdout)
        self.assertEqual(self.lockstep("help", "run").stdout, self.lockstep("run", "--help").stdout)
        self.assertIn('did you mean "run"?', self.line("help", "rnu"))

    def test_the_version_tells_builds_apart(self):
        self.assertRegex(self.lockstep("--version").stdout,
                         r"^lockstep, version [\d.]+ of the sources [0-9a-f]{16}, \w+ by \w+ [\d.]+$")

    def test_configurations_are_found_by_name(self):
        """Among those of the program, below LOCKSTEP_PATH, and first beside the scenario."""
        self.scenario_of()
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "by_name.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.write("by_file.yaml", (self.folder / "s.yaml").read_text().replace("tiny", f"{CONFIGS}/gpus/tiny.yaml")
                   .replace("pcie3", f"{CONFIGS}/hosts/pcie3.yaml")
                   .replace("vector_add", f"{CONFIGS}/workloads/vector_add.yaml"))
        run = self.lockstep("run", "by_file.yaml", "--quiet", "--check", "--output", "by_file.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.lockstep("diff", "by_name.h5", "by_file.h5").returncode, 0)

        (self.folder / "mine/gpus").mkdir(parents=True)
        tiny = (CONFIGS / "gpus/tiny.yaml").read_text()
        self.write("mine/gpus/small.yaml", tiny.replace("name: tiny", "name: small"))
        self.scenario_of(gpu="small")
        self.assertIn('there is no small.yaml beside this file, in LOCKSTEP_PATH or among the gpus',
                      self.line("validate", "s.yaml"))
        found = self.lockstep("validate", "s.yaml", extra_environment={"LOCKSTEP_PATH": str(self.folder / "mine")})
        self.assertIn("on small,", found.stdout)
        self.write("small.yaml", tiny.replace("name: tiny", "name: beside"))
        found = self.lockstep("validate", "s.yaml", extra_environment={"LOCKSTEP_PATH": str(self.folder / "mine")})
        self.assertIn("on beside,", found.stdout)

    def test_a_name_that_is_nearly_right(self):
        self.scenario_of(gpu="tinny")
        self.assertRegex(self.line("validate", "s.yaml"), r"^lockstep: s\.yaml:1:6: .* did you mean \"tiny\"\?")

    def test_more_sms_than_there_are(self):
        self.scenario_of(tenant="workload: vector_add, sms: 99")
        self.assertIn("s.yaml:5:5: tenant one asks for 99 SMs, and tiny has 4 - write sms: 4 or less",
                      self.line("validate", "s.yaml"))

    def test_sms_that_mean_nothing(self):
        self.scenario_of(sharing="exclusive", tenant="workload: vector_add, sms: 2, parameters: {n: 256}")
        self.assertIn("note: s.yaml:5:5: sms: means nothing", self.line("validate", "s.yaml", status=0))
        self.assertIn("sms: means nothing", self.lockstep("run", "s.yaml", "--output", "o.h5").stderr)

    def test_numbers_are_refused_with_their_range(self):
        self.scenario_of()
        self.assertIn('"-3" does not fit this parameter - write a whole number, from 1 to 4096',
                      self.line("validate", "s.yaml", "--set", "gpu.sm.count=-3"))

    def test_a_word_that_is_like_no_other_gets_no_guess(self):
        self.scenario_of()
        self.assertIn('no policy "stride" - known are (none,',
                      self.line("validate", "s.yaml", "--set", "policies.prefetcher=stride"))

    def test_the_folder_of_an_output_is_made(self):
        self.scenario_of()
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "new/folder/o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "new/folder/o.h5").exists())

    def test_what_is_named_as_the_wrong_thing(self):
        self.write("k.cu", "__global__ void k() {}\n")
        self.write("w.yaml", "module: k.cu\nbuffers: {}\nprogram: []\n")
        self.scenario_of(tenant="workload: w.yaml")
        self.assertIn("is a CUDA source, not PTX - compile it with nvcc -ptx", self.line("run", "s.yaml"))
        self.assertIn("w.yaml:1:1: is a workload, not a scenario - name it below tenants:",
                      self.line("run", "w.yaml"))
        self.assertIn("lockstep: k.cu: is a CUDA source, not YAML - compile it", self.line("run", "k.cu"))
        self.assertIn("lockstep: k.ptx: is PTX, not YAML - name it as module:", self.line("validate", "k.ptx"))
        self.assertIn("lockstep: o.h5: is an output file, not YAML - name it as --config-of", self.line("run", "o.h5"))
        self.scenario_of(tenant="workload: k.ptx")
        self.assertIn('s.yaml:5:27: "k.ptx" is PTX, not YAML', self.line("run", "s.yaml"))
        self.scenario_of(gpu="w.yaml")
        self.assertIn("w.yaml:1:1: is a workload, not a gpu - name it below tenants:", self.line("run", "s.yaml"))
        self.scenario_of(tenant=f"workload: {CONFIGS}/gpus/tiny.yaml")
        self.assertIn("is a gpu, not a workload - name it in a scenario, as gpu: tiny.yaml",
                      self.line("run", "s.yaml"))
        self.write("w.yaml", "module: w.yaml\nbuffers: {}\nprogram: []\n")
        self.scenario_of(tenant="workload: w.yaml")
        self.assertIn("is a description in YAML, not PTX - name the .ptx file", self.line("run", "s.yaml"))

    def threads(self, *before, ranks=0, **environment):
        """That a run takes for `--threads auto`, started by the command `before`."""
        run = self.lockstep("run", "s.yaml", "--threads", "auto", "--output", "o.h5", ranks=ranks, before=before,
                            extra_environment=environment)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("share", run.stderr)
        with h5py.File(self.folder / "o.h5") as file:
            return int(file["run"].attrs["threads"][()])

    def test_as_many_threads_as_there_are_cores(self):
        self.scenario_of()
        cores = len(os.sched_getaffinity(0))
        self.assertLessEqual(self.threads(), cores)
        if cores >= 2:
            self.assertLessEqual(self.threads(ranks=2), cores // 2)
        self.assertEqual(self.threads("taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))), 1)
        for variable in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
            self.assertEqual(self.threads(**{variable: "1"}), 1)

    def test_as_many_threads_as_the_control_group_may_keep_busy(self):
        """Groups of both versions, in the place of this computer's; mounting needs the right to."""
        self.scenario_of()
        place = ("unshare", "--mount", "sh", "-c", 'mount --bind groups /sys/fs/cgroup && exec "$@"', "sh")
        if subprocess.run([*place[:4], "true"], check=False).returncode != 0:
            self.skipTest("no namespaces")
        (self.folder / "groups/cpu").mkdir(parents=True)
        cores = self.threads(*place)
        self.write("groups/cpu.max", "max 100000\n")
        self.assertEqual(self.threads(*place), cores)
        self.write("groups/cpu.max", "150000 100000\n")
        self.assertEqual(self.threads(*place), 1)
        (self.folder / "groups/cpu.max").unlink()
        self.write("groups/cpu/cpu.cfs_period_us", "100000\n")
        self.write("groups/cpu/cpu.cfs_quota_us", "-1\n")
        self.assertEqual(self.threads(*place), cores)
        self.write("groups/cpu/cpu.cfs_quota_us", "50000\n")
        has_version_1 = re.search(r"(?m)^\d+:([a-z]+,)*cpu[,:]", pathlib.Path("/proc/self/cgroup").read_text())
        self.assertEqual(self.threads(*place), 1 if has_version_1 else cores)

    def test_tasks_of_slurm_that_know_nothing_of_each_other(self):
        self.scenario_of()
        run = self.lockstep("run", "s.yaml", "--output", "o.h5", extra_environment={"SLURM_STEP_NUM_TASKS": "4"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("note: each of 4 tasks of this Slurm step runs all of it", run.stderr)

    def test_a_scenario_may_be_called_as_its_workload(self):
        self.scenario_of()
        (self.folder / "s.yaml").rename(self.folder / "vector_add.yaml")
        run = self.lockstep("run", "vector_add.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_parameters_are_found_by_a_word(self):
        found = self.lockstep("describe", "prefetch").stdout
        self.assertIn("policies.prefetcher", found)
        self.assertNotIn("gpu.sm.count", found)
        self.assertEqual(self.lockstep("describe", "PREFETCH").stdout, found)
        self.assertIn("no parameter begins with this", self.line("describe", "xyzzy"))

    def test_so_are_policies_statistics_and_metrics(self):
        found = self.lockstep("describe", "tree").stdout
        self.assertRegex(found, r"(?m)^policies\.prefetcher\{tree\} ")
        self.assertRegex(found, r"(?m)^/stats/host/tree_prefetches +nodes +")
        found = self.lockstep("describe", "far_faults").stdout
        self.assertRegex(found, r"(?m)^counted in the output:\n/stats/")
        self.assertRegex(found, r"(?m)^/tenants far_faults +faults +")
        found = self.lockstep("describe", "l2_hit_rate").stdout
        self.assertRegex(found, r"(?m)^metric l2_hit_rate +ratio +L2 hit rate, in tables: L2 hits$")
        found = self.lockstep("describe", "IPC").stdout
        self.assertRegex(found, r"(?m)^metric instructions_per_cycle +.*, in tables: IPC$")
        self.assertRegex(self.lockstep("describe", "fault_service").stdout, r"(?m)^/interference/fault_service +ns ")

    def test_what_pages_of_device_memory_mean_for_tlbs(self):
        self.assertIn("with 4 KiB, l1_tlb.entries and gpc_tlb.entries say how far TLBs reach",
                      self.lockstep("describe", "gpu.vm.device_pages").stdout)
        self.assertIn("device memory reaches no further than `entries` of them, whatever vm.device_pages says",
                      self.lockstep("describe", "gpu.vm.gpc_tlb.large_entries").stdout)

    def test_keys_of_tenants_workloads_and_steps_are_found_and_stand_in_the_page(self):
        page = (ROOT / "docs/parameters.md").read_text()
        for word, key, rest in (("deadline", "tenants.deadline", "time +none +>= "),
                                ("tenants.", "tenants.latency_bound", "time +none +>= "),
                                ("tenants.arrivals", "tenants.arrivals", "map +"),
                                ("tenants.arrivals.", "tenants.arrivals.count", "number +"),
                                ("tenants.cpu.", "tenants.cpu.misses", "lines +the profile's +0.001 .. 500 +"),
                                ("override", "override", "map +"),
                                ("workload.buffers", "workload.buffers.NAME.tolerance", "ratio +"),
                                ("workload.buffers.NAME.init", "workload.buffers.NAME.init.normal.mean", "formula +"),
                                ("workload.program.launch", "workload.program.launch.grid", r"list \(required\) +"),
                                ("record_faults", "simulation.record_faults", "true or false +false"),
                                ("record_blocks", "simulation.record_blocks", "true or false +false")):
            with self.subTest(word):
                found = self.lockstep("describe", word).stdout
                self.assertRegex(found, f"(?m)^{re.escape(key)} +{rest}")
                self.assertNotRegex(found, r"(?m)^gpu\.sm\.count")
                self.assertRegex(page, rf"(?m)^\| `{key.split('.')[-1]}` \| ")

    def test_a_key_lists_parameters_alone(self):
        self.assertNotIn("/stats/", self.lockstep("describe", "gpu.sm").stdout)

    def test_options_that_may_be_left_out_say_what_happens_then(self):
        """All but switches, those that repeat, and those without which nothing is done."""
        needs_none = {"--set", "--alone", "--shared", "--resume", "--slurm", "--format", "--help", "--check",
                      "--profile", "--quiet", "--verbose", "--list", "--strict", "--config-of", "--checkpoint-at-stop",
                      "--host-time", "--races"}
        listed = self.lockstep("--help").stdout.split("\nCOMMANDS\n")[1].split("EXIT")[0]
        commands = re.findall(r"(?m)^  ([a-z]+) ", listed)
        self.assertIn("run", commands)
        for command in commands:
            text = self.lockstep("help", command).stdout.split("\nOPTIONS\n")[1].split("EXIT STATUS")[0]
            options = re.split(r"\n  (?=--)", "\n" + text.rstrip())
            for option in options:
                name = re.match(r"\s*(?:-h,)?(--[a-z-]+)", option)
                required = "REQUIRED" in option or (command, name and name[1]) == ("capture", "--output")
                if name and name[1] not in needs_none and not required:
                    self.assertIn("(default: ", option, f"{command} {name[1]}")

    def test_what_nobody_can_act_on_is_said_when_asked_for(self):
        self.scenario_of()
        self.assertEqual(self.lockstep("run", "s.yaml", "--output", "o.h5").stderr, "")
        self.assertIn("windows are limited by", self.lockstep("run", "s.yaml", "--output", "o.h5", "--verbose").stderr)


if __name__ == "__main__":
    unittest.main()
