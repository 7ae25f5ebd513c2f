"""Who waited behind whom, at each resource that tenants share."""
import unittest

import h5py
import numpy

from harness import ROOT, ScenarioTest

# The matrix of a resource, and what its tenants waited there.
RESOURCES = {
    "partition/port_wait_behind": "partition/port_cycles",
    "partition/response_wait_behind": "partition/response_cycles",
    "partition/dram_wait_behind": "partition/dram_queue_cycles",
    "gmmu/tlb_port_wait_behind": "gmmu/tlb_port_cycles",
    "gmmu/mshr_wait_behind": "gmmu/mshr_stall_cycles",
    "gmmu/walker_wait_behind": "gmmu/walk_queue_cycles",
    "host/fault_wait_behind": "host/fault_queue_time",
    "link/wait_behind": "link/queue_time",
}
COUNTED = ("partition/evicted_by", "gmmu/tlb_evicted_by")

# Little of everything, so that it is fought for.
SCENARIO = """\
gpu: {root}/configs/gpus/tiny.yaml
host: {root}/configs/hosts/pcie3.yaml
simulation: {{epoch: 20us}}
policies: {{sharing: spatial, page_manager: base-pages}}
override: {{gpu.vm.l2_tlb.entries: 16, gpu.vm.l2_tlb.mshrs: 2, gpu.vm.l2_tlb.ports: 1, gpu.vm.walkers: 1,
            gpu.memory.l2.size: 8KiB, gpu.memory.l2.ports: 1, gpu.memory.l2.response_rate: 1, gpu.noc.flit_bytes: 4}}
tenants:
  - {{name: one, workload: {root}/configs/workloads/{workload}.yaml, parameters: {{n: 65536}}}}
  - {{name: two, workload: {root}/configs/workloads/{workload}.yaml, parameters: {{n: 65536}}, arrival: {arrival}}}
"""
PAGED, COPIED = "vector_add", "bandwidth"


class Attribution(ScenarioTest):
    def counted(self, arrival, workload=PAGED):
        self.write("s.yaml", SCENARIO.format(root=ROOT, arrival=arrival, workload=workload))
        output = f"{workload}.h5"
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", output)
        self.assertEqual(run.returncode, 0, run.stderr)
        file = h5py.File(self.folder / output)
        self.addCleanup(file.close)
        return file

    def test_what_tenants_waited_adds_up_at_every_resource(self):
        file = self.counted("0us")
        for pair, counter in RESOURCES.items():
            with self.subTest(pair):
                behind = file["final/stats"][pair][:]
                waited = file["final/stats"][counter][:]
                if waited.ndim == 3:  # link: by class of transfers
                    waited = waited.sum(axis=2)
                self.assertGreater(waited.sum(), 0)
                numpy.testing.assert_array_equal(behind.sum(axis=2), waited)

    def test_tenants_at_the_same_time_delay_each_other(self):
        totals = dict.fromkeys((*RESOURCES, *COUNTED), 0)
        for workload in (PAGED, COPIED):
            file = self.counted("0us", workload)
            for pair in totals:
                totals[pair] += file["final/stats"][pair][:].sum(axis=0)
        for pair, total in totals.items():
            with self.subTest(pair):
                self.assertGreater(total[0, 1] + total[1, 0], 0)

    def test_a_tenant_alone_delays_nobody(self):
        """The second one begins long after the first has ended."""
        file = self.counted("20ms")
        for pair in (*RESOURCES, *COUNTED):
            if pair in ("partition/dram_wait_behind", "partition/evicted_by"):
                continue  # it opens rows that the first one left open, and finds its lines
            with self.subTest(pair):
                totals = file["final/stats"][pair][:].sum(axis=0)
                self.assertEqual((totals[0, 1], totals[1, 0]), (0, 0))

    def test_the_output_has_each_resource_in_nanoseconds(self):
        file = self.counted("0us")
        pairs = {"input_port": ("partition/port_wait_behind", 1),
                 "response_port": ("partition/response_wait_behind", 1),
                 "tlb_ports": ("gmmu/tlb_port_wait_behind", 1), "tlb_mshrs": ("gmmu/mshr_wait_behind", 1),
                 "fault_service": ("host/fault_wait_behind", 1e-6)}
        for resource, (pair, scale) in pairs.items():
            with self.subTest(resource):
                numpy.testing.assert_allclose(file["interference"][resource][:],
                                              file["final/stats"][pair][:].sum(axis=0) * scale)
        for instance, resource in enumerate(("link_to_host", "link_to_gpu")):
            numpy.testing.assert_allclose(file["interference"][resource][:],
                                          file["final/stats/link/wait_behind"][instance] * 1e-6)
        numpy.testing.assert_array_equal(file["interference/tlb_evictions"][:],
                                         file["final/stats/gmmu/tlb_evicted_by"][:].sum(axis=0))


if __name__ == "__main__":
    unittest.main()
