"""docs/output.md names every path of a fresh file, and no path that a file lacks."""
import re
import unittest

import h5py

from harness import ROOT, ScenarioTest


def pattern(path):
    """`<kind>` stands for any word."""
    return re.compile(re.sub(r"<[a-z]+>", "[^/]+", path) + "$")


# They have statistics of their own.
COUNTING_POLICIES = [
    [argument for setting in (*policies, "gpu.memory.dram.write_queue=0") for argument in ("--set", setting)]
    for policies in (
        *([f"policies.dram_scheduler={name}"] for name in ("par-bs", "atlas", "tcm", "sms")),
        ["policies.cache_policy=eaf", "policies.replacement=drrip"],
        ["policies.page_manager=mosaic", "gpu.noc.mapping=frame"],
        ["policies.cache_policy=medic", "policies.dram_scheduler=medic"],
        ["policies.cache_policy=mask", "policies.dram_scheduler=mask", "policies.tlb_fill=mask"],
    )
]

# It has statistics of its own.
CPU_CORE = """\
gpu: {root}/configs/gpus/sms_16c1g.yaml
host: {root}/configs/hosts/pcie3.yaml
tenants: [{{name: one, cpu: {{profile: mcf}}, instructions: 1000}}]
"""

# The uplink has statistics of its own.
UPLINK = """\
gpu: {root}/configs/gpus/tiny.yaml
gpus: 2
host: {root}/configs/hosts/pcie3.yaml
override: {{host.uplinks: [{{gpus: [0, 1], bandwidth: 8GB/s}}]}}
tenants:
  - {{name: one, workload: saxpy, gpu: 0}}
  - {{name: two, workload: saxpy, gpu: 1}}
"""

# Hubs of GPCs have statistics of their own.
CLUSTERS = """\
gpu: {root}/configs/gpus/h100.yaml
host: {root}/configs/hosts/pcie3.yaml
override: {{gpu.sm.count: 4, gpu.dispatch.gpcs: [2, 2]}}
tenants: [{{name: one, workload: {root}/configs/workloads/cluster_reduce.yaml, parameters: {{rows: 4}}}}]
"""

# It has a table of its own.
PREEMPTION = ["--set", "policies.sharing=exclusive", "--set", "policies.preemption=drain"]


class OutputPage(ScenarioTest):
    def run_with(self, output, *settings, scenario=ROOT / "configs/scenarios/two_tenants_tiny.yaml"):
        run = self.lockstep(
            "run", scenario, "--quiet", "--profile",
            "--output", output, "--set", "simulation.record_faults=true",
            "--set", "simulation.record_blocks=true", *settings,
        )
        self.assertEqual(run.returncode, 0, run.stderr)

    def setUp(self):
        super().setUp()
        self.run_with("run.h5")
        page = (ROOT / "docs/output.md").read_text()
        self.named = re.findall(r"`(/[^` ]+)`", page)
        differing = page.split("## What may differ")[1]
        self.run_names = re.findall(r"^\| `([a-z_<>]+)`", differing, re.MULTILINE)

    def test_every_path_is_in_the_page(self):
        paths = []
        with h5py.File(self.folder / "run.h5", "r") as file:
            file.visititems(
                lambda name, thing: paths.append("/" + name)
                if isinstance(thing, h5py.Dataset)
                else None
            )
        self.assertGreater(len(paths), 20)
        patterns = [pattern(path) for path in self.named]
        unnamed = [path for path in paths if not any(p.match(path) for p in patterns)]
        self.assertEqual(unnamed, [])

    def test_the_page_names_no_path_that_the_file_lacks(self):
        lacking = {path for path in self.named if "<" not in path}
        for settings in ([], PREEMPTION, *COUNTING_POLICIES):
            self.run_with("policy.h5", *settings)
            with h5py.File(self.folder / "policy.h5", "r") as file:
                lacking -= {path for path in lacking if path in file}
        for scenario in (CPU_CORE, UPLINK, CLUSTERS):
            self.run_with("other.h5", scenario=self.write("other.yaml", scenario.format(root=ROOT)))
            with h5py.File(self.folder / "other.h5", "r") as file:
                lacking -= {path for path in lacking if path in file}
        self.assertEqual(lacking, set())

    def test_attributes_of_run_are_those_of_the_page(self):
        with h5py.File(self.folder / "run.h5", "r") as file:
            attributes = sorted(file["run"].attrs)
        fixed = sorted(name for name in self.run_names if "<" not in name and name not in ("ended_by", "check"))
        self.assertEqual(attributes, fixed)


if __name__ == "__main__":
    unittest.main()
