"""Every shipped workload runs on the tiny GPU and passes --check; no warning before it, which would be false."""
import unittest

from harness import ROOT, ScenarioTest

WORKLOADS = sorted(path.stem for path in (ROOT / "configs/workloads").glob("*.yaml"))


class Workloads(ScenarioTest):
    """One generated test per workload file."""


def make_test(name):
    def test(self):
        scenario = self.scenario(ROOT / f"configs/workloads/{name}.yaml")
        done = self.lockstep("run", scenario, "--check", "--output", "out.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("check passed", done.stdout)
        self.assertNotIn("before anything was written", done.stdout)
        self.assertEqual(self.lockstep("validate", scenario).stderr, "")

    return test


for workload in WORKLOADS:
    setattr(Workloads, f"test_{workload}", make_test(workload))

if __name__ == "__main__":
    unittest.main()
