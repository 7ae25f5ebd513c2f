"""Runs in segments: interrupted, and resumed in another layout, they end in the file of the uninterrupted run."""
import contextlib
import os
import random
import signal
import subprocess
import time

import printing_kernel
from harness import LOCKSTEP, MPIRUN, ROOT, ScenarioTest, environment, runs_below

WORKLOADS = ROOT / "configs/workloads"
LAYOUTS = [(0, 1), (0, 2), (2, 1), (3, 1), (2, 2)]  # ranks (0: without mpirun), threads
WHOLE_LAYOUTS = [(0, 2), (2, 1), (3, 1)]
SECONDS_TO_END = 120

# Prints and saves in every round, as long as the others take.
TALKER = printing_kernel.WORKLOAD.split("program:")[0] + """\
program:
  - repeat:
      times: 12
      program:
        - launch: {kernel: say, grid: [blocks], block: [block], arguments: [data, last]}
        - synchronize
        - read: data
        - save: data
        - delay: 150us
"""


class SegmentsTest(ScenarioTest):
    """A folder with scenario.yaml; the run under test writes o.h5."""

    def four_tenants(self):
        """Their memory is a multiple of the GPU's; one prints and saves."""
        self.write("k.ptx", printing_kernel.PTX)
        self.write("talker.yaml", TALKER)
        tenants = [
            f"workload: {WORKLOADS}/managed_add.yaml, parameters: {{n: 98304, blocks: 4}}",
            f"workload: {WORKLOADS}/transpose.yaml, parameters: {{width: 384, height: 256}}",
            f"workload: {WORKLOADS}/hotspot.yaml, parameters: {{width: 96, height: 96}}, arrival: 50us",
            "workload: talker.yaml, parameters: {blocks: 8, block: 32}",
        ]
        self.write(
            "scenario.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "simulation: {epoch: 50us, record_faults: true, record_blocks: true}\n"
            "override: {gpu.memory.capacity: 448KiB}\n"
            "policies: {sharing: spatial, fault_handling: {name: host, cost_model: tanasic}}\ntenants:\n"
            + "".join(f"  - {{name: t{i}, sms: 1, {text}}}\n" for i, text in enumerate(tenants)))

    def long_run(self, epoch="500ns", n=1024):
        """Some seconds of one tenant."""
        self.scenario(WORKLOADS / "sgemm.yaml", f"{{n: {n}}}", f"simulation: {{epoch: {epoch}}}")

    def run_whole(self):
        """The uninterrupted run: whole.h5; returns what it printed and how long it took."""
        begin = time.monotonic()
        run = self.lockstep("run", "scenario.yaml", "--quiet", "--output", "whole.h5")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout, time.monotonic() - begin

    def start(self, *arguments, ranks=0, threads=1, resume=None, output="o.h5", of_program=None, **more):
        """`of_program`: variables of the environment that mpirun does not get."""
        command = [LOCKSTEP, "run", "scenario.yaml", "--quiet", "--overwrite", "--output", output, "--threads",
                   str(threads)]
        command += map(str, arguments)
        if resume:
            command += ["--resume", resume]
        command = ["env", *(f"{name}={value}" for name, value in (of_program or {}).items()), *command]
        if ranks:
            command = [MPIRUN, "-n", str(ranks), "--oversubscribe",
                       "--bind-to", "none", *command]
        patient = {**environment(), "OMPI_MCA_odls_base_sigkill_timeout": "4"}  # of mpirun, in seconds after a SIGTERM
        process = subprocess.Popen(command, cwd=self.folder, env=patient, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def end(self, process):
        """Its status, what it printed, and this program's own lines on stderr."""
        output, errors = process.communicate(timeout=SECONDS_TO_END)
        return process.returncode, output, [line for line in errors.splitlines() if line.startswith("lockstep: ")]

    @staticmethod
    def children(process):
        """Process ids of the program: below mpirun, or itself."""
        return sorted(runs_below(process.pid)) or [process.pid]

    def resumable(self):
        """The checkpoint to go on from, if there is one."""
        return "o.ckpt" if (self.folder / "o.ckpt").exists() else None

    def place(self):
        """Of the output among the files of the disk: a resumed run writes another one."""
        path = self.folder / "o.h5"
        return path.stat().st_ino if path.exists() else None

    def start_and_wait(self, *arguments, **layout):
        """Started, or resumed, and under way."""
        before = self.place()
        process = self.start(*arguments, resume=self.resumable(), **layout)
        while process.poll() is None and self.place() == before:
            time.sleep(0.002)
        return process

    def interrupt(self, seconds, **layout):
        """One segment, which SIGTERM to one of its processes ends so long after it began, unless its run is over
        before.  Returns what it printed and whether the run is over."""
        process = self.start_and_wait(**layout)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=seconds)
        target = self.children(process)[-1]
        over = process.poll() is not None or (layout.get("ranks") and target == process.pid)  # only mpirun is left
        if not over:
            with contextlib.suppress(ProcessLookupError):
                os.kill(target, signal.SIGTERM)
        status, output, lines = self.end(process)
        if status == 0:
            self.assertEqual(lines, [])
            return output, True
        self.assertEqual((status, lines), (75, ["lockstep: ended by SIGTERM - go on with --resume o.ckpt"]))
        return output, False

    def finish(self, **layout):
        status, output, lines = self.end(self.start(resume=self.resumable(), **layout))
        self.assertEqual((status, lines), (0, []))
        return output

    def assert_same_result(self):
        same = self.lockstep("diff", "whole.h5", "o.h5")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        left = sorted(path.name for path in self.folder.glob("o.*"))
        self.assertEqual(left, ["o.h5"], "a run that is over needs no checkpoint")

    def assert_same_in_any_layout(self):
        """Whole runs with --check, and one that is interrupted on one thread and on two ranks, end in the file of the
        uninterrupted run, which is left as whole.h5."""
        _, seconds = self.run_whole()
        for ranks, threads in WHOLE_LAYOUTS:
            with self.subTest(ranks=ranks, threads=threads):
                self.assertEqual(self.end(self.start("--check", ranks=ranks, threads=threads))[::2], (0, []))
                self.assert_same_result()
        for left in self.folder.glob("o.*"):
            left.unlink()
        for ranks, threads in ((0, 1), (2, 1)):
            if self.interrupt(0.4 * seconds, ranks=ranks, threads=threads)[1]:
                break
        else:
            self.finish(threads=2)
        self.assert_same_result()

    @staticmethod
    def random():
        """Of its own for each test; what it draws stands in the messages."""
        seed = int(os.environ.get("LOCKSTEP_SEED", time.time_ns() % 1_000_000))
        print("LOCKSTEP_SEED", seed)
        return random.Random(seed)
