#!/usr/bin/python3
"""tests/validation/stale.py on a small repository: which tables it lists, and which marks it refuses."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("validation") / "stale.py"
PAGE = """# Speed

| kernel | cycles |
|---|---:|
| scan | 12 |

| warps | cycles |
|---|---:|
| 8 | 3 |
{first}

## Others

| kernel | bytes |
|---|---:|
| scan | 7 |
{second}

| claim | here |
|---|---|
| faster | held |
"""


class Stale(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "--quiet")
        self.write("models/sm/core.cpp", "// An SM.\nint issue();\n")
        self.write("models/cpu/core.cpp", "int core();\n")
        self.write("tests/validation/stale.yaml", "common: [models/sm]\nspeed: []\n")
        self.first = self.commit()
        self.mark(self.first, self.first)

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                              check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")
        return self.git("rev-parse", "HEAD")[:10]

    def mark(self, *commits):
        first, second = (f"<!-- measured: {commit} -->" if commit else "" for commit in commits)
        self.write("docs/validation/speed.md", PAGE.format(first=first, second=second))

    def stale(self, *arguments):
        return subprocess.run([SCRIPT, "--root", self.root, *arguments], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def listed(self, *arguments):
        done = self.stale(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split(": ")[0] for line in done.stdout.splitlines()]

    def test_nothing_is_listed_while_the_models_stay(self):
        self.write("models/cpu/core.cpp", "int other();\n")  # the page does not depend on it
        self.commit()
        self.assertEqual(self.listed(), [])

    def test_all_tables_of_a_mark_are_listed_once_their_models_change(self):
        self.write("models/sm/core.cpp", "// An SM.\nint issue(int warps);\n")
        second = self.commit()
        self.mark(self.first, second)
        done = self.stale()
        self.assertEqual([line.split(": ")[0] for line in done.stdout.splitlines()],
                         ["docs/validation/speed.md:3", "docs/validation/speed.md:7"])
        self.assertIn(f"'kernel', measured at {self.first[:8]}: 1 commits, 2 lines since, most in models/sm",
                      done.stdout)
        self.assertEqual(self.listed("other"), [])

    def test_changes_that_are_not_committed_count(self):
        self.write("models/sm/core.cpp", "// An SM.\nint issue(int warps);\n")
        self.assertEqual(len(self.listed()), 3)

    def test_comments_and_blank_lines_change_nothing(self):
        self.write("models/sm/core.cpp", "// A streaming multiprocessor.\n\nint issue();\n")
        self.commit()
        self.assertEqual(self.listed(), [])

    def test_a_table_without_a_mark_an_unknown_commit_and_a_page_without_a_list_are_named(self):
        self.assertEqual(self.stale("--marks").returncode, 0)
        self.mark("", "0123456789")
        self.write("tests/validation/stale.yaml", "common: [models/sm]\nother: [models/gpu]\n")
        done = self.stale("--marks")
        self.assertEqual(done.returncode, 1)
        for words in ("speed.md:3: no `<!-- measured: COMMIT -->`", "speed.md:7: no", "speed.md:14: commit 0123456789",
                      "speed.md has tables and no list", "other: models/gpu matches no file"):
            self.assertIn(words, done.stdout)
        self.assertIn("is not in this repository", self.stale().stderr)


if __name__ == "__main__":
    unittest.main()
