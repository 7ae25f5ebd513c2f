#!/usr/bin/python3
"""MASK and Mosaic together: what each leaves for the other, Z21 of paper 004 (section 7.5).

    jobs/experiments/interference/mask_mosaic.py run [--folder DIR] [--jobs N] [--pairs N]
    jobs/experiments/interference/mask_mosaic.py show [the same]

`run` has the pairs of mask.py on mask_maxwell with 15 SMs for each application, for 20 epochs of MASK: with base pages
and with those of Mosaic, under SharedTLB and under MASK, and each application alone under SharedTLB with base pages.
All have `gpu.noc.mapping: frame`, which keeps a page within a channel, so that Mosaic can move it. `show` prints
weighted speedups, the larger slowdown of each pair, misses in the TLBs and walks. With --pairs so many pairs count, and
are drawn by chance, always the same ones.
"""
import random

import mask
from points import Experiment, parser_of, sweeps

MOSAIC = (("page_manager", "mosaic"),)
MAPPING = (("gpu.noc.mapping", "frame"),)
DESIGNS = {  # by name: the design of mask.py, and policies beside it
    "SharedTLB": ("SharedTLB", ()),
    "MASK": ("MASK", ()),
    "Mosaic": ("SharedTLB", MOSAIC),
    "MASK + Mosaic": ("MASK", MOSAIC),
    "Ideal": ("Ideal", ()),
}


def point_of(pair, name):
    design, policies = DESIGNS[name]
    return mask.point_of(pair, design, overrides=MAPPING, policies=policies)


def alone_of(pair):
    return [mask.point_of((name,), "SharedTLB", overrides=MAPPING) for name in pair]


def drawn(count):
    """So many of the pairs, in their order."""
    chosen = random.Random(0).sample(mask.PAIRS, count)
    return [pair for pair in mask.PAIRS if pair in chosen]


def points(pairs):
    for pair in pairs:
        yield from alone_of(pair)
        yield from (point_of(pair, name) for name in DESIGNS)


def tiny():
    pair = mask.PAIRS[0]
    return [*alone_of(pair), *(point_of(pair, name) for name in DESIGNS)]


def show_metric(title, experiment, pairs, of_speeds):
    rows = mask.rows_of(experiment, pairs, DESIGNS, point_of, alone_of, of_speeds)
    mask.table(title, DESIGNS, mask.with_mean(rows))


@sweeps.blank_if_missing(2)
def misses(experiment, point):
    """Of look-ups, in %: that miss in a TLB of an SM; of those that ask the second level, that it lacks."""
    with experiment.output(point) as file:
        counts = {name: int(file["final/stats"][name][:].sum()) for name in
                  ("sm/tlb_hits", "sm/tlb_misses", "gmmu/tlb_hits", "gmmu/tlb_misses")}
    return [100 * counts[f"{kind}/tlb_misses"] / max(counts[f"{kind}/tlb_misses"] + counts[f"{kind}/tlb_hits"], 1)
            for kind in ("sm", "gmmu")]


def show(experiment, pairs):
    show_metric("weighted speedup", experiment, pairs, sum)
    show_metric("larger slowdown", experiment, pairs, lambda speeds: 1 / min(speeds))
    kept = [name for name in DESIGNS if name != "Ideal"]
    rows = [(" + ".join(pair), [share for name in kept for share in misses(experiment, point_of(pair, name))])
            for pair in pairs]
    mask.table("misses, %", [f"{level}, {name}" for name in kept for level in ("SMs", "second level")],
               mask.with_mean(rows), 1)
    rows = [(" + ".join(pair), mask.interleaved(*(mask.walking(experiment, point_of(pair, name))[:2] for name in kept)))
            for pair in pairs]
    mask.table("walks", [f"{what}, {name}" for what in ("at a time", "cycles of one") for name in kept],
               mask.with_mean(rows), 1)


def main():
    parser = parser_of(__doc__, "mask_mosaic")
    parser.add_argument("--pairs", type=int, choices=range(1, len(mask.PAIRS) + 1), default=len(mask.PAIRS),
                        metavar="N", help="so many pairs only, drawn by chance")
    arguments = parser.parse_args()
    experiment, pairs = Experiment(arguments), drawn(arguments.pairs)
    if arguments.verb == "run":
        experiment.run(list(points(pairs)), tiny())
    show(experiment, pairs)


if __name__ == "__main__":
    main()
