#!/usr/bin/python3
"""Every shipped workload at a size that fills the v100, with --check: the table of docs/validation/functional.md.

large_workloads.py [--lockstep build/release/lockstep] [--threads 2] [WORKLOAD ...]

Not a part of the test run: it takes minutes.  Exit status 1 when a workload fails.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import h5py
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIME_LIMIT = 300

# What replaces the default parameters.  The latency microbenchmarks measure with one thread, which
# no size makes larger.
SIZES = {
    "attention_decode": "{batch: 32, heads: 12, pages: 16}",
    "backprop": "{inputs: 4096, units: 320}",
    "bandwidth": "{n: 4194304, blocks: 640}",
    "barnes_hut": "{bodies: 8192, levels: 6}",
    "barnes_hut_warps": "{bodies: 8192, levels: 6}",
    "bfs": "{vertices: 131072, edges: 2097152}",
    "bfs_persistent": "{vertices: 16384, edges: 131072, block: 256, blocks: 80}",
    "bfs_two": "{vertices: 32768, edges: 262144}",
    "black_scholes": "{options: 262144}",
    "btree": "{keys: 65536, queries: 65536}",
    "btree_range": "{keys: 262144, ranges: 8192}",
    "cfd": "{cells: 19200}",
    "chirp": "{n: 262144}",
    "cluster_histogram": "{n: 1048576, bins: 8000, blocks: 128, cluster: 8}",
    "cluster_reduce": "{rows: 64, columns: 32768, cluster: 8}",
    "convolution_separable": "{width: 640, height: 512}",
    "cutcp": "{bins: 6}",
    "dram_latency": "{}",
    "direct_kernel": "{part: 1048576}",
    "dwt2d": "{width: 512, height: 256}",
    "fft": "{batch: 1280}",
    "flash_attention": "{heads: 4, length: 512}",
    "flash_attention_hopper": "{heads: 4, length: 1024, blocks: 20}",
    "fp8_gemm": "{m: 1024, n: 1024, k: 1024, blocks: 64}",
    "fwt": "{far: 4}",
    "frames": "{frames: 2}",
    "gelu": "{n: 1048576}",
    "gemm_mma": "{m: 1024, n: 1024, k: 512}",
    "gemm_mma_bf16": "{m: 1024, n: 1024, k: 512}",
    "gemm_mma_s8": "{m: 1024, n: 1024, k: 1024}",
    "gemm_mma_tf32": "{m: 1024, n: 1024, k: 256}",
    "gemm_tma": "{m: 1024, n: 1024, k: 512}",
    "gemm_tma_wgmma": "{m: 1024, n: 1024, k: 512, blocks: 32}",
    "gemm_tma_wgmma_pairs": "{m: 1024, n: 1024, k: 512, blocks: 32}",
    "gemm_tma_wgmma_tf32": "{m: 1024, n: 1024, k: 256, blocks: 32}",
    "gemm_wgmma": "{m: 1024, n: 1024, k: 512}",
    "gemm_wmma": "{n: 256}",
    "gicov": "{width: 192, height: 128, circles: 5, directions: 32, radius: 4}",
    "data_parallel_step": "{features: 16384, batch: 1024, blocks: 64}",
    "halo_exchange": "{width: 2048, height: 512}",
    "hash_table": "{pairs: 32768, queries: 32768, keys: 20000, buckets: 16384, rounds: 0}",
    "heartwall": "{points: 51, frames: 12}",
    "histo": "{n: 1048576, slices: 8, blocks: 40}",
    "histogram": "{n: 4194304, blocks: 640}",
    "histogram1024": "{n: 1048576, blocks: 320}",
    "hotspot": "{width: 1024, height: 1024}",
    "invert_mapping": "{points: 32768, features: 34}",
    "inverted_index": "{words: 262144, vocabulary: 20000, slots: 65536}",
    "inverted_index_persistent": "{words: 262144, vocabulary: 20000, slots: 65536, block: 256, blocks: 640}",
    "kmeans": "{points: 131072, features: 16, clusters: 16}",
    "l1_latency": "{}",
    "l2_latency": "{}",
    "layer_norm": "{count: 2048, columns: 768}",
    "lbm": "{width: 128, height: 64, depth: 64}",
    "linked_lists": "{lists: 20480, rounds: 0}",
    "lud": "{tiles: 32}",
    "managed_add": "{n: 1048576, blocks: 320}",
    "managed_graph": "{vertices: 32768, edges: 262144}",
    "mri_gridding": "{tiles: 32, samples: 6000, spread: 0.05}",
    "mri_q": "{voxels: 65536, samples: 512}",
    "mst": "{vertices: 8192, edges: 32768}",
    "nearest_neighbour": "{records: 1048576, blocks: 160}",
    "nw": "{tiles: 48}",
    "nw_two": "{tiles: 48}",
    "page_view_count": "{entries: 65536, pages: 8192, page_slots: 16384, pair_slots: 131072}",
    "page_view_count_persistent": "{entries: 65536, pages: 8192, page_slots: 16384, pair_slots: 131072, block: 256, "
                                  "blocks: 640}",
    "page_view_rank": "{servers: 2560, visited_records: 512, other_records: 256, front: 4096, pages: 655360, "
                      "blocks: 640}",
    "pathfinder": "{columns: 200000, rows: 80}",
    "peer_gather": "{n: 1048576, blocks: 320}",
    "persistent": "{n: 200000, blocks: 640}",
    "pointer_chase": "{slots: 1048576, hops: 16384}",
    "quadtree": "{points: 32768, levels: 5, crowd: 32, block: 128}",
    "reduction": "{n: 8388608, blocks: 640}",
    "pipeline_stages": "{width: 1024, rows: 64}",
    "ring_all_reduce": "{part: 1048576, blocks: 320}",
    "ring_kernel": "{part: 1048576}",
    "sad": "{columns: 11, rows: 9, range: 5}",
    "saxpy": "{n: 4194304, blocks: 640}",
    "scalar_product": "{pairs: 320, elements: 4096, blocks: 160}",
    "scale_bulk": "{n: 4194304, blocks: 264}",
    "scan": "{n: 1000000}",
    "sgemm": "{n: 512}",
    "sgemm_async": "{n: 512}",
    "similarity_score": "{queries: 2560, popular_pairs: 512, other_pairs: 256, front: 4096, documents: 655360, "
                        "blocks: 640}",
    "softmax": "{count: 2048, columns: 1024}",
    "spmv": "{rows: 131072, entries: 2097152}",
    "srad": "{width: 1024, height: 1024}",
    "srad_reduce": "{pixels: 262144}",
    "sssp": "{vertices: 32768, edges: 262144}",
    "stencil2d": "{width: 1024, height: 1024, steps: 6}",
    "stencil3d": "{width: 256, height: 256, depth: 64}",
    "stencil_coarsened": "{width: 256, height: 128, depth: 32}",
    "streamcluster": "{points: 131072, dimensions: 32}",
    "survey_propagation": "{clauses: 42000, variables: 10000}",
    "survey_propagation_persistent": "{clauses: 42000, variables: 10000, block: 256, blocks: 640}",
    "tpacf": "{points: 256, sets: 12}",
    "transformer_block": "{length: 256, heads: 12}",
    "transpose": "{width: 2000, height: 2048}",
    "tree_kernel": "{count: 4194304}",
    "triad": "{piece: 262144, rounds: 4}",
    "urgent": "{blocks: 320, rounds: 100}",
    "vector_add": "{n: 4194304}",
}


def gpu_of(name):
    """The v100, or the a100 or h100 for what the v100 lacks."""
    modules = workload_file(name)["module"]
    files = [modules] if isinstance(modules, str) else modules
    ptx = "".join((ROOT / "configs/workloads" / file).read_text(encoding="utf-8") for file in files)
    return "a100" if ".target sm_80" in ptx else "h100" if ".target sm_90a" in ptx else "v100"


def workload_file(name):
    return yaml.safe_load((ROOT / f"configs/workloads/{name}.yaml").read_text(encoding="utf-8"))


def run(lockstep, name, threads, folder):
    """(passed, seconds, the run's figures, what the program said)"""
    scenario, output = folder / "scenario.yaml", folder / "out.h5"
    text = (ROOT / f"configs/workloads/{name}.yaml").read_text(encoding="utf-8")
    count = 1 + max(map(int, re.findall(r"\bgpu: (\d+)", text)), default=0)
    several = f"gpus: {count}\nfabric: {ROOT}/configs/fabrics/nvswitch2.yaml\n" if count > 1 else ""
    scenario.write_text(
        f"gpu: {ROOT}/configs/gpus/{gpu_of(name)}.yaml\n{several}"
        f"host: {ROOT}/configs/hosts/pcie3.yaml\n"
        f"tenants:\n  - name: one\n    workload: {ROOT}/configs/workloads/{name}.yaml\n"
        f"    parameters: {SIZES[name]}\n"
        + (f"    gpus: {list(range(count))}\n" if count > 1 else "")
    )
    command = [lockstep, "run", scenario, "--check", "--quiet", "--overwrite", "--output", output]
    command += ["--threads", str(threads)]
    start = time.monotonic()
    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return False, TIME_LIMIT, None, f"more than {TIME_LIMIT} s"
    seconds = time.monotonic() - start
    if done.returncode != 0:
        return False, seconds, None, (done.stdout + done.stderr).strip()
    with h5py.File(output, "r") as file:
        figures = dict(file["run"].attrs)
        figures["simulated_us"] = file["final/end"][()] * 1e-9
    return "check passed" in done.stdout, seconds, figures, done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", default=ROOT / "build/release/lockstep", type=pathlib.Path)
    parser.add_argument("--threads", default=2, type=int)
    parser.add_argument("workload", nargs="*", choices=[[], *SIZES])
    arguments = parser.parse_args()
    shipped = {path.stem for path in (ROOT / "configs/workloads").glob("*.yaml")}
    if shipped != set(SIZES):
        sys.exit(f"SIZES is not the list of shipped workloads: {sorted(shipped ^ set(SIZES))}")
    failed = 0
    print("| workload | parameters | million warp instructions | simulated us | wall s | --check |")
    print("|---|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.workload or SIZES:
            passed, seconds, figures, said = run(
                arguments.lockstep.resolve(), name, arguments.threads, pathlib.Path(folder)
            )
            millions = figures["warp_instructions"] / 1e6 if figures else 0
            simulated = figures["simulated_us"] if figures else 0
            compared = re.search(r"check passed.*", said)
            verdict = compared[0].replace("check ", "") if passed else "FAILED"
            sizes = SIZES[name].strip("{}") or "as shipped"
            print(
                f"| {name} | {sizes} | {millions:.2f} | {simulated:.0f} | {seconds:.1f} | {verdict} |",
                flush=True,
            )
            if not passed:
                failed += 1
                print(f"{name}: {said}", file=sys.stderr, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
