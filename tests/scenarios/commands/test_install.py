"""cmake --install: what stands there works by itself, wherever the tree is moved."""
import os
import pathlib
import subprocess
import unittest

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

BUILD = pathlib.Path(LOCKSTEP).parent


class Install(ScenarioTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = cls.share_a_folder()
        place = cls.shared.folder / "first"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", place], check=True, capture_output=True)
        cls.tree = place.rename(cls.shared.folder / "moved")

    def do(self, *command, **more):
        run = subprocess.run(command, cwd=self.folder, env={**environment(), **more}, capture_output=True, text=True,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_the_program_finds_its_configurations(self):
        self.write("s.yaml", "gpu: tiny\nhost: pcie3\ntenants:\n"
                             "  - {name: one, workload: vector_add, parameters: {n: 256}}\n")
        self.do(self.tree / "bin/lockstep", "run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        analysis = self.tree / "share/lockstep/analysis"
        self.assertIn("one", self.do("/usr/bin/python3", analysis / "plot_run.py", "o.h5", PYTHONDONTWRITEBYTECODE="1"))
        self.assertTrue((self.folder / "o.png").exists())

    def test_programs_are_captured_with_the_runtimes_that_came_with_it(self):
        runtimes = self.tree / "lib/lockstep/capture"
        self.assertEqual(sorted(file.name for file in runtimes.iterdir()),
                         ["libcublas.so.12", "libcublas.so.13", "libcublasLt.so.12", "libcublasLt.so.13",
                          "libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13", "libnccl.so.2"])
        synchronize = "import ctypes; print(ctypes.CDLL('libcudart.so.13').cudaDeviceSynchronize())"
        told = self.do(self.tree / "bin/lockstep", "capture", "--output", "python.workload", "--", "/usr/bin/python3",
                       "-c", synchronize)
        self.assertEqual(told, "0\n")

    def test_the_manual_has_every_command(self):
        page = self.tree / "share/man/man1/lockstep.1"
        self.assertTrue(page.read_text().startswith(".TH LOCKSTEP 1\n.SH NAME\nlockstep \\- "))
        self.assertIn("  lockstep COMMAND [OPTIONS]\n", page.read_text())
        for command in ("run", "compare", "sweep", "describe", "predict"):
            self.assertIn(f"\n.SH LOCKSTEP {command}\n", page.read_text())
        self.assertIn("\\-\\-checkpoint\\-every", page.read_text())

    def test_bash_completes_commands_and_options(self):
        script = self.tree / "share/bash-completion/completions/lockstep"

        def completed(*words):
            line = " ".join(f"'{word}'" for word in words)
            return self.do("bash", "-c", f". {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _lockstep; "
                                         'echo "${COMPREPLY[@]}"').split()

        self.assertEqual(completed("lockstep", "de"), ["describe"])
        self.assertEqual(completed("lockstep", "run", "--che"),
                         ["--check", "--checkpoint-every", "--checkpoint-at-stop"])
        self.write("mine.yaml", "")
        self.assertEqual(completed("lockstep", "run", "mi"), ["mine.yaml"])

    def test_nothing_of_the_build_is_in_it(self):
        """Neither caches of Python nor paths of the sources."""
        files = [pathlib.Path(folder) / name for folder, _, names in os.walk(self.tree) for name in names]
        self.assertGreater(len(files), 100)
        self.assertFalse([file for file in files if file.suffix == ".pyc"])
        for file in files:
            if file.parent.name != "bin":
                self.assertNotIn(str(ROOT).encode(), file.read_bytes(), file)


if __name__ == "__main__":
    unittest.main()
