#!/usr/bin/python3
"""tests/structure.py on small trees: one that keeps every rule, and for each rule one that breaks it."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("structure.py")


class Structure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def include(self, name, *others):
        self.write(name, "".join(f'#include "{other}"\n' for other in others))

    def check(self, *options):
        return subprocess.run([SCRIPT, "--root", self.root, *options], capture_output=True, text=True, check=False)

    def assert_broken(self, *lines):
        found = self.check("--check")
        self.assertEqual(found.stdout.splitlines(), list(lines), found.stderr)
        self.assertEqual(found.returncode, 1)

    def assert_kept(self):
        found = self.check("--check")
        self.assertEqual(found.stdout, "structure: every rule holds\n", found.stderr)
        self.assertEqual(found.returncode, 0)

    def test_a_folder_lists_at_most_thirty_entries(self):
        for index in range(29):
            self.write(f"core/engine/part_{index}.hpp")
            self.write(f"core/engine/part_{index}.cpp")
        self.write("core/engine/parts/one.hpp")
        self.write("core/engine/parts/two.hpp")
        self.write("configs/workloads/data.yaml")
        self.assert_kept()
        self.write("core/engine/notes.txt")
        self.assert_broken("folder: core/engine lists 31 entries (at most 30)")

    def test_a_file_has_at_most_six_hundred_lines(self):
        self.write("jobs/run.cpp", "\n" * 600)
        self.assert_kept()
        self.write("jobs/run.cpp", "\n" * 601)
        self.assert_broken("file: jobs/run.cpp has 601 lines (at most 600)")

    def test_a_class_has_at_most_sixty_functions(self):
        declared = [f"  void f(int (&)[{index + 1}]);\n" for index in range(30)]
        defined = [f"  int g{index}() const {{ return {index}; }}\n" for index in range(30)]
        body = "namespace lockstep {\nstruct Part {\n" + "".join(declared + defined)
        outside = "namespace lockstep {\nvoid Part::f(int (&)[1]) {}\n}\n"  # its declaration is counted already
        self.write("models/sm/part.cpp", outside)
        self.write("models/sm/part.hpp", body + "  int value;\n};\n}\n")
        self.assert_kept()
        self.write("models/sm/part.hpp", body + "  Part() = default;\n};\n}\n")
        self.assert_broken("class: lockstep::Part has 61 member functions (at most 60)")

    def test_a_class_has_at_most_eight_hundred_lines_over_all_files(self):
        self.write("models/sm/part.hpp", "struct Part {\n  void f();\n  void g();\n" + "\n" * 596 + "};\n")
        self.write("models/sm/part.cpp", "void Part::f() {\n" + "\n" * 98 + "}\n")
        self.write("models/sm/more.cpp", "void helper() {}\nvoid Part::g() {\n" + "\n" * 98 + "}\n")
        self.assert_kept()
        self.write("models/sm/more.cpp", "void helper() {}\nvoid Part::g() {\n" + "\n" * 99 + "}\n")
        self.assert_broken("class: Part has 801 lines (at most 800)")

    def test_files_do_not_include_each_other_in_a_circle(self):
        self.include("core/time/a.hpp", "core/time/b.hpp")
        self.include("core/time/b.hpp", "core/time/c.hpp")
        self.include("core/time/c.hpp")
        self.include("core/time/c.cpp", "core/time/a.hpp")
        self.assert_kept()
        self.include("core/time/c.hpp", "core/time/a.hpp")
        self.assert_broken("cycle: core/time/a.hpp, core/time/b.hpp, core/time/c.hpp include each other")

    def test_lower_layers_do_not_include_higher_ones(self):
        for layer in ("core", "models", "partitioner", "jobs", "tests"):
            self.write(f"{layer}/room/a.hpp")
        self.include("tests/room/b.hpp", "core/room/a.hpp", "models/room/a.hpp", "partitioner/room/a.hpp",
                     "jobs/room/a.hpp")
        self.assert_kept()
        self.include("core/room/b.hpp", "models/room/a.hpp")
        self.include("models/room/b.hpp", "jobs/room/a.hpp")
        self.include("partitioner/room/b.hpp", "models/room/a.hpp")
        self.include("jobs/room/b.hpp", "tests/room/a.hpp")
        self.assert_broken("layer: core/room/b.hpp includes models/room/a.hpp",
                           "layer: jobs/room/b.hpp includes tests/room/a.hpp",
                           "layer: models/room/b.hpp includes jobs/room/a.hpp",
                           "layer: partitioner/room/b.hpp includes models/room/a.hpp")

    def test_rooms_include_one_way(self):
        self.include("models/sm/a.hpp")
        self.include("models/sm/b.hpp", "models/vm/a.hpp")
        self.include("models/vm/a.hpp")
        self.assert_kept()
        self.include("models/vm/b.cpp", "models/sm/a.hpp")
        self.assert_broken("one way: in models: sm/, vm/ include each other",
                           "    models/sm/b.hpp -> models/vm/a.hpp",
                           "    models/vm/b.cpp -> models/sm/a.hpp")

    def test_a_file_beside_subfolders_is_below_or_above_them(self):
        self.include("models/driver/pages.hpp")
        self.include("models/driver/eviction/eviction.hpp", "models/driver/pages.hpp")
        self.include("models/driver/driver.cpp", "models/driver/eviction/eviction.hpp", "models/driver/pages.hpp")
        self.assert_kept()
        self.include("models/driver/pages.cpp", "models/driver/eviction/eviction.hpp")
        self.assert_broken("one way: in models/driver: eviction/, pages include each other",
                           "    models/driver/eviction/eviction.hpp -> models/driver/pages.hpp",
                           "    models/driver/pages.cpp -> models/driver/eviction/eviction.hpp")

    def test_a_report_shows_sizes_and_does_not_fail(self):
        self.write("jobs/run.cpp", "\n" * 601)
        found = self.check()
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertIn("601    -1  jobs/run.cpp", found.stdout)
        self.assertIn("file: jobs/run.cpp has 601 lines", found.stdout)

    def test_comments_that_begin_without_a_noun_do_not_grow_in_number(self):
        unclear = ("/// What one thread sends.", "int a;  ///< of it", "int b;  ///< Of the page.",
                   "/// `more`: It waits.", "/// Removes the blocks; they.", "/// Clears the flag; whether it did.",
                   "/// Nobody waits.", "/// Whether it waits.", "/// False: no room.", "/// As read(), with a lock.",
                   "/// For its block.", "/// The same for a page.")
        clear = ("/// Returns what one thread sends.", "/// Ones of the mask.", "/// Itself a page.", "// What follows",
                 "/// Bytes of a page.  What it holds is known.", "/// The samples of an epoch.",
                 "/// As many pages as fit.", "/// In item order.", "/// False positives of a filter.")
        self.write("models/vm/tlb.hpp", "\n\n".join(clear) + "\n")
        self.assert_kept()
        self.write("models/vm/tlb.hpp", "\n\n".join(unclear + clear) + "\n")
        found = self.check("--check").stdout
        self.assertIn("words: models/vm has 12 unclear comments (at most 0)", found)
        self.assertIn("models/vm/tlb.hpp:23: The same for a page.", found)
        self.write("tests/unclear_comments.yaml", "models/vm: 12\n")
        self.assert_kept()
        self.write("tests/unclear_comments.yaml", "models/vm: 11\nmodels/sm: 6\n")
        self.assertEqual(self.check("--check").returncode, 1)
        self.write("tests/unclear_comments.yaml", "models/vm: 12\n")
        self.write("models/sm/port.hpp", "/// What tests say is counted nowhere.\n")
        self.write("tests/unit/vm/tlb_test.cpp", "/// What tests say is counted nowhere.\n")
        self.assertIn("models/sm has 1 unclear", self.check("--check").stdout)
        self.assertIn("models/sm/port.hpp:1: What tests say", self.check("--words", "models/sm").stdout)

    def test_comments_behind_code_name_their_thing(self):
        unclear = ("int a;  ///< of the page", "int b;  // By tenant.", "int c;  ///< until it ends",
                   "int d = 1'000;  ///< in which it ends", "char e = '\\'';  // its end",
                   "f(\"//\");  // they return",
                   "int g;  ///< `more`: its next one", "int h;  ///< ... has one", "return;  // what it has lost")
        clear = ("int a;  ///< bytes of the page", "int b;  // in cycles", "}  // namespace of", "f();  // NOLINT: of",
                 "f(\"http://of\");", "int c;  ///< none: absent", "char d = '\"';  ///< quotation mark",
                 "int e = 1'000;  // rows at once", "  // of the page, in a line of its own",
                 "int f;  ///< official name")
        self.write("core/time/clock.hpp", "\n".join(clear) + "\n")
        self.assert_kept()
        for comment in unclear:
            self.write("core/time/clock.hpp", "\n".join(clear) + f"\n{comment}\n")
            words = comment.split("/")[-1].lstrip("< ").rstrip("\n")
            self.assert_broken("words: core has 1 unclear comments (at most 0); the last ones:",
                               f"    core/time/clock.hpp:11: {words}")


if __name__ == "__main__":
    unittest.main()
