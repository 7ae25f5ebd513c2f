#!/usr/bin/env python3
"""Trends of virtual memory: the tables of docs/validation/paging.md and docs/performance.md, 'Virtual memory'.

paging.py [--lockstep build/release/lockstep] [--gpu gtx1080ti] [PART ...]

Parts: prefetch, shootdown, translation, pages, faults, host.  Only `host` depends on the machine it runs on.  --gpu
concerns prefetch and shootdown: gtx1080ti, or uvmsmart_v100, the machine of the report on UVMSmart.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import tempfile

import h5py
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"

# GPUs of the trends of paging, with the host and the policies beside.
MACHINES = {
    "gtx1080ti": ("pcie3", {}),
    "uvmsmart_v100": ("pcie3_uvmsmart", {"page_manager": "base-pages"}),
}

# Workload: parameters.
STREAMING = {
    "managed_add": "{n: 1048576, blocks: 224}",
    "vector_add": "{n: 524288}",
    "hotspot": "{width: 512, height: 512}",
    "pathfinder": "{columns: 50000, rows: 20}",
    "srad": "{width: 256, height: 256}",
    "backprop": "{inputs: 4096, units: 128}",
    "bfs": "{vertices: 32768, edges: 524288}",
}
SHOOTDOWN = ["managed_add", "hotspot", "pathfinder", "srad", "backprop", "bfs"]
RESIDENT = {
    "vector_add": "{n: 2097152}",
    "transpose": "{width: 1024, height: 1024}",
    "pointer_chase": "{slots: 65536, hops: 16384}",
    "bfs": "{vertices: 65536, edges: 524288}",
    "spmv": "{rows: 262144, entries: 1048576}",
    "btree": "{keys: 1048576, queries: 65536}",
}


def resident(text):
    """The workload with its managed buffers in GPU memory, copied there before the first launch."""
    copied = re.findall(r"^  (\w+): \{.*memory: managed, init", text, re.MULTILINE)
    copies = "".join(f"  - copy: {{buffer: {buffer}, to: device}}\n" for buffer in copied)
    text = text.replace("memory: managed", "memory: device").replace("program:\n", "program:\n" + copies, 1)
    return re.sub(r"read: (\w+)", r"copy: {buffer: \1, to: host}", text)


def managed(text):
    """The workload with managed buffers instead of copies."""
    text = text.replace("memory: device", "memory: managed")
    text = re.sub(r"^ *- copy: \{.*to: device\}\n", "", text, flags=re.MULTILINE)
    back = r"^( *)- copy: \{buffer: (\w+), to: host\}"
    return re.sub(back, r"\1- synchronize\n\1- read: \2", text, flags=re.MULTILINE)


def scattered(text):
    """Managed, and with data to move in all of the first buffer."""
    return managed(text).replace("memory: managed", "memory: managed, init: {value: 0}", 1)


def busy(intervals):
    """Time covered by intervals [begin, end]."""
    total, until = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


class Result:
    """What a run counted, summed over instances and tenants."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            self.stats = {
                kind: {name: int(data[()].sum()) for name, data in group.items()}
                for kind, group in file["final/stats"].items()
            }
            self.end = int(file["final/end"][()])
            self.faults = file["faults"][:] if "faults" in file else None
            kernels = file["kernels"][:]
        spans = [(int(k["tenant"]), (int(k["launched"]), int(k["done"]))) for k in kernels]
        tenants = {tenant for tenant, _ in spans}
        self.kernel_time = {t: busy(span for tenant, span in spans if tenant == t) for t in tenants}

    def hit_rate(self):
        sm = self.stats["sm"]
        return sm["tlb_hits"] / sm["tlb_lookups"]


PLAIN = "{epoch: 1ms, seed: 1}"
RECORDED = "{epoch: 1ms, seed: 1, record_faults: true}"


class Bench:
    """Writes scenarios to a folder and runs them in one thread."""

    def __init__(self, lockstep, gpu="gtx1080ti"):
        self.lockstep, self.gpu = lockstep, gpu
        self.holder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.holder.name)

    def run(self, gpu, tenants, policies="{}", override="{}", *, simulation=PLAIN, host="pcie3"):
        """`tenants`: (workload, parameters, `resident` or `managed`, further keys) each."""
        lines = []
        for number, (workload, parameters, where, more) in enumerate(tenants):
            text = where((CONFIGS / f"workloads/{workload}.yaml").read_text())
            path = self.folder / f"workload{number}.yaml"
            path.write_text(text.replace("module: ", f"module: {CONFIGS}/workloads/"))
            lines.append(f"  - {{name: t{number}, workload: {path}, parameters: {parameters}{more}}}\n")
        scenario, output = self.folder / "scenario.yaml", self.folder / "out.h5"
        scenario.write_text(
            f"gpu: {CONFIGS}/gpus/{gpu}.yaml\nhost: {CONFIGS}/hosts/{host}.yaml\nsimulation: {simulation}\n"
            f"policies: {policies}\noverride: {override}\ntenants:\n" + "".join(lines)
        )
        output.unlink(missing_ok=True)
        command = [self.lockstep, "run", scenario, "--quiet", "--threads", 1, "--overwrite", "--output", output]
        subprocess.run(list(map(str, command)), check=True)
        return Result(output)

    def run_paging(self, tenants, policies, override="{}", **keys):
        """A run on the machine that --gpu names."""
        host, more = MACHINES[self.gpu]
        named = ", ".join(f"{key}: {value}" for key, value in {**more, **policies}.items())
        return self.run(self.gpu, tenants, f"{{{named}}}", override, host=host, **keys)

    def seconds(self, *arguments, **keys):
        """User and system time of a run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.run(*arguments, **keys)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, result


def prefetch(bench):
    print("| workload | prefetcher | far faults | faults handled | pages moved | kernels, ms |")
    print("|---|---|---:|---:|---:|---:|")
    for workload, parameters in STREAMING.items():
        for prefetcher in ("none", "random", "sequential-local", "tree"):
            tenants = [(workload, parameters, managed, "")]
            result = bench.run_paging(tenants, {"prefetcher": prefetcher}, simulation=RECORDED)
            moved, faults = (result.stats["host"][name] for name in ("pages_migrated", "far_faults"))
            kernels = sum(result.kernel_time.values()) * 1e-12
            handled = len(result.faults)
            print(f"| {workload} | {prefetcher} | {faults} | {handled} | {moved} | {kernels:.2f} |", flush=True)


def shootdown(bench):
    print("| workload | replay | L1 TLB hit rate, whole | entry | difference, points | cycles, entry / whole |")
    print("|---|---|---:|---:|---:|---:|")
    for replay in ("listed", "block-tlb"):
        policies = {"exception_scheme": "stall-on-fault", "fault_handling": f"{{name: host, replay: {replay}}}"}
        for workload in SHOOTDOWN:
            tenants = [(workload, STREAMING[workload], managed, "")]
            whole, entry = (
                bench.run_paging(tenants, policies, f"{{gpu.vm.shootdown: {how}}}") for how in ("whole", "entry")
            )
            rates = [100 * result.hit_rate() for result in (whole, entry)]
            cycles = sum(entry.kernel_time.values()) / sum(whole.kernel_time.values())
            print(f"| {workload} | {replay} | {rates[0]:.1f} % | {rates[1]:.1f} % | {rates[1] - rates[0]:+.1f} "
                  f"| {cycles:.4f} |", flush=True)


# Every translation a hit.
IDEAL = ("{translation: ideal, sharing: spatial}", "")


def relative(bench, gpu, reference, variants, cases, **keys):
    """Prints a row per case: how fast each variant (policies, override) is beside the reference; then the mean."""
    rows = []
    for name, tenants in cases.items():
        times = [
            bench.run(gpu, tenants, policies, f"{{{more}}}", **keys).kernel_time
            for policies, more in (reference, *variants)
        ]
        # Of several tenants: the mean of their speeds.
        speeds = [numpy.mean([times[0][t] / other[t] for t in times[0]]) for other in times[1:]]
        rows.append(speeds)
        us = sum(times[0].values()) * 1e-9
        print(f"| {name} | {us:.0f} | " + " | ".join(f"{speed:.3f}" for speed in speeds) + " |", flush=True)
    means = numpy.exp(numpy.log(rows).mean(axis=0))
    print("| geometric mean | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


def alone(where):
    return {name: [(name, parameters, where, "")] for name, parameters in RESIDENT.items()}


def together(pairs, where):
    return {f"{a} + {b}": [(name, RESIDENT[name], where, ", sms: 15") for name in (a, b)] for a, b in pairs}


def translation(bench):
    print("| resident, mask_maxwell | kernels with ideal, us | page-walk-cache | shared-tlb |")
    print("|---|---:|---:|---:|")
    variants = [(f"{{translation: {name}, sharing: spatial, page_manager: base-pages}}", "")
                for name in ("page-walk-cache", "shared-tlb")]
    relative(bench, "mask_maxwell", IDEAL, variants, alone(resident))
    pairs = [("bfs", "spmv"), ("btree", "bfs"), ("spmv", "transpose"), ("btree", "spmv")]
    relative(bench, "mask_maxwell", IDEAL, variants, together(pairs, resident))


def pages(bench):
    print("| resident, mosaic_maxwell | kernels with ideal, us | base-pages | large-pages |")
    print("|---|---:|---:|---:|")
    managers = [("{page_manager: base-pages}", ""), ("{page_manager: large-pages}", "")]
    relative(bench, "mosaic_maxwell", IDEAL, managers, alone(resident))
    print()
    print("| demand paged, mosaic_maxwell | kernels with ideal translation, us | base-pages | large-pages |")
    print("|---|---:|---:|---:|")
    # As configs/scenarios/mosaic_paging.yaml: 55 us from load to use, no prefetching.
    paged = "prefetcher: none, fault_handling: {name: host, cost_model: linear, handling: 50us}"
    ideal = (f"{{{paged}, translation: ideal}}", IDEAL[1])
    variants = [(f"{{{paged}, page_manager: base-pages}}", ""), (f"{{{paged}, page_manager: large-pages}}", "")]
    line = ("pointer_chase", "{slots: 64, spacing: 262144, hops: 256}", scattered, "")
    cases = {**alone(managed), "pointer_chase, a line per 2 MiB": [line]}
    relative(bench, "mosaic_maxwell", ideal, variants, cases, host="pcie3_mosaic")


def faults(bench):
    print("| cost model, host | data | found to replay sent, us | hop | queue, service | frame, transfer, entry |")
    print("|---|---|---:|---:|---:|---:|")
    models = {
        "uvmsmart, pcie3": ("pcie3", "{name: host, cost_model: uvmsmart}"),
        "tanasic, nvlink": ("nvlink", "{name: host, cost_model: tanasic}"),
        "tanasic, pcie3_tanasic": ("pcie3_tanasic", "{name: host, cost_model: tanasic, migrate: 25us, allocate: 12us}"),
    }
    for name, (host, model) in models.items():
        # One warp: a[0], b[0] and c[0] are all that is touched, c without data.
        tenants = [("vector_add", "{n: 32, block: 32}", managed, "")]
        policies = f"{{prefetcher: none, fault_handling: {model}}}"
        result = bench.run("gtx1080ti", tenants, policies, simulation=RECORDED, host=host)
        for row in result.faults:
            times = [int(row[column]) * 1e-9 for column in ("found", "arrived", "served", "mapped")]
            steps = " | ".join(f"{b - a:.2f}" for a, b in zip(times, times[1:]))
            kind = "moved" if row["class"] == b"migrate" else "zeroed"
            print(f"| {name} | {kind} | {times[-1] - times[0]:.2f} | {steps} |")


def host(bench):
    print("| run, one thread | user + system seconds | simulated ms |")
    print("|---|---:|---:|")
    parameters = "{n: 1048576, blocks: 224}"
    n = "{n: 22369621}"  # three arrays of 85.3 MiB
    tree = "{prefetcher: tree}"
    cases = {
        "managed_add, gtx1080ti": ("gtx1080ti", [("managed_add", parameters, managed, "")]),
        "vector_add, 256 MiB, v100, device": ("v100", [("vector_add", n, resident, "")]),
        "vector_add, 256 MiB, v100, managed": ("v100", [("vector_add", n, managed, "")]),
    }
    for name, (gpu, tenants) in cases.items():
        seconds, result = bench.seconds(gpu, tenants, tree)
        print(f"| {name} | {seconds:.2f} | {result.end * 1e-12:.1f} |", flush=True)


PARTS = {
    "prefetch": prefetch,
    "shootdown": shootdown,
    "translation": translation,
    "pages": pages,
    "faults": faults,
    "host": host,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--lockstep", default=ROOT / "build/release/lockstep")
    parser.add_argument("--gpu", choices=MACHINES, default="gtx1080ti", help="of prefetch and shootdown")
    arguments = parser.parse_args()
    bench = Bench(arguments.lockstep, arguments.gpu)
    for part in arguments.parts or PARTS:
        PARTS[part](bench)
        print()


if __name__ == "__main__":
    main()
