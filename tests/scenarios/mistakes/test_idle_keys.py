"""A key that does nothing beside the values of others says so: where it stands, and when it would do something."""
import unittest

from harness import ROOT
from one_kernel import TINY, OneKernel

SHIPPED = sorted((ROOT / "configs" / "scenarios").glob("*.yaml"))


class IdleKeys(OneKernel):
    def notes(self, *settings, command="validate", scenario="s.yaml"):
        run = self.lockstep(command, scenario, *[word for setting in settings for word in ("--set", setting)])
        self.assertEqual(run.returncode, 0, run.stderr)
        return [line for line in run.stderr.splitlines() if "does nothing here" in line]

    def test_nothing_is_said_of_what_acts(self):
        self.assertEqual(self.notes(), [])

    def test_one_key_of_each_family(self):
        for setting, others, when in (
                ("gpu.sm.l1.bytes=64KiB", ["gpu.sm.l1.unified_bytes=128KiB"], "with unified_bytes: 0"),
                ("gpu.sm.shared.carve_outs=[0KiB]", ["gpu.sm.l1.unified_bytes=0B"], "with l1.unified_bytes above 0"),
                ("gpu.sm.latency.bit_count=9", ["gpu.sm.expansions=slots"], "with expansions: sequence"),
                ("gpu.sm.interval.multiply_wide=3", ["gpu.sm.expansions=slots"], "with expansions: sequence"),
                ("gpu.sm.turn=8", ["gpu.sm.thread_scheduling=warp"], "with thread_scheduling: independent"),
                ("gpu.sm.instruction_cache.ahead=2", ["gpu.sm.instruction_cache.l0_bytes=0B"], "with l0_bytes above 0"),
                ("gpu.sm.constant_cache.l1_ways=4", ["gpu.sm.constant_cache.l0_bytes=0B"], "with l0_bytes above 0"),
                ("gpu.vm.gpc_tlb.entries=64", ["gpu.vm.gpc_tlb.enabled=false"], "with enabled: true"),
                ("gpu.vm.l2_tlb.ports=1", ["gpu.vm.l2_tlb.enabled=false"], "with enabled: true"),
                ("gpu.vm.l2_tlb.ports=1", ["policies.translation=ideal"], "with policies.translation: shared-tlb"),
                ("policies.tlb_fill=lru", ["policies.translation=page-walk-cache"], "with policies.translation"),
                ("gpu.vm.walk_cache.ways=4", [], "with policies.translation: page-walk-cache"),
                ("gpu.vm.walkers=4", ["policies.translation=ideal"], "with a policies.translation that walks"),
                ("gpu.vm.shootdown_scope=all", ["gpu.vm.shootdown=entry"], "with shootdown: whole"),
                ("gpu.vm.device_pages=large", ["policies.page_manager=base-pages"], "with policies.page_manager"),
                ("gpu.noc.halves.crossing_rate=4", [], "with crossing_latency above 0"),
                ("gpu.memory.dram.write_low=2", ["gpu.memory.dram.write_queue=0"], "with write_queue above 0"),
                ("gpu.memory.dram.rfc_bank=9", ["gpu.memory.dram.refi=0"], "with refi above 0"),
                ("gpu.memory.fragmentation.occupancy=1", [], "with index above 0"),
                ("gpu.cpu.width=2", ["gpu.cpu.cores=0"], "with cores above 0"),
                ("host.atan_slope=0.2", ["host.link_curve=measured"], "with link_curve: atan"),
                ("host.transfer_setup=1us", ["host.link_curve=atan"], "with link_curve: affine"),
                ("policies.fault_handling.handling=1us", ["policies.fault_handling={name: host, cost_model: tanasic}"],
                 "with cost_model: uvmsmart or linear"),
                ("policies.fault_handling.migrate=1us", ["policies.fault_handling={name: host}"],
                 "with cost_model: tanasic"),
                ("policies.cache_policy.order=stack", ["policies.cache_policy={name: medic, insertion: false}"],
                 "with insertion: true"),
                ("policies.page_manager.threshold=5", ["policies.page_manager={name: mosaic, compaction: none}"],
                 "with a compaction"),
                ("simulation.on_no_progress=warn", ["simulation.progress_limit=0s"], "with progress_limit above 0")):
            with self.subTest(setting):
                notes = self.notes(*others, setting)
                key = setting.split("=")[0]
                said = [note for note in notes if f": {key} does nothing here: only " in note]
                self.assertEqual(len(said), 1, notes)
                self.assertIn(f"--set {setting}: ", said[0])
                self.assertIn(when, said[0])

    def test_a_key_of_the_scenario_is_told_with_its_place(self):
        self.scenario_file("override: {gpu.vm.walk_cache.ways: 4}\n")
        lines = (self.folder / "s.yaml").read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if "walk_cache" in text)
        column = lines[line - 1].index("4}") + 1
        self.assertEqual(self.notes(), [f"lockstep: s.yaml:{line}:{column}: gpu.vm.walk_cache.ways does nothing here: "
                                        "only with policies.translation: page-walk-cache"])

    def test_a_run_says_it_too_unless_it_is_quiet(self):
        self.assertEqual(len(self.notes("gpu.noc.halves.crossing_rate=4", command="run")), 1)
        run = self.lockstep("run", "s.yaml", "--quiet", "--overwrite", "--set", "gpu.noc.halves.crossing_rate=4")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_gpu_of_ones_own_is_looked_at_by_itself(self):
        text = TINY.read_text()
        self.write("gpu.yaml", text + "cpu: {cores: 0, width: 2}\n")
        self.scenario_file(gpu="gpu.yaml")
        notes = self.notes()
        self.assertEqual(len(notes), 1, notes)
        self.assertIn(f"gpu.yaml:{text.count(chr(10)) + 1}:", notes[0])
        self.assertIn("gpu.cpu.width does nothing here", notes[0])

    def test_what_a_scenario_switches_off_in_a_gpu_is_no_mistake_of_the_gpu(self):
        self.write("gpu.yaml", TINY.read_text() + "cpu: {cores: 2, width: 2}\n")
        self.scenario_file("override: {gpu.cpu.cores: 0}\n", gpu="gpu.yaml")
        self.assertEqual(self.notes(), [])

    def test_shipped_scenarios_and_machines_have_none(self):
        for scenario in SHIPPED:
            with self.subTest(scenario.name):
                self.assertEqual(self.notes(scenario=str(scenario)), [])
        for gpu in sorted((ROOT / "configs" / "gpus").glob("*.yaml")):
            with self.subTest(gpu.name):
                self.assertEqual([note for note in self.notes(f"gpu={gpu}") if gpu.name in note], [])


if __name__ == "__main__":
    unittest.main()
