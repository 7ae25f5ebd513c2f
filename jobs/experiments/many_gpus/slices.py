#!/usr/bin/python3
"""MIG slices, MPS and time slices of A100s for the same tenants, some of which page.

    jobs/experiments/many_gpus/slices.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/slices.py show [--quick] [--folder DIR]

Seven tenants on one A100 and 28 on four (--quick: three on one), of three kinds: `run` gives each a slice, SMs as many
as the slice has with everything else shared (as MPS), or the whole GPU in turn; and each the same alone. `show` prints
by how much a kind is slower than it would be alone in the same way: what isolation leaves, of which the host link is
part.
"""
import statistics

import machines
import tenants

import sweeps

KINDS = {"dense": tenants.dense, "stream": tenants.stream, "paging": tenants.paging}
MIXES = {"three on one": (1, 3, "2g.10gb", 28), "seven on one": (1, 7, "1g.5gb", 14),
         "28 on four": (4, 28, "1g.5gb", 14)}  # GPUs, tenants, slice of each, its SMs
SLICE_TIME = "{name: time-sliced, slice: 100us}"
MODES = {"MIG": {}, "MPS": {"sharing": "spatial"}, "time slices": {"sharing": SLICE_TIME, "preemption": "switch"}}


def mixes(arguments):
    return ("three on one",) if arguments.quick or arguments.tiny else ("seven on one", "28 on four")


def name_of(mix, mode, kind=None):
    return "-".join([*mix.split(), mode.replace(" ", "_"), kind or "all"])


def listed(arguments, mix, mode, only=None):
    gpus, count, piece, sms = MIXES[mix]
    texts = []
    for index in range(count):
        kind = list(KINDS)[index % len(KINDS)]
        if only is not None and index != only:
            continue
        more = {"MIG": {"mig": piece}, "MPS": {"sms": sms}}.get(mode, {})
        if gpus > 1:
            more["gpu"] = index % gpus
        texts.append(KINDS[kind](arguments, f"{kind}{index}", **more))
    return texts


def text_of(arguments, mix, mode, only=None):
    # A tenant alone is on the first GPU or slice of the same machine.
    gpus = MIXES[mix][0]
    return machines.scenario("a100", gpus, listed(arguments, mix, mode, only), policies=MODES[mode])


def scenarios(arguments):
    texts = {}
    for mix in mixes(arguments):
        for mode in MODES:
            texts[name_of(mix, mode)] = text_of(arguments, mix, mode)
            for index, kind in enumerate(KINDS):
                texts[name_of(mix, mode, kind)] = text_of(arguments, mix, mode, index)
    return texts


def show(arguments):
    for mix in mixes(arguments):
        rows = {}
        for mode in MODES:
            values = []
            for first, kind in enumerate(KINDS):
                alone = machines.turnaround(arguments, name_of(mix, mode, kind), f"{kind}{first}")
                beside = [machines.turnaround(arguments, name_of(mix, mode), f"{kind}{index}")
                          for index in range(first, MIXES[mix][1], len(KINDS))]
                values += [alone / 1e12, machines.slower(statistics.fmean(beside), alone)]
            rows[mode] = values
        sweeps.print_table(mix, [f"{kind}, {what}" for kind in KINDS for what in ("alone, ms", "slower by, %")], rows)


if __name__ == "__main__":
    machines.run_or_show(__doc__, "slices", scenarios, show,
                         [name_of("three on one", "MIG"), name_of("three on one", "MIG", "dense"),
                          name_of("three on one", "MIG", "stream")], "5ms", lambda _: tenants.FILES)
