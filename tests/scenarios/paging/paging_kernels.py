"""Kernels that page, some of them by mistake."""

# reach(data, stride, guilty, wild): thread t stores to data[t * stride], thread `guilty` to `wild`.
# gather(data, pages, sums): a polynomial over what stands at one offset of all pages.
# keep(data, place): *place = data.  follow(place): **place = 1.
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry reach(.param .u64 data, .param .u32 stride, .param .u32 guilty, .param .u64 wild)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [stride];
  ld.param.u32 %r2, [guilty];
  ld.param.u64 %rd2, [wild];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  mul.lo.u32 %r7, %r6, %r1;
  mul.wide.u32 %rd3, %r7, 4;
  add.u64 %rd4, %rd1, %rd3;
  setp.eq.u32 %p1, %r6, %r2;
  @%p1 mov.u64 %rd4, %rd2;
  st.global.u32 [%rd4], %r6;
  ret;
}
.visible .entry gather(.param .u64 data, .param .u32 pages, .param .u64 sums)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [pages];
  ld.param.u64 %rd2, [sums];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r3, [%rd5];
again:
  ld.global.u32 %r4, [%rd4];
  mad.lo.u32 %r3, %r3, 31, %r4;
  add.u64 %rd4, %rd4, 4096;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  st.global.u32 [%rd5], %r3;
  ret;
}
.visible .entry keep(.param .u64 data, .param .u64 place)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [place];
  st.global.u64 [%rd2], %rd1;
  ret;
}
.visible .entry follow(.param .u64 place)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [place];
  ld.global.u64 %rd2, [%rd1];
  mov.u32 %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
"""
