#!/usr/bin/python3
"""Mosaic beside GPU-MMU with 4 KiB pages and an ideal TLB: Z1 to Z5, Z7, Z9, Z10 and Z20 of paper 004 (section 7.5).

    jobs/experiments/interference/mosaic.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mosaic.py show [--folder DIR]

`run` has copies of each application and pairs of them on mosaic_maxwell, 15 SMs for each, under each design, and some
with fewer TLB entries; alone, an application has its 15 SMs under GPU-MMU. `show` prints weighted speedups, hit ratios
and what fewer entries cost.
"""
import functools

from points import Experiment, Point, parser_of

# Tables of 2 MiB and more, in which every thread looks up at random, and streams.
SIZES = {
    "page_view_count": "{entries: 16384, pages: 16384, page_slots: 524288, pair_slots: 524288, visitors: 64}",
    "inverted_index": "{words: 32768, vocabulary: 30000, slots: 1048576}",
    "scalar_product": "{pairs: 64, elements: 16000, blocks: 64}",
}
COPIES = tuple((name, name) for name in SIZES)
PAIRS = (("page_view_count", "scalar_product"), ("inverted_index", "scalar_product"),
         ("inverted_index", "page_view_count"))
DESIGNS = {
    "GPU-MMU": (("page_manager", "base-pages"),),
    "Mosaic": (("page_manager", "mosaic"),),
    "Ideal": (("page_manager", "base-pages"), ("translation", "ideal")),
}
# Key below gpu.vm, its value on the machine, the smaller one.
ENTRIES = (("l1_tlb.entries", 128, 8), ("l2_tlb.entries", 512, 64), ("l1_tlb.large_entries", 16, 2),
           ("l2_tlb.large_entries", 256, 8))
SWEPT = ("inverted_index", "page_view_count")


def point_of(applications, design, overrides=()):
    return Point("mosaic_maxwell", tuple((name, SIZES[name]) for name in applications),
                 (("sharing", "spatial"), *DESIGNS[design]), relaunch=len(applications) > 1, sms=15,
                 overrides=overrides)


def points():
    yield from (point_of((name,), "GPU-MMU") for name in SIZES)
    yield from (point_of(pair, design) for pair in (*COPIES, *PAIRS) for design in DESIGNS)
    for key, _, fewer in ENTRIES:
        yield from (point_of(SWEPT, design, ((f"gpu.vm.{key}", fewer),)) for design in ("GPU-MMU", "Mosaic"))


def rates(experiment, point):
    """Instructions of each tenant per cycle, over its first round."""
    with experiment.output(point) as file:
        return file["tenants"]["instructions_per_cycle"].tolist()


def totals(file, *names):
    return [int(file["stats"][name][:].sum()) for name in names]


def show_speedups(title, experiment, weighted, pairs):
    print(f"| {title} | " + " | ".join(DESIGNS) + " |\n|---|" + "---:|" * len(DESIGNS))
    sums = dict.fromkeys(DESIGNS, 0.0)
    for pair in pairs:
        row = {design: weighted(pair, point_of(pair, design)) for design in DESIGNS}
        for design, value in row.items():
            sums[design] += value / len(pairs)
        print(f"| {' + '.join(pair)} | " + " | ".join(f"{row[design]:.3f}" for design in DESIGNS) + " |")
    print("| **mean** | " + " | ".join(f"{sums[design]:.3f}" for design in DESIGNS) + " |\n")


def show_hits(experiment):
    print("| hits, % | L1, GPU-MMU | L1, Mosaic | L2, GPU-MMU | L2, Mosaic | coalesced | guarantee violated |\n|---|" +
          "---:|" * 6)
    for pair in (*COPIES, *PAIRS):
        row = {}
        for design in ("GPU-MMU", "Mosaic"):
            with experiment.output(point_of(pair, design)) as file:
                hits, lookups = totals(file, "sm/tlb_hits", "sm/tlb_lookups")
                second, misses = totals(file, "gmmu/tlb_hits", "gmmu/tlb_misses")
                row[design] = 100 * hits / lookups, 100 * second / max(second + misses, 1)
                if design == "Mosaic":
                    counts = totals(file, "page_manager/coalesced", "page_manager/guarantee_violations")
        ratios = (f"{row[design][level]:.1f}" for level in (0, 1) for design in row)
        print(f"| {' + '.join(pair)} | " + " | ".join((*ratios, *map(str, counts))) + " |")
    print()


def show_applications(experiment):
    """Z4 and Z5: each application of the pairs by itself."""
    gains, shares = [], []
    for pair in PAIRS:
        shared, mosaic, ideal = (rates(experiment, point_of(pair, design)) for design in DESIGNS)
        gains += [rate / base for rate, base in zip(mosaic, shared)]
        shares += [rate / best for rate, best in zip(mosaic, ideal)]
    print(f"Z4: speed under Mosaic over GPU-MMU: {min(gains):.2f} to {max(gains):.2f}, mean "
          f"{sum(gains) / len(gains):.2f}; {sum(gain > 1 for gain in gains)} of {len(gains)} gain")
    print("Z5: of Ideal:", ", ".join(f"{share:.2f}" for share in sorted(shares)))


def show_entries(experiment, weighted):
    print(f"| {' + '.join(SWEPT)}: weighted speedup, % | GPU-MMU | Mosaic |\n|---|---:|---:|")
    for key, usual, fewer in ENTRIES:
        changes = []
        for design in ("GPU-MMU", "Mosaic"):
            base = weighted(SWEPT, point_of(SWEPT, design))
            changes.append(100 * (weighted(SWEPT, point_of(SWEPT, design, ((f"gpu.vm.{key}", fewer),))) / base - 1))
        print(f"| `{key}` {usual} to {fewer} | " + " | ".join(f"{change:+.1f}" for change in changes) + " |")


def show(experiment):
    alone = functools.lru_cache(lambda name: rates(experiment, point_of((name,), "GPU-MMU"))[0])

    def weighted(pair, point):
        return sum(rate / alone(name) for name, rate in zip(pair, rates(experiment, point)))

    show_speedups("copies, weighted speedup", experiment, weighted, COPIES)
    show_speedups("pairs, weighted speedup", experiment, weighted, PAIRS)
    show_hits(experiment)
    show_entries(experiment, weighted)
    show_applications(experiment)


def main():
    arguments = parser_of(__doc__, "mosaic").parse_args()
    experiment = Experiment(arguments, "run")
    if arguments.verb == "run":
        experiment.run(list(points()))
    show(experiment)


if __name__ == "__main__":
    main()
