"""Small things that somebody new meets: other machines, other memory, what there is of it, and what goes wrong."""
import os
import pathlib
import re
import unittest

import h5py

from harness import ROOT, ScenarioTest

CONFIGS = ROOT / "configs"
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class Newcomers(ScenarioTest):
    def tenants(self, *tenants, more="policies: {sharing: spatial}\n", gpu="tiny"):
        self.write("s.yaml", f"gpu: {gpu}\nhost: pcie3\n{more}tenants:\n"
                   + "".join(f"  - {{{tenant}}}\n" for tenant in tenants))

    def good(self, *arguments, **more):
        run = self.lockstep(*arguments, **more)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def bad(self, *arguments, **more):
        run = self.lockstep(*arguments, **more)
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
        return run.stderr

    def config(self, name="s.h5"):
        with h5py.File(self.folder / name) as file:
            return file["config"][()].decode()

    # Other machines.

    def test_another_gpu_by_set(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 256}")
        self.assertIn("on a100,", self.good("validate", "s.yaml", "--set", "gpu=a100").stdout)
        self.good("run", "s.yaml", "--quiet", "--set", "gpu.sm.count=3", "--set", "gpu=v100", "--set", "host=nvlink")
        self.assertIn("name: v100", self.config())
        self.assertIn("count: 3", self.config())
        self.assertIn('did you mean "v100"', self.bad("validate", "s.yaml", "--set", "gpu=v10"))

    def test_a_sweep_of_gpus(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 256}")
        self.write("sweep.yaml", "scenario: s.yaml\noutput: p\ngrid: {gpu: [tiny, v100], gpu.sm.count: [2]}\n")
        self.good("sweep", "sweep.yaml", "--quiet")
        for gpu in ("tiny", "v100"):
            self.assertIn(f"name: {gpu}", self.config(f"p/s-gpu={gpu}-count=2.h5"))

    def test_a_rule_of_a_shipped_file_that_a_setting_breaks(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 256}")
        error = self.bad("validate", "s.yaml", "--set", "gpu.memory.capacity=20KiB")
        self.assertRegex(error, r"^lockstep: --set gpu.memory.capacity=20KiB: gpu.memory.capacity: .* - make it one of")
        self.tenants("name: one, workload: vector_add", more="override: {gpu.memory.capacity: 20KiB}\n")
        self.assertRegex(self.bad("validate", "s.yaml"), r"^lockstep: s.yaml:3:33: gpu.memory.capacity: ")

    # Other memory.

    def test_all_memory_of_a_shipped_workload_is_managed(self):
        for workload in ("bfs, parameters: {vertices: 512, edges: 4096}", "sgemm, parameters: {n: 32}"):
            for memory in ("managed", "pinned"):
                with self.subTest(workload=workload, memory=memory):
                    self.tenants(f"name: one, workload: {workload}, memory: {memory}")
                    self.assertIn("check passed", self.good("run", "s.yaml", "--check").stdout)
                    self.assertIn(f"memory: {memory}", self.config())
                    self.assertNotIn("memory: device", self.config())
                    with h5py.File(self.folder / "s.h5") as file:
                        self.assertEqual(file["tenants"]["far_faults"][0] > 0, memory == "managed")

    def test_one_buffer_alone(self):
        self.tenants("name: one, workload: sgemm, parameters: {n: 32}, set: {buffers.a.memory: managed}")
        self.assertIn("check passed", self.good("run", "s.yaml", "--check").stdout)
        self.assertEqual(self.config().count("memory: managed"), 1)
        self.good("run", "--config-of", "s.h5", "--output", "again.h5", "--quiet")
        self.good("diff", "s.h5", "again.h5")

    def test_any_other_key(self):
        self.tenants("name: one, workload: sgemm, parameters: {n: 32}, set: {buffers.a.init: {value: 2}}")
        self.good("run", "s.yaml", "--check")

    def test_mistakes_about_memory(self):
        for tenant, parts in (("memory: device", ["s.yaml:5:", "managed or pinned"]),
                              ("set: {buffers.aa.memory: managed}",
                               ["s.yaml:5:", 'no buffer "aa"', 'did you mean "a"']),
                              ("set: {buffers.a.memory: managd}", ["no memory is called"]),
                              ("set: {bufers.a.memory: managed}", ["bufers"])):
            with self.subTest(tenant=tenant):
                self.tenants(f"name: one, workload: sgemm, {tenant}")
                error = self.bad("validate", "s.yaml")
                for part in parts:
                    self.assertIn(part, error)

    def test_layouts_agree_about_moved_memory(self):
        self.tenants("name: one, workload: bfs, memory: managed, parameters: {vertices: 512, edges: 4096}")
        self.good("run", "s.yaml", "--quiet", "--output", "a.h5")
        self.good("run", "s.yaml", "--quiet", "--output", "b.h5", "--threads", 2, ranks=2)
        self.good("diff", "a.h5", "b.h5")

    # How much there is.

    def test_validate_tells_what_memory_is_used_for(self):
        self.tenants("name: one, workload: sgemm, parameters: {n: 512}",
                     "name: two, workload: vector_add, parameters: {n: 262144}")
        lines = [line.split() for line in self.good("validate", "s.yaml").stdout.splitlines()]
        self.assertIn(["one", "3", "MiB", "-", "-"], lines)
        self.assertIn(["two", "-", "3", "MiB", "-"], lines)
        self.assertIn(["all", "3", "MiB", "3", "MiB", "-"], lines)
        self.assertRegex(self.good("validate", "s.yaml").stdout, r"GPU memory: \d+ [KMG]iB")

    def test_memory_that_is_oversubscribed(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 262144}")
        sizes = {}
        for text in ("100%", "125%", "200%", "2"):
            run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5", "--set",
                                f"gpu.memory.oversubscription={text}")
            self.assertEqual(run.returncode, 0, run.stderr)
            line = next(line for line in self.config("o.h5").splitlines() if line.strip().startswith("capacity:"))
            number, unit = re.fullmatch(r"capacity: (\d+)([KMG]?i?B)", line.strip()).groups()
            sizes[text] = int(number) * UNITS[unit]
            self.assertIn("oversubscription: 0", self.config("o.h5"))
        self.assertGreater(sizes["100%"], sizes["125%"])
        self.assertGreater(sizes["125%"], sizes["200%"])
        self.assertEqual(sizes["200%"], sizes["2"])
        self.tenants("name: one, workload: sgemm, parameters: {n: 32}")
        self.assertIn("no tenant has managed memory", self.bad("validate", "s.yaml", "--set",
                                                               "gpu.memory.oversubscription=1.5"))

    def test_alone_the_memory_is_that_of_all(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 65536}",
                     "name: two, workload: vector_add, parameters: {n: 65536}",
                     more="policies: {sharing: spatial}\noverride: {gpu.memory.oversubscription: 125%}\n")
        self.good("compare", "s.yaml", "--quiet")
        capacity = {next(line for line in self.config(name).splitlines() if line.strip().startswith("capacity:"))
                    for name in ("s.h5", "s-alone-one.h5", "s-alone-two.h5")}
        self.assertEqual(len(capacity), 1)

    # What goes wrong, or otherwise than expected.

    def test_a_tab(self):
        for text, place in (("gpu: tiny\nhost: pcie3\ntenants:\n\t- {name: one, workload: vector_add}\n", "4:1"),
                            ("gpu: tiny\nhost: pcie3\ntenants:\n  - name: one\n\tworkload: vector_add\n", "5:1"),
                            ("gpu: tiny\nhost: pcie3\ntenants:\n  - name: one\n  \tworkload: vector_add\n", "5:3")):
            with self.subTest(place=place):
                self.write("s.yaml", text)
                self.assertRegex(self.bad("validate", "s.yaml"), rf"^lockstep: s.yaml:{place}: a tab indents this line")

    def test_a_tab_between_words_is_no_mistake(self):
        self.write("s.yaml", "gpu:\ttiny\nhost: pcie3\ntenants:\n  - name: one\n    workload:\tvector_add\n")
        self.good("validate", "s.yaml")

    def test_a_note_when_tenants_take_turns_that_nobody_asked_for(self):
        two = ("name: one, workload: vector_add, parameters: {n: 256}",
               "name: two, workload: sgemm, parameters: {n: 32}")
        note = "the kernels of the tenants run one after the other"
        self.tenants(*two, more="")
        self.assertIn(note, self.good("validate", "s.yaml").stderr)
        self.assertIn(note, self.good("run", "s.yaml").stderr)
        self.assertEqual(self.good("run", "s.yaml", "--quiet").stderr, "")
        self.tenants(*two, more="policies: {sharing: exclusive}\n")
        self.assertEqual(self.good("validate", "s.yaml").stderr, "")
        self.tenants(two[0], more="")
        self.assertEqual(self.good("validate", "s.yaml").stderr, "")

    def test_diff_names_what_was_configured_otherwise(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 256}")
        self.good("run", "s.yaml", "--quiet", "--output", "a.h5")
        self.good("run", "s.yaml", "--quiet", "--output", "b.h5", "--set", "gpu.sm.clock=800MHz", "--set",
                  "policies.sharing=exclusive")
        text = self.lockstep("diff", "a.h5", "b.h5").stdout
        self.assertIn("configuration:\n  gpu.sm.clock: 1GHz against 0.8GHz\n"
                      "  policies.sharing: spatial against exclusive\n", text)
        self.assertNotIn("configuration:", self.lockstep("diff", "a.h5", "a.h5").stdout)

    def test_plot_finds_a_python_that_has_what_it_needs(self):
        self.tenants("name: one, workload: vector_add, parameters: {n: 256}")
        self.good("run", "s.yaml", "--quiet", "--output", "a.h5")
        bare = pathlib.Path(self.folder) / "bin"
        bare.mkdir()
        (bare / "python3").write_text("#!/bin/sh\nexit 1\n")
        (bare / "python3").chmod(0o755)
        path = {"PATH": f"{bare}:{os.environ['PATH']}"}
        self.good("plot", "a.h5", "--output", "a.png", extra_environment=path)
        self.assertEqual((self.folder / "a.png").read_bytes()[1:4], b"PNG")
        self.good("plot", "a.h5", "a.h5", "--same-time", "--output", "two.png")

    def test_kernels_have_the_names_of_their_source(self):
        text = (CONFIGS / "workloads/vector_add.ptx").read_text()
        self.write("k.ptx", text.replace("vector_add", "_Z3addIfEvPT_S1_S1_i"))
        self.write("w.yaml", (CONFIGS / "workloads/vector_add.yaml").read_text()
                   .replace("module: vector_add.ptx", "module: k.ptx")
                   .replace("kernel: vector_add", "kernel: _Z3addIfEvPT_S1_S1_i"))
        self.tenants("name: one, workload: w.yaml, parameters: {n: 256}")
        self.assertIn("  add<float>(", self.good("run", "s.yaml").stdout)
        with h5py.File(self.folder / "s.h5") as file:
            self.assertEqual(file["kernels"]["kernel"][0], b"add<float>(float*, float*, float*, int)")


if __name__ == "__main__":
    unittest.main()
