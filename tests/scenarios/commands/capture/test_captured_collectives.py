"""Captured programs that call NCCL: recordings have collectives, which replay as copies and sums among GPUs."""
import os
import pathlib
import shutil
import unittest

from capture_harness import HERE, LIBRARIES, build, needs_nvcc
from harness import ROOT
from segments import SegmentsTest
from test_capture import rows
from test_captured_devices import DevicesTest

KEPT = HERE / "devices/collectives.workload"
COLLECTIVE = 17  # RecordedStep::Kind
HEADER = pathlib.Path(ROOT) / "jobs/capture/libraries/nccl"


class CollectivesTest(DevicesTest):
    def build_nccl(self, name):
        return build(name, self.folder, "-arch=sm_75", "-std=c++17", "-I", HEADER, "-L", LIBRARIES, "-l:libnccl.so.2",
                     sources=(HERE / f"devices/{name}.cu",))


class Recording(CollectivesTest, SegmentsTest):
    def test_replays_in_any_layout_and_through_interruptions(self):
        self.machine(KEPT, gpus=2, name="scenario.yaml")
        self.assert_same_in_any_layout()

    def test_says_how_many_collectives_it_has(self):
        self.assertGreater(self.count(COLLECTIVE, KEPT), 10)
        self.assertIn(f"{self.count(COLLECTIVE, KEPT)} collectives", self.lockstep("describe", KEPT).stdout)

    def test_is_refused_without_a_way_between_the_gpus(self):
        run = self.lockstep("validate", self.machine(KEPT, gpus=2, fabric=""))
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("no way to GPU", run.stderr)

    def test_a_part_is_extracted_with_the_collectives_in_it(self):
        done = self.lockstep("extract", KEPT, "--launches", 1, 8, "--output", "part.workload")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.run_right(self.machine("part.workload", gpus=2), "part.h5")


@needs_nvcc
class Captured(CollectivesTest):
    def test_every_collective_on_two_three_and_four_devices(self):
        program = self.build_nccl("collectives")
        for gpus in (2, 3, 4):
            with self.subTest(gpus=gpus):
                output = f"on{gpus}.workload"
                done = self.capture(program, options=("--gpus", gpus), output=output)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("collectives right", done.stdout)
                self.run_right(self.machine(output, gpus=gpus), f"on{gpus}.h5")

    def test_the_recording_has_what_the_kept_one_has(self):
        """Its threads call in an order of their own."""
        done = self.capture(self.build_nccl("collectives"), options=("--gpus", 2))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if os.environ.get("LOCKSTEP_RENEW_RECORDINGS") == "1":
            shutil.rmtree(KEPT, ignore_errors=True)
            shutil.copytree(self.folder / "out.workload", KEPT)
        new, kept = rows(self.folder / "out.workload"), rows(KEPT)
        self.assertEqual(new[0]["kernels"], kept[0]["kernels"])
        self.assertEqual(len(new[0]["steps"]), len(kept[0]["steps"]))

    def test_mistakes_get_errors_and_a_line_each(self):
        done = self.capture(self.build_nccl("mistaken_collectives"), options=("--gpus", 2))
        said = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
        invalid_argument, invalid_usage = "4", "5"
        for what, result, line in (
                ("same device twice", invalid_usage, "ranks 0 and 1 are both on device 0"),
                ("three devices of two", invalid_argument, "capture with --gpus 3"),
                ("init", "0", ""),
                ("other lengths", invalid_usage, "the lengths of rank 0 and rank 1 differ: 10 and 20 elements"),
                ("managed memory", invalid_argument, "no device memory of that rank's GPU"),
                ("too short", invalid_argument, "or too short"),
                ("another call", invalid_usage, "ncclAllReduce of rank 0 meets ncclBroadcast of rank 1"),
                ("other message", invalid_usage, "rank 0 sends 16 bytes, and rank 1 wants 20"),
                ("alone", invalid_usage, "no thread is left to make the call of rank 1"),
                ("no such rank", invalid_argument, "it names a rank that is not there"),
                ("fp8", invalid_argument, "this type is not there"),
                ("own operator", invalid_usage, "ncclRedOpCreatePreMulSum: is not there"),
                ("id of nobody", invalid_usage, "the id is none of this process"),
                ("text", "invalid usage", ""),
                ("ipc", "801", "cudaIpcGetMemHandle is not there")):
            with self.subTest(what):
                self.assertEqual(said.get(what), result)
                self.assertIn(line, done.stderr)
        told = [line for line in done.stderr.splitlines() if line.startswith("lockstep capture: nccl")]
        self.assertEqual(len(told), 12, done.stderr)

    def test_multicast_objects_are_refused_by_name(self):
        listed = self.lockstep("capture", "--list")
        for name in ("cuMulticastCreate", "cuMulticastBindMem", "cuIpcGetMemHandle", "cudaIpcOpenMemHandle"):
            self.assertIn(name, listed.stdout)


if __name__ == "__main__":
    unittest.main()
