#!/usr/bin/python3
"""MASK and its parts for pairs of applications: trends K1 and K3 of paper 004 (section 6.6.1, Figures 6.11 and 6.15).

    jobs/experiments/interference/mask.py run [--folder DIR] [--jobs N]
    jobs/experiments/interference/mask.py show [--folder DIR]

`run` compares each pair on mask_maxwell, 15 SMs for each and pages of 4 KiB, under each design; alone, an application has
its 15 SMs under SharedTLB. `show` prints weighted speedups and the larger slowdown of each pair.
"""
from points import Experiment, Point, parser_of

SIZES = {
    "bfs": "{vertices: 131072, edges: 1048576}",
    "sssp": "{vertices: 16384, edges: 262144}",
    "mst": "{vertices: 8192, edges: 65536}",
    "page_view_count": "{entries: 65536, pages: 65536, page_slots: 131072, pair_slots: 262144, visitors: 256}",
    "inverted_index": "{words: 131072, vocabulary: 100000, slots: 262144}",
    "convolution_separable": "{width: 1536, height: 1024}",
    "scalar_product": "{pairs: 256, elements: 12000, blocks: 128}",
    "fwt": "{far: 5}",
}
PAIRS = (("bfs", "inverted_index"), ("page_view_count", "convolution_separable"), ("sssp", "fwt"),
         ("inverted_index", "scalar_product"), ("mst", "page_view_count"))
# Epochs shorter than the paper's 100,000 cycles, since these runs last about a million.
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
