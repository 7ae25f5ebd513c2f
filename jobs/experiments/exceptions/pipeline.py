#!/usr/bin/python3
"""Cost of the exception schemes when nothing faults: Figures 10 and 11 of paper 000 (MICRO 2017).

    jobs/experiments/exceptions/pipeline.py run [--quick] [--sms 16] [--folder DIR] [--jobs N]
    jobs/experiments/exceptions/pipeline.py draw [--quick] [--sms 16] [--folder DIR]

`run` runs the benchmarks on k20 with each scheme, all data in GPU memory, in pages of 4 KiB; `draw` prints the table
beside the paper's means and draws pipeline.png. Performance is time of stall-on-fault over time of the scheme.
Section 5.5: `--sms 8 16 32`, of a work that does not grow with the machine.
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
    "log 32 KiB": "{name: operand-log, bytes: 32KiB}",
}
# Geometric means that the paper prints, in percent (section 5.2, Figures 10 and 11).
PAPER = {"warp-disable-commit": "84.0", "warp-disable-last-check": "90.0", "replay-queue": "94.0", "log 8 KiB": "96.6",
         "log 16 KiB": "99.2", "log 32 KiB": "nearly 100"}


def run_of(benchmark, scheme, sms, arguments):
    return Run(benchmark, RESIDENT, (("exception_scheme", scheme),), sms=sms, quick=arguments.quick)


def relative(experiment, sms, arguments):
    """{benchmark: {scheme: percent of stall-on-fault}}"""
    return {
        b: {name: 100 * experiment.ratio(run_of(b, "stall-on-fault", sms, arguments), run_of(b, s, sms, arguments))
            for name, s in SCHEMES.items()}
        for b in PARBOIL
    }


def means_of(table):
    return {scheme: geometric_mean(row[scheme] for row in table.values()) for scheme in SCHEMES}


def print_table(sms, table):
    print(f"\n| {sms} SMs | " + " | ".join(SCHEMES) + " |\n|---|" + "---:|" * len(SCHEMES))
    for name, row in {**table, "**geometric mean**": means_of(table)}.items():
        print(f"| {name} | " + " | ".join(sweeps.cell(row[scheme], ".1f") for scheme in SCHEMES) + " |")
    print("| 000, 16 SMs | " + " | ".join(PAPER[scheme] for scheme in SCHEMES) + " |")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--sms", nargs="*", type=int, default=[16], help="sizes of the GPU")
    arguments = parser.parse_args()
    experiment = Experiment(arguments)
    if arguments.verb == "run":
        schemes = ["stall-on-fault", *SCHEMES.values()]
        experiment.run([run_of(b, s, sms, arguments) for sms in arguments.sms for b in PARBOIL for s in schemes],
                       [run_of("sad", s, arguments.sms[0], arguments) for s in schemes[:2]])
    for sms in arguments.sms:
        table = relative(experiment, sms, arguments)
        print_table(sms, table)
        rows = {name: list(row.values()) for name, row in {**table, "mean": means_of(table)}.items()}
        draw_bars(rows, list(SCHEMES), "performance, stall-on-fault = 100 %",
                  f"k20 with {sms} SMs, no faults: what precise exceptions cost (000, Figures 10 and 11)",
                  experiment.folder / f"pipeline_{sms}.png")


if __name__ == "__main__":
    main()
