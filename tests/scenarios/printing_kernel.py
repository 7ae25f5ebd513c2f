"""A kernel that prints, and its workload: for tests of what reaches the user and of what is under way."""


def literal(name, text):
    content = text.encode() + b"\0"
    numbers = ", ".join(str(byte) for byte in content)
    return f".global .align 1 .b8 {name}[{len(content)}] = {{{numbers}}};\n"


# say(data, last): every thread prints a line with its block, its index and data[i]; thread `last` of
# the grid begins another one.
PTX = f"""\
.version 7.8
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
{literal("format", "%3u %2u %s %.1f" + chr(10))}
{literal("begun", "begun")}
{literal("name", "name")}
.visible .entry say(.param .u64 data, .param .u32 last)
{{
  .local .align 8 .b8 buffer[24];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<12>;
  .reg .f32 %f<2>;
  .reg .f64 %fd<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [last];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  cvt.f64.f32 %fd1, %f1;
  mov.u64 %rd4, buffer;
  st.local.v2.u32 [%rd4], {{%r2, %r4}};
  mov.u64 %rd5, name;
  cvta.global.u64 %rd6, %rd5;
  st.local.u64 [%rd4+8], %rd6;
  st.local.f64 [%rd4+16], %fd1;
  cvta.local.u64 %rd7, %rd4;
  mov.u64 %rd8, format;
  cvta.global.u64 %rd9, %rd8;
  {{
    .param .b64 f;
    .param .b64 a;
    .param .b32 r;
    st.param.b64 [f], %rd9;
    st.param.b64 [a], %rd7;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r6, [r];
  }}
  setp.ne.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mov.u64 %rd8, begun;
  cvta.global.u64 %rd9, %rd8;
  {{
    .param .b64 f;
    .param .b64 a;
    .param .b32 r;
    st.param.b64 [f], %rd9;
    st.param.b64 [a], 0;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r7, [r];
  }}
done:
  cvt.rn.f32.u32 %f1, %r6;
  st.global.f32 [%rd3], %f1;
  ret;
}}
"""

WORKLOAD = """\
module: k.ptx
parameters: {blocks: 40, block: 1, last: 100000}
buffers:
  data: {type: f32, count: blocks * block, memory: managed, init: {linear: {start: 0, step: 0.5}}}
program:
  - launch: {kernel: say, grid: [blocks], block: [block], arguments: [data, last]}
  - synchronize
  - read: data
"""
