#!/usr/bin/python3
"""What preemptible faults are good for: Figures 12, 13, 14 and section 5.5 of paper 000 (MICRO 2017).

    jobs/experiments/exceptions/use_cases.py run [--quick] [--figures 12 13 14] [--sms 16] [--folder DIR] [--jobs N]
    jobs/experiments/exceptions/use_cases.py draw [--quick] [--figures 12 13 14] [--sms 16] [--folder DIR]
    jobs/experiments/exceptions/use_cases.py run [--thresholds 0 1 2 4] [--large]

`run` runs the benchmarks on k20 with NVLink and PCIe, replay queue, faults of 64 KiB granules, and what of a fault
keeps the next one waiting set to both `cpu+link` and `whole-cost`; `draw` prints tables beside what the paper says and
draws a picture per figure. Performance is time without the use case over time with it, in percent.

Figure 12: block switching, and ideal switching; all data in CPU memory. Figure 13: faults on what malloc gives, handled
by the GPU. Figure 14: faults on output pages, handled by the GPU, with inputs copied before and with inputs that fault.
Section 5.5: `--sms 8 16 32`. `--thresholds`: Figure 12 with blocks that stay while so many granules wait before theirs;
NVLink. `--large`: Figures 12 and 14 of histo with as many bins as Parboil's.
"""
import dataclasses
import math

from bars import draw_bars
from benchmarks import COPIED, HEAP, LARGE, PAGED, PARBOIL, RESIDENT
from runs import HOSTS, Experiment, Run, geometric_mean, handling, parser_of

SERIALIZATIONS = ("cpu+link", "whole-cost")
# The paper names no threshold: save and restore, 8 us, over the time of a fault, rounded up, is the default too.
SWITCHING = {"switching": "{name: on-fault, extra_blocks: 4, threshold: 1}",
             "ideal": "{name: on-fault, extra_blocks: 4, threshold: 1, ideal: true}"}
LOCAL = {"local": "local"}


@dataclasses.dataclass(frozen=True)
class Figure:
    title: str
    key: str  # policy that the figure varies
    variants: dict  # of it, by name
    placements: tuple
    benchmarks: dict
    paper: dict  # row: what the paper says in percent, NVLink and PCIe


FIGURES = {
    12: Figure("block switching on fault", "block_switching", SWITCHING, (PAGED,), PARBOIL,
               {"sgemm": "113 / less", "histo": "111 / 105", "stencil_coarsened": "107 / less", "mri_gridding": "85",
                "geometric mean": "about 100"}),
    13: Figure("malloc: faults handled by the GPU", "fault_handling", LOCAL, (RESIDENT,), HEAP,
               {"geometric mean": "156 / 175"}),
    14: Figure("output pages: faults handled by the GPU", "fault_handling", LOCAL, (COPIED, PAGED),
               {name: b for name, b in PARBOIL.items() if b.outputs},
               {"lbm": "high", "histo": "high", "geometric mean": "105 / 108"}),
}


@dataclasses.dataclass(frozen=True)
class Column:
    """One bar for each benchmark: a variant, on a link, under a serialization."""

    variant: str
    placement: str
    link: str
    serialize: str

    def title(self, figure):
        words = [self.variant] if len(figure.variants) > 1 else []
        words += [f"inputs {self.placement}"] if len(figure.placements) > 1 else []
        return ", ".join([*words, self.link, self.serialize])

    def run(self, figure, benchmark, varied, sms, arguments):
        policies = {"exception_scheme": "replay-queue", "prefetcher": "sequential-local",
                    "fault_handling": handling("host", self.link, self.serialize)}
        if varied and figure.key == "fault_handling":
            policies["fault_handling"] = handling("local", self.link, self.serialize)
        elif varied:
            policies[figure.key] = figure.variants[self.variant]
        return Run(benchmark, self.placement, tuple(policies.items()), HOSTS[self.link][0], sms, arguments.quick)


def by_threshold(thresholds):
    """Figure 12 with a column for each threshold."""
    variants = {f"threshold {n}": f"{{name: on-fault, extra_blocks: 4, threshold: {n}}}" for n in thresholds}
    return dataclasses.replace(FIGURES[12], variants=variants)


def columns_of(figure, arguments):
    links = ["NVLink"] if arguments.thresholds else HOSTS
    return [Column(v, p, link, s) for v in figure.variants for p in figure.placements for link in links
            for s in arguments.serialize]


def runs_of(figure, sms, arguments):
    return [column.run(figure, benchmark, varied, sms, arguments)
            for benchmark in figure.benchmarks for column in columns_of(figure, arguments) for varied in (False, True)]


def table_of(experiment, figure, sms, arguments):
    """{benchmark: [percent by column]}, the geometric mean last."""
    table = {
        b: [100 * experiment.ratio(c.run(figure, b, False, sms, arguments), c.run(figure, b, True, sms, arguments))
            for c in columns_of(figure, arguments)]
        for b in figure.benchmarks
    }
    table["geometric mean"] = [geometric_mean(values) for values in zip(*table.values())]
    return table


def print_table(number, figure, sms, columns, table):
    print(f"\n| Figure {number}, {sms} SMs: {figure.title} | " + " | ".join(columns) + " | 000, NVLink / PCIe |")
    print("|---|" + "---:|" * (len(columns) + 1))
    for name, row in table.items():
        cells = ["" if math.isnan(value) else f"{value:.0f}" for value in row]
        print(f"| {name} | " + " | ".join(cells) + f" | {figure.paper.get(name, '')} |")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--figures", nargs="*", type=int, choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--sms", nargs="*", type=int, default=[16], help="sizes of the GPU")
    parser.add_argument("--large", action="store_true", help="histo with an output of Parboil's size, alone")
    parser.add_argument("--thresholds", nargs="*", type=int, default=[], help="Figure 12 alone, for each of them")
    parser.add_argument("--serialize", nargs="*", choices=SERIALIZATIONS, default=SERIALIZATIONS)
    arguments = parser.parse_args()
    experiment = Experiment(arguments)
    figures = {n: FIGURES[n] for n in arguments.figures}
    if arguments.large:
        figures = {n: dataclasses.replace(FIGURES[n], benchmarks=LARGE) for n in (12, 14)}
    if arguments.thresholds:
        figures = {12: by_threshold(arguments.thresholds)}
    chosen = [(number, figure, sms) for sms in arguments.sms for number, figure in figures.items()]
    if arguments.verb == "run":
        _, figure, sms = chosen[-1]
        column = columns_of(figure, arguments)[0]
        name = "sad" if "sad" in figure.benchmarks else next(iter(figure.benchmarks))
        tiny = [column.run(figure, name, varied, sms, arguments) for varied in (False, True)]
        experiment.run([run for _, figure, sms in chosen for run in runs_of(figure, sms, arguments)], tiny)
    for number, figure, sms in chosen:
        table = table_of(experiment, figure, sms, arguments)
        columns = [column.title(figure) for column in columns_of(figure, arguments)]
        print_table(number, figure, sms, columns, table)
        draw_bars(table, columns, "performance, without = 100 %",
                  f"k20 with {sms} SMs: {figure.title} (000, Figure {number})",
                  experiment.folder / f"figure_{number}_{sms}.png")


if __name__ == "__main__":
    main()
