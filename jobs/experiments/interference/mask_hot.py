#!/usr/bin/python3
"""MASK for an application with a hot set of pages beside streams: sections 6.3.2 and 6.6 of paper 004.

    jobs/experiments/interference/mask_hot.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mask_hot.py show [--folder DIR]

The hot set has 200 or 400 pages: more than the 64 entries of a TLB of an SM, and fewer than the 512 of the second
level. So the application that looks up in it is of the class "High, Low" of Table 6.2. Its partner is one of the
streams of the class "High, High". `run` has each pair on mask_maxwell with links of 10 cycles between GMMU and L2, 15
SMs for each, for ten epochs, under both baselines, MASK and Ideal; the same with an L2 of 256 KiB, which data thrash,
since 200 pages have 800 KiB; and with 400 pages MASK-TLB with bypass caches of three sizes. `show` prints weighted
speedups over runs alone under SharedTLB on the same machine, and what TLBs, walks and the DRAM did.
"""
import mask
from points import run_or_show
from sizes import LARGE

HOT_PAGES = (200, 400)
HOT = "similarity_score"
STREAMS = ("black_scholes", "scan")  # BLK and SCAN; TRD copies its data piece by piece while it runs
SPAN = (("simulation.stop_at", "981us"), *mask.SPAN[1:])  # ten epochs
L2S = {"2 MiB": (), "256 KiB": (("gpu.memory.l2.size", "32KiB"),)}  # a partition has an eighth
DESIGNS = ("PWCache", "SharedTLB", "MASK", "Ideal")
ENTRIES = (8, 32, 128)  # of the bypass cache; the machine has 32


def sizes(pages):
    """A document fills a page; all pairs of a query are with one of so many documents, drawn at random."""
    return {**LARGE, HOT: f"{{queries: 8192, popular: 100, both: 0, popular_pairs: 2048, front: {pages}, "
                          "documents: 8192, stride: 256, blocks: 240}"}


def point_of(pages, names, design, policies=(), l2="2 MiB"):
    return mask.point_of(names, design, overrides=(*mask.NEAR, *L2S[l2]), policies=policies, sizes=sizes(pages),
                         span=SPAN)


def with_entries(pages, names, entries):
    return point_of(pages, names, "MASK-TLB", (("tlb_fill", f"{{name: mask, entries: {entries}}}"),))


def alone_of(pages, names, l2="2 MiB"):
    return [point_of(pages, (name,), "SharedTLB", l2=l2) for name in names]


MIXES = tuple((pages, (HOT, stream)) for pages in HOT_PAGES for stream in STREAMS)
LARGEST = tuple(mix for mix in MIXES if mix[0] == HOT_PAGES[-1])


def points():
    for l2 in L2S:
        for mix in MIXES:
            yield from alone_of(*mix, l2)
            yield from (point_of(*mix, design, l2=l2) for design in DESIGNS)
    for mix in LARGEST:
        yield from (with_entries(*mix, entries) for entries in ENTRIES)


def tiny():
    mix = MIXES[0]
    return [*alone_of(*mix), *(point_of(*mix, design) for design in DESIGNS)]


def label_of(pages, names):
    return f"{pages} pages + {names[1]}"


def show_speedups(experiment, l2):
    rows, each = [], []
    for mix in MIXES:
        speeds = [mask.speedups_of(experiment, point_of(*mix, design, l2=l2), alone_of(*mix, l2)) for design in DESIGNS]
        by_design = dict(zip(DESIGNS, map(sum, speeds)))
        rows.append((label_of(*mix), [*by_design.values(), *(by_design["MASK"] / by_design[baseline]
                                                             for baseline in ("SharedTLB", "PWCache"))]))
        each.append((label_of(*mix), mask.interleaved(*speeds)))
    mask.table(f"weighted speedup, L2 of {l2}", (*DESIGNS, "MASK over SharedTLB", "MASK over PWCache"),
               mask.with_mean(rows))
    mask.table(f"speedup, L2 of {l2}", [f"{who}, {design}" for who in ("hot set", "stream") for design in DESIGNS],
               mask.with_mean(each))


def show_misses(experiment, l2):
    rows = []
    for mix in MIXES:
        alone = [mask.shares(experiment, alone_of(*mix, l2)[0], kind, "tlb_hits", "tlb_misses")[0]
                 for kind in ("sm", "gmmu")]
        shared = [share for design in ("SharedTLB", "MASK") for share in
                  mask.shares(experiment, point_of(*mix, design, l2=l2), "gmmu", "tlb_hits", "tlb_misses")]
        rows.append((label_of(*mix), [*alone, *shared]))
    mask.table(f"misses, %, L2 of {l2}", ("hot set alone, SMs", "hot set alone, second level", *(
        f"{who}, {design}" for design in ("SharedTLB", "MASK") for who in ("hot set", "stream"))),
               mask.with_mean(rows), 1)


def show_walks(experiment, l2):
    rows, levels = [], []
    for mix in MIXES:
        points_of_mix = (point_of(*mix, design, l2=l2) for design in ("SharedTLB", "MASK"))
        rows.append((label_of(*mix), mask.translating(experiment, *points_of_mix)))
        levels.append((label_of(*mix), mask.level_hits(experiment, point_of(*mix, "MASK", l2=l2))))
    mask.table(f"of pairs, L2 of {l2}", mask.WALKING_COLUMNS, mask.with_mean(rows), 1)
    mask.table(f"hits in the L2 of {l2} under MASK, %", mask.LEVELS, mask.with_mean(levels), 1)


def show_entries(experiment):
    hits, speeds = [], []
    for mix in LARGEST:
        points_of_sizes = [with_entries(*mix, entries) for entries in ENTRIES]
        hits.append((label_of(*mix), [mask.beside_hits(experiment, point) for point in points_of_sizes]))
        speeds.append((label_of(*mix), [sum(mask.speedups_of(experiment, point, alone_of(*mix)))
                                        for point in points_of_sizes]))
    columns = [str(entries) for entries in ENTRIES]
    mask.table("hits in the bypass cache, %, by its entries", columns, mask.with_mean(hits), 1)
    mask.table("weighted speedup of MASK-TLB, by these entries", columns, mask.with_mean(speeds))


def show(experiment):
    for l2 in L2S:
        show_speedups(experiment, l2)
        show_misses(experiment, l2)
        show_walks(experiment, l2)
    show_entries(experiment)


if __name__ == "__main__":
    run_or_show(__doc__, "mask_hot", points, show, tiny)
