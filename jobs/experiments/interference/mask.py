#!/usr/bin/python3
"""MASK and its parts for pairs of applications: K1 and K3 of paper 004 (section 6.6.1, Figures 6.11 and 6.15).

    jobs/experiments/interference/mask.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mask.py show [--folder DIR]

`run` compares each pair on mask_maxwell, 15 SMs for each and pages of 4 KiB, under each design; alone, an application
has its 15 SMs under SharedTLB. `show` prints weighted speedups and the larger slowdown of each pair.
"""
from points import Experiment, Point, parser_of

SIZES = {
    "bfs": "{vertices: 32768, edges: 262144}",
    "page_view_count": "{entries: 32768, pages: 32768, page_slots: 65536, pair_slots: 131072, visitors: 128}",
    "inverted_index": "{words: 65536, vocabulary: 50000, slots: 131072}",
    "convolution_separable": "{width: 768, height: 512}",
    "scalar_product": "{pairs: 128, elements: 6000, blocks: 64}",
    "fwt": "{far: 4}",
}
PAIRS = (("page_view_count", "convolution_separable"), ("inverted_index", "scalar_product"),
         ("inverted_index", "page_view_count"), ("bfs", "fwt"))
# Epochs shorter than the paper's 100,000 cycles, since these runs last for some 100,000 to a million.
EPOCH = 20000
FILL = ("tlb_fill", f"{{name: mask, epoch: {EPOCH}}}")
MEASURE = ("tlb_fill", f"{{name: mask, epoch: {EPOCH}, tokens: false}}")
CACHE = ("cache_policy", f"{{name: mask, epoch: {EPOCH}}}")
DRAM = ("dram_scheduler", "mask")
DESIGNS = {
    "PWCache": (("translation", "page-walk-cache"),),
    "SharedTLB": (),
    "MASK-TLB": (FILL,),
    "MASK-Cache": (CACHE,),
    "MASK-DRAM": (MEASURE, DRAM),
    "MASK": (FILL, CACHE, DRAM),
    "Ideal": (("translation", "ideal"),),
}
# What `--alone-set` turns each design into.
ALONE = tuple(option for setting in ("translation=shared-tlb", "tlb_fill=lru", "cache_policy=lru",
                                     "dram_scheduler=fr-fcfs") for option in ("--alone-set", f"policies.{setting}"))


def point_of(pair, design):
    return Point("mask_maxwell", tuple((name, SIZES[name]) for name in pair),
                 (("sharing", "spatial"), ("page_manager", "base-pages"), *DESIGNS[design]), relaunch=True, sms=15)


def show(experiment):
    for metric, title in (("weighted_speedup", "weighted speedup"), ("maximum_slowdown", "larger slowdown")):
        print(f"| {title} | " + " | ".join(DESIGNS) + " |\n|---|" + "---:|" * len(DESIGNS))
        sums = dict.fromkeys(DESIGNS, 0.0)
        for pair in PAIRS:
            row = {design: experiment.metrics(point_of(pair, design))[metric] for design in DESIGNS}
            for design, value in row.items():
                sums[design] += value / len(PAIRS)
            print(f"| {' + '.join(pair)} | " + " | ".join(f"{row[design]:.3f}" for design in DESIGNS) + " |")
        print("| **mean** | " + " | ".join(f"{sums[design]:.3f}" for design in DESIGNS) + " |\n")


def main():
    arguments = parser_of(__doc__, "mask").parse_args()
    experiment = Experiment(arguments, "compare")
    if arguments.verb == "run":
        experiment.run([point_of(pair, design) for pair in PAIRS for design in DESIGNS], ALONE)
    show(experiment)


if __name__ == "__main__":
    main()
