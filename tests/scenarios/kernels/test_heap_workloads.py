"""Shipped workloads that call malloc pass --check under every exception scheme, whoever handles their faults."""
import unittest

from harness import ROOT, ScenarioTest

WORKLOADS = ("hash_table", "linked_lists", "quadtree")
STALLING = ("stall-on-fault",)
PREEMPTIBLE = ("warp-disable-commit", "warp-disable-last-check", "replay-queue", "operand-log")


class HeapWorkloads(ScenarioTest):
    def pass_check(self, gpu, schemes, handling):
        for workload in WORKLOADS:
            for scheme in schemes:
                with self.subTest(workload=workload, scheme=scheme):
                    self.write("s.yaml", f"""\
                        gpu: {ROOT}/configs/gpus/{gpu}.yaml
                        host: {ROOT}/configs/hosts/nvlink.yaml
                        policies:
                          exception_scheme: {scheme}
                          fault_handling: {{name: {handling}, cost_model: tanasic}}
                        tenants:
                          - {{name: one, workload: {ROOT}/configs/workloads/{workload}.yaml}}
                        """)
                    done = self.lockstep("run", "s.yaml", "--check", "--quiet", "--output", "o.h5")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn("check passed", done.stdout)

    def test_on_the_tiny_gpu_with_faults_handled_by_the_host(self):
        self.pass_check("tiny", STALLING + PREEMPTIBLE, "host")

    def test_on_the_tiny_gpu_with_faults_handled_by_the_gpu(self):
        self.pass_check("tiny", PREEMPTIBLE, "local")

    def test_on_k20_with_faults_handled_by_the_host(self):
        self.pass_check("k20", STALLING + PREEMPTIBLE, "host")

    def test_on_k20_with_faults_handled_by_the_gpu(self):
        self.pass_check("k20", PREEMPTIBLE, "local")


if __name__ == "__main__":
    unittest.main()
