"""Scenarios of an experiment as one `lockstep sweep`: what is done stays done, however often it is started.

What was measured of runs that are not there is blank: NaN in computations, nothing in tables.

With `--slurm jobs/slurm/sweep_array.sbatch` the points become a job array; the same command, when that has ended, goes
on with what they wrote.
"""
import argparse
import functools
import math
import pathlib
import statistics
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class Missing(Exception):
    """A run has not been done, or not to its end."""


def open_output(path):
    """The HDF5 file of a run that has ended, for reading."""
    import h5py
    try:
        file = h5py.File(path)
    except OSError as error:
        raise Missing(path) from error
    if "final/end" not in file:
        file.close()
        raise Missing(path)
    return file


def blank_if_missing(values=None):
    """A function that reads outputs returns NaN, or so many of them, if one is missing."""
    def decorate(function):
        @functools.wraps(function)
        def measured(*arguments, **named):
            try:
                return function(*arguments, **named)
            except Missing:
                return math.nan if values is None else [math.nan] * values
        return measured
    return decorate


def cell(value, form):
    """A value of a table; nothing for NaN."""
    return "" if math.isnan(value) else f"{value:{form}}"


def mean_of(values, mean=statistics.fmean):
    """Of those that are there."""
    there = [value for value in values if not math.isnan(value)]
    return mean(there) if there else math.nan


def print_table(title, columns, rows, form=".2f"):
    """rows: {name: values}; texts as they are, NaN as nothing."""
    print(f"| {title} | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(value if isinstance(value, str) else cell(value, form)
                                          for value in values) + " |")
    print()


def kernel_time(kernels):
    """Femtoseconds in which these launches of /kernels ran; NaN if one has not ended."""
    return float((kernels["done"] - kernels["launched"]).sum()) if (kernels["done"] < 2**63 - 1).all() else math.nan


def run_sweep(arguments, scenarios, tiny=(), span="60us"):
    """Writes {name: text of a scenario} into the folder and runs them; ends the program if one fails, or if they were
    submitted. With --tiny only those named by `tiny` run, for so long at most. Of none nothing runs."""
    options = "'--threads', '1'"
    if arguments.tiny:
        scenarios = {name: scenarios[name] for name in tiny}
        options += f", '--set', 'simulation.stop_at={span}'"
    if not scenarios:
        return
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in scenarios.items():
        (folder / f"{name}.yaml").write_text(text)
    listed = "".join(f"  - {name}.yaml\n" for name in scenarios)
    sweep = folder / "sweep.yaml"
    sweep.write_text(f"output: {folder}/output\narguments: [{options}]\nscenario:\n{listed}")
    if arguments.slurm is not None:
        submit(arguments.lockstep, sweep, arguments.slurm)
    status = subprocess.run([arguments.lockstep, "sweep", sweep, "--jobs", str(arguments.jobs)], check=False).returncode
    if status:
        sys.exit(status)


def submit(lockstep, sweep, script):
    """Submits the points that are not done and ends the program; comes back if all are."""
    done = subprocess.run([lockstep, "sweep", sweep, "--slurm", script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    if done.stdout:  # sbatch's
        print(done.stdout + "The same command goes on when these have ended.")
        sys.exit()


class Parser(argparse.ArgumentParser):
    """With --tiny into a folder of its own, since outputs of both have the same names."""

    def parse_args(self, *arguments, **named):
        parsed = super().parse_args(*arguments, **named)
        if parsed.folder is None:
            parsed.folder = pathlib.Path(self.folder + "-tiny" * parsed.tiny)
        return parsed


def parser_of(text, folder, second):
    """Of an experiment that runs into a folder, and then does the second thing."""
    parser = Parser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.folder = folder
    parser.add_argument("verb", choices=("run", second))
    parser.add_argument("--lockstep", type=pathlib.Path, default=REPOSITORY / "build/release/lockstep")
    parser.add_argument("--folder", type=pathlib.Path, help=f"default: {folder}")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--tiny", action="store_true", help="a point or two, cut short: whether the script works")
    parser.add_argument("--slurm", type=pathlib.Path, metavar="SCRIPT", help="submits the runs as a job array")
    return parser
