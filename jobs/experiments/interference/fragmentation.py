#!/usr/bin/python3
"""Mosaic in a memory that foreign data fragment: Z11 to Z13 of paper 004 (section 7.5.4, Figure 7.16, Table 7.2).

    jobs/experiments/interference/fragmentation.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/fragmentation.py show [--folder DIR]

`run` has two applications on mosaic_maxwell with 96 MiB of memory, 15 SMs for each, under each way of compaction: by
the share of large frames that hold foreign pages, half of each, and by the share of pages that they hold, in all
frames; and in 84 MiB, of which little more is free than they need, for memory bloat.
`show` prints the sum of instructions per cycle over that without fragmentation, large pages made, and memory bloat.
"""
from mosaic import SIZES, rates
from points import Experiment, Point, parser_of

PAIR = ("inverted_index", "page_view_count")
DESIGNS = {
    "CaC": "mosaic",
    "CaC-BC": "{name: mosaic, compaction: bulk}",
    "ideal CaC": "{name: mosaic, compaction: ideal}",
    "no CaC": "{name: mosaic, compaction: none}",
}
INDICES = (0.5, 0.8, 0.9, 0.95, 1)
OCCUPANCIES = (0.01, 0.1, 0.25, 0.35, 0.5, 0.75)
TIGHT, TIGHT_OCCUPANCIES = "84MiB", (0.5, 0.7, 0.75, 0.77)


def point_of(design, index, occupancy, memory="96MiB"):
    return Point("mosaic_maxwell", tuple((name, SIZES[name]) for name in PAIR),
                 (("sharing", "spatial"), ("page_manager", DESIGNS[design])), relaunch=True, sms=15,
                 overrides=(("gpu.memory.capacity", memory),
                            ("gpu.memory.fragmentation", f"{{index: {index}, occupancy: {occupancy}}}")))


def points():
    yield point_of("CaC", 0, 0)
    for design in DESIGNS:
        yield from (point_of(design, index, 0.5) for index in INDICES)
        yield from (point_of(design, 1, occupancy) for occupancy in OCCUPANCIES if occupancy != 0.5)
    yield from (point_of("CaC", 1, occupancy, TIGHT) for occupancy in TIGHT_OCCUPANCIES)


def bloat(file):
    """At the end of the epoch in which most pages were allocated, in %."""
    pages = file["stats/page_manager/allocated_pages"][:].sum(axis=(1, 2))
    unused = file["stats/page_manager/unused_pages"][:].sum(axis=(1, 2))
    return 100 * unused[pages.argmax()] / max(pages.max(), 1)


def show_sweep(title, experiment, swept):
    """`swept`: by what stands in its row, index and occupancy."""
    whole = sum(rates(experiment, point_of("CaC", 0, 0)))
    counted = ("large pages, CaC", "no CaC", "foreign pages moved", "bloat, %")
    print(f"| {title} | " + " | ".join((*DESIGNS, *counted)) + " |\n|---|" + "---:|" * (len(DESIGNS) + len(counted)))
    for label, index, occupancy in swept:
        speeds = [sum(rates(experiment, point_of(design, index, occupancy))) / whole for design in DESIGNS]
        counts = []
        for design in ("CaC", "no CaC"):
            with experiment.output(point_of(design, index, occupancy)) as file:
                counts.append(int(file["final/stats/page_manager/coalesced"][:].sum()))
                if design == "CaC":
                    moved, share = int(file["final/stats/page_manager/foreign_moved"][:].sum()), bloat(file)
        print(f"| {label} | " + " | ".join(f"{speed:.3f}" for speed in speeds)
              + f" | {counts[0]} | {counts[1]} | {moved} | {share:.2f} |")
    print()


def show(experiment):
    show_sweep("share of large frames, half full", experiment, [(f"{100 * i:.0f} %", i, 0.5) for i in INDICES])
    show_sweep("share of their pages, all frames", experiment, [(f"{100 * o:.0f} %", 1, o) for o in OCCUPANCIES])
    print(f"| share of their pages, all frames, {TIGHT} | frames emptied | bloat, % |\n|---|---:|---:|")
    for occupancy in TIGHT_OCCUPANCIES:
        with experiment.output(point_of("CaC", 1, occupancy, TIGHT)) as file:
            emptied = int(file["final/stats/page_manager/foreign_emptied"][:].sum())
            print(f"| {100 * occupancy:.0f} % | {emptied} | {bloat(file):.2f} |")


def main():
    arguments = parser_of(__doc__, "fragmentation").parse_args()
    experiment = Experiment(arguments, "run")
    if arguments.verb == "run":
        experiment.run(list(points()))
    show(experiment)


if __name__ == "__main__":
    main()
