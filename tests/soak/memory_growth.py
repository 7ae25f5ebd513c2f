#!/usr/bin/python3
"""Eight tenants start again and again: the memory of the program must not grow.

memory_growth.py [--minutes 60] [--program build/release/lockstep]

Fails if what is resident at the end is more than a twentieth above what was when a quarter of the time was over; by
then every frame of the small GPU memory has been used.
"""
import argparse
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_GROWTH = 1.05
WORKLOADS = ["vector_add", "managed_add", "transpose", "histogram", "reduction", "hotspot", "saxpy"]
SMALL = {"vector_add": "{n: 2048}", "managed_add": "{n: 8192, blocks: 4}", "transpose": "{width: 64, height: 64}",
         "hotspot": "{width: 32, height: 32}", "saxpy": "{n: 2048}"}
# The one that the others run beside: it is not over before the hour is.
ENDLESS = """\
module: {root}/configs/workloads/vector_add.ptx
parameters: {{n: 1024}}
buffers:
  a: {{type: f32, count: n, memory: managed}}
  b: {{type: f32, count: n, memory: managed}}
  c: {{type: f32, count: n, memory: managed}}
program:
  - repeat:
      times: 1000000000
      program:
        - launch: {{kernel: vector_add, grid: [4], block: [256], arguments: [a, b, c, n]}}
        - synchronize
        - delay: 20us
"""


def scenario(folder):
    (folder / "endless.yaml").write_text(ENDLESS.format(root=ROOT))
    tenants = ["  - {name: endless, workload: endless.yaml}"]
    for name in WORKLOADS:
        tenants.append(f"  - {{name: {name}, relaunch: true, parameters: {SMALL.get(name, '{}')}, "
                       f"workload: {ROOT}/configs/workloads/{name}.yaml}}")
    path = folder / "eight.yaml"
    path.write_text(f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                    "simulation: {epoch: 10ms}\npolicies: {sharing: spatial}\n"
                    "override: {gpu.sm.count: 8, gpu.memory.capacity: 2MiB}\n"
                    "tenants:\n" + "\n".join(tenants) + "\n")
    return path


def resident_kib(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--program", default=ROOT / "build/release/lockstep")
    arguments = parser.parse_args()
    seconds = 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        process = subprocess.Popen([arguments.program, "run", scenario(folder), "--quiet", "--overwrite",
                                    "--output", "o.h5"],
                                   cwd=folder)
        begin, samples = time.monotonic(), []
        while process.poll() is None and time.monotonic() - begin < seconds:
            time.sleep(seconds / 100)
            if process.poll() is None:
                samples.append(resident_kib(process))
        if process.poll() is not None:
            print("the run was over too early:", process.returncode)
            return 1
        process.send_signal(signal.SIGINT)
        process.wait(timeout=120)
        with h5py.File(folder / "o.h5") as output:
            launches = int(output["stats/host/launches"][:].sum())
            kernels = len(output["kernels"])
    early, late = max(samples[20:30]), max(samples[-10:])
    print(f"{early} KiB resident after a quarter of the time, {late} KiB at the end: {late / early:.3f}; "
          f"{launches} launches, {kernels} of them in /kernels")
    return 0 if late <= MOST_GROWTH * early and kernels > 0.99 * launches else 1


if __name__ == "__main__":
    sys.exit(main())
