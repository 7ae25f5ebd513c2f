"""Scenarios of an experiment as one `lockstep sweep`: what is done stays done, however often it is started.

With `--slurm jobs/slurm/sweep_array.sbatch` the points become a job array; the same command, when that has ended, goes
on with what they wrote.
"""
import argparse
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def run_sweep(arguments, scenarios):
    """Writes {name: text of a scenario} into the folder and runs them; ends the program if one fails, or if they were
    submitted."""
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in scenarios.items():
        (folder / f"{name}.yaml").write_text(text)
    listed = "".join(f"  - {name}.yaml\n" for name in scenarios)
    sweep = folder / "sweep.yaml"
    sweep.write_text(f"output: {folder}/output\narguments: ['--threads', '1']\nscenario:\n{listed}")
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


def parser_of(text, folder, second):
    """Of an experiment that runs into a folder, and then does the second thing."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("run", second))
    parser.add_argument("--lockstep", type=pathlib.Path, default=REPOSITORY / "build/release/lockstep")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(folder))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--slurm", type=pathlib.Path, metavar="SCRIPT", help="submits the runs as a job array")
    return parser
