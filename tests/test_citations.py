#!/usr/bin/python3
"""tests/citations.py on a small tree: what resolves, and what is named when it does not."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("citations.py")
PAGE = """# Rules

## 8. Bytes

1. The first.
2. The second.

### 8.1 Costs

**Back-pressure.** What `--check` means.
"""
REFERENCES = """# References

| key | |
|---|---|
| 004 | a thesis |
| Rau | a paper |
"""


class Citations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("docs/design", "models/sm"):
            (self.root / name).mkdir(parents=True)
        (self.root / "docs/design/architecture.md").write_text(PAGE)
        (self.root / "docs/references.md").write_text(REFERENCES)

    def found(self, *lines):
        comment = "".join(f"/// {line}\n" for line in lines)
        (self.root / "models/sm/part.hpp").write_text(comment + "struct Part {};\n")
        script = subprocess.run([SCRIPT, "--root", self.root], capture_output=True, text=True, check=False)
        self.assertEqual(script.stderr, "")
        self.assertEqual(script.returncode, 1 if "cites" in script.stdout else 0)
        return [line for line in script.stdout.splitlines() if "cites" in line]

    def test_keys_pages_files_and_own_choices_resolve(self):
        for cited in ("004, section 2.", "Rau, ISCA 1991.", "own choice, in the textbook form.", "models/sm/part.hpp.",
                      "architecture.md, section 8, rules 1 and 2; 004.",
                      'architecture.md, section 8.1 ("Back-pressure", "What --check means").'):
            with self.subTest(cited=cited):
                self.assertEqual(self.found("Says what.", f"Source: {cited}"), [])

    def test_a_citation_may_go_on_in_the_next_line(self):
        self.assertEqual(self.found("Source: architecture.md, section", "8, rule 2."), [])
        self.assertEqual(self.found("Source: architecture.md, section", "9."),
                         ["models/sm/part.hpp: cites architecture.md: section 9"])

    def test_an_example_of_the_manual_cites_as_code_does(self):
        for cited, found in (("own choice, as in a textbook.", []), ("textbooks.", ["docs/page.md: cites textbooks."])):
            comment = "/" * 3 + f" Source: {cited}"
            lines = ("1. A file:", "", "   ```cpp", "   " + comment, "", "   struct Part {};", "   ```")
            (self.root / "docs/page.md").write_text("\n".join(lines))
            with self.subTest(cited=cited):
                self.assertEqual(self.found("Says what."), found)

    def test_an_unknown_source_is_named(self):
        self.assertEqual(self.found("Source: Nobody et al., 2031."), ["models/sm/part.hpp: cites Nobody et al., 2031."])

    def test_a_page_that_is_not_there_is_named(self):
        self.assertEqual(self.found("As hot-path.md says."), ["models/sm/part.hpp: cites hot-path.md: no such page"])

    def test_sections_may_be_explained_one_by_one(self):
        self.assertEqual(self.found('Source: architecture.md, sections 8 (bytes), 8.1 "Costs" and 9 (what it is not).'),
                         ["models/sm/part.hpp: cites architecture.md: section 9"])

    def test_missing_sections_rules_and_words_are_named(self):
        self.assertEqual(self.found("(architecture.md, sections 7, 8.1 and 8)"),
                         ["models/sm/part.hpp: cites architecture.md: section 7"])
        self.assertEqual(self.found("Source: architecture.md, section 8, rules 2 to 3."),
                         ["models/sm/part.hpp: cites architecture.md: rule 3"])
        self.assertEqual(self.found('Source: architecture.md, section 8 "Tenants".'),
                         ['models/sm/part.hpp: cites architecture.md: "Tenants"'])


if __name__ == "__main__":
    unittest.main()
