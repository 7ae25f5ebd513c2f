#!/usr/bin/python3
"""Several simulated GPUs beside published measurements: prints tables of docs/validation/many_gpus.md (rows.yaml).

    tests/validation/many_gpus/measure.py [TABLE ...]    copies, stores, loads (all: five minutes)
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import h5py
import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NOTHING = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n"
TABLES = ("copies", "stores", "loads")


class Runner:
    def __init__(self, lockstep, folder):
        self.lockstep, self.folder = lockstep, folder
        self.write("nothing.ptx", NOTHING)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, row, gpus, workload):
        """The output of the workload on so many GPUs."""
        fabric = row["fabric"]
        fabric = json.dumps(fabric) if isinstance(fabric, dict) else f"{ROOT}/configs/fabrics/{fabric}.yaml"
        self.write("workload.yaml", workload)
        self.write("scenario.yaml",
                   f"gpu: {ROOT}/configs/gpus/{row['gpu']}.yaml\ngpus: {gpus}\n"
                   f"host: {ROOT}/configs/hosts/pcie3.yaml\nfabric: {fabric}\n"
                   f"tenants:\n  - {{name: one, workload: workload.yaml, gpus: {list(range(gpus))}}}\n")
        output = self.folder / "out.h5"
        scenario = self.folder / "scenario.yaml"
        subprocess.run([self.lockstep, "run", scenario, "--quiet", "--overwrite", "--output", output], check=True)
        return h5py.File(output)


def copies_of(row, mebibytes):
    ways = row["ways"]
    if ways == "all":
        ways = [f"{a}>{b}" for a in range(row["gpus"]) for b in range(row["gpus"]) if a != b]
    ends = [way.split(">") for way in ways]
    buffers = "".join(f"  from{i}: {{type: u32, count: {mebibytes * 262144}, memory: device, gpu: {a}}}\n"
                      f"  to{i}: {{type: u32, count: {mebibytes * 262144}, memory: device, gpu: {b}}}\n"
                      for i, (a, b) in enumerate(ends))
    steps = "".join(f"  - copy: {{buffer: from{i}, into: to{i}, stream: {i}}}\n" for i in range(len(ends)))
    return f"module: nothing.ptx\nbuffers:\n{buffers}program:\n{steps}  - synchronize\n", len(ends)


def stores_of(row, mebibytes):
    """A kernel on each GPU that copies its own memory to another's."""
    ends = [way.split(">") for way in row["ways"]]
    words = mebibytes * 262144
    buffers = "".join(f"  from{i}: {{type: u32, count: {words}, memory: device, gpu: {a}}}\n"
                      f"  to{i}: {{type: u32, count: {words}, memory: device, gpu: {b}}}\n"
                      for i, (a, b) in enumerate(ends))
    steps = "".join(f"  - launch: {{kernel: bandwidth_copy, gpu: {a}, grid: [{row['blocks']}], block: [512], "
                    f"arguments: [from{i}, to{i}, {words // 4}]}}\n" for i, (a, b) in enumerate(ends))
    return (f"module: {ROOT}/configs/workloads/bandwidth.ptx\nbuffers:\n{buffers}program:\n{steps}  - synchronize\n",
            len(ends))


def rate(row, runner, workload_of=copies_of, sizes=(1, 2)):
    """GB/s of all copies: of what the second half of longer ones adds."""
    ends = []
    for mebibytes in sizes:
        workload, count = workload_of(row, mebibytes)
        with runner.run(row, row["gpus"], workload) as file:
            ends.append(file["tenants"]["end"][0] * 1e-15)
    return count * (sizes[1] - sizes[0]) * (1 << 20) / (ends[1] - ends[0]) * 1e-9 / row.get("per", 1)


def rate_of_stores(row, runner):
    return rate(row, runner, stores_of, (8, 16))


def latency(row, runner):
    """Nanoseconds of a load: of what the second half of a longer chain adds."""
    chase = (ROOT / "configs/workloads/pointer_chase.yaml").read_text(encoding="utf-8")
    chase = chase.replace("pointer_chase.ptx", f"{ROOT}/configs/workloads/pointer_chase.ptx")
    chase = chase.replace("memory: device", f"memory: device, gpu: {row['at']}", 1)
    chase = chase.replace("warm_up: 0, hops: 2048", "warm_up: 16384, hops: 4096")
    with runner.run(row, 2, chase) as file:
        clock = yaml.safe_load((ROOT / f"configs/gpus/{row['gpu']}.yaml").read_text(encoding="utf-8"))["sm"]["clock"]
        return float(file["buffers/one/cycles"][0]) / 4096 / float(clock.removesuffix("MHz")) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], metavar="TABLE")
    parser.add_argument("--lockstep", default=ROOT / "build/release/lockstep", type=pathlib.Path)
    arguments = parser.parse_args()
    described = yaml.safe_load((HERE / "rows.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments.lockstep.resolve(), pathlib.Path(folder))
        for name in arguments.tables or TABLES:
            unit, measure = {"copies": ("GB/s", rate), "stores": ("GB/s", rate_of_stores),
                             "loads": ("ns", latency)}[name]
            print(f"| {name} | measured, {unit} | simulated | ratio | source |\n|---|---:|---:|---:|---|")
            for row in described[name]:
                value = measure(row, runner)
                print(f"| {row['item']} | {row['real']} | {value:.4g} | {value / row['real']:.3f} | {row['source']} |",
                      flush=True)
            print()


if __name__ == "__main__":
    main()
