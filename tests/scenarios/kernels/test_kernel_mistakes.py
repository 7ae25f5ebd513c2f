"""Threads that go wrong end their tenant, whatever they do wrong; the others end as they would."""
import unittest

from beside_others import SLIPS, BesideOthers

# slip(data, mistake): every thread stores to data; thread 70 then makes the mistake, while the
# others of its warp wait at a barrier or go on.
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.const .align 4 .b8 table[64];
.global .align 1 .b8 said[6] = {105, 32, 60, 32, 110, 0};
.global .align 1 .b8 file[5] = {107, 46, 99, 117, 0};
.global .align 1 .b8 name[5] = {115, 108, 105, 112, 0};
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l,
                                .param .b64 n, .param .b64 c);
.visible .func (.param .b32 result) double(.param .b32 value)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [value];
  add.u32 %r1, %r1, %r1;
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry slip(.param .u64 data, .param .u32 mistake)
{
  .local .align 8 .b8 own[64];
  .shared .align 8 .b8 tile[256];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [mistake];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  and.b32 %r6, %r4, 15;
  mul.wide.u32 %rd4, %r6, 4;
  mov.u64 %rd5, own;
  add.u64 %rd6, %rd5, %rd4;
  st.local.u32 [%rd6], %r5;
  setp.ne.u32 %p1, %r5, 70;
  @%p1 bra after;
  ts: .branchtargets misaligned, trapped, shared, local, constant, barrier, atomic,
    mixed, called, spun, asserted;
  brx.idx %r1, ts;
misaligned:
  st.global.u32 [%rd3+2], %r5;
  bra after;
trapped:
  trap;
shared:
  mov.u32 %r7, tile;
  st.shared.u32 [%r7+256], %r5;
  bra after;
local:
  st.local.u32 [%rd6+256], %r5;
  bra after;
constant:
  mov.u64 %rd7, table;
  ld.const.u32 %r8, [%rd7+4096];
  st.global.u32 [%rd3], %r8;
  bra after;
barrier:
  add.u32 %r9, %r1, 60;
  barrier.sync %r9;
  bra after;
atomic:
  cvta.local.u64 %rd8, %rd6;
  atom.add.u32 %r10, [%rd8], 1;
  bra after;
mixed:
  cvta.local.u64 %rd8, %rd6;
  ld.u32 %r11, [%rd8+1024];
  st.global.u32 [%rd3], %r11;
  bra after;
called:
  mov.u64 %rd9, 77;
  p: .callprototype (.param .b32 _) _ (.param .b32 _);
  {
    .param .b32 value;
    .param .b32 result;
    st.param.b32 [value], %r5;
    call (result), %rd9, (value), p;
  }
  bra after;
spun:
  setp.eq.u32 %p2, %r5, 70;
again:
  @%p2 bra again;
  bra after;
asserted:
  {
    .param .b64 m;
    .param .b64 f;
    .param .b32 l;
    .param .b64 n;
    .param .b64 c;
    mov.u64 %rd9, said;
    st.param.b64 [m], %rd9;
    mov.u64 %rd10, file;
    st.param.b64 [f], %rd10;
    st.param.b32 [l], 5;
    mov.u64 %rd11, name;
    st.param.b64 [n], %rd11;
    st.param.b64 [c], 1;
    call.uni __assertfail, (m, f, l, n, c);
  }
after:
  bar.sync 0;
  st.global.u32 [%rd3], %r4;
  ret;
}
"""

MISTAKES = (
    "misaligned access of 4 bytes",
    "trap executed",
    "shared address 0x100 is outside",
    "local address",
    "constant address",
    "barrier 65 does not exist",
    "atomic on local memory",
    "local address",
    "call of 77, which is no function",
    "ten million backward branches",
    "assertion `i < n` failed at k.cu:5, slip",
)


class KernelMistakes(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)

    def test_each_ends_its_tenant_only(self):
        for mistake, what in enumerate(MISTAKES):
            for kind in ("managed", "device"):
                with self.subTest(what=what, kind=kind):
                    self.beside_others(SLIPS.replace("KIND", kind))
                    self.assert_ended(
                        ["k.ptx:", "kernel slip", "block (1, 0, 0)", "thread (6, 0, 0)", what],
                        f"tenants.0.parameters.mistake={mistake}",
                        "simulation.progress_limit=0s")  # which would find the loop before, and end the run

    def test_an_index_without_a_label(self):
        self.beside_others(SLIPS.replace("KIND", "managed"))
        self.assert_ended(["brx.idx index 11 has no label"], "tenants.0.parameters.mistake=11")

    def test_layouts_agree_about_a_mistake(self):
        self.beside_others(SLIPS.replace("KIND", "managed"))
        self.assert_layouts_agree("--set", "tenants.0.parameters.mistake=3")


if __name__ == "__main__":
    unittest.main()
