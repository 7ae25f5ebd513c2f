"""What happened in a run, in words: who was slowed by whom and why, page faults, and what another choice gained."""
import textwrap

import numpy as np
import pandas as pd

from . import metrics
from .configuration import differences

PAGE = 4096
WIDTH = 80
PAGING = (("page faults", "faults", "{:d}"), ("moved in", "came", "{:.1f} MiB"), ("moved out", "went", "{:.1f} MiB"))
RESIDENT = (("IPC", "ipc", "{:.2f}"), ("DRAM GB/s", "dram", "{:.1f}"), ("L2 hits", "l2", "{:.1%}"))
NOTICED = 0.01  # of a tenant's time, summed over all that waited: less is not worth a word
# /interference/<resource>, counted in ns: why the one waited when the other was served before it.
REASONS = {
    "fault_service": "whose page faults the driver handled first",
    "link_to_gpu": "whose pages took the host link to the GPU first",
    "link_to_host": "whose pages took the host link to the host first",
    "dram": "whose requests a DRAM channel served first",
    "input_port": "whose requests entered a memory partition first",
    "l2_bank": "whose requests held the L2 bank",
    "response_port": "whose answers left a memory partition first",
    "tlb_ports": "whose translations took the TLB port first",
    "tlb_mshrs": "whose TLB misses held the MSHRs",
    "walkers": "whose page walks held the walkers",
    "uplink": "whose bytes took the shared uplink first",
    "port_out": "whose bytes left the GPU for others first",
    "port_in": "whose bytes reached the GPU from others first",
}


def tenants(run):
    """A row per tenant: seconds until it was done (missing: it was not), faults, MiB that came and that had to go."""
    table = run.table("tenants").set_index("tenant")
    present = (table["end"] - table["arrival"]).astype("Float64") * 1e-15
    rows = pd.DataFrame({"seconds": present, "faults": table["far_faults"].astype("int64")})
    for name, counter in (("came", "host/pages_migrated"), ("went", "host/pages_evicted")):
        rows[name] = run.by_tenant(counter).sum() * PAGE / 2**20
    rows["ipc"] = metrics.whole(run, "instructions_per_cycle")
    rows["dram"] = metrics.whole(run, "dram_bandwidth") * 1e-9
    rows["l2"] = metrics.whole(run, "l2_hit_rate")
    rows["culprit"], rows["reason"], rows["share"] = zip(*[slowed(run, number) for number in range(len(rows))])
    return rows


def slowed(run, victim):
    """(tenant, reason, share): behind whom the victim waited longest in one place, of its waits there; of no other
    tenant: ("", "", 0)."""
    waits = waits_of(run, victim)
    longest = ("", "", 0.0)
    most = NOTICED * float(run.times[-1]) * 1e-6  # ns
    for name, by_culprit in waits.items():
        others = np.where(np.arange(len(by_culprit)) == victim, 0, by_culprit)
        if others.max(initial=0) > most:
            most = others.max()
            longest = (run.tenant_names[others.argmax()], REASONS[name], most / by_culprit.sum())
    return longest


def waits_of(run, victim):
    """{resource: ns behind each tenant}; what stands on several GPUs is added up."""
    waits = {}
    for name in REASONS:
        if f"interference/{name}" in run.file:
            waits[name] = run.file[f"interference/{name}"][victim]
        for gpu in run.gpus:
            matrix, there = run.file.get(f"interference/gpu{gpu}/{name}"), run.tenants_of(f"gpu{gpu}/")
            if matrix is None or run.tenant_names[victim] not in there:
                continue
            places = [run.tenant_names.index(tenant) for tenant in there]
            row = waits.setdefault(name, np.zeros(len(run.tenant_names)))
            row[places] += matrix[there.index(run.tenant_names[victim])]
    return waits


def text(run, other=None):
    """A table of one run, or of two that differ, and what follows from it."""
    if other is None:
        return _heading(run) + _table({"": tenants(run)}) + _culprits(tenants(run))
    labels = _labels(run, other)
    both = {labels[0]: tenants(run), labels[1]: tenants(other)}
    return _heading(run) + _table(both) + _culprits(both[labels[0]]) + _gains(both)


def duration(seconds):
    if pd.isna(seconds):
        return "not done"
    unit, length = next(pair for pair in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 0))
                        if seconds >= pair[1])
    return f"{seconds / (length or 1e-9):.3g} {unit}"


def _heading(run):
    count = len(run.tenant_names)
    return f"\n{run.scenario} on {run.machine}: {count} tenant{'s' if count > 1 else ''}\n\n"


def _labels(run, other):
    differing = differences(run, other)
    if len(differing) != 1:
        return (run.path, other.path) if run.path != other.path else ("the first", "the second")
    key, values = next(iter(differing.items()))
    return tuple(f"{key.rpartition('.')[2]} {value}" for value in values)


def _table(runs):
    """Rows by tenant, then by run; where no page ever faulted, of how caches and DRAM were used."""
    columns = PAGING if any(rows["faults"].any() for rows in runs.values()) else RESIDENT
    label = max(len(_short(name, 16)) for name in runs)
    lines = [f"{'tenant':<16}{'':<{label}}{'done after':>12}" + "".join(f"{title:>12}" for title, _, _ in columns)]
    for tenant in next(iter(runs.values())).index:
        for number, (name, rows) in enumerate(runs.items()):
            row = rows.loc[tenant]
            cells = ["-" if pd.isna(row[key]) else form.format(row[key]) for _, key, form in columns]
            lines.append(f"{_short(tenant) if number == 0 else '':<16}{_short(name, 16):<{label}}"
                         f"{duration(row.seconds):>12}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join(lines) + "\n"


def _culprits(rows):
    lines = [f"{tenant} was slowed most by {row.culprit}, {row.reason} ({row.share:.0%} of its waiting there)."
             for tenant, row in rows.iterrows() if row.culprit]
    return _wrapped(lines)


def _gains(both):
    (chosen, with_it), (without, rows) = both.items()
    lines = []
    for tenant in with_it.index:
        gain = rows.seconds[tenant] / with_it.seconds[tenant]
        if pd.isna(gain):
            continue
        fewer = rows.faults[tenant] - with_it.faults[tenant]
        change = f"{gain:.1f} times as fast" if gain >= 1 else f"{1 / gain:.1f} times as slow"
        faults = f"{abs(fewer)} page faults {'fewer' if fewer > 0 else 'more'}" if fewer else "as many page faults"
        lines.append(f"With {chosen}, {tenant} is {change} as with {without}, with {faults}.")
    return _wrapped(lines)


def _wrapped(lines):
    return "".join("\n" + textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in lines) + "\n" * bool(lines)


def _short(name, most=15):
    return name if len(name) <= most else name[: most - 1] + "~"
