"""Captured programs that use several devices: recordings name their GPUs, and replay on as many."""
import os
import shutil
import unittest

from capture_harness import HERE, CaptureTest, build, build_host, needs_nvcc
from harness import ROOT
from test_capture import rows

KEPT = HERE / "devices/relay.workload"
FABRIC = f"fabric: {ROOT}/configs/fabrics/nvswitch2.yaml\n"
COPY_TO_PEER = 16  # RecordedStep::Kind


class DevicesTest(CaptureTest):
    def machine(self, workload, gpus=3, fabric=FABRIC, tenant=None, name="devices.yaml"):
        tenant = tenant or f"gpus: [{', '.join(map(str, range(gpus)))}]"
        return self.write(name, f"gpu: {ROOT}/configs/gpus/tiny.yaml\ngpus: {gpus}\n"
                                f"host: {ROOT}/configs/hosts/pcie3.yaml\n{fabric}simulation: {{epoch: 50us}}\n"
                                f"tenants:\n  - {{name: one, workload: {workload}, {tenant}}}\n")

    def run_right(self, scenario, output, *more, **how):
        done = self.lockstep("run", scenario, "--check", "--output", output, *more, **how)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("check passed: one", done.stdout)

    def build_device(self, name):
        return build(name, self.folder, sources=(HERE / f"devices/{name}.cu",))


class Recording(DevicesTest):
    def test_replays_on_as_many_gpus_in_any_layout(self):
        scenario = self.machine(KEPT)
        self.run_right(scenario, "first.h5")
        for threads, ranks in ((2, 0), (1, 2), (1, 3)):
            with self.subTest(threads=threads, ranks=ranks):
                self.run_right(scenario, "other.h5", "--overwrite", "--threads", threads, ranks=ranks)
                difference = self.lockstep("diff", "first.h5", "other.h5")
                self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_says_what_is_on_which_gpu(self):
        text = (KEPT / "workload.yaml").read_text()
        for part in ("memory: device, address", "gpu: 1", "gpu: 2", "into: memory_"):
            self.assertIn(part, text)
        self.assertEqual(self.count(COPY_TO_PEER, KEPT), 3)
        self.assertRegex(self.lockstep("describe", KEPT).stdout, r"3 copies between GPUs, 36000 bytes")

    def test_is_refused_where_it_does_not_fit(self):
        for scenario, texts in (
                (self.machine(KEPT, tenant="gpu: 0", name="one.yaml"), ("is on GPU 1 of tenant one, which has 1",)),
                (self.machine(KEPT, gpus=2, name="two.yaml"), ("is on GPU 2 of tenant one, which has 2",)),
                (self.machine(KEPT, fabric=""), ("is copied", "no way to GPU", "fabric"))):
            run = self.lockstep("validate", scenario)
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            for text in texts:
                self.assertIn(text, run.stderr)

    def test_of_one_device_is_refused_on_several_gpus(self):
        run = self.lockstep("validate", self.machine(HERE / "recordings/saxpy.workload"))
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("its recording is of a program that had one", run.stderr)

    def test_contexts_of_the_drivers_interface_have_their_devices(self):
        program = build_host("driver_devices", self.folder, library="libcuda.so.1")
        done = self.capture(program, options=("--gpus", 2))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("driver_devices right", done.stdout)
        self.run_right(self.machine("out.workload", gpus=2), "o.h5")

    def test_a_part_is_extracted(self):
        done = self.lockstep("extract", KEPT, "--launches", 1, 3, "--output", "part.workload")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.run_right(self.machine("part.workload"), "part.h5")


@needs_nvcc
class Captured(DevicesTest):
    def test_a_relay_over_three_devices(self):
        done = self.capture(self.build_device("relay"), options=("--gpus", 3))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("relay right", done.stdout)
        if os.environ.get("LOCKSTEP_RENEW_RECORDINGS") == "1":
            shutil.rmtree(KEPT, ignore_errors=True)
            shutil.copytree(self.folder / "out.workload", KEPT)
        new, kept = rows(self.folder / "out.workload"), rows(KEPT)
        self.assertEqual((new[0], new[2]), (kept[0], kept[2]))

    def test_managed_memory_that_devices_change_in_turn(self):
        done = self.capture(self.build_device("shared"), options=("--gpus", 2))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("shared right", done.stdout)
        for policy in ("migrate", "remote"):
            scenario = self.machine("out.workload", gpus=2, fabric=f"{FABRIC}policies: {{peer_policy: {policy}}}\n")
            self.run_right(scenario, "o.h5", "--overwrite")

    def test_a_program_finds_one_device_unless_there_are_to_be_more(self):
        done = self.capture(self.build_device("relay"))
        self.assertIn("relay wants 3 devices, and there are 1", done.stdout)

    def test_mistakes_get_the_errors_of_hardware(self):
        done = self.capture(self.build_device("mistaken"), options=("--gpus", 2))
        said = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines() if ": " in line and line[0].islower())
        self.assertEqual(said["set device 2"], "101")
        self.assertEqual(said["launch into a stream of device 1"], "400")
        self.assertEqual(said["record an event of device 1"], "400")
        self.assertEqual(said["copy from the wrong device"], "1")
        self.assertEqual(said["copy to no device"], "101")
        self.assertEqual(said["sees itself"], "0")
        self.assertEqual(said["enable"], "0")
        self.assertEqual(said["enable again"], "704")
        kernels = [line for line in done.stdout.splitlines() if line.startswith("kernel: ")]
        self.assertEqual(kernels[0], "kernel: 0")
        self.assertNotEqual(kernels[1], "kernel: 0")
        # One line says where the kernel reached for memory that its device does not see.
        told = [line for line in done.stderr.splitlines() if "the recording ends before this launch" in line]
        self.assertEqual(len(told), 1, done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
