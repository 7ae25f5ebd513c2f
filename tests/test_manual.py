#!/usr/bin/python3
"""The scripts that make parts of the manual: pictures name declared keys only, and claims say all that a row needs."""
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "jobs/manual"))

import claims  # noqa: E402
import declarations  # noqa: E402
import machine  # noqa: E402
import pictures  # noqa: E402
import trust  # noqa: E402


def picture(*keys, prefix=""):
    return {"one": {"title": "one", "columns": [[machine.box("a", "A", prefix=prefix, keys=keys)]], "arrows": []}}


class Pictures(unittest.TestCase):
    def test_a_key_that_no_schema_declares_is_an_error(self):
        for bad in (picture("gpu.sm.l1.latencies"), picture("latencies", prefix="gpu.sm.l1"), picture("l1")):
            with self.assertRaises(pictures.UndeclaredKey):
                pictures.drawings(ROOT, bad)

    def test_a_value_is_that_of_the_machines_file_or_the_default(self):
        made, _ = pictures.drawings(ROOT, picture("fill_latency", "mshrs", prefix="gpu.sm.l1"))
        svg, = made.values()
        self.assertIn(">1 cycle<", svg.replace("</title>", "</title>>"))  # v100.yaml: fill_latency: 1
        self.assertIn(">256<", svg.replace("</title>", "</title>>"))

    def test_every_key_of_every_picture_is_declared_and_every_arrow_has_ends(self):
        _, keys = pictures.drawings(ROOT)
        self.assertLess(keys.used, set(keys.declared))
        for name, described in machine.PICTURES.items():
            boxes = [box["name"] for column in described["columns"] for box in column]
            self.assertEqual(len(boxes), len(set(boxes)), name)
            self.assertTrue({end for arrow in described["arrows"] for end in arrow[:2]} <= set(boxes), name)

    def test_every_word_stands_inside_its_picture(self):
        for path, svg in pictures.drawings(ROOT)[0].items():
            root = xml.etree.ElementTree.fromstring(svg)
            wide, high = (float(root.get(side)) for side in ("width", "height"))
            for text in root.iter("{http://www.w3.org/2000/svg}text"):
                words = "".join(text.itertext()).split(text[0].text)[-1] if len(text) else text.text
                begin = float(text.get("x")) - (7.6 * len(words) if text.get("text-anchor") == "end" else 0)
                self.assertGreaterEqual(begin, 0, (path.name, words))
                self.assertLessEqual(begin + 6.2 * len(words), wide, (path.name, words))
                self.assertLessEqual(float(text.get("y")), high, (path.name, words))

    def test_policies_keys_are_those_of_their_own_parameters(self):
        declared = declarations.declarations(ROOT)
        self.assertEqual(declared["policies.fault_handling.handling"].default, "45us")
        self.assertEqual(declared["gpu.sm.l1.mshrs"].default, "256")


GOOD = """- title: Speed
  page: speed
  paper: "004"
  command: run
  claims:
    - {id: S1, claim: faster, paper: "+4 %", here: "+3 %", verdict: held}
    - {id: S2, claim: fairer, paper: "+9 %", here: "-1 %", verdict: differs, cause: not known, command: "run --fair"}
    - {id: S3, claim: energy, verdict: not measured}
"""


class Claims(unittest.TestCase):
    def of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / claims.FILE
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return claims.load(pathlib.Path(folder))

    def test_every_claim_has_a_row_with_all_that_is_known_of_it(self):
        chapters = self.of(GOOD)
        page = claims.claims_page(chapters)
        self.assertIn("| S1 | faster | +4 % | +3 % | same | held |  |  |\n", page)
        self.assertIn("| S2 | fairer | +9 % | -1 % | differs | differs | not known | `run --fair` |\n", page)
        self.assertIn("| S3 | energy |  |  | - | not measured |  |  |\n", page)
        self.assertIn("| [Speed](speed.md) | S1 | - | - | S2 | S3 |\n| **3 claims** | 1 | 0 | 0 | 1 | 1 |",
                      claims.verdict_table(chapters))
        self.assertEqual([row.split(" | ")[0] for row in claims.open_claims(chapters)],
                         ["| [Speed](validation/speed.md) S2"])

    def test_a_claim_that_says_too_little_or_too_much_is_an_error(self):
        for text, words in (("verdict: held", "verdict: good"), ("here: \"+3 %\", ", ""), ("cause: not known, ", ""),
                            ("verdict: not measured", "verdict: not measured, here: 3 J"), ("id: S3", "id: S1"),
                            ("cause: not known", "cause: \"Not known. Nobody looked\""), ("faster", "fas|ter"),
                            ("claim: energy", "claims: energy"), ("verdict: held", "verdict: held, sign: up")):
            with self.subTest(words), self.assertRaises(claims.WrongClaim):
                self.of(GOOD.replace(text, words, 1))

    def test_pages_and_scripts_of_the_claims_exist(self):
        for chapter in claims.load(ROOT):
            self.assertTrue((ROOT / f"docs/validation/{chapter.page}.md").exists(), chapter.page)
            for command in (chapter.command, *(claim.command for claim in chapter.claims if claim.command)):
                script = next(word for word in command.split() if "/" in word and word != "/usr/bin/python3")
                self.assertTrue(script.startswith("build/") or (ROOT / script).exists(), command)

    def test_every_claim_that_a_page_speaks_of_has_a_row(self):
        known = {claim.id for chapter in claims.load(ROOT) for claim in chapter.claims}
        for page in ("medic", "sms", "mask", "mosaic"):
            named = set(re.findall(r"\b[MSKZ]\d+\b", (ROOT / f"docs/validation/{page}.md").read_text()))
            self.assertLessEqual(named, known, page)


class Trust(unittest.TestCase):
    def test_a_simplification_ends_with_its_paragraph(self):
        said = dict((path.as_posix(), words) for path, words in trust.simplifications(ROOT))
        self.assertEqual(said["models/sm/access/coalescer.hpp"],
                         "the whole warp is coalesced at once; hardware coalesces 8 threads at a time.")
        self.assertNotIn("models/memory/replacement/lru.cpp", said)


class Readme(unittest.TestCase):
    """Sphinx checks the links of docs/, but not those of the README."""

    TEXT = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_every_link_leads_to_a_file(self):
        links = trust.re.findall(r"\]\(([^)#]+)", self.TEXT)
        self.assertGreater(len(links), 20)
        for link in links:
            self.assertTrue((ROOT / link).exists(), link)

    def test_it_is_read_at_once(self):
        self.assertLess(self.TEXT.count("\n"), 120)

    def test_every_command_is_a_script_or_the_program(self):
        indented = [line[4:] for line in self.TEXT.splitlines() if line.startswith("    ")]
        commands = [line.split()[0] for line in indented if "  " not in line]
        self.assertEqual(commands, ["./jobs/quickstart.sh", "build/release/lockstep"])
        self.assertTrue((ROOT / commands[0]).exists())

    def test_its_figures_stand_on_the_pages_that_it_names(self):
        for row in trust.rows(self.TEXT):
            if len(row) != 3 or row[0] == "question":
                continue
            pages = [ROOT / link for link in trust.re.findall(r"\]\(([^)#]+)", row[2])]
            text = "".join(page.read_text(encoding="utf-8") for page in pages)
            for figure in trust.re.findall(r"\d+\.\d+", row[1]):
                self.assertIn(figure, text, row[0])


class Meanings(unittest.TestCase):
    # "which line leaves" and "with --check: the sum" are clauses of their own.
    FRAGMENT = re.compile(r"(?!(?:for|with) [^ ]{1,12}: )"
                          r"(?:that|of|for|after|with|from|at|between|whose|to|by|on|it|they|as|those|these) ")

    def test_a_meaning_says_what_it_is_about_without_the_columns_beside_it(self):
        for page in ("parameters.md", "output.md"):
            lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
            rows = [re.split(r" (?<!\\)\| ", line.rstrip("| ")) for line in lines if line.startswith("| `")]
            self.assertTrue(rows)
            fragments = [row for row in rows if self.FRAGMENT.match(row[-1])]
            self.assertEqual(fragments, [], page)


if __name__ == "__main__":
    unittest.main()
