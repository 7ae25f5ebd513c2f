#!/usr/bin/python3
"""Demand paging under Mosaic, and what pages of 2 MiB waste: Z6, Z16 and Z17 of paper 004 (sections 7.2.2 and 7.5.2).

    jobs/experiments/interference/mosaic_paging.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mosaic_paging.py show [--folder DIR]

`run` has the applications of mosaic.py, each by itself and in pairs, on mosaic_maxwell with the far-faults and the PCIe
of section 7.2.2 (configs/scenarios/mosaic_paging.yaml), 15 SMs for each: data copied before the kernels, under GPU-MMU,
or coming when they are touched, under GPU-MMU, Mosaic and GPU-MMU with 2 MiB pages; and one with eight times the work
on as large a table. `show` prints speeds over that with copies, and the memory that pages of either size take.
"""
from mosaic import PAIRS, SIZES, weighted_speedup
from points import Point, run_or_show, sweeps

PCIE = (("host.link_curve", "affine"), ("host.link_bandwidth", "7.96GB/s"), ("host.transfer_setup", "0fs"),
        ("simulation.record_faults", "true"))
FAULTS = (("prefetcher", "none"), ("fault_handling", "{name: host, cost_model: linear, handling: 50us}"))
# Page manager, and whether pages come when they are touched.
DESIGNS = {
    "GPU-MMU, copied": ("base-pages", False),
    "GPU-MMU": ("base-pages", True),
    "Mosaic": ("mosaic", True),
    "2 MiB pages": ("large-pages", True),
}
COPIED = next(iter(DESIGNS))
BUSY = ("page_view_count", "{entries: 524288, pages: 65536, page_slots: 131072, pair_slots: 4194304}")
LONE = tuple(((name, SIZES[name]),) for name in SIZES)
PAIRED = tuple(tuple((name, SIZES[name]) for name in pair) for pair in PAIRS[::4])
PAGE, PAGES_PER_LARGE = 4096, 512


def point_of(applications, design):
    manager, paged = DESIGNS[design]
    return Point("mosaic_maxwell", applications, (("sharing", "spatial"), ("page_manager", manager), *FAULTS),
                 relaunch=len(applications) > 1, sms=15, overrides=PCIE, paged=paged)


def points():
    yield from (point_of(applications, design) for applications in (*LONE, (BUSY,), *PAIRED) for design in DESIGNS)


def tiny():
    return [point_of(LONE[0], design) for design in ("GPU-MMU", "2 MiB pages")]


def show_speedups(title, experiment, mixes):
    print(f"| {title} | " + " | ".join(DESIGNS) + " |\n|---|" + "---:|" * len(DESIGNS))
    rows = []
    for mix in mixes:
        alone = [point_of((application,), COPIED) for application in mix]
        copied, *others = (weighted_speedup(experiment, point_of(mix, design), alone) for design in DESIGNS)
        rows.append([other / copied for other in others])
        label = " + ".join(name for name, _ in mix)
        print(f"| {label} | 1 | " + " | ".join(sweeps.cell(share, ".3f") for share in rows[-1]) + " |")
    if len(rows) > 1:
        means = (sweeps.mean_of(column) for column in zip(*rows))
        print("| **mean** | 1 | " + " | ".join(sweeps.cell(mean, ".3f") for mean in means) + " |")
    print()


@sweeps.blank_if_missing()
def touched(experiment, application, design, size):
    """Pieces of so many bytes that pages lie in which were touched."""
    with experiment.output(point_of((application,), design)) as file:
        return len({address // size for address in file["faults"]["virtual_address"].tolist()})


def show_memory(experiment):
    """Z17."""
    print("| memory touched, MiB | 4 KiB pages | 2 MiB pages | more, % |\n|---|---:|---:|---:|")
    shares = []
    for (application,) in LONE:
        base = touched(experiment, application, "GPU-MMU", PAGE)
        large = touched(experiment, application, "2 MiB pages", PAGE * PAGES_PER_LARGE)
        shares.append(100 * (large * PAGES_PER_LARGE / base - 1))
        print(f"| {application[0]} | {sweeps.cell(base / 256, '.2f')} | {sweeps.cell(2 * large, '.0f')} | "
              f"{sweeps.cell(shares[-1], '.1f')} |")
    print(f"| **mean** | | | {sweeps.cell(sweeps.mean_of(shares), '.1f')} |")


def show(experiment):
    show_speedups("alone, speed", experiment, LONE)
    show_speedups("pairs, weighted speedup", experiment, PAIRED)
    show_speedups("eight times the work", experiment, ((BUSY,),))
    show_memory(experiment)


if __name__ == "__main__":
    run_or_show(__doc__, "mosaic_paging", points, show, tiny, "100us")
