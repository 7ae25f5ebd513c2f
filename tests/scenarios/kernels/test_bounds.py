"""The first access behind (or before) a buffer ends its tenant, also where a page is; --no-bounds looks for none."""
import unittest

from beside_others import BesideOthers

# k(left, out, at): thread 5 of block 1 makes one access of out[at]; all others use left and out as they may.
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.global .align 4 .b8 table[100];
.visible .entry k(.param .u64 left, .param .u64 out, .param .u64 at)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [left];
  ld.param.u64 %rd2, [out];
  ld.param.u64 %rd3, [at];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd5, %rd1, %rd4;
  ld.global.u32 %r3, [%rd5];
  add.u64 %rd6, %rd2, %rd4;
  st.global.u32 [%rd6], %r3;
  setp.eq.u32 %p1, %r2, 1;
  setp.eq.and.u32 %p2, %r1, 5, %p1;
  shl.b64 %rd7, %rd3, 2;
  add.u64 %rd8, %rd2, %rd7;
  selp.b64 %rd9, %rd8, %rd6, %p2;
  ACCESS
  ret;
}
"""
LINE = PTX[:PTX.index("ACCESS")].count("\n") + 1
STORE, LOAD = "st.global.u32 [%rd9], %r1;", "ld.global.u32 %r4, [%rd9]; st.global.u32 [%rd6], %r4;"
ATOMIC, GENERIC = "red.global.add.u32 [%rd9], %r1;", "st.u32 [%rd9], %r1;"
LONG = "@%p2 st.global.v2.u32 [%rd9], {%r1, %r3};"

WORKLOAD = """\
module: k.ptx
parameters: {at: 0, count: 256, block: 64}
buffers:
  left: {type: u32, count: 256, memory: KIND, init: {linear: {start: 1, step: 1}}}
  out: {type: u32, count: count, memory: KIND}
  right: {type: u32, count: 256, memory: KIND}
program:
COPY  - launch: {kernel: k, grid: [2], block: [block], arguments: [left, out, at]}
  - synchronize
"""
COPY = "  - copy: {buffer: left, to: device}\n"


class Bounds(BesideOthers):
    def prepare(self, access=STORE, kind="device", more=""):
        self.write("k.ptx", PTX.replace("ACCESS", access))
        copy = COPY if kind == "device" else ""
        self.beside_others(WORKLOAD.replace("KIND", kind).replace("COPY", copy))
        if more:
            (self.folder / "s.yaml").write_text((self.folder / "s.yaml").read_text() + more)

    def assert_found(self, parts, *settings, at):
        self.assert_ended([f"k.ptx:{LINE}: tenant one, kernel k, block (1, 0, 0), thread (5, 0, 0): ", *parts],
                          f"tenants.0.parameters.at={at}", *settings)

    def test_every_kind_of_access_to_every_kind_of_memory(self):
        for kind in ("device", "managed", "pinned"):
            for access, word in ((STORE, "store to"), (LOAD, "load from"), (ATOMIC, "atomic at"),
                                 (GENERIC, "store to")):
                with self.subTest(kind=kind, access=access):
                    self.prepare(access, kind)
                    self.assert_found([word, "4 bytes at offset 1024 of buffer out, which has 1024 bytes"], at=256)

    def test_the_last_byte_is_in_and_the_next_one_is_out(self):
        self.prepare()
        for count in (64, 65, 100, 127, 128, 129, 250):
            with self.subTest(count=count):
                settings = (f"tenants.0.parameters.count={count}",)
                run = self.lockstep("run", "s.yaml", "--quiet", "--set", settings[0], "--set",
                                    f"tenants.0.parameters.at={count - 1}")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assert_found(["outside of every buffer", f"at offset {4 * count} of buffer out"], *settings,
                                  at=count)

    def test_an_access_that_only_begins_in_its_buffer(self):
        self.prepare(LONG)
        self.assert_found(["8 bytes at offset 408 of buffer out, which has 412 bytes"],
                          "tenants.0.parameters.count=103", at=102)

    def test_into_the_buffer_that_stands_beside_it(self):
        """Small device buffers share a page, without a gap if they are multiples of 512 bytes."""
        self.prepare()
        shared = ("gpu.vm.device_pages=shared", "policies.page_manager=mixed-pages")
        outside = "outside of every buffer that its pointer points into, in buffer"
        self.assert_found([f"{outside} right", "offset 1024 of buffer out"], *shared, at=256)
        self.assert_found([f"{outside} left", "4 bytes before buffer out"], *shared, at=-1)

    def test_before_the_first_buffer(self):
        self.prepare()
        self.assert_found(["outside of every buffer"], at=-(1 << 18))

    def test_variables_have_names_too(self):
        self.prepare("mov.u64 %rd10, table; add.u64 %rd11, %rd10, 100; @%p2 st.global.u32 [%rd11], %r1;")
        self.assert_found(["4 bytes at offset 100 of variable table, which has 100 bytes"], at=0)

    def test_layouts_and_checkpoints_agree(self):
        self.prepare()
        self.assert_layouts_agree("--set", "tenants.0.parameters.at=256")

    def test_without_it_the_run_goes_on(self):
        self.prepare()
        at = ("--set", "tenants.0.parameters.at=300")
        run = self.lockstep("run", "s.yaml", "--quiet", "--no-bounds", *at, "--set", "gpu.vm.device_pages=shared",
                            "--set", "policies.page_manager=mixed-pages")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_results_are_the_same_with_it(self):
        self.prepare()
        for name, more in (("with.h5", ()), ("without.h5", ("--no-bounds",))):
            self.assertEqual(self.lockstep("run", "s.yaml", "--quiet", "--output", name, *more).returncode, 0)
        self.assertEqual(self.lockstep("diff", "with.h5", "without.h5").returncode, 0)


if __name__ == "__main__":
    unittest.main()
