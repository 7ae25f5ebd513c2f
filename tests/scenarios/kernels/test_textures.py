"""Textures of workloads that people write: texels are ordinary memory, so they fault, are cached and are checked."""
import unittest

import h5py
import numpy

from harness import ScenarioTest

WIDTH, HEIGHT = 128, 96

# enlarge(picture, out): thread (x, y) fetches between texels; out has twice the picture's width and height.
PTX = """\
.version 7.8
.target sm_75
.address_size 64
.visible .entry enlarge(.param .u64 picture, .param .u64 out)
{
  .reg .b32 %r<12>;
  .reg .f32 %f<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [picture];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
  fma.rn.f32 %f1, %f1, 0f3F000000, 0f3E800000;
  fma.rn.f32 %f2, %f2, 0f3F000000, 0f3E800000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 8;
  add.u64 %rd4, %rd2, %rd3;
  st.global.v2.f32 [%rd4], {%f3, %f4};
  ret;
}
"""

WORKLOAD = """\
module: textures.ptx
buffers:
  texels: {type: u8, count: %(bytes)d, memory: %(memory)s, address: 0x100000000, init: {file: texels.raw}}
  picture: {type: u8, count: 64, memory: %(memory)s, address: 0x100200000, init: {texture: {buffer: texels,
            width: %(width)d, height: %(height)d, channels: 2, %(how)s}}}
  out: {type: f32, count: %(results)d, memory: %(memory)s, address: 0x100400000}
program:
%(copies)s
  - launch: {kernel: enlarge, grid: [%(rows)d], block: [%(columns)d], arguments: [picture, out]}
  - synchronize
  - %(end)s
  - save: out
"""
EVERY_SCHEME = ("stall-on-fault", "warp-disable-commit", "warp-disable-last-check", "replay-queue", "operand-log")


class Textures(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.texels = numpy.random.default_rng(30).integers(0, 256, (HEIGHT, WIDTH, 2), numpy.uint8)
        (self.folder / "texels.raw").write_bytes(self.texels.tobytes())
        self.write("textures.ptx", PTX)

    def workload(self, memory="managed", how="filter: linear, fractions: true, address: clamp"):
        moves = memory == "device"
        copies = "  - copy: {buffer: texels, to: device}\n  - copy: {buffer: picture, to: device}" if moves else ""
        return self.write("w.yaml", WORKLOAD % {
            "memory": memory, "how": how, "bytes": self.texels.size, "width": WIDTH, "height": HEIGHT,
            "results": 8 * WIDTH * HEIGHT, "rows": 2 * HEIGHT, "columns": 2 * WIDTH, "copies": copies,
            "end": "copy: {buffer: out, to: host}" if moves else "read: out"})

    def run_one(self, *more, output="out.h5", **how):
        done = self.lockstep("run", self.scenario("w.yaml"), "--check", "--output", output, *more,
                             **how)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("check passed: one", done.stdout)

    def enlarged(self):
        """Linear filtering at quarters between the texels' centres."""
        texels = (self.texels / 255.0).astype(numpy.float32).astype(numpy.float64)
        result = numpy.zeros((2 * HEIGHT, 2 * WIDTH, 2))
        places = [(numpy.arange(2 * n) * 0.5 + 0.25 - 0.5) for n in (HEIGHT, WIDTH)]
        firsts = [numpy.floor(place).astype(int) for place in places]
        weights = [place - first for place, first in zip(places, firsts)]
        for j in (0, 1):
            for i in (0, 1):
                rows = numpy.clip(firsts[0] + j, 0, HEIGHT - 1)
                columns = numpy.clip(firsts[1] + i, 0, WIDTH - 1)
                share = numpy.outer(weights[0] if j else 1 - weights[0], weights[1] if i else 1 - weights[1])
                result += share[:, :, None] * texels[rows][:, columns]
        return result.astype(numpy.float32)

    def test_filtered_texels_are_what_the_guide_says(self):
        for memory in ("managed", "device"):
            self.workload(memory)
            self.run_one()
            with h5py.File(self.folder / "out.h5") as file:
                got = file["buffers/one/out"][()].reshape(2 * HEIGHT, 2 * WIDTH, 2)
            numpy.testing.assert_array_equal(got, self.enlarged())

    def test_texels_fault_under_every_exception_scheme(self):
        self.workload()
        for scheme in EVERY_SCHEME:
            self.run_one("--set", f"policies.exception_scheme={scheme}", "--set", "policies.prefetcher=none")

    def test_every_layout_gives_the_same_bits(self):
        self.workload()
        self.run_one(output="one.h5")
        for more, ranks in ((("--threads", "2"), 0), ((), 2), ((), 3)):
            self.run_one(*more, output="other.h5", ranks=ranks)
            self.assertEqual(self.lockstep("diff", "one.h5", "other.h5").returncode, 0)

    def test_a_checkpoint_within_the_kernel_gives_the_same_bits(self):
        self.workload()
        self.run_one(output="whole.h5")
        scenario = self.scenario("w.yaml")
        cut = self.lockstep("run", scenario, "--check", "--output", "o.h5", "--set", "simulation.stop_at=150us",
                            "--checkpoint-every", "0.001s")
        self.assertEqual(cut.returncode, 3, cut.stderr)  # the check: it had not finished
        done = self.lockstep("run", scenario, "--check", "--output", "o.h5", "--resume", "o.ckpt",
                             "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lockstep("diff", "whole.h5", "o.h5").returncode, 0)

    def test_neighbouring_texels_come_from_the_l1(self):
        self.workload("device")
        self.run_one()
        with h5py.File(self.folder / "out.h5") as file:
            hits, misses = (int(file[f"final/stats/sm/l1_{what}"][()].sum()) for what in ("hits", "misses"))
        self.assertGreater(hits, 2 * misses)

    def refused(self, how, *words):
        self.workload(how=how)
        done = self.lockstep("run", self.scenario("w.yaml"))
        self.assertEqual(done.returncode, 1, done.stdout)
        for word in ("w.yaml:", *words):
            self.assertIn(word, done.stderr)

    def test_mistakes_get_one_line(self):
        self.refused("filter: linear", "integers are not filtered", "fractions: true")
        self.refused("filter: cubic", 'no filter is called "cubic"')
        self.refused("address: [clamp, clmap]", 'no address mode is called "clmap"', '"clamp"')
        self.refused("depth: 2", "the texture takes 49152 bytes, buffer texels has 24576")
        self.refused("pitch: 100", "rows of 256 bytes do not fit the pitch")
        self.refused("colour: red", "colour")

    def test_texels_need_an_address(self):
        file = self.workload()
        file.write_text("".join(part for part in file.read_text().split(", address: 0x100000000")))
        done = self.lockstep("run", self.scenario("w.yaml"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("buffer texels has no address for the texture's header", done.stderr)

    def test_what_is_not_supported_is_named_with_kernel_and_line(self):
        self.workload()
        text = PTX.replace("tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}]",
                           "tex.cube.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2, %f2, %f2}]")
        self.write("textures.ptx", text)
        done = self.lockstep("run", self.scenario("w.yaml"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("textures.ptx:17:3: tex.cube.v4.f32.f32: this geometry is not supported", done.stderr)


if __name__ == "__main__":
    unittest.main()
