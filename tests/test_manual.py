#!/usr/bin/python3
"""The scripts that make parts of the manual: pictures name declared keys only, and claims are judged by their words."""
import pathlib
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "jobs/manual"))

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
        made, _ = pictures.drawings(ROOT, picture("fill_latency", "hit_latency", prefix="gpu.sm.l1"))
        svg, = made.values()
        self.assertIn(">1 cycle<", svg.replace("</title>", "</title>>"))  # v100.yaml: fill_latency: 1
        self.assertIn(">28 cycles<", svg.replace("</title>", "</title>>"))

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


class Trust(unittest.TestCase):
    def test_a_verdict_follows_from_the_words_of_the_row(self):
        for words, verdict in (("+83 %: held", "held"),
                               ("+4 %: **held** in sign", "held in sign"),
                               ("held in sign, **not in size**", "held in sign"),
                               ("1.11: held in sign for the CPU: **not held for the GPU**", "held in part"),
                               ("held from 4 to 8, level from 8 to 16", "held in part"),
                               ("-0.4 %: **sign differs**, since ...", "not held"),
                               ("**not here for bfs**: nothing gains", "not held"),
                               ("ten of 14", "figures only")):
            self.assertEqual(trust.verdict(words), verdict, words)

    def test_every_claim_that_the_index_names_has_a_row(self):
        table = trust.claim_table(ROOT)
        self.assertGreaterEqual(len(set(trust.re.findall(r"\b[MSKZ]\d+\b", table))), 70)

    def test_a_simplification_ends_with_its_paragraph(self):
        said = dict((path.as_posix(), words) for path, words in trust.simplifications(ROOT))
        self.assertEqual(said["models/sm/access/coalescer.hpp"],
                         "the whole warp is coalesced at once, hardware goes by 8 threads.")
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


if __name__ == "__main__":
    unittest.main()
