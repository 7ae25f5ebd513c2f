#!/usr/bin/python3
"""Cost of the exception schemes when nothing faults: Figures 10 and 11 of paper 000 (MICRO 2017).

    jobs/experiments/exceptions/pipeline.py run [--quick] [--sms 16] [--misses 1 8 64] [--folder DIR] [--jobs N]
    jobs/experiments/exceptions/pipeline.py draw [--quick] [--sms 16] [--misses 1 8 64] [--folder DIR]

`run` runs the benchmarks on k20 with each scheme, all data in GPU memory, in pages of 4 KiB; `draw` prints the table
beside the paper's means and draws pipeline.png. Performance is time of stall-on-fault over time of the scheme.
Section 5.5: `--sms 8 16 32`, of a work that does not grow with the machine.

`--misses`: the same for L1 TLBs that bear so many misses at a time, which the paper does not tell; the means and lbm,
and misses.png. A second table has the kernels that are slower with 8 KiB of log than with the replay queue, and how
often their schedulers wait for the log.
"""
from bars import draw_bars
from benchmarks import PARBOIL, RESIDENT
from runs import Experiment, Run, geometric_mean, parser_of, sweeps

SCHEMES = {
    "warp-disable-commit": "warp-disable-commit",
    "warp-disable-last-check": "warp-disable-last-check",
    "replay-queue": "replay-queue",
    "log 8 KiB": "{name: operand-log, bytes: 8KiB}",
    "log 16 KiB": "{name: operand-log, bytes: 16KiB}",
    "log 20 KiB": "{name: operand-log, bytes: 20KiB}",
    "log 32 KiB": "{name: operand-log, bytes: 32KiB}",
}
# Geometric means that the paper prints, in percent (section 5.2, Figures 10 and 11).
PAPER = {"warp-disable-commit": "84.0", "warp-disable-last-check": "90.0", "replay-queue": "94.0", "log 8 KiB": "96.6",
         "log 16 KiB": "99.2", "log 20 KiB": "", "log 32 KiB": "nearly 100"}


def run_of(benchmark, scheme, sms, arguments, misses=0):
    """`misses`: of an L1 TLB; 0: as many as k20 has."""
    machine = (("vm.l1_tlb.mshrs", str(misses)),) if misses else ()
    return Run(benchmark, RESIDENT, (("exception_scheme", scheme),), sms=sms, quick=arguments.quick, machine=machine)


def relative(experiment, sms, arguments, misses=0):
    """{benchmark: {scheme: percent of stall-on-fault}}"""
    def time_ratio(benchmark, scheme):
        return experiment.ratio(run_of(benchmark, "stall-on-fault", sms, arguments, misses),
                                run_of(benchmark, scheme, sms, arguments, misses))

    return {
        b: {name: 100 * time_ratio(b, s) for name, s in SCHEMES.items()}
        for b in PARBOIL
    }


def means_of(table):
    return {scheme: geometric_mean(row[scheme] for row in table.values()) for scheme in SCHEMES}


def print_table(sms, table):
    print(f"\n| {sms} SMs | " + " | ".join(SCHEMES) + " |\n|---|" + "---:|" * len(SCHEMES))
    for name, row in {**table, "**geometric mean**": means_of(table)}.items():
        print(f"| {name} | " + " | ".join(sweeps.cell(row[scheme], ".1f") for scheme in SCHEMES) + " |")
    print("| 000, 16 SMs | " + " | ".join(PAPER[scheme] for scheme in SCHEMES) + " |")


def print_full_logs(experiment, sms, table, arguments):
    """Kernels for which 8 KiB of log are worse than none but the replay queue's."""
    small = "log 8 KiB"
    worse = {name: row for name, row in table.items() if row[small] < row["replay-queue"]}
    print()
    columns = ["replay queue", small, "cycles that wait for the log, %, 8 KiB", "16 KiB", "32 KiB"]
    sweeps.print_table(f"{sms} SMs", columns, {
        name: [row["replay-queue"], row[small],
               *(experiment.stalled(run_of(name, SCHEMES[f"log {size} KiB"], sms, arguments), "log_full")
                 for size in (8, 16, 32))]
        for name, row in worse.items()}, ".1f")


def print_misses(experiment, sms, arguments):
    """The means and lbm, by the misses that an L1 TLB bears."""
    tables = {misses: relative(experiment, sms, arguments, misses) for misses in arguments.misses}
    sweeps.print_table(f"misses of an L1 TLB, {sms} SMs: mean; lbm", list(SCHEMES), {
        misses: [f"{sweeps.cell(means_of(table)[scheme], '.1f')}; {sweeps.cell(table['lbm'][scheme], '.1f')}"
                 for scheme in SCHEMES] for misses, table in tables.items()})
    rows = {str(misses): list(means_of(table).values()) for misses, table in tables.items()}
    draw_bars(rows, list(SCHEMES), "mean performance, stall-on-fault = 100 %",
              f"k20 with {sms} SMs: by the misses that an L1 TLB bears at a time",
              experiment.folder / f"misses_{sms}.png")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--sms", nargs="*", type=int, default=[16], help="sizes of the GPU")
    parser.add_argument("--misses", nargs="*", type=int, default=[], help="of an L1 TLB at a time")
    arguments = parser.parse_args()
    experiment = Experiment(arguments)
    if arguments.verb == "run":
        schemes = ["stall-on-fault", *SCHEMES.values()]
        experiment.run([run_of(b, s, sms, arguments, misses) for sms in arguments.sms
                        for misses in arguments.misses or [0] for b in PARBOIL for s in schemes],
                       [run_of("sad", s, arguments.sms[0], arguments) for s in schemes[:2]])
    for sms in arguments.sms:
        if arguments.misses:
            print_misses(experiment, sms, arguments)
            continue
        table = relative(experiment, sms, arguments)
        print_table(sms, table)
        print_full_logs(experiment, sms, table, arguments)
        rows = {name: list(row.values()) for name, row in {**table, "mean": means_of(table)}.items()}
        draw_bars(rows, list(SCHEMES), "performance, stall-on-fault = 100 %",
                  f"k20 with {sms} SMs, no faults: what precise exceptions cost (000, Figures 10 and 11)",
                  experiment.folder / f"pipeline_{sms}.png")


if __name__ == "__main__":
    main()
