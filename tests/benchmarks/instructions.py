#!/usr/bin/env python3
"""Host instructions per warp instruction, counted by callgrind: repeats to the digit on a noisy machine.

instructions.py [--lockstep PROGRAM ...] [--gpu v100] [--schemes SCHEME ...] [--policies "KEY: VALUE, ..." ...]
                [--kernels KERNEL ...] [--level 2]

Sums what the simulator's own functions and templates over its types execute, without libraries and start-up of the
process.  Each program after the
first, and each exception scheme and each choice of policies after the first, is compared with the first.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

import h5py

from machine import ROOT, VECTOR_ADD, WORKLOADS, scenario_text

COPIES = VECTOR_ADD[:VECTOR_ADD.index("  - repeat:")] + "  - copy: {buffer: a, to: host}\n"
KERNELS = {
    "sgemm": (WORKLOADS / "sgemm.yaml", "{n: 256}"),
    "stencil2d": (WORKLOADS / "stencil2d.yaml", "{width: 512, height: 256, steps: 2}"),
    "vector_add": (VECTOR_ADD.replace("times: 16", "times: 4"), "{n: 131072}"),
    "bfs": (WORKLOADS / "bfs.yaml", "{vertices: 16384, edges: 131072}"),
    "managed_add": (WORKLOADS / "managed_add.yaml", "{n: 131072}"),  # demand paged
    "copies": (COPIES, "{}"),  # no kernel: counted for each line of 128 bytes over the host link
}


def scenario(folder, kernel, gpu, policies):
    workload, parameters = KERNELS[kernel]
    if isinstance(workload, str):
        (folder / "workload.yaml").write_text(workload)
        workload = folder / "workload.yaml"
    path = folder / "scenario.yaml"
    path.write_text(scenario_text(workload, parameters, gpu=gpu, more=f"policies: {{{policies}}}"))
    return path


def measure(lockstep, kernel, gpu, policies, level):
    """Host instructions per warp instruction, and warp instructions; without any, those per line of a copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        counts, output = folder / "callgrind.out", folder / "out.h5"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", "--quiet", lockstep, "run",
                        scenario(folder, kernel, gpu, policies), "--quiet", "--threads", "1", "--overwrite",
                        "--output", output],
                       check=True, env={"LOCKSTEP_CPU_LEVEL": str(level), "PATH": "/usr/bin:/bin"}, capture_output=True)
        table = subprocess.run(["callgrind_annotate", "--threshold=100", counts], check=True, capture_output=True,
                               text=True).stdout
        with h5py.File(output, "r") as file:
            executed = int(file["final/stats/sm/warp_instructions"][()].sum())
            if executed == 0:
                executed = int(file["final/stats/link/bytes"][()].sum()) // 128
    lines = re.findall(r"^ *([\d,]+) \([^)]*\) .*?:.*?\blockstep::", table, re.MULTILINE)
    return sum(int(count.replace(",", "")) for count in lines) / executed, executed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", nargs="+", type=pathlib.Path, default=[ROOT / "build/release/lockstep"])
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--schemes", nargs="+", default=["stall-on-fault"])
    parser.add_argument("--policies", nargs="+", default=[])
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--level", type=int, default=2, help="of x86-64: 3 has AVX2")
    arguments = parser.parse_args()
    for kernel in arguments.kernels:
        base = None
        for program in arguments.lockstep:
            for policies in [f"exception_scheme: {scheme}" for scheme in arguments.schemes] + arguments.policies:
                each, executed = measure(program.resolve(), kernel, arguments.gpu, policies, arguments.level)
                base = base or each
                print(f"{kernel:11} {arguments.gpu} {policies:24} {program}: {each:8.2f} each of {executed} warp "
                      f"instructions (copies: lines), {100 * (each / base - 1):+.2f} %", flush=True)


if __name__ == "__main__":
    main()
