#!/usr/bin/python3
"""Which rows of the measured tables are drawn to be run anew, and what is said of them."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "validation"))

import tenth  # noqa: E402

PAGE = """# A page

    jobs/one.py run
    jobs/one.py draw

| workload | time, ms |
|---|---:|
""" + "".join(f"| w{i} | {i} |\n" for i in range(25)) + """| 003 | 7 |
<!-- measured: 0123abcd -->

    jobs/two.py run

| kernel | gain |
|---|---:|
| `spmv` | **1.5** |
"""


class Tenth(unittest.TestCase):
    def setUp(self):
        self.rows = tenth.rows_of("page", PAGE)

    def test_a_tenth_of_each_table_is_drawn_and_at_least_a_row(self):
        drawn = tenth.drawn(1, self.rows)
        self.assertEqual([row.title for row in drawn], ["workload", "workload", "kernel"])
        self.assertEqual(drawn[-1].cells, ["spmv", "1.5"])

    def test_the_seed_decides_which(self):
        draws = {tuple(row.cells[0] for row in tenth.drawn(seed, self.rows)) for seed in range(20)}
        self.assertGreater(len(draws), 10)
        self.assertEqual(tenth.drawn(3, self.rows), tenth.drawn(3, tenth.rows_of("page", PAGE)))

    def test_rows_know_the_commands_above_their_table(self):
        self.assertEqual(self.rows[0].command, "jobs/one.py run; jobs/one.py draw")
        self.assertEqual(self.rows[-1].command, "jobs/two.py run")

    def test_a_row_of_a_paper_is_never_drawn(self):
        self.assertNotIn("003", [row.cells[0] for row in self.rows])

    def test_a_printed_row_is_the_same_or_differs_or_is_missing(self):
        printed = tenth.rows_of("", "| workload | time |\n|---|---|\n| w3 | 3 |\n| w4 | 5 |\n")
        self.assertEqual([tenth.verdict(self.rows[i], printed) for i in (3, 4, 5)],
                         ["same", "differs: w4 | 5", "not printed"])

    def test_rows_that_a_page_puts_together_have_the_same_figures_or_others(self):
        together = tenth.rows_of("", "| w | none, tree |\n|---|---|\n| w3 | 3, 1.50 |\n| w4 | 5, 7 |\n")
        apart = tenth.rows_of("", "| w | how | ms |\n|---|---|---|\n| w3 | tree | 1.50 |\n| w3 | none | 3 |\n"
                              "| w4 | none | 5 |\n")
        self.assertEqual([tenth.verdict(row, apart) for row in together], ["same figures", "other figures: 7"])


if __name__ == "__main__":
    unittest.main()
