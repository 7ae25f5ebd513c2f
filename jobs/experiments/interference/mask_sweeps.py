#!/usr/bin/python3
"""What MASK depends on: K2, K5 to K7, K10, K12, K13, K15, K17 to K23 of paper 004 (sections 6.1 to 6.6), and Static.

    jobs/experiments/interference/mask_sweeps.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mask_sweeps.py show [--folder DIR]

`run` has applications on mask_maxwell, all SMs shared out among them, with pages of 4 KiB: two with a far and a near
GMMU, with second-level TLBs of other sizes, with partitions of their own, with other numbers of tokens and with pages
of 2 MiB, and one to four of them. `show` prints weighted speedups, for which an application alone has the SMs of the
shared run under SharedTLB. Then two applications on medic_fermi with the TLBs of mask_maxwell, two under other DRAM
schedulers, and one to ten copies of one that have the GPU in turn.
"""
import functools

from mask import CACHE, DESIGNS, EPOCH, FILL, SIZES
from points import Experiment, Point, parser_of

PAIR = ("inverted_index", "page_view_count")
CROWD = (*PAIR, "bfs", "scalar_product")  # the first one to four
SMS = 30
NEAR = (("gpu.vm.memory_latency", 10),)
STATIC = (("gpu.noc.mapping", "grouped"),)
ENTRIES = (64, 512, 2048, 8192)
# Never judges: counts what looks up.
MEASURED = (("cache_policy", "{name: mask, epoch: 10000000000}"),)
TOKENS = (0.2, 0.5, 1)
LARGE = (("page_manager", "large-pages"),)
# A scheduler of several tenants in the place of MASK-DRAM.
SCHEDULERS = ("fr-fcfs", "par-bs", "atlas")
FILL_AND_CACHE = (FILL, CACHE)
FERMI_SMS = 14
FERMI = tuple((f"gpu.vm.{key}", value) for key, value in
              (("shootdown", "whole"), ("shootdown_scope", "all"), ("l1_tlb.mshrs", 32), ("l2_tlb.together", "true"),
               ("walk_cache", "{entries: 1024, ways: 16, latency: 10}")))
# K23: processes that have the GPU in turn; the paper's slices are the driver's.
PROCESSES = (1, 2, 5, 10)
IN_TURN = (("sharing", "{name: time-sliced, slice: 20us}"), ("preemption", "switch"),
           ("exception_scheme", "replay-queue"), ("page_manager", "base-pages"))
LEVELS = ("data", "level_1", "level_2", "level_3", "level_4")


def point_of(names, design, overrides=(), sms=0, policies=()):
    return Point("mask_maxwell", tuple((name, SIZES[name]) for name in names),
                 tuple(dict((("sharing", "spatial"), ("page_manager", "base-pages"), *DESIGNS[design],
                             *policies)).items()),
                 relaunch=len(names) > 1, sms=sms or SMS // len(names), overrides=overrides)


def size_of(entries):
    return (("gpu.vm.l2_tlb.entries", entries),)


def tokens_of(share):
    return (("tlb_fill", f"{{name: mask, epoch: {EPOCH}, initial_tokens: {share}}}"),)


def on_fermi(names, design):
    return Point("medic_fermi", tuple((name, SIZES[name]) for name in names),
                 tuple(dict((("sharing", "spatial"), ("page_manager", "base-pages"), *DESIGNS[design])).items()),
                 relaunch=len(names) > 1, sms=FERMI_SMS // 2, overrides=FERMI)


def scheduled_by(scheduler, policies=()):
    return (*policies, ("dram_scheduler", scheduler))


def in_turn(processes):
    return Point("mask_maxwell", (("scalar_product", SIZES["scalar_product"]),) * processes, IN_TURN)


def points():
    for count in range(1, len(CROWD) + 1):
        yield from (point_of((name,), "SharedTLB", sms=SMS // count) for name in CROWD[:count])
        yield from (point_of(CROWD[:count], design) for design in ("SharedTLB", "MASK", "Ideal"))
    for near in ((), NEAR):
        yield from (point_of(PAIR, design, near) for design in ("PWCache", "SharedTLB", "Ideal"))
    yield from (point_of(PAIR, design, size_of(entries)) for entries in ENTRIES for design in ("SharedTLB", "MASK"))
    yield from (point_of(PAIR, design, STATIC) for design in ("SharedTLB",))
    yield point_of(PAIR, "MASK-TLB")
    yield from (point_of(PAIR, "MASK", policies=tokens_of(share)) for share in TOKENS)
    yield from (point_of(PAIR, design, policies=LARGE) for design in ("SharedTLB", "MASK", "Ideal"))
    yield point_of(PAIR, "SharedTLB", policies=MEASURED)
    yield point_of(PAIR, "MASK-DRAM")
    yield from (on_fermi((name,), "SharedTLB") for name in PAIR)
    yield from (on_fermi(PAIR, design) for design in ("PWCache", "SharedTLB", "MASK", "Ideal"))
    yield from (point_of(PAIR, "SharedTLB", policies=scheduled_by(scheduler, policies))
                for scheduler in SCHEDULERS for policies in ((), FILL_AND_CACHE))
    yield from map(in_turn, PROCESSES)


def rates(experiment, point):
    with experiment.output(point) as file:
        return file["tenants"]["instructions_per_cycle"].tolist()


def hit_rate(experiment, point):
    with experiment.output(point) as file:
        hits, misses = (int(file["final/stats/gmmu"][name][:].sum()) for name in ("tlb_hits", "tlb_misses"))
    return 100 * hits / (hits + misses)


def show_levels(experiment):
    with experiment.output(point_of(PAIR, "SharedTLB", policies=MEASURED)) as file:
        names = [name.decode() for name in file["stats/cache_policy/hits"].dims[2][0][:]]
        hits, lookups = (file["final/stats/cache_policy"][name][:].sum(axis=0) for name in ("hits", "lookups"))
    rows = [names.index(level) for level in LEVELS]
    print("| hits in the L2, % | " + " | ".join(LEVELS) + " |\n|---|" + "---:|" * len(LEVELS))
    print("| " + " + ".join(PAIR) + " | "
          + " | ".join(f"{100 * hits[row] / max(lookups[row], 1):.1f}" for row in rows) + " |\n")


def misses(experiment, design):
    """Of each application in the second-level TLB, in %."""
    with experiment.output(point_of(PAIR, design)) as file:
        hits, missed = (file["final/stats/gmmu"][name][:].sum(axis=0) for name in ("tlb_hits", "tlb_misses"))
    return (100 * missed / (hits + missed)).tolist()


def show_others(experiment):
    """K10, K13, K17, K20 and K23."""
    shared, dram = (rates(experiment, point_of(PAIR, design)) for design in ("SharedTLB", "MASK-DRAM"))
    print("K10: speed under MASK-DRAM over SharedTLB:",
          {name: f"{one / other:.3f}" for name, one, other in zip(PAIR, dram, shared)})
    alone = [rates(experiment, on_fermi((name,), "SharedTLB"))[0] for name in PAIR]
    fermi = {design: sum(rate / one for rate, one in zip(rates(experiment, on_fermi(PAIR, design)), alone))
             for design in ("PWCache", "SharedTLB", "MASK", "Ideal")}
    print("K13: on Fermi, % of Ideal:", {name: f"{100 * speed / fermi['Ideal']:.1f}" for name, speed in fermi.items()})
    print("K17: MASK-TLB and MASK-Cache over SharedTLB, both under:",
          {scheduler: f"{with_mask / without:.3f}" for scheduler in SCHEDULERS for without, with_mask in
           [[sum(rates(experiment, point_of(PAIR, "SharedTLB", policies=scheduled_by(scheduler, policies))))
             for policies in ((), FILL_AND_CACHE)]]})
    with experiment.output(point_of(PAIR, "SharedTLB")) as file:
        gmmu = file["final/stats/gmmu"]
        walking, walks, waiting = (int(gmmu[name][:].sum()) for name in ("walk_cycles", "walks", "merged"))
        cycles = file["final/end"][()] * 1e-9 * 1020
    print(f"K20: walks at a time {walking / cycles:.1f}; requests of SMs that wait for one {1 + waiting / walks:.1f}")
    ends = {}
    for processes in PROCESSES:
        with experiment.output(in_turn(processes)) as file:
            ends[processes] = int(file["final/end"][()])
    print("K23: in turn over one after the other:",
          {processes: f"{end / processes / ends[1]:.3f}" for processes, end in ends.items()})


def show_claims(experiment, weighted):
    throughput = {design: sum(rates(experiment, point_of(PAIR, design))) for design in ("SharedTLB", "MASK")}
    print(f"K2: instructions per cycle, MASK over SharedTLB: {throughput['MASK'] / throughput['SharedTLB']:.3f}")
    print("K7: misses in the second-level TLB, %:", {name: [f"{share:.1f}" for share in misses(experiment, name)]
                                                     for name in ("SharedTLB", "MASK")})
    print("K18: 2 MiB pages:", {design: f"{weighted(PAIR, design, (), 0, LARGE):.3f}"
                                for design in ("SharedTLB", "MASK", "Ideal")})
    print("K19: by share of warps with tokens at first:",
          {share: f"{weighted(PAIR, 'MASK', (), 0, tokens_of(share)):.3f}" for share in TOKENS})
    with experiment.output(point_of(PAIR, "MASK")) as file:
        requests, cycles = (file["final/stats/dram_scheduler"][name][:].sum(axis=0)
                            for name in ("requests", "queue_cycles"))
    print(f"K22: share of walks among DRAM requests, %: {100 * requests[0] / requests.sum():.1f}; cycles in the queue, "
          f"walks {cycles[0] / max(requests[0], 1):.0f}, data {cycles[1:].sum() / max(requests[1:].sum(), 1):.0f}")


def show(experiment):
    @functools.lru_cache
    def alone(name, sms):
        return rates(experiment, point_of((name,), "SharedTLB", sms=sms))[0]

    def weighted(names, *point):
        sms = SMS // len(names)
        return sum(rate / alone(name, sms) for name, rate in zip(names, rates(experiment, point_of(names, *point))))

    print("| latency between GMMU and L2 | PWCache | SharedTLB | Ideal |\n|---|---:|---:|---:|")
    for label, near in (("the network's, 120 and 20 cycles", ()), ("10 cycles each way", NEAR)):
        speeds = (weighted(PAIR, design, near) for design in ("PWCache", "SharedTLB", "Ideal"))
        print(f"| {label} | " + " | ".join(f"{speed:.3f}" for speed in speeds) + " |")
    print("\n| second-level TLB, entries | SharedTLB | MASK |\n|---|---:|---:|")
    for entries in ENTRIES:
        speeds = (weighted(PAIR, design, size_of(entries)) for design in ("SharedTLB", "MASK"))
        print(f"| {entries} | " + " | ".join(f"{speed:.3f}" for speed in speeds) + " |")
    print("\n| applications | SharedTLB, % of Ideal | MASK, % of Ideal | MASK over SharedTLB |\n|---|---:|---:|---:|")
    for count in range(1, len(CROWD) + 1):
        shared, mask, ideal = (weighted(CROWD[:count], design) for design in ("SharedTLB", "MASK", "Ideal"))
        print(f"| {count} | {100 * shared / ideal:.1f} | {100 * mask / ideal:.1f} | {mask / shared:.3f} |")
    print("\n| design | weighted speedup | hits in second-level TLB, % |\n|---|---:|---:|")
    for label, point in (("Static", ("SharedTLB", STATIC)), ("SharedTLB", ("SharedTLB",)), ("MASK-TLB", ("MASK-TLB",)),
                         ("MASK", ("MASK",))):
        print(f"| {label} | {weighted(PAIR, *point):.3f} | {hit_rate(experiment, point_of(PAIR, *point)):.1f} |")
    print()
    show_levels(experiment)
    show_claims(experiment, weighted)
    show_others(experiment)


def main():
    arguments = parser_of(__doc__, "mask_sweeps").parse_args()
    experiment = Experiment(arguments, "run")
    if arguments.verb == "run":
        experiment.run(list(dict.fromkeys(points())))
    show(experiment)


if __name__ == "__main__":
    main()
