#!/usr/bin/python3
"""What SMS depends on: S5 to S9, S13 and S14 of paper 004 (sections 5.2.1, 5.3.2 and 5.5).

    jobs/experiments/interference/sms_sweeps.py run [--folder DIR] [--jobs N] [--categories H HML] [--span 2500us]
    jobs/experiments/interference/sms_sweeps.py show [the same]

`run` simulates a mix of benchmarks of each category on sms_16c1g under SMS and TCM with fewer cores, with other numbers
of controllers, without the GPU, under SMS with other batches, FIFOs and choices of a source, and under the schedulers
that came before with request buffers of two sizes; `show` prints for each CPU speedup, GPU speedup and the slowdown of
the core that suffers most.
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402
from sms import (CATEGORIES, GPU, SCHEDULERS, SMS, WEIGHTS, Machine, Results, Run, mixes, run_alone,  # noqa: E402
                 run_or_show)

PAIR = ("TCM", "SMS")
CORES = (4, 8, 16)
CONTROLLERS = (2, 4, 8)
BATCHES = (1, 2, 5, 10, 20)
FIFOS = (5, 10, 15, 20, 30, 60)
PREFERENCES = (0, 0.5, 0.9, 1)
BUFFERS = (64, 256)


def tables(mix, span):
    """Title, and runs by label, of each table for one mix."""
    def of(scheduler, benchmarks=mix, gpu=True, **more):
        return Run(benchmarks, gpu, scheduler, span, **more)

    def of_sms(key, values):
        return {str(value): of(f"{{{SMS}, {key}: {value}}}") for value in values}

    yield "cores (S5)", {f"{count}, {name}": of(SCHEDULERS[name], mix[:count]) for count in CORES for name in PAIR}
    yield "controllers (S6)", {f"{count}, {name}": of(SCHEDULERS[name], machine=Machine(count))
                               for count in CONTROLLERS for name in PAIR}
    yield "SMS, largest batch (S7)", of_sms("max_batch", BATCHES)
    yield "SMS, FIFO of a bank (S8)", of_sms("bank_fifo", FIFOS)
    yield "no GPU (S9)", {name: of(SCHEDULERS[name], gpu=False) for name in PAIR}
    yield "requests in a buffer (S13)", {f"{name}, {size}": of(SCHEDULERS[name], buffer=size)
                                         for name in ("FR-FCFS", "PAR-BS", "ATLAS", "TCM") for size in BUFFERS}
    yield "SMS, p (S14)", of_sms("p", PREFERENCES)


def all_runs(arguments):
    for category in arguments.categories:
        mix = next(mixes(category, 1))
        for _, runs in tables(mix, arguments.span):
            yield from runs.values()
        for count in CONTROLLERS:
            yield from (run_alone(name, arguments.span, Machine(count)) for name in sorted({GPU, *mix}))


def tiny(arguments):
    """The fewest cores under SMS, and what they run alone."""
    mix = next(mixes(arguments.categories[0], 1))[:CORES[0]]
    return [run_alone(name, arguments.span) for name in sorted({GPU, *mix})] + [
        Run(mix, True, SCHEDULERS["SMS"], arguments.span)]


def show(arguments):
    results = Results(arguments)
    columns = ("CPU speedup", "GPU speedup", *(f"both, weight {weight}" for weight in WEIGHTS), "unfairness")
    for category in arguments.categories:
        for title, runs in tables(next(mixes(category, 1)), arguments.span):
            rows = {}
            for label, run in runs.items():
                cpu, gpu, slowdown = results.of_run(run)
                rows[label] = (cpu, gpu, *(cpu + weight * gpu for weight in WEIGHTS), slowdown)
            sweeps.print_table(f"{category}: {title}", columns, rows)


def main():
    parser = sweeps.parser_of(__doc__, "sms_sweeps", "show")
    parser.add_argument("--categories", nargs="+", choices=CATEGORIES, default=["H", "HML"])
    parser.add_argument("--span", default="2500us", help="simulated; 8 million cycles of a core")
    run_or_show(parser, all_runs, tiny, show)


if __name__ == "__main__":
    main()
