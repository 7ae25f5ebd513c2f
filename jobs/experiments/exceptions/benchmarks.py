"""The benchmarks of paper 000: our workloads of those names, in sizes of seconds, and where their data are.

One kernel of each is measured, as in the paper (section 5.1). What earlier kernels prepare for it comes from CPU memory
where the paper says that all data do.
"""
import dataclasses
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from paged import paged  # noqa: E402

WORKLOADS = pathlib.Path(__file__).resolve().parents[3] / "configs/workloads"


@dataclasses.dataclass(frozen=True)
class Benchmark:
    kernel: str  # that is measured
    full: str  # parameters
    quick: str
    outputs: tuple = ()  # buffers that the kernel writes and nobody has touched
    prepared: tuple = ()  # buffers that earlier kernels fill
    workload: str = ""  # "": of the benchmark's name


# Full sizes have more blocks than fit on the SMs at once.
PARBOIL = {
    "bfs": Benchmark("bfs_level", "{vertices: 65536, edges: 524288}", "{vertices: 8192, edges: 65536}"),
    "cutcp": Benchmark("cutcp_lattice", "{bins: 7}", "{bins: 4}", ("potential",), ("atom",)),
    "histo": Benchmark("histo_main", "{n: 1048576, slices: 2, blocks: 256, rounds: 1}",
                       "{n: 131072, slices: 2, blocks: 128, rounds: 1}", ("counts",), ("data", "range")),
    "lbm": Benchmark("lbm_step", "{width: 128, height: 32, depth: 32, steps: 1}",
                     "{width: 64, height: 32, depth: 16, steps: 1}", ("next",), ("obstacle", "f")),
    # Of 100 blocks the longest takes two orders of magnitude longer than the shortest; long ones come early.
    "mri_gridding": Benchmark("gridding_gather", "{tiles: 64, samples: 16384, spread: 0.04, middle: -0.4}",
                              "{tiles: 32, samples: 4096, spread: 0.06, middle: -0.3}", ("grid",), ("sorted", "start")),
    "mri_q": Benchmark("mri_q", "{voxels: 65536}", "{voxels: 8192}", ("q",), ("sample",)),
    "sad": Benchmark("sad_4", "{columns: 22, rows: 18, range: 4}", "{columns: 11, rows: 9, range: 4}", ("of_4",)),
    "sgemm": Benchmark("sgemm", "{n: 512}", "{n: 256}", ("c",)),
    "spmv": Benchmark("spmv_scalar", "{rows: 65536, entries: 524288}", "{rows: 8192, entries: 131072}",
                      ("y_scalar",)),
    "stencil_coarsened": Benchmark("stencil_coarsened", "{width: 512, height: 256, depth: 16, steps: 1}",
                                   "{width: 256, height: 256, depth: 4, steps: 1}", ("next",)),
    "tpacf": Benchmark("tpacf_histograms", "{points: 128, sets: 150}", "{points: 128, sets: 20}",
                       ("histogram",), ("x", "y", "z")),
}
HEAP = {
    "hash_table": Benchmark("table_insert", "{pairs: 131072, queries: 1024, keys: 100000, buckets: 65536, rounds: 0}",
                            "{pairs: 32768, queries: 1024, keys: 30000, buckets: 16384, rounds: 0}"),
    "linked_lists": Benchmark("lists_build", "{lists: 32768, length: 4, words: 26, rounds: 0}",
                              "{lists: 8192, length: 4, words: 26, rounds: 0}"),
    "quadtree": Benchmark("quadtree_split", "{points: 65536, levels: 5, crowd: 32, block: 512}",
                          "{points: 16384, levels: 4, crowd: 32, block: 256}"),
}
# histo with as many bins as Parboil's, 996 * 1040, and values that go to all of them.
LARGE = {
    "histo_large": Benchmark("histo_main", "{n: 131072, slices: 506, blocks: 4, rounds: 1, deviation: 172000}",
                             "{n: 32768, slices: 126, blocks: 4, rounds: 1, deviation: 43000}", ("counts",),
                             ("data", "range"), "histo"),
}
ALL = {**PARBOIL, **HEAP, **LARGE}

# Where a workload's data are when the measured kernel starts.
RESIDENT = "resident"  # in GPU memory, as shipped
COPIED = "copied"  # inputs in GPU memory, outputs nowhere yet
PAGED = "paged"  # inputs in CPU memory, outputs nowhere yet


def source_of(name):
    """The shipped workload of a benchmark."""
    return WORKLOADS / f"{ALL[name].workload or name}.yaml"


def workload_text(name, placement):
    """The shipped workload with its buffers where `placement` says."""
    benchmark = ALL[name]
    text = source_of(name).read_text().replace("module: ", f"module: {WORKLOADS}/")
    if placement == COPIED:
        for buffer in benchmark.outputs:
            text = re.sub(rf"^(  {buffer}: \{{.*)memory: device", r"\1memory: managed", text, flags=re.MULTILINE)
        if benchmark.outputs:  # `swap` wants equal buffers, and nobody measures what comes behind the kernel
            text = re.sub(r"^ *- (swap: .*|copy: \{.*to: host\})\n", "", text, flags=re.MULTILINE)
    if placement == PAGED:
        text = paged(text)
        steps = "".join(rf"\1- read: {buffer}\n" for buffer in benchmark.prepared)
        launch = rf"^( *)(- launch: \{{kernel: {benchmark.kernel},)"
        text = re.sub(launch, rf"\1- synchronize\n{steps}\1\2", text, flags=re.MULTILINE)
    return text
