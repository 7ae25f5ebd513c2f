"""Runs a tenant that makes a mistake beside others that do not."""
from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"

# Kernel slip(data, mistake) of k.ptx, in which a thread makes the mistake of that number; KIND of memory.
SLIPS = """\
module: k.ptx
parameters: {blocks: 6, block: 64, mistake: 0}
buffers:
  data: {type: u32, count: blocks * block, memory: KIND}
program:
  - launch: {kernel: slip, grid: [blocks], block: [block], arguments: [data, mistake]}
  - synchronize
  - read: data
"""


class BesideOthers(ScenarioTest):
    def beside_others(self, workload, others=2):
        """The tenant under test and up to three that page without a mistake."""
        self.write("w.yaml", workload)
        tenants = [
            "{name: one, workload: w.yaml, sms: 1}",
            f"{{name: sum, workload: {WORKLOADS}/managed_add.yaml, sms: 1, "
            "parameters: {n: 16384, blocks: 4}}",
            f"{{name: turned, workload: {WORKLOADS}/transpose.yaml, sms: 1, "
            "parameters: {width: 128, height: 96}}",
            f"{{name: grid, workload: {WORKLOADS}/hotspot.yaml, sms: 1, "
            "parameters: {width: 64, height: 64}}",
        ]
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "policies:\n  sharing: spatial\n  fault_handling: {name: host, cost_model: tanasic}\n"
            "tenants:\n" + "".join(f"  - {tenant}\n" for tenant in tenants[:others + 1]),
        )

    def run_with(self, *settings):
        arguments = [part for setting in settings for part in ("--set", setting)]
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5", *arguments)
        self.assertEqual(run.returncode, 1, run.stderr + run.stdout)
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertTrue(lines[0].startswith("lockstep: "), run.stderr)
        return run, lines[0]

    def assert_ended(self, parts, *settings, others=2):
        """Tenant one ends; the others end well, and the output holds it all."""
        run, line = self.run_with(*settings)
        for part in ["tenant one", *parts]:
            self.assertIn(part, line)
        self.assertIn("check of one: left out, since it was ended", run.stdout)
        self.assertEqual(run.stdout.count("check passed"), others, run.stdout)
        self.assertEqual(self.lockstep("diff", "o.h5", "o.h5").returncode, 0)

    def assert_layouts_agree(self, *arguments):
        """The same message and the same output on threads and ranks."""
        arguments = ["run", "s.yaml", "--quiet", *arguments]
        first = self.lockstep(*arguments, "--output", "one.h5")
        for layout, more in (("threads", {}), ("ranks2", {"ranks": 2}), ("ranks3", {"ranks": 3})):
            with self.subTest(layout=layout):
                threads = ["--threads", 2] if layout == "threads" else []
                run = self.lockstep(*arguments, *threads, "--output", f"{layout}.h5", **more)
                own = [line for line in run.stderr.splitlines() if line.startswith("lockstep: ")]
                self.assertEqual(own, first.stderr.splitlines())
                self.assertEqual(self.lockstep("diff", "one.h5", f"{layout}.h5").returncode, 0)
