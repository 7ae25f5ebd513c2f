#!/usr/bin/env python3
"""How fast checkpoints are written and resumed, and how fast sweeps are collected: docs/performance.md.

checkpoints.py [--lockstep build/release/lockstep] [--folder /dev/shm] [PART ...]

Parts: sgemm (a V100 at work), vectors (3 x 85 MiB, on one rank and on two), collect (1,000 points).  A folder in memory
shows the program's own speed; on a disk fsync is in it.
"""
import argparse
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"
MEBIBYTE = 2**20
POINTS = 1000


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, lockstep, folder):
        self.lockstep, self.folder = str(lockstep), pathlib.Path(folder)
        self.environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1"}

    def scenario(self, gpu, workload, parameters):
        (self.folder / "s.yaml").write_text(
            f"gpu: {CONFIGS}/gpus/{gpu}.yaml\nhost: {CONFIGS}/hosts/pcie3.yaml\ntenants:\n"
            f"  - {{name: one, workload: {CONFIGS}/workloads/{workload}.yaml, parameters: {parameters}}}\n")

    def start(self, ranks, *arguments):
        command = [self.lockstep, "run", "s.yaml", "--quiet", "--overwrite", "--output", "o.h5", *arguments]
        if "--resume" not in arguments:
            (self.folder / "o.h5").unlink(missing_ok=True)
        if ranks > 1:
            command = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL)

    def ranks_of(self, process):
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return [int(child) for child in children] or [process.pid]

    @staticmethod
    def has_ended(process_id):
        try:
            return pathlib.Path(f"/proc/{process_id}/stat").read_text().split(") ")[1].startswith("Z")
        except OSError:
            return True

    def save_and_resume(self, name, ranks, run_for):
        """Ended by SIGTERM after some seconds; the checkpoint resumed until the next one."""
        for left in self.folder.glob("o.*"):
            left.unlink()
        process = self.start(ranks)
        time.sleep(run_for)
        begin = time.monotonic()
        first = self.ranks_of(process)[0]
        os.kill(first, signal.SIGTERM)
        while not self.has_ended(first):  # mpirun takes seconds more
            time.sleep(0.005)
        saving = time.monotonic() - begin
        process.wait()
        checkpoint = self.folder / "o.ckpt"
        if not checkpoint.exists():
            print(f"{name}, {ranks} rank(s): over before it was ended")
            return
        size, before = checkpoint.stat().st_size, checkpoint.stat().st_ino
        begin = time.monotonic()
        process = self.start(ranks, "--resume", "o.ckpt", "--checkpoint-every", "0.001s")
        while checkpoint.stat().st_ino == before and process.poll() is None:
            time.sleep(0.005)
        both = time.monotonic() - begin
        os.kill(self.ranks_of(process)[0], signal.SIGKILL)
        process.wait()
        print(f"{name}, {ranks} rank(s): {size / MEBIBYTE:.0f} MiB; saved and ended in {saving:.2f} s "
              f"({size / 1e6 / saving:.0f} MB/s); started, resumed and saved again in {both:.2f} s")

    def collect(self):
        (self.folder / "sweep.yaml").write_text(
            f"scenario: s.yaml\noutput: points\nseeds: {list(range(POINTS))}\n")
        self.scenario("tiny", "vector_add", "{n: 256}")
        subprocess.run([self.lockstep, "sweep", "sweep.yaml", "--quiet"], cwd=self.folder, check=True)
        begin, spent = time.monotonic(), processor_seconds()
        subprocess.run([self.lockstep, "collect", "sweep.yaml"], cwd=self.folder, check=True)
        print(f"collect of {POINTS} points: {time.monotonic() - begin:.1f} s, {processor_seconds() - spent:.1f} s of "
              "a processor")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lockstep", default=ROOT / "build/release/lockstep", type=pathlib.Path)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("parts", nargs="*", default=[])
    arguments = parser.parse_args()
    parts = arguments.parts or ["sgemm", "vectors", "collect"]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        bench = Bench(arguments.lockstep.resolve(), folder)
        if "sgemm" in parts:
            bench.scenario("v100", "sgemm", "{n: 1024}")
            bench.save_and_resume("sgemm, n = 1024, v100", 1, 6)
        if "vectors" in parts:
            bench.scenario("v100", "vector_add", f"{{n: {85 * MEBIBYTE // 4}}}")
            for ranks in (1, 2):
                bench.save_and_resume("vector_add, 3 x 85 MiB, v100", ranks, 6)
        if "collect" in parts:
            bench.collect()


if __name__ == "__main__":
    main()
