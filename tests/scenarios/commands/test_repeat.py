"""`lockstep run --config-of FILE` repeats a run to the bit, or says what has changed."""
import shutil
import unittest

import h5py
import numpy as np

from harness import ROOT
from one_kernel import HOST, TINY, WORKLOAD, OneKernel

LOADING = ("st.global.u32 [%rd3+0], %r2;",
           "ld.global.u32 %r4, [%rd3+0];\n  add.u32 %r4, %r4, %r2;\n  st.global.u32 [%rd3+0], %r4;")


class Repeat(OneKernel):
    """A tenant from a file and one that stands in the scenario; a module and a file of data."""

    def setUp(self):
        super().setUp()
        np.arange(1000, dtype=np.uint32).tofile(self.folder / "data.bin")
        self.kernel(*LOADING)
        self.write("w.yaml", WORKLOAD.replace("memory: device}", 'memory: managed, init: {file: "data.bin"}}')
                   .replace("copy: {buffer: out, to: host}", "read: out"))
        inline = WORKLOAD.replace("k.ptx", "sub/k.ptx").replace("[1]", '["max(n, 1)"]')
        inline = inline.replace("{type: u32, count: count, memory: device}",
                                "\n    type: u32\n    count: max(count, n)\n    memory: device")
        (self.folder / "sub").mkdir()
        shutil.copy(self.folder / "k.ptx", self.folder / "sub/k.ptx")
        self.write("s.yaml", f"gpu: {TINY}\nhost: {HOST}\noverride: {{gpu.sm.count: 2}}\n"
                             "simulation: {epoch: 5us, seed: 7, record_faults: true}\n"
                             "policies: {sharing: spatial, prefetcher: {name: tree, threshold: 0.4}}\n"
                             "tenants:\n"
                             "  - {name: one, workload: w.yaml, parameters: {n: 2}, arrival: 3us, sms: 1}\n"
                             "  - name: two\n    arrivals: {every: 40us, count: 2}\n    deadline: 30us\n"
                             "    workload:\n" + "".join(f"      {line}\n" for line in inline.splitlines()))
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--set", "tenants.one.parameters.count=900",
                            "--set", "tenants.two.workload.parameters.block=96", "--output", "first.h5")
        self.assertEqual(run.returncode, 0, run.stderr)

    def repeat(self, *arguments, source="first.h5", ranks=0):
        return self.lockstep("run", "--config-of", source, "--quiet", "--output", "again.h5", *arguments, ranks=ranks)

    def assert_equal_files(self, again):
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        difference = self.lockstep("diff", "first.h5", "again.h5")
        self.assertEqual(difference.stdout, "equal outside /run\n")

    def test_the_file_alone_repeats_the_run_with_what_it_refers_to(self):
        (self.folder / "s.yaml").unlink()
        (self.folder / "w.yaml").unlink()
        self.assert_equal_files(self.repeat())

    def test_what_is_repeated_can_be_repeated(self):
        self.repeat()
        shutil.move(self.folder / "again.h5", self.folder / "second.h5")
        self.assert_equal_files(self.repeat(source="second.h5"))

    def test_it_goes_in_another_layout(self):
        self.assert_equal_files(self.repeat("--threads", "2", ranks=2))

    def test_shipped_scenarios(self):
        for name in ("two_tenants_tiny", "cpu_and_gpu", "managed_add"):
            more = ["--set", "simulation.stop_at=60us"]
            first = self.lockstep("run", ROOT / f"configs/scenarios/{name}.yaml", "--quiet", "--output", "first.h5",
                                  *more)
            self.assertIn(first.returncode, (0, 4), first.stderr)
            self.assertEqual(self.repeat().returncode, first.returncode)
            self.assertEqual(self.lockstep("diff", "first.h5", "again.h5").stdout, "equal outside /run\n", name)

    def test_a_changed_module_or_data_is_named(self):
        np.ones(1000, dtype=np.uint32).tofile(self.folder / "data.bin")
        again = self.repeat()
        self.assertEqual(again.returncode, 1)
        self.assertRegex(again.stderr, r"^lockstep: first.h5: cannot be repeated: .*tenants.one.buffers.out.* - .*\n$")
        self.kernel()
        self.assertIn("tenants.one.module", self.repeat().stderr)

    def test_a_file_that_is_gone_is_named(self):
        (self.folder / "k.ptx").unlink()
        self.assertIn("k.ptx: No such file", self.repeat().stderr)

    def test_a_file_of_another_program_is_run_with_a_note(self):
        with h5py.File(self.folder / "first.h5", "a") as file:
            facts = file["run/facts"][()].decode()
            del file["run/facts"]
            file["run/facts"] = np.bytes_(facts.replace("of the sources ", "of the sources 0"))
        again = self.lockstep("run", "--config-of", "first.h5", "--output", "again.h5")
        self.assertEqual(again.returncode, 0)
        self.assertRegex(again.stderr, r"lockstep: note: first.h5 is of version \S+ of the sources 0.*may differ\n")

    def test_the_source_is_not_written_over(self):
        again = self.lockstep("run", "--config-of", "first.h5", "--quiet")
        self.assertIn("is both --config-of and the output", again.stderr)

    def test_it_stands_instead_of_a_scenario(self):
        for arguments in (["s.yaml"], ["--set", "simulation.seed=2"]):
            self.assertEqual(self.repeat(*arguments).returncode, 2)
        self.assertEqual(self.lockstep("run").returncode, 2)
        self.assertRegex(self.repeat(source="s.yaml").stderr, "^lockstep: s.yaml: [^\n]* - [^\n]*\n$")

    def test_the_run_says_what_it_was_built_from(self):
        with h5py.File(self.folder / "first.h5") as file:
            attributes = dict(file["run"].attrs)
        self.assertRegex(attributes["git_revision"].decode(), r"^([0-9a-f]{7,40}\+?|unknown)$")
        self.assertRegex(attributes["program"].decode(), "of the sources [0-9a-f]{16}$")
        self.assertRegex(attributes["build"].decode(), r"^\w+ by \w+ [\d.]+$")


class DiffOfChecked(OneKernel):
    def test_one_run_with_check_and_one_without_are_compared_by_what_both_have(self):
        for name, more in (("plain.h5", []), ("checked.h5", ["--check"])):
            self.assertEqual(self.lockstep("run", "s.yaml", "--quiet", "--output", name, *more).returncode, 0)
        for files in (["plain.h5", "checked.h5"], ["checked.h5", "plain.h5"]):
            difference = self.lockstep("diff", *files)
            self.assertEqual((difference.returncode, difference.stdout), (
                0, "equal outside /run\nonly checked.h5 was run with --check: digests are not compared\n"))


if __name__ == "__main__":
    unittest.main()
