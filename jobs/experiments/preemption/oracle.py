#!/usr/bin/python3
"""An oracle for deadlines.py that runs each candidate from the request on, where `oracle` there estimates.

    jobs/experiments/preemption/oracle.py run [--kernels NAME ...] [--bound US] [--by places|task]
    jobs/experiments/preemption/oracle.py draw [the same]

`run` lets the urgent task of deadlines.py arrive beside each kernel, with `traffic: share`. A checkpoint stands before
each request, and candidates go on from there until just before the next request can come:

- estimates: what the dual kernel chooses.
- flush, switch, drain: all blocks leave by this technique; blocks that cannot be flushed are saved.
- mix: each block leaves by the technique that lost least among those by which its place was free within the bound in
  the last run in which it left so, or else by the fastest. Where blocks take another time together than they did in
  the runs above, the mix is made anew, three times at most.

Of a request's candidates the run goes on with the one that is in time with the least loss, or else with the one that is
least late. In time: all places are free within the bound; with `--by task` the task ends within the bound and the first
task's time alone, as deadlines.py counts. Lost: instructions of flushed blocks, and what switches are estimated to
lose; drains lose nothing. At the end the whole run is repeated by its plan, without a checkpoint, and must be the same
to the bit.

`draw` prints late tasks, late places and lost work beside those of `dual-kernel` and `oracle`, at how many requests the
dual kernel's choice and the best candidate were in time, and how often each was the best.
"""
import collections
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import deadlines  # noqa: E402
import sweeps  # noqa: E402

WAYS = deadlines.WAYS
CANDIDATES = ("estimates", *WAYS, "mix")
ALL_BY_ONE = {way: {"others": way} for way in WAYS}
MIXES = 3
END = 600 + 100 * deadlines.ARRIVALS  # us
TINY_END = 700
# How long candidates are run. A task asks for SMs 12 us after its arrival; the next one arrives after 40 us or later.
PROBE = 39 * deadlines.MICROSECOND
COMPARED = ("dual-kernel", "oracle")
NAMES = {"places": "tried", "task": "tried-task"}  # by what candidates are compared


@dataclasses.dataclass(frozen=True)
class Leaving:
    """How a block left: time until its place was free (fs), instructions lost, and the technique."""

    time: int
    lost: int
    way: str


def name_of(kernel, arguments):
    return f"{kernel}-{NAMES[arguments.by]}-share-{arguments.bound}us"


def plan_text(entries):
    """`entries`: {urgent kernel: {"others": technique} or {"blocks": [[kernel, block, technique], ...]}}."""
    lines = []
    for urgent, entry in entries.items():
        said = f"others: {entry['others']}" if "others" in entry else "blocks: [" + ", ".join(
            f"[{kernel}, {block}, {way}]" for kernel, block, way in entry["blocks"]) + "]"
        lines.append(f"- {{urgent: {urgent}, {said}}}\n")
    return "".join(lines) or "[]\n"


@dataclasses.dataclass
class Candidate:
    entry: dict  # of the plan; None: the plan says nothing
    leaving: dict  # (kernel, block): Leaving
    taken: int = 0  # time from the task's launch to its end, fs


def worth(time, limit, lost):
    """What is smaller for the better one."""
    late = time > limit
    return late, time if late else 0, lost


def best_way(known, bound):
    """Of a block: {technique: Leaving}."""
    return min(known, key=lambda way: worth(known[way].time, bound, known[way].lost))


class Chain:
    """The run of one kernel, from request to request; interrupted, it goes on with the request that it was at."""

    def __init__(self, arguments, kernel):
        self.lockstep, self.bound = arguments.lockstep, arguments.bound * deadlines.MICROSECOND
        self.end = TINY_END if arguments.tiny else END
        folder = arguments.folder.resolve()
        self.output = folder / "output" / f"{name_of(kernel, arguments)}.h5"
        self.folder = folder / name_of(kernel, arguments)
        alone = deadlines.time_alone(folder / "output" / f"{deadlines.Run('').name()}.h5")[0]
        self.task_limit = self.bound + alone if arguments.by == "task" else None
        self.folder.mkdir(parents=True, exist_ok=True)
        dual = deadlines.Run(kernel, COMPARED[0], "share", arguments.bound)
        (self.folder / "scenario.yaml").write_text(
            dual.scenario(folder).replace(f"name: {COMPARED[0]},", f"name: planned, plan: {self.folder}/plan.yaml,"))
        self.requests = arrivals_in(folder / "output" / f"{dual.name()}.h5")
        self.log = []  # of the requests that are over
        self.state = self.folder / "log.json"

    def entries(self):
        """The plan so far, as plan_text() takes it."""
        return {one["urgent"]: one["entry"] for one in self.log if one["entry"]}

    def lockstep_run(self, name, stop, *options):
        """`stop`: in fs, or None: the end of the run."""
        stop_at = f"{self.end}us" if stop is None else f"{stop}fs"
        last = [] if stop is None else ["--checkpoint-at-stop"]
        command = [self.lockstep, "run", "scenario.yaml", "--quiet", "--overwrite", "--output", f"{name}.h5", "--set",
                   f"simulation.stop_at={stop_at}", *last, *options]
        done = subprocess.run(command, cwd=self.folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode not in (0, 4):  # 4: the stop came first
            sys.exit(done.stderr)

    def write_plan(self, entries):
        (self.folder / "plan.yaml").write_text(plan_text(entries))

    def try_candidate(self, name, urgent, entry, since, stop):
        """From the checkpoint to `stop`; returns the urgent kernel and the candidate."""
        self.write_plan({**self.entries(), **({urgent: entry} if entry else {})})
        shutil.copy(self.folder / "before.h5", self.folder / f"{name}.h5")
        self.lockstep_run(name, stop, "--resume", "before.ckpt")
        with sweeps.open_output(self.folder / f"{name}.h5") as file:
            rows, kernels = file["preemptions"][:], file["kernels"][:]
        rows = rows[rows["asked"] > since]
        asking = set(rows["urgent"].tolist())
        assert len(asking) <= 1, "tasks overlap"
        leaving = {}
        for row in rows:
            way = row["technique"].decode()
            lost = row["lost"] if way == "flush" else row["expected_loss"]
            leaving[int(row["grid"]), int(row["block"])] = Leaving(int(row["released"] - row["asked"]), int(lost), way)
        if not asking:
            return None, Candidate(entry, leaving)
        task = kernels[asking.pop() if urgent is None else urgent]
        taken = task["done"] - task["launched"] if task["done"] < 2**63 - 1 else PROBE
        return int(rows["urgent"][0]), Candidate(entry, leaving, int(taken))

    def candidates(self, since, stop):
        """The urgent kernel and {name: Candidate} of one request."""
        urgent, candidate = self.try_candidate("estimates", None, None, since, stop)
        tried = {"estimates": candidate}
        if urgent is None:
            return None, tried
        known = collections.defaultdict(dict)  # by block and technique
        for way in WAYS:
            tried[way] = self.try_candidate(way, urgent, ALL_BY_ONE[way], since, stop)[1]
            for block, one in tried[way].leaving.items():
                known[block][way] = one
        mixes = []
        while len(mixes) < MIXES:
            mix = {block: best_way(ways, self.bound) for block, ways in known.items()}
            if mix in mixes or len(set(mix.values())) < 2:  # has been run
                break
            mixes.append(mix)
            name = f"mix{len(mixes)}"
            entry = {"blocks": [[*block, way] for block, way in sorted(mix.items())]}
            tried[name] = self.try_candidate(name, urgent, entry, since, stop)[1]
            for block, one in tried[name].leaving.items():
                known[block][mix.get(block, one.way)] = one
        for name, one in tried.items():  # a draining block that has not left yet is late
            told = [tuple(block[:2]) for block in (one.entry or {}).get("blocks", ()) if block[2] == "drain"]
            for block in known if name == "drain" else told:
                one.leaving.setdefault(block, Leaving(PROBE, 0, "none"))
        return urgent, tried

    def worth_of(self, candidate):
        lost = sum(one.lost for one in candidate.leaving.values())
        if self.task_limit is not None:
            return worth(candidate.taken, self.task_limit, lost)
        return worth(max((one.time for one in candidate.leaving.values()), default=0), self.bound, lost)

    def run(self):
        if self.is_done():
            return
        if self.state.exists():
            self.log = json.loads(self.state.read_text())
        else:
            self.write_plan({})
            self.lockstep_run("before", self.requests[0])
        for since, stop in list(zip(self.requests, [*self.requests[1:], None]))[len(self.log):]:
            urgent, tried = self.candidates(since, since + PROBE)
            worths = {name: self.worth_of(candidate) for name, candidate in tried.items()}
            best = min(worths, key=worths.get)
            self.log.append({"urgent": urgent, "best": best, "entry": tried[best].entry, "worth": worths})
            self.write_plan(self.entries())
            shutil.copy(self.folder / f"{best}.h5", self.folder / "next.h5")
            self.lockstep_run("next", stop, "--resume", f"{best}.ckpt")
            for ending in ("h5",) if stop is None else ("h5", "ckpt"):
                (self.folder / f"next.{ending}").replace(self.folder / f"before.{ending}")
            self.state.write_text(json.dumps(self.log))
        self.write_plan(self.entries())
        self.lockstep_run("whole", None)
        subprocess.run([self.lockstep, "diff", "whole.h5", "before.h5"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        (self.folder / "whole.h5").replace(self.output)

    def is_done(self):
        try:
            sweeps.open_output(self.output).close()
        except sweeps.Missing:
            return False
        return self.state.exists()


def arrivals_in(path):
    """Times (fs) at which the urgent task arrives."""
    with sweeps.open_output(path) as file:
        rows = file["arrivals"][:]
        last = int(file["final/end"][()])
    return sorted(time for time in rows["arrival"][rows["tenant"] == 1].tolist() if time < last)


def kernels_of(arguments):
    return (deadlines.TINY,) if arguments.tiny else arguments.kernels


def run(arguments):
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    kernels = kernels_of(arguments)
    for kernel in kernels:
        (folder / f"{kernel}.yaml").write_text(deadlines.workload_text(kernel))
    compared = [deadlines.Run(kernel, name, "share", arguments.bound) for name in COMPARED for kernel in kernels]
    for part in ([deadlines.Run(""), *(deadlines.Run(kernel) for kernel in kernels)], compared):
        sweeps.run_sweep(arguments, {one.name(): one.scenario(folder) for one in part}, [one.name() for one in part],
                         f"{TINY_END}us")
    for kernel in kernels:
        Chain(arguments, kernel).run()


def requests_of(arguments, kernel):
    """What was tried at each request of the task for which blocks had to leave."""
    path = arguments.folder / name_of(kernel, arguments) / "log.json"
    log = json.loads(path.read_text()) if path.exists() else []
    return [one for one in log if one["urgent"] is not None]


def counts_of(requests):
    """How many there are, at how many the dual kernel's choice and the best candidate were in time, and how often each
    candidate was the best, mixes together."""
    best = collections.Counter("mix" if one["best"].startswith("mix") else one["best"] for one in requests)
    in_time = [{name for name, (is_late, *_) in one["worth"].items() if not is_late} for one in requests]
    return [len(requests), sum("estimates" in names for names in in_time),
            sum(one["best"] in names for one, names in zip(requests, in_time)), *(best[name] for name in CANDIDATES)]


def draw(arguments):
    output = arguments.folder / "output"
    alone = deadlines.time_alone(output / f"{deadlines.Run('').name()}.h5")
    titles = ("tasks", "late", "late, warm", "released late", "lost", *WAYS)
    rows, best = {}, {}
    total = collections.defaultdict(deadlines.Measures)
    names = (*COMPARED, NAMES[arguments.by])
    for kernel in kernels_of(arguments):
        measured = {name: deadlines.measure(output / f"{kernel}-{name}-share-{arguments.bound}us.h5", arguments.bound,
                                            alone) for name in names}
        for name, one in measured.items():
            if measured[names[-1]].tasks:
                total[name].add(one)
            rows[f"{kernel}, {name}"] = [one.value(title) for title in titles]
        best[kernel] = counts_of(requests_of(arguments, kernel))
    for name in names:
        rows[f"all, {name}"] = [total[name].value(title) for title in titles]
    sweeps.print_table(f"{arguments.bound} us, %", titles, rows, ".1f")
    sweeps.print_table("candidates", ("requests", "in time, estimates", "in time, the best", *(
        f"best, {name}" for name in CANDIDATES)), {
            kernel: list(map(float, counts)) if counts[0] else [float("nan")] * len(counts)
            for kernel, counts in best.items()}, ".0f")


def main():
    parser = sweeps.parser_of(__doc__, "preemption-deadlines", "draw")
    parser.add_argument("--kernels", nargs="+", choices=tuple(deadlines.KERNELS), default=deadlines.FEW, metavar="NAME")
    parser.add_argument("--bound", type=int, choices=deadlines.BOUNDS, default=deadlines.BOUNDS[0], metavar="US")
    parser.add_argument("--by", choices=tuple(NAMES), default="places", help="what is to be in time (default: places)")
    arguments = parser.parse_args()
    {"run": run, "draw": draw}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
