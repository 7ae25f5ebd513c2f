"""What docs/first_steps.md shows is what this version prints: its commands are run as they stand there."""
import os
import pathlib
import re
import subprocess
import unittest

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

PAGE = (ROOT / "docs/first_steps.md").read_text()


def section(number):
    return re.search(rf"(?ms)^## {number}\. .*?(?=^## |\Z)", PAGE)[0]


def shown(text):
    """What stands in indented lines: commands, and what they print."""
    return [line[4:] for line in text.splitlines() if line.startswith("    ")]


class FirstSteps(ScenarioTest):
    """In a folder with what a clone has, and with the program on PATH as the page asks for."""

    def setUp(self):
        super().setUp()
        for name in ("configs", "jobs", "docs"):
            (self.folder / name).symlink_to(ROOT / name)
        self.path = f"{pathlib.Path(LOCKSTEP).parent}:{os.environ['PATH']}"

    def shell(self, command):
        run = subprocess.run(command, shell=True, cwd=self.folder, env={**environment(), "PATH": self.path},
                             capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, 0, command + "\n" + run.stderr)
        return run.stdout

    def test_the_study_of_twelve_points(self):
        text = section(4)
        (self.folder / "study.py").write_text(re.search(r"(?s)```python\n(.*?)```", text)[1])
        lines = shown(re.sub(r"(?s)```python.*?```", "", text))
        commands = [line for line in lines if line.startswith(("lockstep ", "PYTHONPATH="))]
        self.assertEqual(len(commands), 3)
        for command in commands:
            # The Python that has the packages, which `lockstep plot` finds by itself.
            printed = self.shell(command.replace(" python3 ", " /usr/bin/python3 "))
        table = [line.split() for line in lines if line not in commands and line.strip()]
        self.assertEqual([line.split() for line in printed.splitlines() if line.strip()], table)
        self.assertTrue((self.folder / "study.png").exists())

    def test_the_run_of_the_quickstart_ends_in_the_words_of_the_page(self):
        for prefetcher in ("tree", "none"):
            self.shell("lockstep run configs/scenarios/quickstart.yaml --quiet --threads auto "
                       f"--set policies.prefetcher={prefetcher} --output {prefetcher}.h5")
        printed = self.shell("lockstep plot tree.h5 none.h5 --output quickstart.png")
        for line in shown(section(1)):
            if line.startswith(("stream ", "stencil ", "transpose ", "        ", "stream was", "  (")):
                self.assertIn(" ".join(line.split()), " ".join(printed.split()))

    def test_every_command_that_pages_name_is_one(self):
        known = set(re.findall(r"(?m)^  ([a-z]+) ", self.shell("lockstep --help").split("\nCOMMANDS\n")[1]))
        for page in sorted((ROOT / "docs").glob("*.md")):
            for name in re.findall(r"(?m)^    lockstep ([a-z]+)", page.read_text()):
                self.assertIn(name, known, page.name)


if __name__ == "__main__":
    unittest.main()
