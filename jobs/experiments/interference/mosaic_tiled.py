#!/usr/bin/python3
"""Mosaic for tiled applications of 80 MB, and one with a hot set of pages: sections 7.2.2 and 7.5.3 of paper 004.

    jobs/experiments/interference/mosaic_tiled.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mosaic_tiled.py show [--folder DIR]

The applications have as many bytes as those of the paper on average (81.5 MB). Four work in tiles, so that neighbouring
blocks share pages; of the fifth most look-ups go to 300 pages. `run` has each beside the next one, and all five
together, on mosaic_maxwell for 2 ms, its SMs shared out equally, under GPU-MMU and under Mosaic; alone, an application
of a pair has as many SMs under GPU-MMU. Who is over within the span starts anew. `show` prints weighted speedups of the
pairs, and TLB hits.
"""
import mask
import mosaic
from mosaic import NEAR, SMS
from points import Point, run_or_show, sweeps

SIZES = {
    "sgemm": "{n: 2592}",
    "convolution_separable": "{width: 2560, height: 2592}",
    "stencil3d": "{width: 256, height: 160, depth: 256}",
    "srad": "{width: 1824, height: 1824}",
    "similarity_score": "{queries: 18432, documents: 18432, front: 300, stride: 256, blocks: 240}",
}
NAMES = tuple(SIZES)
PAIRS = tuple(zip(NAMES, (*NAMES[1:], NAMES[0])))
MIXES = (*PAIRS, NAMES)
DESIGNS = ("GPU-MMU", "Mosaic")
SPAN = (("simulation.stop_at", "2ms"), ("simulation.epoch", "20us"))


def point_of(names, design, sms=0):
    return Point("mosaic_maxwell", tuple((name, SIZES[name]) for name in names),
                 (("sharing", "spatial"), *mosaic.DESIGNS[design]), relaunch=len(names) > 1,
                 sms=sms or SMS // len(names), overrides=(*NEAR, *SPAN))


def alone_of(names):
    return [point_of((name,), "GPU-MMU", SMS // len(names)) for name in names]


def points():
    for pair in PAIRS:
        yield from alone_of(pair)
    yield from (point_of(mix, design) for mix in MIXES for design in DESIGNS)


def tiny():
    return [*alone_of(PAIRS[0]), *(point_of(PAIRS[0], design) for design in DESIGNS)]


@sweeps.blank_if_missing(3)
def hits(experiment, point):
    """Of look-ups, in %: that hit in a TLB of an SM, that hit in either level; of those that ask the second level, that
    hit there."""
    with experiment.output(point) as file:
        total = {name: int(file["final/stats"][name][:].sum()) for name in
                 ("sm/tlb_lookups", "sm/tlb_misses", "sm/tlb_merges", "gmmu/tlb_hits", "gmmu/tlb_misses")}
    lookups = max(total["sm/tlb_lookups"], 1)
    asked = max(total["gmmu/tlb_hits"] + total["gmmu/tlb_misses"], 1)
    return [100 * (1 - (total["sm/tlb_misses"] + total["sm/tlb_merges"]) / lookups),
            100 * (1 - total["gmmu/tlb_misses"] / lookups), 100 * total["gmmu/tlb_hits"] / asked]


def label_of(mix):
    return "all five" if len(mix) == len(NAMES) else " + ".join(mix)


def show(experiment):
    rows = []
    for pair in PAIRS:
        base, with_mosaic = (mask.speedups_of(experiment, point_of(pair, design), alone_of(pair)) for design in DESIGNS)
        each = [after / before for after, before in zip(with_mosaic, base)]
        rows.append((label_of(pair), [sum(base), sum(with_mosaic), sum(with_mosaic) / sum(base), *each]))
    mask.table("weighted speedup", (*DESIGNS, "Mosaic over GPU-MMU", "the first", "the second"), rows)
    rows = [(label_of(mix), [value for design in DESIGNS for value in hits(experiment, point_of(mix, design))])
            for mix in MIXES]
    mask.table("TLB hits, %", [f"{level}, {design}" for design in DESIGNS
                               for level in ("SMs", "either level", "second level")], rows, 1)
    rows = [(name, hits(experiment, point)) for name, point in zip(NAMES, (alone_of(pair)[0] for pair in PAIRS))]
    mask.table("TLB hits alone, GPU-MMU, %", ("SMs", "either level", "second level"), rows, 1)


if __name__ == "__main__":
    run_or_show(__doc__, "mosaic_tiled", points, show, tiny)
