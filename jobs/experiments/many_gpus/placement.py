#!/usr/bin/python3
"""Placement policies for eight tenants on four V100s, beside an oracle that knows who disturbs whom.

    jobs/experiments/many_gpus/placement.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/placement.py show [--quick] [--folder DIR]

Two tenants of each of four kinds, on halves of GPUs. `run` lets each kind go alone and beside each kind, chooses the
pairs that are slower by least in the sum (the oracle), and runs all eight as `packed`, `spread`, `least-memory`,
`random` (three seeds) and the oracle place them; `show` prints the mean slowdown and the largest, against half a GPU
alone, and the slowdown of the least over that of the most (1: fair).
"""
import math
import machines
import tenants

import sweeps

KINDS = {"dense": tenants.dense, "stream": tenants.stream, "graph": tenants.graph, "paging": tenants.paging}
GPUS, COPIES = 4, 2
POLICIES = {"packed": "packed", "spread": "spread", "least-memory": "least-memory", "random, seed 1": "random",
            "random, seed 2": "random", "random, seed 3": "random", "oracle": "fixed"}
SHARE = {"v100": 40, "tiny": 2}


def kinds(arguments):
    return ("dense", "stream") if arguments.tiny else tuple(KINDS)


def pair_name(first, second=None):
    return f"pair-{first}-{second or 'alone'}"


def name_of(policy):
    return f"placed-{policy.replace(', ', '-').replace(' ', '_')}"


def tenants_of(arguments):
    return [(f"{kind}{copy}", kind) for kind in kinds(arguments) for copy in range(COPIES)]


def pairs(arguments):
    """Alone a kind has half of the GPU's SMs as well."""
    sms, texts = SHARE[tenants.gpu(arguments)], {}
    for first in kinds(arguments):
        alone = [KINDS[first](arguments, "first", sms=sms)]
        texts[pair_name(first)] = machines.scenario(tenants.gpu(arguments), 1, alone, policies={"sharing": "spatial"})
        for second in kinds(arguments):
            both = [*alone, KINDS[second](arguments, "second", sms=sms, relaunch=True)]
            texts[pair_name(first, second)] = machines.scenario(tenants.gpu(arguments), 1, both,
                                                                policies={"sharing": "spatial"})
    return texts


def slowdown_beside(arguments, first, second):
    return (machines.turnaround(arguments, pair_name(first, second), "first")
            / machines.turnaround(arguments, pair_name(first), "first"))


def matchings(names):
    """All ways to make pairs."""
    if not names:
        yield ()
        return
    for index in range(1, len(names)):
        rest = names[1:index] + names[index + 1:]
        for others in matchings(rest):
            yield ((names[0], names[index]), *others)


def oracle(arguments):
    """{tenant: GPU} of the pairs with the least sum of slowdowns."""
    kind_of = dict(tenants_of(arguments))
    known = {(a, b): slowdown_beside(arguments, a, b) for a in kinds(arguments) for b in kinds(arguments)}

    def cost(chosen):
        both = [(kind_of[a], kind_of[b]) for a, b in chosen]
        return sum(known[a, b] + known[b, a] for a, b in both)
    best = min(matchings(list(kind_of)), key=cost)
    return {name: number for number, pair in enumerate(best) for name in pair}


def placed(arguments, policy):
    places = oracle(arguments) if policy == "oracle" else {}
    listed = [KINDS[kind](arguments, name, **({"gpu": places[name]} if places else {}))
              for name, kind in tenants_of(arguments)]
    text = machines.scenario(tenants.gpu(arguments), GPUS // (2 if arguments.tiny else 1), listed,
                             policies={"sharing": "spatial", "placement": POLICIES[policy]})
    return text.replace("seed: 1}", f"seed: {policy[-1]}}}") if "seed" in policy else text


def slowdowns(arguments, policy):
    return [machines.turnaround(arguments, name_of(policy), name)
            / machines.turnaround(arguments, pair_name(kind), "first") for name, kind in tenants_of(arguments)]


def show(arguments):
    rows = {}
    for policy in POLICIES:
        values = slowdowns(arguments, policy)
        known = not any(map(math.isnan, values))
        rows[policy] = [sweeps.mean_of(values), max(values) if known else math.nan,
                        min(values) / max(values) if known else math.nan]
    sweeps.print_table("placement", ("mean slowdown", "largest", "fairness"), rows)
    sweeps.print_table("slowdown of", [f"beside {second}" for second in kinds(arguments)],
                       {first: [slowdown_beside(arguments, first, second) for second in kinds(arguments)]
                        for first in kinds(arguments)})


def main():
    parser = sweeps.parser_of(__doc__, "many-gpus-placement", "show")
    parser.add_argument("--quick", action="store_true", help="smaller data: those of the tables on the page")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()
    if arguments.verb == "run":
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for name, content in tenants.FILES.items():
            (arguments.folder / name).write_text(content)
        first = pairs(arguments)
        sweeps.run_sweep(arguments, first, list(first), "50ms")
        second = {name_of(policy): placed(arguments, policy) for policy in POLICIES}
        sweeps.run_sweep(arguments, second, [name_of(policy) for policy in ("spread", "oracle")], "50ms")
    show(arguments)


if __name__ == "__main__":
    main()
