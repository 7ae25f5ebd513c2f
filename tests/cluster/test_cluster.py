"""Batch jobs on a Slurm cluster of three emulated nodes: any layout, limits of time, arrays.

Needs slurmctld, slurmd, slurm-client, slurm-wlm and munge (jobs/install_packages.sh cluster).
"""
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKSTEP = os.environ.get("LOCKSTEP", str(ROOT / "build/release/lockstep"))
HERE = pathlib.Path(__file__).parent
# Ranks of emulated nodes share a computer but no memory: MPI is told so.
MPI = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cluster = pathlib.Path(folder.name)
        cls.environment = {**os.environ, **MPI, "SLURM_CONF": str(cls.cluster / "slurm.conf"),
                           "LOCKSTEP_HOME": str(ROOT)}
        cls.addClassCleanup(subprocess.run, [HERE / "slurm.sh", "stop", folder.name], check=False)
        subprocess.run([HERE / "slurm.sh", "start", folder.name, "3"], check=True, timeout=90)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *command, status=0):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment,
                             capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr + self.log())
        return run.stdout

    def log(self):
        return "".join(path.read_text() for path in sorted(self.folder.glob("slurm-*.out")))

    def scenario(self, workload, parameters, epoch="50us"):
        (self.folder / "s.yaml").write_text(
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: {epoch}}}\n"
            f"tenants: [{{name: one, workload: {ROOT}/configs/workloads/{workload}.yaml, parameters: {parameters}}}]\n",
            encoding="utf-8")

    def assert_same(self):
        self.call(LOCKSTEP, "run", "s.yaml", "--quiet", "--overwrite", "--output", "alone.h5")
        self.call(LOCKSTEP, "diff", "alone.h5", "s.h5")

    def wait_for_file(self, name):
        deadline = time.monotonic() + 30
        while not (self.folder / name).exists():
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.05)

    def wait_for_end(self, job, seconds=70):
        """What Slurm says of the job then; one that is requeued need not wait for its turn.

        It waits two seconds all the same: a node takes a job of the second in which it ended the one before for
        that one.
        """
        deadline = time.monotonic() + seconds
        ended = 0
        hurried = set()
        while True:
            shown = self.call("scontrol", "show", "job", job)
            # One that is about to be requeued looks failed for a moment.
            ended = ended + 1 if "JobState=FAILED" in shown else 0
            if "JobState=COMPLETED" in shown or ended > 5:
                return shown
            restarts = re.search(r"Restarts=(\d+)", shown).group(1)
            if "JobState=PENDING" in shown and "BeginTime" in shown and restarts not in hurried:
                self.call("scontrol", "update", f"jobid={job}", "StartTime=now+2")
                hurried.add(restarts)
            self.assertLess(time.monotonic(), deadline, shown + self.log())
            time.sleep(0.5)

    def test_ranks_on_two_nodes_give_the_bits_of_one_process(self):
        self.scenario("bfs", "{vertices: 1024, edges: 8192}")
        for ranks in (1, 2):
            with self.subTest(ranks_of_a_node=ranks):
                self.call("srun", "--mpi=pmix", "--nodes=2", f"--ntasks-per-node={ranks}", LOCKSTEP, "run", "s.yaml",
                          "--quiet", "--output", "s.h5")
                self.assert_same()

    def test_a_limit_of_time_is_no_end(self):
        """The signal before it, which Slurm sends up to a minute early, is sent by hand."""
        self.scenario("sgemm", "{n: 512}")
        job = self.call("sbatch", "--parsable", "-t", "3", "--signal=B:USR1@30", "--cpus-per-task=1",
                        "--export=ALL,SCENARIO=s.yaml,CHECKPOINT_EVERY=1s", ROOT / "jobs/slurm/single_node.sbatch")
        job = job.strip()
        self.wait_for_file("s.h5")
        self.call("scancel", "--batch", "--signal=USR1", job)
        shown = self.wait_for_end(job)
        self.assertIn("JobState=COMPLETED", shown, self.log())
        self.assertIn("Restarts=1", shown)
        self.assert_same()

    def test_a_node_that_goes_down_is_no_end(self):
        self.scenario("sgemm", "{n: 704}")
        job = self.call("sbatch", "--parsable", "-t", "3", "--cpus-per-task=1",
                        "--export=ALL,SCENARIO=s.yaml,CHECKPOINT_EVERY=0.5s", ROOT / "jobs/slurm/single_node.sbatch")
        job = job.strip()
        self.wait_for_file("s.ckpt")
        node = re.search(r"BatchHost=(\w+)", self.call("scontrol", "show", "job", job)).group(1)
        self.addCleanup(subprocess.run, ["scontrol", "update", f"nodename={node}", "state=resume"],
                        env=self.environment, check=False, capture_output=True)
        for state in ("down", "drain"):  # drained too: it is back within a second
            self.call("scontrol", "update", f"nodename={node}", f"state={state}", "reason=test")
        shown = self.wait_for_end(job)
        self.assertIn("JobState=COMPLETED", shown, self.log())
        self.assertIn("Restarts=1", shown)
        with h5py.File(self.folder / "s.h5") as file:
            self.assertEqual(file["run"].attrs["segments"], 2)
        self.assert_same()

    def test_several_nodes_as_well(self):
        self.scenario("sgemm", "{n: 96}")
        job = self.call("sbatch", "--parsable", "-t", "3", "--cpus-per-task=1", "--nodes=2", "--ntasks-per-node=1",
                        "--export=ALL,SCENARIO=s.yaml", ROOT / "jobs/slurm/many_nodes.sbatch").strip()
        self.wait_for_file("s.h5")
        self.call("scancel", "--batch", "--signal=USR1", job)
        self.assertIn("JobState=COMPLETED", self.wait_for_end(job), self.log())
        self.assert_same()

    def test_an_array_goes_on_beside_a_point_that_fails(self):
        self.scenario("vector_add", "{n: 256}")
        (self.folder / "sweep.yaml").write_text(
            "scenario: s.yaml\noutput: points\ngrid: {tenants.0.parameters.block: [64, 2048, 128, 256]}\n",
            encoding="utf-8")
        job = self.call(LOCKSTEP, "sweep", "sweep.yaml", "--slurm", ROOT / "jobs/slurm/sweep_array.sbatch")
        job = job.split()[-1]
        for point in range(4):
            state = "FAILED" if point == 1 else "COMPLETED"
            self.assertIn(f"JobState={state}", self.wait_for_end(f"{job}_{point}"), self.log())
        self.assertEqual(self.call(LOCKSTEP, "collect", "sweep.yaml"), "points.h5: 3 of 4 points\n")
        self.assertIn('"block" is 2048', (self.folder / "points/s-block=2048.log").read_text())


if __name__ == "__main__":
    unittest.main()
