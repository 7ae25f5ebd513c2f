#!/usr/bin/python3
"""What MASK depends on: K5 to K7, K12, K13, K15 to K23 of paper 004 (sections 6.1 to 6.6).

    jobs/experiments/interference/mask_sweeps.py run [--folder DIR] [--jobs N] [--parts crowd sizes ...]
    jobs/experiments/interference/mask_sweeps.py show [the same]

`run` has applications on mask_maxwell for 20 epochs, all SMs shared out among them, with pages of 4 KiB: one to five
of them; two with second-level TLBs of other sizes, other numbers of tokens, other DRAM schedulers, rows that close, and
pages of 2 MiB; the pairs of mask.py with a near GMMU, and on medic_fermi with the TLBs of mask_maxwell; and one to ten
copies of one that have the GPU in turn. `show` prints weighted speedups over runs alone with as many SMs under
SharedTLB.
"""
import math

from mask import (CACHE, FILL, LEVELS, MHZ, NEAR, PAIRS, WALKING, alone_of, interleaved, level_hits, per_tenant,
                  point_of, rows_of, shares, speedups_of, table, walking, with_mean)
from points import Experiment, Point, parser_of, sweeps

CROWD = ("inverted_index", "page_view_count", "spmv", "cfd", "mst")  # the first one to five
PAIR = CROWD[:2]
SMS = 30
ENTRIES = (64, 512, 2048, 8192, 32768)
# Never judges: counts what looks up.
MEASURED = (("cache_policy", "{name: mask, epoch: 10000000000}"),)
TOKENS = (0.2, 0.5, 0.8, 1)
LARGE_PAGES = (("page_manager", "large-pages"),)
CLOSED = (("gpu.memory.dram.rows", "closed"),)
# A scheduler of several tenants in the place of MASK-DRAM.
SCHEDULERS = ("fr-fcfs", "par-bs", "atlas")
FERMI_SMS = 7
FERMI = tuple((f"gpu.vm.{key}", value) for key, value in
              (("shootdown", "whole"), ("shootdown_scope", "all"), ("l1_tlb.mshrs", 32), ("l2_tlb.together", "true"),
               ("walk_cache", "{entries: 1024, ways: 16, latency: 10}")))
# K23: processes that have the GPU in turn; the paper's slices are the driver's.
PROCESSES = (1, 2, 5, 10)
IN_TURN = (("sharing", "{name: time-sliced, slice: 20us}"), ("preemption", "switch"),
           ("exception_scheme", "replay-queue"), ("page_manager", "base-pages"))


def of_crowd(count, design):
    return point_of(CROWD[:count], design, SMS // count)


def of_pair(design, overrides=(), policies=()):
    return point_of(PAIR, design, SMS // 2, overrides, policies)


def with_entries(entries, design):
    return of_pair(design, (("gpu.vm.l2_tlb.entries", entries),))


def with_tokens(share):
    return of_pair("MASK", policies=(("tlb_fill", f"{{name: mask, initial_tokens: {share}}}"),))


def scheduled_by(scheduler, policies=()):
    return of_pair("SharedTLB", policies=(*policies, ("dram_scheduler", scheduler)))


def on_fermi(names, design):
    return point_of(names, design, FERMI_SMS, FERMI, gpu="medic_fermi")


def in_turn(processes):
    size = "{pairs: 128, elements: 6000, blocks: 64}"
    return Point("mask_maxwell", (("scalar_product", size),) * processes, IN_TURN)


def alone(count):
    return [point_of((name,), "SharedTLB", SMS // count) for name in CROWD[:count]]


class Part:
    """Points of some claims and what they say."""

    def points(self):
        raise NotImplementedError

    def show(self, experiment):
        raise NotImplementedError

    @staticmethod
    def weighted(experiment, point):
        return sum(speedups_of(experiment, point, alone(2)))


class Crowd(Part):
    def points(self):
        for count in range(1, len(CROWD) + 1):
            yield from alone(count)
            yield from (of_crowd(count, design) for design in ("SharedTLB", "MASK", "Ideal"))

    def show(self, experiment):
        rows, walks = [], []
        for count in range(1, len(CROWD) + 1):
            walks.append((count, interleaved(*(walking(experiment, of_crowd(count, design))
                                               for design in ("SharedTLB", "MASK")))))
            speeds = {design: sum(speedups_of(experiment, of_crowd(count, design), alone(count)))
                      for design in ("SharedTLB", "MASK", "Ideal")}
            rows.append((count, [speeds["SharedTLB"] / speeds["Ideal"], speeds["MASK"] / speeds["Ideal"],
                                 speeds["MASK"] / speeds["SharedTLB"]]))
        table("applications", ("SharedTLB, of Ideal", "MASK, of Ideal", "MASK over SharedTLB"), rows)
        table("applications", [f"{what}, {design}" for what in WALKING for design in ("SharedTLB", "MASK")], walks, 1)


class Sizes(Part):
    def points(self):
        yield from alone(2)
        yield from (with_entries(entries, design) for entries in ENTRIES for design in ("SharedTLB", "MASK"))

    def show(self, experiment):
        table("second-level TLB, entries", ("SharedTLB", "MASK"),
              [(entries, [self.weighted(experiment, with_entries(entries, design)) for design in ("SharedTLB", "MASK")])
               for entries in ENTRIES])


class OfAllPairs(Part):
    """The pairs of mask.py on another machine: weighted speedups, and the means over Ideal's."""
    DESIGNS = ("PWCache", "SharedTLB", "MASK", "Ideal")
    TITLE = ""

    def of_design(self, pair, design):
        raise NotImplementedError

    def alone_of(self, pair):
        raise NotImplementedError

    def points(self):
        for pair in PAIRS:
            yield from self.alone_of(pair)
            yield from (self.of_design(pair, design) for design in self.DESIGNS)

    def show(self, experiment):
        rows = with_mean(rows_of(experiment, PAIRS, self.DESIGNS, self.of_design, self.alone_of))
        means = rows[-1][1]
        table(self.TITLE, self.DESIGNS, [*rows, ("**of Ideal's**", [mean / means[-1] for mean in means])])


class Near(OfAllPairs):
    """K5, K24 and Z18, over runs alone on the machine as it is."""
    TITLE = "10 cycles between GMMU and L2"

    def of_design(self, pair, design):
        return point_of(pair, design, overrides=() if design == "Ideal" else NEAR)

    def alone_of(self, pair):
        return alone_of(pair)


class Walks(Part):
    """K6, K7, K20, K21 and K22."""
    DESIGNS = ("Static", "SharedTLB", "MASK-TLB", "MASK")

    def points(self):
        yield from alone(2)
        yield from map(of_pair, self.DESIGNS)
        yield of_pair("SharedTLB", policies=MEASURED)

    def show(self, experiment):
        rows = []
        for design in self.DESIGNS:
            hits, missed = self.looked_up(experiment, of_pair(design))
            rows.append((design, [self.weighted(experiment, of_pair(design)), 100 * hits / (hits + missed),
                                  *shares(experiment, of_pair(design), "gmmu", "tlb_hits", "tlb_misses")]))
        table("design", ("weighted speedup", "hits in second-level TLB, %", *(f"misses of {name}" for name in PAIR)),
              rows)
        table("hits in the L2, %", LEVELS,
              [("walks of SharedTLB", level_hits(experiment, of_pair("SharedTLB", policies=MEASURED)))], 2)
        at_a_time, wait = self.walking(experiment, of_pair("SharedTLB"))
        print(f"K20: walks at a time {sweeps.cell(at_a_time, '.1f')}; "
              f"requests of SMs that wait for one {sweeps.cell(wait, '.1f')}")
        share, walks, data = self.waits(experiment, of_pair("MASK"))
        print(f"K22: share of walks among DRAM requests, %: {sweeps.cell(share, '.1f')}; cycles in the queue, "
              f"walks {sweeps.cell(walks, '.0f')}, data {sweeps.cell(data, '.0f')}\n")

    @staticmethod
    @sweeps.blank_if_missing(2)
    def looked_up(experiment, point):
        """Hits and misses in the second-level TLB."""
        with experiment.output(point) as file:
            return [per_tenant(file, "gmmu", name).sum() for name in ("tlb_hits", "tlb_misses")]

    @staticmethod
    @sweeps.blank_if_missing(2)
    def walking(experiment, point):
        """Walks at a time, and requests of SMs for one."""
        with experiment.output(point) as file:
            walking, walks, waiting = (per_tenant(file, "gmmu", name).sum()
                                       for name in ("walk_cycles", "walks", "merged"))
            cycles = file["final/end"][()] * 1e-9 * MHZ
        return walking / cycles, 1 + waiting / walks if walks else math.nan

    @staticmethod
    @sweeps.blank_if_missing(3)
    def waits(experiment, point):
        """Percent of DRAM requests that are walks; cycles that these and others wait."""
        with experiment.output(point) as file:
            requests, cycles = (file["final/stats/dram_scheduler"][name][:].sum(axis=0)
                                for name in ("requests", "queue_cycles"))
        return (100 * requests[0] / max(requests.sum(), 1), cycles[0] / max(requests[0], 1),
                cycles[1:].sum() / max(requests[1:].sum(), 1))


class Tokens(Part):
    def points(self):
        yield from alone(2)
        yield from map(with_tokens, TOKENS)

    def show(self, experiment):
        print("K19: by share of warps with tokens at first:",
              {share: sweeps.cell(self.weighted(experiment, with_tokens(share)), ".3f") for share in TOKENS})


class Pages(Part):
    DESIGNS = ("SharedTLB", "MASK", "Ideal")

    def points(self):
        yield from alone(2)
        yield from (of_pair(design, policies=LARGE_PAGES) for design in self.DESIGNS)

    def show(self, experiment):
        print("K18: 2 MiB pages:", {
            design: sweeps.cell(self.weighted(experiment, of_pair(design, policies=LARGE_PAGES)), ".3f")
            for design in self.DESIGNS})


class Memory(Part):
    """K16 and K17."""
    DESIGNS = ("SharedTLB", "MASK", "Ideal")

    def points(self):
        yield from alone(2)
        yield from (of_pair(design, rows) for rows in ((), CLOSED) for design in self.DESIGNS)
        yield from (scheduled_by(scheduler, policies) for scheduler in SCHEDULERS for policies in ((), (FILL, CACHE)))

    def show(self, experiment):
        print("K16: rows closed over open:",
              {design: sweeps.cell(closed / opened, ".3f") for design in self.DESIGNS for opened, closed in
               [[self.weighted(experiment, of_pair(design, rows)) for rows in ((), CLOSED)]]})
        print("K17: MASK-TLB and MASK-Cache over SharedTLB, both under:",
              {scheduler: sweeps.cell(with_mask / without, ".3f") for scheduler in SCHEDULERS for without, with_mask in
               [[self.weighted(experiment, scheduled_by(scheduler, policies)) for policies in ((), (FILL, CACHE))]]})


class Fermi(OfAllPairs):
    """K13."""
    TITLE = "on Fermi, with the TLBs of Maxwell"

    def of_design(self, pair, design):
        return on_fermi(pair, design)

    def alone_of(self, pair):
        return [on_fermi((name,), "SharedTLB") for name in pair]


class InTurn(Part):
    def points(self):
        yield from map(in_turn, PROCESSES)

    def show(self, experiment):
        ends = {processes: self.end(experiment, in_turn(processes)) for processes in PROCESSES}
        print("K23: in turn over one after the other:",
              {processes: sweeps.cell(end / processes / ends[1], ".3f") for processes, end in ends.items()})

    @staticmethod
    @sweeps.blank_if_missing()
    def end(experiment, point):
        with experiment.output(point) as file:
            return int(file["final/end"][()])


PARTS = {"crowd": Crowd(), "sizes": Sizes(), "near": Near(), "walks": Walks(), "tokens": Tokens(), "pages": Pages(),
         "memory": Memory(), "fermi": Fermi(), "in_turn": InTurn()}


def points(parts=tuple(PARTS)):
    return list(dict.fromkeys(point for part in parts for point in PARTS[part].points()))


def main():
    parser = parser_of(__doc__, "mask_sweeps")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    if arguments.tiny and "tokens" not in arguments.parts:
        parser.error("--tiny runs a point of the part tokens - name that as well, or no part")
    experiment = Experiment(arguments)
    if arguments.verb == "run":
        experiment.run(points(arguments.parts), [*alone(2), with_tokens(TOKENS[0])])
    for part in arguments.parts:
        PARTS[part].show(experiment)


if __name__ == "__main__":
    main()
