"""The driver's interface, and programs that are linked from several files."""
import re
import shutil
import subprocess
import unittest

import h5py
import yaml

from capture_harness import (HERE, LAUNCH, LAUNCH_PROGRAMMATIC, LIBRARIES, NVCC, CaptureTest, build, build_host,
                             needs_nvcc)
from harness import ROOT


class Driver(CaptureTest):
    """What a program asks of libcuda.so.1 is recorded like what it asks of the runtime; no nvcc is needed."""

    @classmethod
    def setUpClass(cls):
        cls.owner = cls.share_a_folder()
        cls.program = build_host("driver", cls.owner.folder, library="libcuda.so.1")

    def assert_right(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("driver right", done.stdout)
        self.replay("out.workload")

    def test_a_module_of_text(self):
        done = self.capture(self.program)
        self.assert_right(done)
        self.assertIn("cuMemCreate is not there: the program gets cudaErrorNotSupported", done.stderr)
        described = self.lockstep("describe", "out.workload").stdout
        self.assertIn("       4          4          128  scale", described)

    def test_a_module_in_a_file(self):
        text = (HERE / "hosts/driver.cpp").read_text()
        self.write("scale.ptx", text[text.index('R"(') + 3:text.index(')";')])
        self.assert_right(self.capture(self.program, "scale.ptx"))

    def test_a_module_that_is_not_there_is_an_error_of_the_program(self):
        done = self.capture(self.program, "nothing.ptx")
        self.assertEqual((done.returncode, done.stdout), (1, "cannot load: error 301\n"))

    def test_ptx_that_is_newer_than_any_that_is_read(self):
        text = (HERE / "hosts/driver.cpp").read_text()
        ptx = text[text.index('R"(') + 3:text.index(')";')]
        self.write("new.ptx", ptx.replace(".version 7.0", ".version 11.2").replace(".visible .gl", ".novel .gl"))
        done = self.capture(self.program, "new.ptx")
        self.assertEqual(done.returncode, 1)
        self.assertIn("its PTX is of version 11.2, newer than 9.0 - build it with nvcc of CUDA 13.0 or older",
                      done.stderr)

    def test_machine_code_alone(self):
        (self.folder / "code.cubin").write_bytes(b"\x7fELF" + bytes(60))
        done = self.capture(self.program, "code.cubin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is machine code, without PTX - load PTX (nvcc -ptx)", done.stderr)

    def test_every_entry_of_the_driver_is_there(self):
        listed = (HERE.parents[3] / "jobs/capture/runtime/driver/entries.def").read_text()
        names = {line.split("(")[1].split(",")[0].rstrip(")") for line in listed.splitlines() if "(" in line}
        table = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / "libcuda.so.1"], check=True,
                               capture_output=True, text=True).stdout
        self.assertEqual({line.split()[2].split("@")[0] for line in table.splitlines()}, names)


class DependentLaunches(CaptureTest):
    """The attribute of programmatic stream serialization is recorded; programmatic events are refused by name."""

    def test_they_are_recorded_and_replayed(self):
        done = self.capture(build_host("dependent_launches", self.folder, library="libcuda.so.1"),
                            options=("--gpu", "h100"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("launches right", done.stdout)
        self.assertIn("cudaLaunchAttributeProgrammaticEvent is not there", done.stderr)
        self.assertEqual((self.count(LAUNCH), self.count(LAUNCH_PROGRAMMATIC)), (2, 2), "the fill is one, too")
        self.replay("out.workload")
        with h5py.File(self.folder / "out.h5") as file:
            kernels = file["kernels"][()]
        self.assertLess(kernels["launched"][3], kernels["done"][2], "the third begins beside the second")


class Clusters(CaptureTest):
    """Launches of thread block clusters, attributes of functions, and how many clusters find room."""

    @classmethod
    def setUpClass(cls):
        cls.owner = cls.share_a_folder()
        cls.program = build_host("clusters", cls.owner.folder, library="libcuda.so.1")

    def test_they_are_recorded_with_their_sizes(self):
        done = self.capture(self.program, "with", options=("--gpu", "h100"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("clusters right", done.stdout)
        sizes = [int(step["address"]) & 0xff for step in self.steps() if step["kind"] == LAUNCH]
        self.assertEqual(sizes[1:], [1, 2, 8, 16, 0, 4, 0, 2, 2], "after the fill; made names none of its own")

    def test_as_many_find_room_as_gpcs_hold(self):
        done = self.capture(self.program, "with", options=("--gpu", "h100"))
        with open(ROOT / "configs/gpus/h100.yaml", encoding="utf-8") as file:
            gpu = yaml.safe_load(file)
        sms, dispatch = gpu["sm"]["count"], gpu["dispatch"]
        count = dispatch.get("gpc_count", 1)
        first = [-(-gpc * sms // count) for gpc in range(count + 1)]
        gpcs = dispatch.get("gpcs", [end - begin for begin, end in zip(first, first[1:])])
        for size in (1, 4, 8):
            self.assertIn(f"{size}: {sum(2 * each // size for each in gpcs)}\n", done.stdout)

    def test_a_gpu_without_them_says_so(self):
        done = self.capture(self.program, "without", options=("--gpu", "v100"))
        self.assertEqual((done.returncode, done.stdout), (0, "clusters right\n"), done.stderr)


class TensorMaps(CaptureTest):
    """Maps that the driver's interface makes are those that copies of tiles read; no nvcc is needed."""

    def test_a_tile_there_and_back(self):
        program = build_host("tensor_maps", self.folder, library="libcuda.so.1")
        done = self.capture(program, options=("--gpu", "h100"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "tensor maps right\n")
        self.assertIn("cuTensorMapEncodeTiled (interleaved layouts are not modelled in this release", done.stderr)
        self.write("replay.yaml", f"gpu: {ROOT}/configs/gpus/h100.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                   "tenants: [{name: t, workload: out.workload}]\n")
        replayed = self.lockstep("run", "replay.yaml", "--check", "--output", "out.h5")
        self.assertEqual(replayed.returncode, 0, replayed.stdout + replayed.stderr)


class DriverTextures(CaptureTest):
    """Arrays, texture and surface objects and references of the driver's interface; no nvcc is needed."""

    @classmethod
    def setUpClass(cls):
        cls.owner = cls.share_a_folder()
        cls.program = build_host("driver_textures", cls.owner.folder, library="libcuda.so.1")

    def assert_right(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "driver textures right\n")
        self.replay("out.workload")

    def test_what_kernels_fetch(self):
        self.assert_right(self.capture(self.program))

    @needs_nvcc
    def test_a_module_that_is_a_fat_binary(self):
        text = (HERE / "hosts/driver_textures.cpp").read_text()
        ptx = text[text.index('R"(') + 3:text.index(')";')].replace(".target sm_70", ".target sm_75, texmode_unified")
        self.write("textures.ptx", ptx)
        for compressed in ("-no-compress", "-compress-mode=speed", "-compress-mode=size"):
            subprocess.run([NVCC, "-fatbin", "-gencode=arch=compute_75,code=[sm_75,compute_75]", compressed,
                            self.folder / "textures.ptx", "-o", self.folder / "textures.fatbin"], check=True)
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            self.assert_right(self.capture(self.program, "textures.fatbin"))


class OlderVersions(CaptureTest):
    """Programs that were built with older versions of CUDA find the runtime that they ask for."""

    def test_version_11_has_its_structures_and_entries(self):
        done = self.capture(build_host("version_11", self.folder, library="libcudart.so.11.0"))
        self.assertEqual((done.returncode, done.stdout), (0, "version 11 right\n"), done.stderr)
        self.replay("out.workload")


class Linked(CaptureTest):
    """Files that are compiled apart (-rdc=true) are linked as nvcc links them."""

    @needs_nvcc
    def test_functions_and_variables_of_other_files(self):
        program = build("linked", self.folder, "-arch=sm_75", "-rdc=true",
                        sources=(HERE / "hosts/linked_main.cu", HERE / "hosts/linked_other.cu"))
        done = self.capture(program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("linked right", done.stdout)
        self.replay("out.workload")

    @needs_nvcc
    def test_functions_whose_addresses_the_host_hands_to_kernels(self):
        for option in ("-rdc=false", "-rdc=true"):
            program = build("pointers", self.folder, "-arch=sm_75", option,
                            sources=(HERE / "hosts/pointers_main.cu", HERE / "hosts/pointers_other.cu"))
            shutil.rmtree(self.folder / "out.workload", ignore_errors=True)
            done = self.capture(program)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("pointers right, got 2008", done.stdout)
            self.replay("out.workload")

    @needs_nvcc
    def test_names_that_several_files_have_mean_the_file_s_own(self):
        sources = tuple(HERE / f"hosts/names_{file}.cu" for file in ("main", "other", "third"))
        program = build("names", self.folder, "-arch=sm_75", "-rdc=true", sources=sources)
        done = self.capture(program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("names right", done.stdout)
        for line in ("first\n", "a second string of the first file, 5\n", "of the second file, lane 7\n",
                     "and a third one, 50\n", "third, again and again: 500\n"):
            self.assertIn(line, done.stdout)
        told = self.replay("out.workload")
        self.assertIn("and a third one, 50", told)
        symbols = re.findall(r'symbol: "([^"]+)"', (self.folder / "out.workload/workload.yaml").read_text())
        self.assertEqual(len(symbols), len(set(symbols)))

    def test_a_linked_file_that_has_changed_is_named_by_its_place(self):
        shutil.copytree(HERE / "recordings/forms.workload", self.folder / "forms.workload")
        self.replay("forms.workload", output="first.h5")
        with open(self.folder / "forms.workload/module_1.ptx", "a", encoding="utf-8") as file:
            file.write("// changed\n")
        again = self.lockstep("run", "--config-of", "first.h5", "--quiet", "--output", "again.h5")
        self.assertEqual(again.returncode, 1)
        self.assertIn("tenants.one.module[1]", again.stderr)


if __name__ == "__main__":
    unittest.main()
