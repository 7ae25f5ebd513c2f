#!/usr/bin/python3
"""Mosaic beside GPU-MMU with 4 KiB pages and an ideal TLB: Z1 to Z5, Z7 to Z10 and Z20 of paper 004 (section 7.5).

    jobs/experiments/interference/mosaic.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mosaic.py show [--folder DIR]

`run` has one to five copies of applications, and pairs and triples of different ones, on mosaic_maxwell, its SMs shared
out equally, under each design, and a pair with fewer TLB entries; alone, an application has as many SMs under GPU-MMU.
`show` prints weighted speedups, misses in TLBs and what fewer entries cost.
"""
import functools
import itertools
import math
import statistics

from points import Point, run_or_show, sweeps
from sizes import LARGE

# 32 MiB and more of buffers each: tables of 32 MiB in which every thread looks up at random, streams, and tiles.
SIZES = {
    "page_view_count": "{entries: 65536, pages: 8192, page_slots: 16384, pair_slots: 4194304}",
    "inverted_index": "{words: 65536, vocabulary: 65536, slots: 4194304}",
    **{name: LARGE[name] for name in ("scalar_product", "nearest_neighbour", "fft", "convolution_separable")},
}
COPIES = tuple((name,) * count for name in SIZES for count in range(1, 6))
PAIRS, TRIPLES = (tuple(itertools.combinations(SIZES, count)) for count in (2, 3))
DESIGNS = {
    "GPU-MMU": (("page_manager", "base-pages"),),
    "Mosaic": (("page_manager", "mosaic"),),
    "Ideal": (("page_manager", "base-pages"), ("translation", "ideal")),
}
SMS = 30
# Data are in GPU memory when a program begins: its copies take microseconds.
NEAR = (("host.link_curve", "affine"), ("host.link_bandwidth", "1TB/s"), ("host.transfer_setup", "0fs"))
# With fewer TLB entries: copies with a table of 64 MiB and others of 1 MiB and less, which fill no
# large page, all looked up at random; and two pairs of the above.
SMALL_TABLES = (("page_view_count", "{entries: 65536, pages: 65536, page_slots: 131072, pair_slots: 8388608}"),) * 2
SWEPT = (SMALL_TABLES, *(tuple((name, SIZES[name]) for name in pair) for pair in
                         (("page_view_count", "inverted_index"), ("nearest_neighbour", "fft"))))
# Key below gpu.vm, its value on the machine, the smaller one.
ENTRIES = (("l1_tlb.entries", 128, 8), ("l2_tlb.entries", 512, 64), ("l1_tlb.large_entries", 16, 4),
           ("l2_tlb.large_entries", 256, 32))


def sized_point(applications, design, sms=0, overrides=()):
    return Point("mosaic_maxwell", applications, (("sharing", "spatial"), *DESIGNS[design]),
                 relaunch=len(applications) > 1, sms=sms or SMS // len(applications), overrides=(*NEAR, *overrides))


def point_of(names, design, sms=0):
    return sized_point(tuple((name, SIZES[name]) for name in names), design, sms)


def fewer(key, entries):
    return ((f"gpu.vm.{key}", entries),)


def lone_points(applications):
    """Each of them by itself, with its SMs of the mix."""
    return [sized_point((application,), "GPU-MMU", SMS // len(applications)) for application in applications]


def mixes():
    return (*COPIES, *PAIRS, *TRIPLES)


def points():
    for mix in mixes():
        yield from (point_of((name,), "GPU-MMU", SMS // len(mix)) for name in dict.fromkeys(mix))
        yield from (point_of(mix, design) for design in DESIGNS)
    for mix in SWEPT:
        yield from lone_points(mix)
        for design in ("GPU-MMU", "Mosaic"):
            yield sized_point(mix, design)
            yield from (sized_point(mix, design, 0, fewer(key, entries)) for key, _, entries in ENTRIES)


def tiny():
    return [point_of(("fft",), design) for design in DESIGNS]


def rates(experiment, point):
    """Instructions of each tenant per cycle, over its first round; NaN of one that has executed none."""
    try:
        with experiment.output(point) as file:
            return [rate or math.nan for rate in file["tenants"]["instructions_per_cycle"].tolist()]
    except sweeps.Missing:
        return [math.nan] * len(point.applications)


def weighted_speedup(experiment, point, alone):
    """`alone`: for each application the point in which it is."""
    return sum(rate / rates(experiment, lone)[0] for rate, lone in zip(rates(experiment, point), alone))


def label_of(mix):
    return f"{len(mix)} x {mix[0]}" if len(set(mix)) < len(mix) else " + ".join(mix)


def quartiles(values):
    """The first, the median and the third, of those that are there; between two values a line."""
    there = [value for value in values if not math.isnan(value)]
    if len(there) < 2:
        return [there[0] if there else math.nan] * 3
    return statistics.quantiles(there, n=4, method="inclusive")


def below_one(values):
    """How many lose, of those that are there."""
    there = [value for value in values if not math.isnan(value)]
    return f"{sum(value < 1 for value in there)} of {len(there)}" if there else ""


def show_speedups(title, weighted, listed):
    print(f"| {title} | " + " | ".join(DESIGNS) + " | Mosaic over GPU-MMU, % | of Ideal |\n|---|" +
          "---:|" * (len(DESIGNS) + 2))
    gains, shares = [], []
    for mix in listed:
        shared, mosaic, ideal = (weighted(mix, design) for design in DESIGNS)
        gains.append(mosaic / shared)
        shares.append(mosaic / ideal)
        cells = [*(sweeps.cell(speed, ".3f") for speed in (shared, mosaic, ideal)),
                 sweeps.cell(100 * gains[-1] - 100, "+.1f"), sweeps.cell(shares[-1], ".3f")]
        print(f"| {label_of(mix)} | " + " | ".join(cells) + " |")
    print(f"| **mean** | | | | {sweeps.cell(100 * sweeps.mean_of(gains) - 100, '+.1f')} | "
          f"{sweeps.cell(sweeps.mean_of(shares), '.3f')} |")
    quarters = [(100 * gain - 100, share) for gain, share in zip(quartiles(gains), quartiles(shares))]
    for name, (gain, share) in zip(("first quartile", "median", "third quartile"), quarters):
        print(f"| **{name}** | | | | {sweeps.cell(gain, '+.1f')} | {sweeps.cell(share, '.3f')} |")
    print(f"| **below 1** | | | | {below_one(gains)} | {below_one(shares)} |\n")


@sweeps.blank_if_missing(4)
def misses(experiment, mix, design):
    """Of look-ups, in %: that ask the second level, that wait for such a one, that the second level lacks; of those
    that ask the second level, that it lacks.
    """
    with experiment.output(point_of(mix, design)) as file:
        total = {name: int(file["final/stats"][name][:].sum()) for name in
                 ("sm/tlb_lookups", "sm/tlb_misses", "sm/tlb_merges", "gmmu/tlb_hits", "gmmu/tlb_misses")}
    lookups = max(total["sm/tlb_lookups"], 1) / 100
    asked = max(total["gmmu/tlb_hits"] + total["gmmu/tlb_misses"], 1) / 100
    return (total["sm/tlb_misses"] / lookups, total["sm/tlb_merges"] / lookups, total["gmmu/tlb_misses"] / lookups,
            total["gmmu/tlb_misses"] / asked)


def show_misses(experiment, groups):
    columns = ("L1", "wait in L1", "L1 and L2", "L2 of its own")
    designs = ("GPU-MMU", "Mosaic")
    print("| misses, % | " + " | ".join(f"{column}, {design}" for design in designs for column in columns) +
          " |\n|---|" + "---:|" * (len(columns) * len(designs)))
    for label, listed in groups:
        rows = [[misses(experiment, mix, design) for mix in listed] for design in designs]
        means = (sweeps.mean_of(column) for row in rows for column in zip(*row))
        print(f"| {label} | " + " | ".join(sweeps.cell(mean, ".2f") for mean in means) + " |")
    counts = [count for count in (violations(experiment, mix) for mix in mixes()) if not math.isnan(count)]
    print(f"\nZ20: pages in frames of others, in {len(counts)} mixes: {sum(counts)}\n")


@sweeps.blank_if_missing()
def violations(experiment, mix):
    with experiment.output(point_of(mix, "Mosaic")) as file:
        return int(file["final/stats/page_manager/guarantee_violations"][:].sum())


def show_applications(experiment):
    """Z4 and Z5: each application of the mixes of different ones by itself."""
    gains, shares = [], []
    for mix in (*PAIRS, *TRIPLES):
        shared, mosaic, ideal = (rates(experiment, point_of(mix, design)) for design in DESIGNS)
        gains += [rate / base for rate, base in zip(mosaic, shared)]
        shares += [rate / best for rate, best in zip(mosaic, ideal)]
    gains, shares = ([value for value in values if not math.isnan(value)] for values in (gains, shares))
    if not gains or not shares:
        print("Z4 and Z5: no such mix has run under all designs")
        return
    first, median, third = quartiles(gains)
    print(f"Z4: speed under Mosaic over GPU-MMU: {min(gains):.2f} to {max(gains):.2f}, mean "
          f"{sum(gains) / len(gains):.2f}, median {median:.2f}, quartiles {first:.2f} and {third:.2f}; "
          f"{sum(gain > 1 for gain in gains)} of {len(gains)} gain")
    print("Z5: of", len(shares), "at", {least: sum(share >= least for share in shares) for least in (0.9, 0.8, 0.7)},
          f"of Ideal or more; {min(shares):.2f} to {max(shares):.2f}")


def show_entries(experiment):
    designs = ("GPU-MMU", "Mosaic")
    labels = [f"{label_of([name for name, _ in mix])}, {design}" for mix in SWEPT for design in designs]
    means = [f"**mean, {design}**" for design in designs]
    print(f"| weighted speedup, % | {' | '.join((*labels, *means))} |\n|---|" + "---:|" * (len(labels) + len(means)))
    for key, usual, entries in ENTRIES:
        changes = []
        for mix in SWEPT:
            for design in designs:
                base, less = (weighted_speedup(experiment, sized_point(mix, design, 0, overrides), lone_points(mix))
                              for overrides in ((), fewer(key, entries)))
                changes.append(100 * (less / base - 1))
        changes += [sweeps.mean_of(changes[i::len(designs)]) for i in range(len(designs))]
        cells = " | ".join(sweeps.cell(change, "+.1f") for change in changes)
        print(f"| `{key}` {usual} to {entries} | {cells} |")
    print()


def show(experiment):
    @functools.lru_cache
    def weighted(mix, design):
        alone = [point_of((name,), "GPU-MMU", SMS // len(mix)) for name in mix]
        return weighted_speedup(experiment, point_of(mix, design), alone)

    show_speedups("copies, weighted speedup", weighted, COPIES)
    show_speedups("pairs, weighted speedup", weighted, PAIRS)
    show_speedups("triples, weighted speedup", weighted, TRIPLES)
    by_count = [(f"{count} copies", [mix for mix in COPIES if len(mix) == count]) for count in range(1, 6)]
    show_misses(experiment, [*by_count, ("pairs", PAIRS), ("triples", TRIPLES), ("**all**", mixes())])
    show_entries(experiment)
    show_applications(experiment)


if __name__ == "__main__":
    run_or_show(__doc__, "mosaic", points, show, tiny, "120us")
