"""What pages of docs/ tell a newcomer to do works: commands are run, and files compiled, as they stand there."""
import os
import pathlib
import re
import shutil
import subprocess
import textwrap
import unittest

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

PAGE = (ROOT / "docs/first_steps.md").read_text()


def section(number):
    return re.search(rf"(?ms)^## {number}\. .*?(?=^## |\Z)", PAGE)[0]


def shown(text):
    """What stands in indented lines: commands, and what they print."""
    return [line[4:] for line in text.splitlines() if line.startswith("    ")]


def fenced(page, language):
    """The texts of this language on a page of docs/."""
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(rf"(?ms)^ *```{language}\n(.*?)^ *```", text)
    return [textwrap.dedent(block) for block in blocks]


class NewcomersShell(ScenarioTest):
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


class FirstSteps(NewcomersShell):
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
        for page in sorted((ROOT / "docs").rglob("*.md")):
            for name in re.findall(r"(?m)^    lockstep ([a-z]+)", page.read_text()):
                self.assertIn(name, known, page.name)

    def test_the_page_of_commands_is_what_the_program_says(self):
        run = subprocess.run([ROOT / "jobs/manual/commands.py", "--check"], capture_output=True, text=True, check=False,
                             env={**environment(), "LOCKSTEP": str(LOCKSTEP)})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class OwnKernel(NewcomersShell):
    """docs/own_kernel.md, with whichever of its two compilers is there."""

    def commands(self):
        """Those of the page, each with the lines that belong to it."""
        text = re.sub(r"(?s)```.*?```", "", (ROOT / "docs/own_kernel.md").read_text())
        return ["\n".join(line[4:] for line in block.splitlines())
                for block in re.findall(r"(?m)(?:^    .*\n)+", text)]

    def compile(self):
        by_nvcc, by_clang = (next(text for text in self.commands() if word in text)
                             for word in ("nvcc", "clang++-14"))
        if shutil.which("clang++-14"):
            self.shell(by_clang)
        elif shutil.which("nvcc"):
            self.shell(by_nvcc)
        else:
            self.skipTest("neither clang nor nvcc")

    def test_a_kernel_is_compiled_described_and_run(self):
        (self.folder / "blur.cu").write_text(fenced("own_kernel.md", "cuda")[0])
        for name, text in zip(("blur.yaml", "mine.yaml"), fenced("own_kernel.md", "yaml"), strict=True):
            (self.folder / name).write_text(text)
        self.compile()
        run, plot = (text for text in self.commands() if text.startswith("lockstep "))
        self.assertIn("check passed: blur, 2 buffers", self.shell(run))
        self.shell(plot)
        self.assertTrue((self.folder / "mine.png").exists())


class OwnPolicy(ScenarioTest):
    """The files that docs/own_policy.md makes compile: nothing else is built."""

    def assert_compiles(self, name, text):
        path = self.write(name, text)
        command = ["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", ROOT, path]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)

    def edited(self, path, *pairs):
        """A file of the sources, changed as the page says."""
        text = (ROOT / path).read_text()
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def blocks(self, *words):
        """Of the page's C++, the one that has the word."""
        return [next(block for block in fenced("own_policy.md", "cpp") if word in block) for word in words]

    def test_an_eviction_policy(self):
        row, = self.blocks("fifo_eviction")
        text = self.edited("models/driver/eviction/lru.cpp", ("Lru", "Fifo"),
                           ("    order_.touch(granules_.of(page));\n  }\n  void accessed(ManagedPage page) override {\n"
                            "    if (order_.contains(granules_.of(page))) order_.touch(granules_.of(page));\n",
                            "    if (!order_.contains(granules_.of(page))) order_.touch(granules_.of(page));\n  }\n"
                            "  void accessed(ManagedPage) override {\n"))
        self.assert_compiles("fifo.cpp", re.sub(r"(?s)EvictionRow lru_eviction.*?\n}\n", lambda _: row, text))

    def test_a_dram_scheduler(self):
        line, members = self.blocks("goes_before(queue, head, oldest)", "void on_served")
        text = self.edited("models/memory/dram_scheduler/fcfs.cpp", ("Fcfs", "Turns"), ("fcfs", "turns"),
                           ("if (oldest == DramEntry::none || queue.age(head) > queue.age(oldest)) oldest = head;\n",
                            line), ("    return choice;\n  }\n};", "    return choice;\n  }\n" + members + "};"))
        self.assert_compiles("turns.cpp", text)

    def test_a_replacement_policy(self):
        self.assert_compiles("not_last.cpp", *self.blocks("class NotLast"))


if __name__ == "__main__":
    unittest.main()
