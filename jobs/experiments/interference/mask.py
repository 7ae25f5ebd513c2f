#!/usr/bin/python3
"""MASK and its parts for pairs of applications: K1 to K4, K8 to K11 of paper 004 (section 6.6, Figures 6.11 to 6.15).

    jobs/experiments/interference/mask.py run [--folder DIR] [--jobs N] [--pairs A+B ...] [--designs D ...]
        [--splits]
    jobs/experiments/interference/mask.py show [the same]

`run` has each pair on mask_maxwell for 20 epochs, 15 SMs for each and pages of 4 KiB, under each design, and each
application alone on its 15 SMs under SharedTLB. `show` prints weighted speedups and the larger slowdown of each pair,
and what TLBs and walks did. With --splits each pair also has 10 and 20 SMs, and 20 and 10, under those designs that
claims are about, and the best of the three splits counts, as with the paper's oracle.
"""
import math

from mosaic import rates
from points import Experiment, Point, parser_of, sweeps
from progress import speedups
from sizes import LARGE

# By how many of two applications miss often in both TLBs, as in Table 6.2: the pairs that 004 names and whose
# applications we have, and others.
CATEGORIES = {
    "0-HMR": (("scan", "sad"), ("scan", "histogram"), ("scalar_product", "barnes_hut"), ("fwt", "barnes_hut")),
    "1-HMR": (("streamcluster", "fwt"), ("scan", "srad"), ("scan", "convolution_separable"), ("stencil3d", "histogram"),
              ("cfd", "barnes_hut"), ("inverted_index", "scalar_product"), ("page_view_count", "barnes_hut")),
    "2-HMR": (("sgemm", "convolution_separable"), ("inverted_index", "page_view_count"), ("spmv", "cfd")),
}
PAIRS = tuple(pair for pairs in CATEGORIES.values() for pair in pairs)
SMS = 15
MHZ, DRAM_MHZ = 1020, 1674  # clocks of SMs and GMMU, and of the DRAM
SPLITS = ((10, 20), SMS, (20, 10))
# 20 epochs of MASK of 100,000 cycles each. What a program copies before its first kernel takes the time of its DRAM
# writes, since the paper measures what GPUs do. Who is over within the span copies anew.
SPAN = (("simulation.stop_at", "1961us"), ("simulation.epoch", "20us"), ("host.link_curve", "affine"),
        ("host.link_bandwidth", "10TB/s"), ("host.transfer_setup", "0us"), ("host.link_latency", "10ns"))
FILL = ("tlb_fill", "mask")
MEASURE = ("tlb_fill", "{name: mask, tokens: false}")
CACHE = ("cache_policy", "mask")
# No request of the source grows old; of MASK-DRAM these are demands, picked for each bank (docs/validation/mask.md).
ORDER = ("dram_scheduler", "{name: fr-fcfs, age_limit: 0}")
DRAM = ("dram_scheduler", "{name: mask, first: bank, open_rows: true, writes: false, age_limit: 0}")
STATIC = (("gpu.noc.mapping", "grouped"),)
NEAR = (("gpu.vm.memory_latency", 10),)  # walkers as near to the L2 as the paper's
DESIGNS = {
    "Static": (),
    "PWCache": (("translation", "page-walk-cache"),),
    "SharedTLB": (),
    "MASK-TLB": (FILL,),
    "MASK-Cache": (CACHE,),
    "MASK-DRAM": (MEASURE, DRAM),
    "MASK": (FILL, CACHE, DRAM),
    "Ideal": (("translation", "ideal"),),
}
ORACLE = ("Static", "SharedTLB", "MASK")  # designs for whose splits there is an oracle
WALKING = ("walks at a time", "cycles of a walk", "use of the DRAM, %")
WALKING_COLUMNS = ("hits in the bypass cache, %, MASK",
                   *(f"{what}, {design}" for what in WALKING for design in ("SharedTLB", "MASK")))
LEVELS = ("data", "level_1", "level_2", "level_3", "level_4")


def point_of(names, design, sms=SMS, overrides=(), policies=(), gpu="mask_maxwell", sizes=LARGE, span=SPAN):
    """Applications that start over until the span ends."""
    chosen = dict((("sharing", "spatial"), ("page_manager", "base-pages"), ORDER, *DESIGNS[design], *policies))
    return Point(gpu, tuple((name, sizes[name]) for name in names), tuple(chosen.items()), relaunch=len(names) > 1,
                 sms=sms, overrides=(*span, *STATIC * (design == "Static"), *overrides))


def alone(name, sms=SMS):
    return point_of((name,), "SharedTLB", sms)


def alone_of(pair, split=SMS):
    """Each application of a pair alone on its SMs."""
    shared = point_of(pair, "SharedTLB", split)
    return [alone(name, shared.sms_of(index)) for index, name in enumerate(pair)]


def split_points(pairs):
    """What --splits adds."""
    for pair in pairs:
        for split in SPLITS:
            yield from alone_of(pair, split)
            yield from (point_of(pair, design, split) for design in ORACLE)


def points(pairs=PAIRS, designs=tuple(DESIGNS)):
    yield from map(alone, dict.fromkeys(name for pair in pairs for name in pair))
    yield from (point_of(pair, design) for pair in pairs for design in designs)


def tiny(pair):
    return [*alone_of(pair), point_of(pair, "SharedTLB"), point_of(pair, "MASK")]


def speedups_of(experiment, shared, runs_alone):
    """Of the applications of a point over their runs alone."""
    try:
        with experiment.output(shared) as file:
            return speedups(file, [experiment.output(point) for point in runs_alone])
    except sweeps.Missing:
        return [math.nan] * len(runs_alone)


def per_tenant(file, kind, name):
    return file["final/stats"][kind][name][:].sum(axis=0).astype(float)


def shares(experiment, point, kind, hits, misses):
    """Misses in %, by tenant."""
    try:
        with experiment.output(point) as file:
            hit, missed = per_tenant(file, kind, hits), per_tenant(file, kind, misses)
    except sweeps.Missing:
        return [math.nan] * len(point.applications)
    return [100 * b / (a + b) if a + b else math.nan for a, b in zip(hit, missed)]


@sweeps.blank_if_missing(len(LEVELS))
def level_hits(experiment, point):
    """Hits in the L2 in %, of data and of each level of walks."""
    with experiment.output(point) as file:
        names = [name.decode() for name in file["stats/cache_policy/hits"].dims[2][0][:]]
        hits, lookups = (per_tenant(file, "cache_policy", name) for name in ("hits", "lookups"))
    return [100 * hits[row] / max(lookups[row], 1) for row in map(names.index, LEVELS)]


def table(title, columns, rows, digits=3):
    """`rows`: (name, values) of each."""
    sweeps.print_table(title, columns, dict(rows), f".{digits}f")


def with_mean(rows):
    """With a last row of the columns' means, of what is there."""
    return [*rows, ("**mean**", [sweeps.mean_of(column) for column in zip(*(values for _, values in rows))])]


def rows_of(experiment, pairs, designs, shared, runs_alone, of_speeds=sum):
    """A row for each pair, of its speedups in `shared(pair, design)` over `runs_alone(pair)`."""
    return [(" + ".join(pair), [of_speeds(speedups_of(experiment, shared(pair, design), runs_alone(pair)))
                                for design in designs]) for pair in pairs]


def show_metric(title, experiment, pairs, of_speeds):
    """A row for each pair, the mean of each category, and of all pairs."""
    rows, means = [], {}
    for category, members in CATEGORIES.items():
        of_members = rows_of(experiment, [pair for pair in members if pair in pairs], DESIGNS, point_of, alone_of,
                             of_speeds)
        rows += of_members
        if of_members:
            means[category] = [values for _, values in of_members]
    for category, values in (*means.items(), ("all", [values for _, values in rows])):
        rows.append((f"**mean of {category}**", [sweeps.mean_of(column) for column in zip(*values)]))
    table(title, DESIGNS, rows)
    return dict(rows)


def show(experiment, pairs):
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    rows = [(name, [*shares(experiment, alone(name), "sm", "tlb_hits", "tlb_misses"),
                    *shares(experiment, alone(name), "gmmu", "tlb_hits", "tlb_misses")]) for name in names]
    table("misses alone, %", ("first-level TLBs", "second-level TLB"), rows, 0)
    speeds = show_metric("weighted speedup", experiment, pairs, sum)
    slowdowns = show_metric("larger slowdown", experiment, pairs, lambda values: 1 / min(values))
    order = list(DESIGNS)
    shared, mask = order.index("SharedTLB"), order.index("MASK")
    better = [name for name in speeds if "mean" not in name and speeds[name][mask] > speeds[name][shared]
              and slowdowns[name][mask] < slowdowns[name][shared]]
    print("K11: both faster and fairer under MASK:", ", ".join(better))
    show_rates(experiment, pairs)
    show_walks(experiment, pairs)
    show_parts(experiment, pairs)


def show_splits(experiment, pairs):
    """Weighted speedups and larger slowdowns under the split that is best for the former."""
    rows = []
    for pair in pairs:
        best = [max((speedups_of(experiment, point_of(pair, design, split), alone_of(pair, split)) for split in SPLITS),
                    key=sum) for design in ORACLE]
        rows.append((" + ".join(pair), [*map(sum, best), *(1 / min(speeds) for speeds in best)]))
    table("best of three splits", (*ORACLE, *(f"slowdown, {design}" for design in ORACLE)), with_mean(rows))


def show_parts(experiment, pairs):
    rows, levels = [], []
    for pair in pairs:
        misses = []
        for design in ("SharedTLB", "MASK-TLB", "MASK"):
            misses += shares(experiment, point_of(pair, design), "gmmu", "tlb_hits", "tlb_misses")
        rows.append((" + ".join(pair), misses))
        levels.append((" + ".join(pair), level_hits(experiment, point_of(pair, "MASK-Cache"))))
    table("misses in the second-level TLB, % of each", ("SharedTLB", "", "MASK-TLB", "", "MASK", ""), rows, 1)
    table("hits in the L2 under MASK-Cache, %", LEVELS, levels, 2)


@sweeps.blank_if_missing()
def beside_hits(experiment, point):
    """Hits in the cache beside the second-level TLB in %, of the look-ups that this TLB itself lacks."""
    with experiment.output(point) as file:
        hits = per_tenant(file, "tlb_fill", "beside_hits").sum()
        missed = per_tenant(file, "gmmu", "tlb_misses").sum()
    return 100 * hits / max(hits + missed, 1)


@sweeps.blank_if_missing(3)
def walking(experiment, point):
    """Walks at a time; cycles of one in its walker; use of the DRAM's data buses in %."""
    with experiment.output(point) as file:
        cycles, walks = (per_tenant(file, "gmmu", name).sum() for name in ("walk_cycles", "walks"))
        busy = file["final/stats/partition/data_bus_cycles"][:]
        microseconds = file["final/end"][()] * 1e-9
    return (cycles / (microseconds * MHZ), cycles / max(walks, 1),
            100 * busy.sum() / (len(busy) * microseconds * DRAM_MHZ))


def interleaved(*rows):
    """The first values of all rows, then the second ones, and so on."""
    return [value for column in zip(*rows) for value in column]


def translating(experiment, shared, mask):
    """Of WALKING_COLUMNS, from the points under SharedTLB and MASK."""
    return [beside_hits(experiment, mask), *interleaved(walking(experiment, shared), walking(experiment, mask))]


def show_walks(experiment, pairs):
    """What translations and the DRAM do: the bypass cache, walks, bandwidth."""
    rows = [(" + ".join(pair), translating(experiment, point_of(pair, "SharedTLB"), point_of(pair, "MASK")))
            for pair in pairs]
    table("of pairs", WALKING_COLUMNS, with_mean(rows), 1)


def show_rates(experiment, pairs):
    """K2 and K10: by how much each application, and a pair in instructions per cycle, is faster than under SharedTLB:
    in the first round of each application, or in the span if that is shorter."""
    rows = []
    for pair in pairs:
        shared, dram, mask = (rates(experiment, point_of(pair, design))
                              for design in ("SharedTLB", "MASK-DRAM", "MASK"))
        changes = [100 * after / before - 100 for by in (dram, mask) for after, before in zip(by, shared)]
        rows.append((" + ".join(pair), [*changes, *(100 * sum(by) / sum(shared) - 100 for by in (dram, mask))]))
    table("over SharedTLB, %", ("first, MASK-DRAM", "second, MASK-DRAM", "first, MASK", "second, MASK",
                                "pair, MASK-DRAM", "pair, MASK"), with_mean(rows), 1)


def main():
    parser = parser_of(__doc__, "mask")
    parser.add_argument("--pairs", nargs="+", choices=["+".join(pair) for pair in PAIRS], metavar="A+B",
                        help="some of the pairs only")
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS), metavar="DESIGN",
                        help="under some of the designs only")
    parser.add_argument("--splits", action="store_true", help="other shares of the SMs as well")
    arguments = parser.parse_args()
    experiment = Experiment(arguments)
    pairs = [pair for pair in PAIRS if not arguments.pairs or "+".join(pair) in arguments.pairs]
    if arguments.verb == "run":
        more = split_points(pairs) if arguments.splits else ()
        experiment.run([*points(pairs, arguments.designs), *more], tiny(pairs[0]))
    show(experiment, pairs)
    if arguments.splits:
        show_splits(experiment, pairs)


if __name__ == "__main__":
    main()
