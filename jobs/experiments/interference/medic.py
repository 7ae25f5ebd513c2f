#!/usr/bin/python3
"""MeDiC, its parts, and what it is compared with: M1 to M9, M13 to M16, M18, M19 and M21 of paper 004 (chapter 4).

    jobs/experiments/interference/medic.py run [--folder DIR] [--jobs N] [--parts comparison ...] [--applications ...]
    jobs/experiments/interference/medic.py show [the same]

`run` runs each application on medic_fermi under each variant, with ideal translation; `show` prints the tables:
speedup is kernel time under the L2 and DRAM scheduler of the baseline over kernel time under the variant. Parts:

- comparison (the default): all variants; then what the L2 and the DRAM counted, and what more banks bring
- clock: MeDiC and its parts with an L2 of 1400 and of 700 MHz, each over the baseline of the same clock
- tuned: shares of random, each application's from 0.1 upwards until one is slower than the one before, and tokens of
  pcal
- bypass: WByp and MeDiC with bypasses that pass around the ports and the response queue, in the applications of which
  at least a fifth of the warps mostly or always miss
- persistent: applications with as many blocks as the SMs hold, whose warps go through many vertices, words or pages
"""
import math

from points import Experiment, Point, parser_of, sweeps

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
# Name: (workload, parameters) with as many blocks as the SMs hold. Warps take 32 neighbours at a time and go round, or
# each has an even share of neighbours.
EACH = {"in turn": 32, "shares": 0}
PERSISTENT = {f"{name}_persistent, {each}": (f"{name}_persistent", f"{{{size}, block: 256, range: {count}}}")
              for name, size in (
                  ("bfs", "vertices: 262144, edges: 2097152, blocks: 60"),
                  ("inverted_index", "words: 524288, vocabulary: 16000, slots: 32768, blocks: 75"),
                  ("page_view_count", "entries: 262144, pages: 32768, page_slots: 65536, pair_slots: 524288, "
                                      "visitors: 128, blocks: 60"),
                  ("survey_propagation", "clauses: 42000, variables: 10000, rounds: 1, blocks: 60"))
              for each, count in EACH.items()}
PERSISTENT["scalar_product, 8 pairs a block"] = ("scalar_product", "{pairs: 960, elements: 3200, blocks: 120}")
# As it is, of LonestarGPU's size: measured here, since it is not among the applications of the other parts.
PERSISTENT["survey_propagation"] = ("survey_propagation", "{clauses: 42000, variables: 10000, rounds: 1}")
PERIODS.update((name, 100000) for name in PERSISTENT)
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
               "hotspot": "1, 29, 69, 0.5, 0.5", "barnes_hut_warps": "84, 0, 0, 1, 15",
               "survey_propagation": "41, 1, 20, 14, 24"}
# Finds types out and changes nothing.
VARIANTS["measured"] = (f"{{{MEDIC}, bypass: false, insertion: false}}", "fr-fcfs")
BANKS = (2, 4)  # of a slice, times as many as the machine has
TYPES = ("all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss")


# The tuned baselines: shares of the warps for each application, from small ones upwards until one is slower than its
# forerunner; tokens of an SM's 48 warps, all for all, since the paper takes those of the best mean.
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
TOKENS = (8, 16, 32)
PARTS_OF_MEDIC = ("WIP", "WMS", "WByp", "MeDiC")
# At least a fifth of their warps mostly or always miss.
BYPASSING = ("scalar_product", "nearest_neighbour", "streamcluster", "page_view_rank", "similarity_score")
MHZ = (1400, 700)  # of the L2


def tuned_name(kind, value):
    return f"{kind} {value}"


# The shipped defaults are 0.5 and 16; those stay the points of the comparison.
for value in SHARES:
    VARIANTS[tuned_name("random", value)] = (
        "{name: random, period: PERIOD}" if value == 0.5 else f"{{name: random, share: {value}, period: PERIOD}}",
        "fr-fcfs")
for value in TOKENS:
    VARIANTS[tuned_name("pcal", value)] = (
        "{name: pcal, period: PERIOD}" if value == 16 else f"{{name: pcal, tokens: {value}, period: PERIOD}}",
        "fr-fcfs")
COMPARED = tuple(name for name in VARIANTS if " " not in name)


def point_of(application, variant, banks=1, mhz=MHZ[0], path="shared"):
    """`banks`: times as many as the machine has, of the same capacity together. `mhz`: of the L2; a slower one has
    periods of the same time, and the way from it to the DRAM, which is counted in its cycles, takes the same time."""
    cache, scheduler = VARIANTS[variant]
    cache = cache.replace("PERIOD", str(PERIODS.get(application, PERIOD) * mhz // MHZ[0]))
    overrides = (("gpu.memory.l2.banks", 2 * banks),) if banks > 1 else ()
    if mhz != MHZ[0]:
        overrides += (("gpu.memory.clock", f"{mhz}MHz"), ("gpu.memory.dram.path_latency", 100 * mhz // MHZ[0]))
    if path != "shared":
        overrides += (("gpu.memory.l2.bypass_path", path),)
    workload = PERSISTENT[application] if application in PERSISTENT else (application, APPLICATIONS[application])
    return Point("medic_fermi", (workload,),
                 (("cache_policy", cache), ("dram_scheduler", scheduler), ("translation", "ideal")),
                 overrides=overrides)


def comparison_points():
    yield from (point_of(application, variant) for application in APPLICATIONS for variant in COMPARED)
    yield from (point_of(application, "baseline", count) for application in APPLICATIONS for count in BANKS)


def clock_points():
    yield from (point_of(application, variant, mhz=mhz) for variant in ("baseline", *PARTS_OF_MEDIC)
                for application in APPLICATIONS for mhz in MHZ)


def bypass_points():
    yield from (point_of(application, "baseline") for application in BYPASSING)
    yield from (point_of(application, variant, path=path) for application in BYPASSING
                for variant in ("WByp", "MeDiC") for path in ("shared", "own"))


def persistent_points():
    yield from (point_of(application, variant) for application in PERSISTENT
                for variant in ("baseline", *PARTS_OF_MEDIC, "measured"))


def tiny():
    return [point_of("hotspot", variant) for variant in ("baseline", "MeDiC", "measured")]


@sweeps.blank_if_missing()
def kernel_time(experiment, application, variant, banks=1, mhz=MHZ[0], path="shared"):
    """Femtoseconds in which the application's kernels ran."""
    with experiment.output(point_of(application, variant, banks, mhz, path)) as file:
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
def totals(experiment, application, variant, *names, kind="partition", mhz=MHZ[0]):
    """Of two counters."""
    with experiment.output(point_of(application, variant, mhz=mhz)) as file:
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


def show_comparison(experiment):
    show_memory(experiment)
    show_banks(experiment)
    compared = [variant for variant in COMPARED if variant not in ("baseline", "measured")]
    print("| speedup, % | " + " | ".join(compared) + " |\n|---|" + "---:|" * len(compared))
    logs = {variant: [] for variant in COMPARED}
    for application in APPLICATIONS:
        base = kernel_time(experiment, application, "baseline")
        for variant in COMPARED:
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


def log_gain(experiment, application, variant, mhz=MHZ[0], path="shared"):
    """Logarithm of the speedup over the baseline of the same clock."""
    return math.log(kernel_time(experiment, application, "baseline", mhz=mhz) /
                    kernel_time(experiment, application, variant, mhz=mhz, path=path))


def percent(log):
    return 100 * math.expm1(log)


def mean_of_all(logs):
    """NaN if one is not there: means of different applications do not compare."""
    logs = list(logs)
    return sum(logs) / len(logs)


def means_of(rows):
    """Means of the columns of {name: logarithms}."""
    return [mean_of_all(column) for column in zip(*rows.values())]


def show_clock(experiment):
    rows = {application: [log_gain(experiment, application, variant, mhz) for mhz in MHZ for variant in PARTS_OF_MEDIC]
            for application in APPLICATIONS}
    rows["**geometric mean**"] = means_of(rows)
    rows = {name: [sweeps.cell(percent(log), "+.1f") for log in logs] for name, logs in rows.items()}
    sweeps.print_table("speedup, %", [f"{variant}, {mhz} MHz" for mhz in MHZ for variant in PARTS_OF_MEDIC], rows)
    rows = {}
    for application in APPLICATIONS:
        fast, slow = (kernel_time(experiment, application, "baseline", mhz=mhz) for mhz in MHZ)
        waits = [waited / max(requests, 1) for mhz in MHZ for waited, requests in
                 [totals(experiment, application, "baseline", "queue_cycles", "requests", mhz=mhz)]]
        rows[application] = [sweeps.cell(100 * (slow / fast - 1), "+.1f"),
                             *(sweeps.cell(1000 * wait / mhz, ".1f") for wait, mhz in zip(waits, MHZ))]
    columns = (f"time at {MHZ[1]} MHz, %", *(f"ns in front of an L2 bank, {mhz} MHz" for mhz in MHZ))
    sweeps.print_table("baseline", columns, rows)


def run_tuned(experiment):
    """Shares in rounds, each for the applications whose last share was no slower than the one before."""
    names = ("baseline", "WByp", "MeDiC", *(tuned_name("pcal", tokens) for tokens in TOKENS))
    experiment.run([point_of(application, variant) for variant in names for application in APPLICATIONS])
    before = {application: math.inf for application in APPLICATIONS}
    for share in SHARES:
        name = tuned_name("random", share)
        experiment.run([point_of(application, name) for application in before])
        times = {application: kernel_time(experiment, application, name) for application in before}
        before = {application: time for application, time in times.items() if time <= before[application]}


def best_of(logs):
    return max((log for log in logs if not math.isnan(log)), default=math.nan)


def show_tuned(experiment):
    """The best for each application, and the value whose mean over all is best."""
    columns = [*(("random", share) for share in SHARES), *(("pcal", tokens) for tokens in TOKENS)]
    logs = {application: {column: log_gain(experiment, application, tuned_name(*column)) for column in columns}
            for application in APPLICATIONS}
    best = {kind: {application: best_of([log for (of, _), log in row.items() if of == kind])
                   for application, row in logs.items()} for kind in ("random", "pcal")}
    means = {("pcal", tokens): mean_of_all([row["pcal", tokens] for row in logs.values()]) for tokens in TOKENS}
    rows = {application: [*row.values(), *(best[kind][application] for kind in best)]
            for application, row in logs.items()}
    rows["**geometric mean**"] = [*(means.get(column, math.nan) for column in columns),
                                  *(mean_of_all(best[kind].values()) for kind in best)]
    sweeps.print_table("speedup, %", [*(tuned_name(*column) for column in columns), *(f"best {kind}" for kind in best)],
                       {name: [sweeps.cell(percent(log), "+.1f") for log in row] for name, row in rows.items()})
    highest = max(means, key=lambda column: -math.inf if math.isnan(means[column]) else means[column])
    untuned = {"random": log_means(experiment, "random"), "pcal": log_means(experiment, "pcal")}
    compared = {"random, share 0.5": untuned["random"],
                "random, best share of each": mean_of_all(best["random"].values()),
                "random, best share of each, 0 among them":
                    mean_of_all([max(log, 0) for log in best["random"].values()]),
                "pcal, 16 tokens": untuned["pcal"],
                f"pcal, {highest[1]} tokens, the best mean": means[highest],
                "pcal, best tokens of each": mean_of_all(best["pcal"].values())}
    ours = [log_means(experiment, variant) for variant in ("WByp", "MeDiC")]
    sweeps.print_table("geometric mean, %", ["over the baseline", "WByp over it", "MeDiC over it"], {
        name: [sweeps.cell(percent(log), "+.2f") for log in (mean, *(own - mean for own in ours))]
        for name, mean in compared.items()})


def log_means(experiment, variant):
    return mean_of_all([log_gain(experiment, application, variant) for application in APPLICATIONS])


def show_bypass(experiment):
    ways = [(variant, path) for variant in ("WByp", "MeDiC") for path in ("shared", "own")]
    sweeps.print_table("speedup, %", [f"{variant}, `{path}`" for variant, path in ways], {
        application: [sweeps.cell(percent(log_gain(experiment, application, variant, path=path)), "+.1f")
                      for variant, path in ways] for application in BYPASSING})


def show_persistent(experiment):
    rows = {application: [log_gain(experiment, application, variant) for variant in PARTS_OF_MEDIC]
            for application in PERSISTENT}
    for application, logs in rows.items():
        misses, hits = totals(experiment, application, "baseline", "sector_misses", "sector_hits")
        waited, requests = totals(experiment, application, "baseline", "queue_cycles", "requests")
        rows[application] = [*(sweeps.cell(percent(log), "+.1f") for log in logs),
                             sweeps.cell(100 * misses / max(misses + hits, 1), ".1f"),
                             sweeps.cell(waited / max(requests, 1), ".1f")]
    sweeps.print_table("speedup, %", [*PARTS_OF_MEDIC, "misses in the L2, %", "cycles in front of an L2 bank"], rows)
    sweeps.print_table("warps, %", [*TYPES, "004, Table 4.2"], {
        application: [*(sweeps.cell(share, ".0f") for share in warp_types(experiment, application)),
                      PAPER_TYPES[workload.removesuffix("_persistent")]]
        for application, (workload, _) in PERSISTENT.items()})


SHOWN = {"comparison": show_comparison, "clock": show_clock, "tuned": show_tuned, "bypass": show_bypass,
         "persistent": show_persistent}
POINTS = {"comparison": comparison_points, "clock": clock_points, "bypass": bypass_points,
          "persistent": persistent_points}


def main():
    parser = parser_of(__doc__, "medic")
    parser.add_argument("--parts", nargs="+", choices=SHOWN, default=["comparison"])
    parser.add_argument("--applications", nargs="+", choices=APPLICATIONS, default=list(APPLICATIONS),
                        help="of the parts comparison, clock and tuned (default: all)")
    arguments = parser.parse_args()
    for left_out in set(APPLICATIONS) - set(arguments.applications):
        del APPLICATIONS[left_out]
    experiment = Experiment(arguments)
    if arguments.verb == "run":
        wanted = [point for part in arguments.parts if part in POINTS for point in POINTS[part]()]
        if arguments.tiny:
            experiment.run(tiny(), tiny())
        elif wanted:
            experiment.run(wanted)
        if "tuned" in arguments.parts and not arguments.tiny:
            run_tuned(experiment)
    for part in arguments.parts:
        SHOWN[part](experiment)


if __name__ == "__main__":
    main()
