#!/usr/bin/python3
"""Mosaic in a memory that foreign data fragment: Z11 to Z13 of paper 004 (section 7.5.4, Figure 7.16, Table 7.2).

    jobs/experiments/interference/fragmentation.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/fragmentation.py show [--folder DIR]

`run` has two applications of 34 MiB on mosaic_maxwell with 324 MiB of memory, 15 SMs for each, under each way of
compaction: by the share of large frames that hold foreign pages, half of each, and by the share of pages that they
hold, in all frames; and in 294 MiB, of which little more is free than they need, for memory bloat.
`show` prints the sum of instructions per cycle over that without fragmentation, large pages made, and memory bloat.
"""
from mosaic import NEAR, SIZES, rates
from points import Point, run_or_show, sweeps

PAIR = ("inverted_index", "page_view_count")
DESIGNS = {
    "CaC": "mosaic",
    "CaC-BC": "{name: mosaic, compaction: bulk}",
    "ideal CaC": "{name: mosaic, compaction: ideal}",
    "no CaC": "{name: mosaic, compaction: none}",
}
INDICES = (0.5, 0.8, 0.9, 0.95, 1)
OCCUPANCIES = (0.01, 0.1, 0.25, 0.35, 0.5, 0.75)
MEMORY = 324  # MiB
TIGHT, TIGHT_OCCUPANCIES = 294, (0.5, 0.7, 0.75, 0.77)
LARGE_FRAME, PAGES = 2, 512  # MiB, and pages in it


def point_of(design, index, occupancy, memory=MEMORY):
    return Point("mosaic_maxwell", tuple((name, SIZES[name]) for name in PAIR),
                 (("sharing", "spatial"), ("page_manager", DESIGNS[design])), relaunch=True, sms=15,
                 overrides=(*NEAR, ("gpu.memory.capacity", f"{memory}MiB"),
                            ("gpu.memory.fragmentation", f"{{index: {index}, occupancy: {occupancy}}}")))


def points():
    yield point_of("CaC", 0, 0)
    for design in DESIGNS:
        yield from (point_of(design, index, 0.5) for index in INDICES)
        yield from (point_of(design, 1, occupancy) for occupancy in OCCUPANCIES if occupancy != 0.5)
    yield from (point_of("CaC", 1, occupancy, TIGHT) for occupancy in TIGHT_OCCUPANCIES)


def tiny():
    return [point_of("CaC", 0, 0), point_of("CaC", 1, OCCUPANCIES[1])]


@sweeps.blank_if_missing(2)
def bloat(experiment, index, occupancy, memory=MEMORY):
    """At the end of the epoch in which most pages were allocated, in %: unused pages of the applications' large frames
    over their pages, and over all pages in use, foreign ones with them.
    """
    with experiment.output(point_of("CaC", index, occupancy, memory)) as file:
        pages = file["stats/page_manager/allocated_pages"][:].sum(axis=(1, 2))
        unused = file["stats/page_manager/unused_pages"][:].sum(axis=(1, 2))[pages.argmax()]
    foreign = index * (memory // LARGE_FRAME) * occupancy * PAGES
    return 100 * unused / pages.max(), 100 * unused / (pages.max() + foreign)


def show_sweep(title, experiment, swept):
    """`swept`: by what stands in its row, index and occupancy."""
    whole = sum(rates(experiment, point_of("CaC", 0, 0)))
    counted = ("large pages, CaC", "no CaC", "foreign pages moved", "bloat, %", "with foreign pages, %")
    print(f"| {title} | " + " | ".join((*DESIGNS, *counted)) + " |\n|---|" + "---:|" * (len(DESIGNS) + len(counted)))
    for label, index, occupancy in swept:
        speeds = [sum(rates(experiment, point_of(design, index, occupancy))) / whole for design in DESIGNS]
        made, moved = (total_of(experiment, "CaC", index, occupancy, name) for name in ("coalesced", "foreign_moved"))
        counts = (made, total_of(experiment, "no CaC", index, occupancy, "coalesced"), moved)
        shares = bloat(experiment, index, occupancy)
        print(f"| {label} | " + " | ".join([*(sweeps.cell(speed, ".3f") for speed in speeds),
                                            *(sweeps.cell(count, ".0f") for count in counts),
                                            *(sweeps.cell(share, ".2f") for share in shares)]) + " |")
    print()


@sweeps.blank_if_missing()
def total_of(experiment, design, index, occupancy, name, memory=MEMORY):
    with experiment.output(point_of(design, index, occupancy, memory)) as file:
        return int(file[f"final/stats/page_manager/{name}"][:].sum())


def show(experiment):
    show_sweep("share of large frames, half full", experiment, [(f"{100 * i:.0f} %", i, 0.5) for i in INDICES])
    show_sweep("share of their pages, all frames", experiment, [(f"{100 * o:.0f} %", 1, o) for o in OCCUPANCIES])
    print(f"| share of their pages, all frames, {TIGHT} MiB | frames emptied | bloat, % | with foreign pages, % |")
    print("|---|---:|---:|---:|")
    for occupancy in TIGHT_OCCUPANCIES:
        emptied = total_of(experiment, "CaC", 1, occupancy, "foreign_emptied", TIGHT)
        shares = " | ".join(sweeps.cell(share, ".2f") for share in bloat(experiment, 1, occupancy, TIGHT))
        print(f"| {100 * occupancy:.0f} % | {sweeps.cell(emptied, '.0f')} | {shares} |")


if __name__ == "__main__":
    run_or_show(__doc__, "fragmentation", points, show, tiny)
