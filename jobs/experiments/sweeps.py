"""Scenarios of an experiment as one `lockstep sweep`: what is done stays done, however often it is started."""
import argparse
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def run_sweep(arguments, scenarios, command="run", options=()):
    """Writes {name: text of a scenario} into the folder and runs them; ends the program if one fails."""
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in scenarios.items():
        (folder / f"{name}.yaml").write_text(text)
    settings = ", ".join(f"'{option}'" for option in ("--threads", "1", *options))
    listed = "".join(f"  - {name}.yaml\n" for name in scenarios)
    sweep = folder / "sweep.yaml"
    sweep.write_text(f"command: {command}\noutput: {folder}/output\narguments: [{settings}]\nscenario:\n{listed}")
    status = subprocess.run([arguments.lockstep, "sweep", sweep, "--jobs", str(arguments.jobs)], check=False).returncode
    if status:
        sys.exit(status)


def parser_of(text, folder, second):
    """Of an experiment that runs into a folder, and then does the second thing."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("run", second))
    parser.add_argument("--lockstep", type=pathlib.Path, default=REPOSITORY / "build/release/lockstep")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(folder))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    return parser
