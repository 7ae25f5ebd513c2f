"""What one far-fault costs with the machines and hosts of the papers, when nothing else happens."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

# use(data, cycles): how long a load of data[0] takes until its value can be used, in core cycles.
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry use(.param .u64 data, .param .u64 cycles)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [cycles];
  mov.u64 %rd3, %clock64;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r1, 1;
  mov.u64 %rd4, %clock64;
  sub.u64 %rd5, %rd4, %rd3;
  st.global.u32 [%rd2+8], %r2;
  st.global.u64 [%rd2], %rd5;
  ret;
}
"""

# 2 MiB that are one large page, `init` or untouched.
WORKLOAD = """\
module: k.ptx
buffers:
  data: {{type: u32, count: 524288, memory: managed{init}}}
  cycles: {{type: u64, count: 2, memory: device}}
program:
  - launch: {{kernel: use, grid: [1], block: [1], arguments: [data, cycles]}}
  - synchronize
  - copy: {{buffer: cycles, to: host}}
  - save: cycles
"""

ONE_TENANT = "tenants:\n  - {name: one, workload: w.yaml}\n"


class FarFaultCost(ScenarioTest):
    def one_fault(self, head, *settings, moved=True):
        """Runs one load on the machine that `head` names: core cycles from load to use, and its row of /faults."""
        self.write("k.ptx", PTX)
        self.write("w.yaml", WORKLOAD.format(init=", init: {value: 7}" if moved else ""))
        self.write("s.yaml", head + ONE_TENANT)
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5", *settings)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        with h5py.File(self.folder / "o.h5", "r") as file:
            cycles, used = file["buffers/one/cycles"][:]
            faults = file["faults"][:]
        self.assertEqual(used, 8 if moved else 1)
        self.assertEqual(len(faults), 1)
        self.assertEqual(faults[0]["class"], b"migrate" if moved else b"allocate")
        return int(cycles), faults[0]

    def replayed_after(self, gpu, host, policies, hop, moved):
        """Microseconds from where the GMMU finds the fault to the arrival of the replay there, `hop` from the host."""
        head = (f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/{host}.yaml\n"
                "simulation: {record_faults: true}\n"
                f"policies: {{prefetcher: none, page_manager: base-pages, fault_handling: {policies}}}\n")
        _, fault = self.one_fault(head, moved=moved)
        return (int(fault["mapped"]) - int(fault["found"])) * 1e-9 + hop

    # 004, section 7.2.2: 55 us with 4 KiB, 318 us with 2 MiB.
    def test_mosaic_load_to_use(self):
        text = (ROOT / "configs/scenarios/mosaic_paging.yaml").read_text()
        head = text.split("tenants:")[0].replace(": ../", f": {ROOT}/configs/")
        for pages, expected in (("base-pages", 55), ("large-pages", 318)):
            with self.subTest(pages=pages):
                cycles, _ = self.one_fault(head, "--set", f"policies.page_manager={pages}")
                self.assertAlmostEqual(cycles / 1020, expected, delta=0.01 * expected)

    # 000, section 5.3: with and without data.  virtual-memory-and-exceptions.md, section 19, test 7.
    def test_tanasic_round_trips(self):
        for host, policies, hop, migrate, allocate in (
                ("nvlink", "{name: host, cost_model: tanasic}", 0.25, 12, 10),
                ("pcie3_tanasic",
                 "{name: host, cost_model: tanasic, migrate: 25us, allocate: 12us}", 0.4, 25, 12)):
            for moved, expected in ((True, migrate), (False, allocate)):
                with self.subTest(host=host, moved=moved):
                    time = self.replayed_after("k20", host, policies, hop, moved)
                    self.assertAlmostEqual(time, expected, delta=0.005)

    # 001, Listing 1 and Table 1: 45 us and 1.2713 us, then a handful of hops.  The same test 7.
    def test_uvmsmart_handling_and_transfer(self):
        hop = 0.02384
        for moved, transfer in ((True, 1.2713), (False, 0)):
            with self.subTest(moved=moved):
                time = self.replayed_after("uvmsmart_v100", "pcie3_uvmsmart",
                                           "{name: host, cost_model: uvmsmart}", hop, moved)
                self.assertGreater(time, 45 + transfer + 2 * hop)
                self.assertLess(time, 45 + transfer + 1)


if __name__ == "__main__":
    unittest.main()
