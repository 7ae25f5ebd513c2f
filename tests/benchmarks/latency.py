#!/usr/bin/env python3
"""Microbenchmarks of the simulated V100 against published measurements: docs/validation.md.

latency.py [--lockstep build/release/lockstep]
"""
import argparse
import pathlib
import subprocess
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = 16 * 1024 * 1024

# What is measured, the workload, the published value (gpu-parameters: Jia et al. 2018), in cycles.
LATENCIES = [
    ("L1 hit", "l1_latency", 28),
    ("L2 hit", "l2_latency", 193),
    ("L2 miss, TLB hit", "dram_latency", 375),
]
STREAMING = 750  # GB/s of 900


def run(lockstep, folder, workload, parameters="{}", override="{}"):
    scenario = folder / "scenario.yaml"
    scenario.write_text(
        f"gpu: {ROOT}/configs/gpus/v100.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
        f"override: {override}\n"
        "tenants:\n"
        f"  - {{name: one, workload: {ROOT}/configs/workloads/{workload}.yaml,"
        f" parameters: {parameters}}}\n"
    )
    output = folder / "out.h5"
    subprocess.run([lockstep, "run", scenario, "--quiet", "--output", output], check=True)
    return h5py.File(output, "r")


def hops(workload):
    """The `hops` of a workload's parameters line."""
    text = (ROOT / f"configs/workloads/{workload}.yaml").read_text()
    return int(text.split("hops:")[1].split("}")[0].split(",")[0])


def row(what, measured, published, unit):
    difference = measured / published - 1
    print(f"| {what} | {published} | {measured:.1f} | {unit} | {difference:+.1%} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lockstep", default=ROOT / "build/release/lockstep")
    lockstep = parser.parse_args().lockstep
    print("| microbenchmark | published | simulated | unit | difference |")
    print("|---|---:|---:|---|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, workload, published in LATENCIES:
            with run(lockstep, folder, workload) as file:
                row(what, file["buffers/one/cycles"][0] / hops(workload), published, "core cycles")
        parameters = f"{{n: {WORDS}, blocks: 640}}"
        # A fast link, so that the copies before and after take no time to speak of.
        link = "{host.link_curve: affine, host.link_bandwidth: 1000GB/s}"
        with run(lockstep, folder, "bandwidth", parameters, link) as f:
            for kernel in f["kernels"]:
                seconds = float(kernel["done"] - kernel["launched"]) * 1e-15
                moved = WORDS * 4 * (2 if b"copy" in kernel["kernel"] else 1)
                row(kernel["kernel"].decode(), moved / seconds / 1e9, STREAMING, "GB/s")


if __name__ == "__main__":
    main()
