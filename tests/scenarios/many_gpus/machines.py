"""Scenarios of several GPUs, and what is read of their outputs."""
import h5py

from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"
HOST = "{name: test, link_curve: affine, link_bandwidth: 16GB/s, transfer_setup: 0ns, link_latency: 400ns, {more}}"

# Managed memory more than the GPU has, device memory with copies, and a kernel that does nothing but compute.
PAGED = f"workload: {WORKLOADS}/managed_add.yaml, parameters: {{n: 65536, blocks: 4}}"
COPIED = f"workload: {WORKLOADS}/saxpy.yaml, parameters: {{n: 20000}}"
DENSE = f"workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 64}}"
# On several GPUs with a fabric.
RING = f"workload: {WORKLOADS}/ring_all_reduce.yaml, parameters: {{part: 1024, blocks: 4}}, gpus: [0, 1, 2, 3]"
KERNELS = (f"workload: {WORKLOADS}/ring_kernel.yaml, parameters: {{part: 1024, blocks: 4, block: 64}}, "
           "gpus: [0, 1, 2, 3]")
TREES = (f"workload: {WORKLOADS}/tree_kernel.yaml, parameters: {{count: 40000, blocks: 3, block: 128}}, "
         "gpus: [0, 1, 2, 3]")
DIRECT = (f"workload: {WORKLOADS}/direct_kernel.yaml, parameters: {{part: 10000, blocks: 3, block: 128}}, "
          "gpus: [0, 1, 2, 3]")
GATHER = f"workload: {WORKLOADS}/peer_gather.yaml, parameters: {{n: 2048, blocks: 8}}, gpus: [0, 1]"
HALO = f"workload: {WORKLOADS}/halo_exchange.yaml, parameters: {{width: 64, height: 8}}, gpus: [0, 1, 2, 3]"


class ManyGpusTest(ScenarioTest):
    def machine(self, tenants, gpus="gpus: 2", more="", host="", name="s.yaml"):
        """A scenario of tiny GPUs with little memory; `tenants`: lines of a scenario, without their names."""
        lines = "".join(f"  - {{name: t{i}, {text}}}\n" for i, text in enumerate(tenants))
        gpu = "" if "gpus: [" in gpus else f"gpu: {ROOT}/configs/gpus/tiny.yaml\n"
        return self.write(name, f"{gpu}{gpus}\nhost: {HOST.replace('{more}', host)}\n"
                                f"{more}\ntenants:\n{lines}")

    place_of_mistakes = "s.yaml:"  # a pattern of the file that a refusal names

    def assert_refused(self, scenario, *texts):
        """One line that says where, and all of the texts."""
        run = self.lockstep("validate", scenario)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, self.place_of_mistakes + r"\d+:\d+: ")
        for text in texts:
            self.assertIn(text, run.stderr)

    def run_it(self, scenario, output="o.h5", *arguments, ranks=0):
        run = self.lockstep("run", scenario, "--quiet", "--output", output, *arguments, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return h5py.File(self.folder / output, "r")


def ends(file):
    return [int(end) for end in file["tenants"]["end"]]


def datasets(group):
    """All numbers below a group, by path."""
    found = {}
    group.visititems(lambda path, item: found.update({path: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found
