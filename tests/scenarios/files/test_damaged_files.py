"""HDF5 files that are damaged, or that somebody made to do harm: one line each, soon, and never "equal"."""
import shutil
import time
import unittest

import h5py
import numpy

from harness import ROOT, ScenarioTest

SCENARIO = ROOT / "configs/scenarios/two_tenants_tiny.yaml"
PROFILE = "run/profile/components"


class DamagedFiles(ScenarioTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        maker = cls("make_profile")
        maker.setUp()
        cls.addClassCleanup(maker.doCleanups)
        maker.make_profile()
        cls.good = maker.folder / "good.h5"

    def make_profile(self):
        run = self.lockstep("run", SCENARIO, "--quiet", "--profile", "--output", "good.h5")
        self.assertEqual(run.returncode, 0, run.stderr)

    def damaged(self):
        shutil.copy(self.good, self.folder / "bad.h5")
        return self.folder / "bad.h5"

    def edited(self, edit):
        with h5py.File(self.damaged(), "r+") as file:
            edit(file)

    def assert_refused(self, parts, *arguments, status=1):
        begin = time.monotonic()
        run = self.lockstep(*arguments)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("lockstep: bad.h5: "), run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)

    def assert_no_weights(self, *parts):
        self.assert_refused(parts, "partition", SCENARIO, "--weights", "bad.h5")

    def assert_differs(self, *parts):
        run = self.lockstep("diff", self.good, "bad.h5")
        self.assertEqual((run.returncode, run.stderr), (1, ""), run.stdout)
        self.assertNotIn("equal", run.stdout)
        for part in parts:
            self.assertIn(part, run.stdout)

    def test_cut_off_files(self):
        size = self.good.stat().st_size
        for left in (size - 1, size // 2, 4096, 100, 20, 0):
            with self.subTest(left=left):
                with open(self.damaged(), "r+b") as file:
                    file.truncate(left)
                self.assert_refused(["cannot read"], "diff", "bad.h5", "bad.h5")

    def test_zeros_in_the_middle(self):
        size = self.good.stat().st_size
        for place in range(0, size, size // 10):
            with self.subTest(place=place):
                with open(self.damaged(), "r+b") as file:
                    file.seek(place)
                    file.write(bytes(min(2048, size - place)))
                begin = time.monotonic()
                run = self.lockstep("diff", self.good, "bad.h5")
                self.assertLess(time.monotonic() - begin, 20)
                self.assertIn(run.returncode, (0, 1), run.stderr)
                self.assertLessEqual(len(run.stderr.splitlines()), 1, run.stderr)
                if run.returncode == 0:  # the zeros met free space only
                    self.assertTrue(self.same_values())

    def same_values(self):
        same = []
        with h5py.File(self.good) as good, h5py.File(self.folder / "bad.h5") as bad:
            good.visititems(lambda name, thing: same.append(thing[...].tobytes() == bad[name][...].tobytes())
                            if isinstance(thing, h5py.Dataset) and not name.startswith("run/") else None)
        return all(same)

    def replace_profile(self, columns):
        def edit(file):
            old = file[PROFILE][...]
            del file[PROFILE]
            new = numpy.zeros(len(old), dtype=columns)
            for name in new.dtype.names or ():
                if name in old.dtype.names and old.dtype[name].kind == new.dtype[name].kind:
                    new[name] = old[name]
            file[PROFILE] = new
        self.edited(edit)

    def test_profile_with_columns_in_another_order(self):
        with h5py.File(self.good) as file:
            text = file[PROFILE].dtype["component"]
        self.replace_profile([("nanoseconds", "<u8"), ("component", text)])
        same = [self.lockstep("partition", SCENARIO, "--weights", name) for name in (self.good, "bad.h5")]
        self.assertEqual((same[1].returncode, same[1].stdout), (0, same[0].stdout), same[1].stderr)

    def test_profile_with_narrow_columns(self):
        with h5py.File(self.good) as file:
            text = file[PROFILE].dtype["component"]
        self.replace_profile([("component", text), ("nanoseconds", "<u2")])
        self.assert_no_weights("has no column nanoseconds")
        self.replace_profile([("component", "<u1"), ("nanoseconds", "<u8")])
        self.assert_no_weights("has no column component")

    def test_profile_without_columns(self):
        self.replace_profile("<u8")
        self.assert_no_weights("has no column component")

    def test_profile_that_is_one_value(self):
        def edit(file):
            del file[PROFILE]
            file[PROFILE] = 5
        self.edited(edit)
        self.assert_no_weights(PROFILE, "is no table")

    def test_profile_that_is_a_group(self):
        def edit(file):
            del file[PROFILE]
            file.create_group(PROFILE)
        self.edited(edit)
        self.assert_no_weights("cannot read")

    def test_tables_of_more_rows_than_any_memory_holds(self):
        for rows in (2**40, 2**62):
            with self.subTest(rows=rows):
                def edit(file):
                    for name in (PROFILE, "kernels"):
                        kind = file[name].dtype
                        del file[name]
                        file.create_dataset(name, shape=(rows,), dtype=kind, chunks=(1024,))
                self.edited(edit)
                part = " claims " if rows == 2**40 else "larger than any memory"
                self.assert_no_weights(PROFILE + part if rows == 2**40 else PROFILE, part)
                self.assert_refused(["/kernels", part], "diff", "bad.h5", "bad.h5")

    def test_a_group_where_a_data_set_was(self):
        def edit(file):
            del file["final/end"]
            file.create_group("final/end")
        self.edited(edit)
        self.assert_differs("/final/end is a data set only in")

    def test_a_type_that_no_output_has(self):
        def edit(file):
            del file["final/end"]
            file["final/end"] = "a text of any length"
        self.edited(edit)
        self.assert_differs("/final/end is")
        run = self.lockstep("diff", "bad.h5", "bad.h5")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("/final/end is of a type that no output of lockstep has", run.stdout)

    def test_tenants_that_are_no_table(self):
        def edit(file):
            del file["tenants"]
            file["tenants"] = 5
        self.edited(edit)
        self.assert_refused(["/tenants is no table"], "compare", "--shared", "bad.h5")


if __name__ == "__main__":
    unittest.main()
