"""The page of AI programs walks from a kernel to a picture: each of its commands works as it is written."""
import pathlib
import re
import subprocess
import unittest

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

NVCC = pathlib.Path("/usr/local/cuda/bin/nvcc")
PAGE = ROOT / "docs/ai_programs.md"


def files_of(page):
    """Blocks of YAML, by the name that was said last before each."""
    files, said = {}, ""
    for text, block in re.findall(r"(.*?)```yaml\n(.*?)```", page, re.DOTALL):
        said = (re.findall(r"`(\w+\.yaml)`", text) or [said])[-1]
        files[said] = block
    return files


def commands_of(page):
    lines = re.findall(r"^    ((?:lockstep|nvcc) (?:[^\\\n]|\\\n)*)", page, re.MULTILINE)
    return [line.replace("\\\n", " ").split(" # ")[0] for line in lines]


@unittest.skipUnless(NVCC.exists(), "there is no nvcc to compile the page's kernels with")
class PageOfAiPrograms(ScenarioTest):
    def test_every_command_works_as_written(self):
        page = PAGE.read_text(encoding="utf-8")
        for name in ("configs", "tests"):
            (self.folder / name).symlink_to(ROOT / name)
        for name, text in files_of(page).items():
            self.write(name, text)
        commands = commands_of(page)
        self.assertTrue(any("lockstep capture" in command for command in commands), commands)
        path = f"{pathlib.Path(LOCKSTEP).parent}:{NVCC.parent}:/usr/bin:/bin"
        for command in commands:
            with self.subTest(command):
                done = subprocess.run(["bash", "-c", command], cwd=self.folder, env={**environment(), "PATH": path},
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for made in ("scenario.png", "kernels.csv", "inference_beside_training.png", "training.png"):
            self.assertTrue((self.folder / made).exists(), made)


if __name__ == "__main__":
    unittest.main()
