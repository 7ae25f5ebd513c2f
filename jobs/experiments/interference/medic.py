#!/usr/bin/python3
"""MeDiC, its parts, and what it is compared with: M1 to M4, M13 to M15, M18, M19 and M21 of paper 004 (chapter 4).

    jobs/experiments/interference/medic.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/medic.py show [--folder DIR]

`run` runs each application on medic_fermi under each variant, with ideal translation; `show` prints the tables:
speedup is kernel time under the L2 and DRAM scheduler of the baseline over kernel time under the variant; then what the
L2 and the DRAM counted, and what more banks bring.
"""
import math

from points import Point, run_or_show, sweeps

APPLICATIONS = {
    "bfs": "{vertices: 262144, edges: 2097152}",
    "sssp": "{vertices: 32768, edges: 524288}",
    "mst": "{vertices: 16384, edges: 131072}",
    "scalar_product": "{pairs: 256, elements: 12000, blocks: 128}",
    "nearest_neighbour": "{records: 1048576, blocks: 64}",
    "convolution_separable": "{width: 1536, height: 1024}",
    "streamcluster": "{points: 65536, dimensions: 32, centres: 8}",
    "inverted_index": "{words: 524288, vocabulary: 16000, slots: 32768}",
    "backprop": "{inputs: 32768, units: 16}",
    "page_view_count": "{entries: 65536, pages: 32768, page_slots: 65536, pair_slots: 131072, visitors: 128}",
    "page_view_rank": "{servers: 720, visited_records: 12800, other_records: 6400, front: 12288, pages: 4608000, "
                      "block: 256, blocks: 90}",
    "similarity_score": "{queries: 720, popular_pairs: 6400, other_pairs: 4800, front: 4096, documents: 1152000, "
                        "block: 256, blocks: 90}",
    "hotspot": "{width: 512, height: 512}",
    "barnes_hut_warps": "{bodies: 16384, levels: 7}",
}
# Cycles. Where blocks come and go, shorter than the paper's, since kernels run for 0.2 to 6 million; where each warp
# runs from the first cycle to the last, the paper's.
PERIOD = 20000
PERIODS = {"page_view_rank": 100000, "similarity_score": 100000}
# Of what the paper leaves open, what gives warps the types of its Table 4.2, bypasses a share in its miss rate, and
# profiling no part in insertion, as it has none in bypasses.
MEDIC = ("name: medic, resample: PERIOD, grids: true, order: stack, arriving: hit, judged_by: loads, "
         "bypasses_miss: true, while_profiled: plain")
QUEUES = "{name: medic, first: bank, open_rows: true, writes: false}"
VARIANTS = {
    "baseline": ("lru", "fr-fcfs"),
    "eaf": ("eaf", "fr-fcfs"),
    "WIP": (f"{{{MEDIC}, bypass: false}}", "fr-fcfs"),
    "WMS": (f"{{{MEDIC}, bypass: false, insertion: false}}", QUEUES),
    "pcal": ("{name: pcal, period: PERIOD}", "fr-fcfs"),
    "random": ("{name: random, period: PERIOD}", "fr-fcfs"),
    "pc-bypass": ("{name: pc-bypass, period: PERIOD}", "fr-fcfs"),
    "WByp": (f"{{{MEDIC}, insertion: false}}", "fr-fcfs"),
    "MeDiC": (f"{{{MEDIC}}}", QUEUES),
    "MeDiC-reuse": (f"{{{MEDIC}, reuse: true}}", QUEUES),
}
# Averages that the paper states, relative to the baseline, in percent.
PAPER = {"WIP": "+32.5", "WMS": "+30.2", "WByp": "+33.6", "MeDiC": "+41.5"}
# Its Table 4.2, in the order of TYPES.
PAPER_TYPES = {"bfs": "40, 1, 20, 13, 26", "mst": "53, 12, 18, 2, 15", "scalar_product": "0.1, 0.1, 0.1, 0.7, 99",
               "nearest_neighbour": "19, 79, 1, 0.9, 0.1", "convolution_separable": "9, 1, 82, 1, 7",
               "streamcluster": "6, 0.2, 0.5, 0.3, 93", "inverted_index": "71, 5, 8, 1, 15",
               "backprop": "10, 27, 48, 6, 9", "page_view_count": "4, 1, 42, 20, 33",
               "page_view_rank": "18, 3, 28, 4, 47", "similarity_score": "67, 1, 11, 1, 20",
               "hotspot": "1, 29, 69, 0.5, 0.5", "barnes_hut_warps": "84, 0, 0, 1, 15"}
# Finds types out and changes nothing.
VARIANTS["measured"] = (f"{{{MEDIC}, bypass: false, insertion: false}}", "fr-fcfs")
BANKS = (2, 4)  # of a slice, times as many as the machine has
TYPES = ("all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss")


def point_of(application, variant, banks=1):
    """`banks`: times as many as the machine has, of the same capacity together."""
    cache, scheduler = VARIANTS[variant]
    cache = cache.replace("PERIOD", str(PERIODS.get(application, PERIOD)))
    overrides = (("gpu.memory.l2.banks", 2 * banks),) if banks > 1 else ()
    return Point("medic_fermi", ((application, APPLICATIONS[application]),),
                 (("cache_policy", cache), ("dram_scheduler", scheduler), ("translation", "ideal")),
                 overrides=overrides)


def points():
    yield from (point_of(application, variant) for application in APPLICATIONS for variant in VARIANTS)
    yield from (point_of(application, "baseline", count) for application in APPLICATIONS for count in BANKS)


def tiny():
    return [point_of("hotspot", variant) for variant in ("baseline", "MeDiC", "measured")]


@sweeps.blank_if_missing()
def kernel_time(experiment, application, variant, banks=1):
    """Femtoseconds in which the application's kernels ran."""
    with experiment.output(point_of(application, variant, banks)) as file:
        return sweeps.kernel_time(file["kernels"][:])


@sweeps.blank_if_missing(len(TYPES))
def warp_types(experiment, application):
    """Percent of the judgements of warps, by type, under the baseline's L2 and scheduler."""
    with experiment.output(point_of(application, "measured")) as file:
        judged = file["stats/cache_policy_in_sms/warps"]
        counts = judged[:].sum(axis=tuple(range(judged.ndim - 1)))
    order = ("all_miss", "mostly_miss", "balanced", "mostly_hit", "all_hit")
    return [100 * counts[order.index(name)] / max(counts.sum(), 1) for name in TYPES]


@sweeps.blank_if_missing(2)
def totals(experiment, application, variant, *names, kind="partition"):
    """Of two counters."""
    with experiment.output(point_of(application, variant)) as file:
        return [int(file[f"final/stats/{kind}"][name][:].sum()) for name in names]


def show_memory(experiment):
    """What requests met in the L2 and the DRAM."""
    shares = {
        "misses in the L2, %": (("baseline", "random", "WIP", "MeDiC"), "sector_misses", "sector_hits"),
        "row hits, %": (("baseline", "WMS", "MeDiC"), "row_hits", "row_misses"),
    }
    for title, (variants, of, other) in shares.items():
        print(f"| {title} | " + " | ".join(variants) + " |\n|---|" + "---:|" * len(variants))
        for application in APPLICATIONS:
            row = []
            for variant in variants:
                some, rest = totals(experiment, application, variant, of, other)
                row.append(sweeps.cell(100 * some / max(some + rest, 1), ".1f"))
            print(f"| {application} | " + " | ".join(row) + " |")
        print()
    variants = ("baseline", "WByp", "MeDiC")
    print("| cycles in front of an L2 bank | " + " | ".join(variants) + " |\n|---|" + "---:|" * len(variants))
    for application in APPLICATIONS:
        row = []
        for variant in variants:
            waited, requests = totals(experiment, application, variant, "queue_cycles", "requests")
            row.append(sweeps.cell(waited / max(requests, 1), ".1f"))
        print(f"| {application} | " + " | ".join(row) + " |")
    print()


@sweeps.blank_if_missing()
def longest_spread(experiment, application):
    with experiment.output(point_of(application, "measured")) as file:
        return int(file["final/stats/cache_policy_in_sms/longest_spread"][:].max())


def show_banks(experiment):
    print("| application | loads that hit as a whole | cycles between their answers, mean | most | "
          + " | ".join(f"{count} times the banks, %" for count in BANKS) + " |\n|---|" + "---:|" * (3 + len(BANKS)))
    for application in APPLICATIONS:
        loads, spread = totals(experiment, application, "measured", "all_hit_loads", "hit_spread",
                               kind="cache_policy_in_sms")
        longest = longest_spread(experiment, application)
        base = kernel_time(experiment, application, "baseline")
        gains = (100 * (base / kernel_time(experiment, application, "baseline", count) - 1) for count in BANKS)
        print(f"| {application} | {sweeps.cell(loads, '.0f')} | {sweeps.cell(spread / max(loads, 1), '.1f')} | "
              + f"{sweeps.cell(longest, '.0f')} | " + " | ".join(sweeps.cell(gain, "+.1f") for gain in gains) + " |")
    print()


def show(experiment):
    show_memory(experiment)
    show_banks(experiment)
    compared = [variant for variant in VARIANTS if variant not in ("baseline", "measured")]
    print("| speedup, % | " + " | ".join(compared) + " |\n|---|" + "---:|" * len(compared))
    logs = {variant: [] for variant in VARIANTS}
    for application in APPLICATIONS:
        base = kernel_time(experiment, application, "baseline")
        for variant in VARIANTS:
            logs[variant].append(math.log(base / kernel_time(experiment, application, variant)))
        print(f"| {application} | " + " | ".join(sweeps.cell(100 * math.expm1(logs[v][-1]), "+.1f") for v in compared)
              + " |")
    means = [100 * math.expm1(sweeps.mean_of(logs[v])) for v in compared]
    print("| **geometric mean** | " + " | ".join(sweeps.cell(mean, "+.1f") for mean in means) + " |")
    print("| 004 | " + " | ".join(PAPER.get(v, "") for v in compared) + " |\n")
    print("| warps, % | " + " | ".join(TYPES) + " | 004, Table 4.2 |\n|---|" + "---:|" * len(TYPES) + "---|")
    for application in APPLICATIONS:
        shares = warp_types(experiment, application)
        print(f"| {application} | " + " | ".join(sweeps.cell(share, ".0f") for share in shares) +
              f" | {PAPER_TYPES.get(application, '')} |")


if __name__ == "__main__":
    run_or_show(__doc__, "medic", points, show, tiny)
