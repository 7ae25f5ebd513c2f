#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing {
namespace {

/// A branch, a loop, recursion, and memory through a pointer.
const char* const functions = R"(
.const .align 4 .u32 table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
.global .align 4 .u32 words[8] = {11, 22, 33, 44, 55, 66, 77, 88};
.func (.param .b32 result) mix(.param .b32 x, .param .b32 y)
{
.reg .b32 %a<6>; .reg .pred %q<3>;
ld.param.u32 %a0, [x];
ld.param.u32 %a1, [y];
setp.lt.s32 %q0, %a0, %a1;
@%q0 bra less;
sub.u32 %a2, %a0, %a1;
bra.uni join;
less:
mad.lo.u32 %a2, %a0, %a1, 7;
join:
and.b32 %a3, %a2, 3;
again:
mad.lo.u32 %a2, %a2, 5, %a3;
add.u32 %a3, %a3, -1;
setp.ge.s32 %q1, %a3, 0;
@%q1 bra again;
st.param.b32 [result], %a2;
ret;
}
.func (.param .b32 result) steps(.param .b32 n)
{
.reg .b32 %a<6>; .reg .pred %q<2>;
ld.param.u32 %a0, [n];
and.b32 %a0, %a0, 3;
setp.eq.u32 %q0, %a0, 0;
@%q0 bra base;
add.u32 %a1, %a0, -1;
{ .param .b32 p; .param .b32 r;
st.param.b32 [p], %a1;
call (r), steps, (p);
ld.param.b32 %a2, [r];
}
mad.lo.u32 %a3, %a2, 3, %a0;
st.param.b32 [result], %a3;
ret;
base:
st.param.b32 [result], 11;
ret;
}
.func (.param .b32 result) blend(.param .b32 x, .param .b32 y)
{
.reg .b32 %a<4>;
ld.param.u32 %a0, [x];
ld.param.u32 %a1, [y];
lop3.b32 %a2, %a0, %a1, 0x55aa55aa, 0xd4;
st.param.b32 [result], %a2;
ret;
}
.func touch(.param .b64 place, .param .b32 value)
{
.reg .b32 %a<4>; .reg .b64 %b<2>;
ld.param.u64 %b0, [place];
ld.param.u32 %a0, [value];
ld.u32 %a1, [%b0];
xor.b32 %a2, %a1, %a0;
st.u32 [%b0], %a2;
ret;
}
)";

const char* const registers = R"(
.reg .pred %p<5>; .reg .pred %q<4>; .reg .pred %s<2>; .reg .b32 %r<12>; .reg .b32 %t<4>;
.reg .b32 %c<4>; .reg .b64 %rd<6>; .reg .b64 %a<8>; .reg .f32 %f<6>; .reg .b64 %out; .reg .b64 %in;
.reg .b64 %g<8>; .reg .b32 %n; .reg .b32 %own; .reg .b32 %same; .reg .b32 %next; .reg .b32 %me;
.reg .f64 %d<4>; .reg .b16 %h<4>; .reg .b32 %x<8>; .reg .b64 %y<4>; .reg .b32 %all; .reg .b32 %peer;
.reg .b64 %w1; .reg .b64 %w2; .reg .b64 %w4; .reg .b64 %w8; .reg .b64 %w16; .reg .b64 %common; .reg .b64 %oldcommon;
.reg .b128 %b<2>; .reg .b64 %previous; .reg .b64 %gout; .reg .b64 %gshared; .reg .b64 %glocal; .reg .b64 %pw4;
.shared .align 16 .b8 before[20];
.shared .align 16 .b8 room[8192];
.shared .align 8 .b8 sums[32];
.local .align 16 .b8 stack[64];
)";

/// Of what is the thread's own and what is common: in global, shared and local memory.
const char* const addresses = R"(
ld.param.u64 %gout, [out];
ld.param.u64 %g2, [in];
cvta.to.global.u64 %in, %g2;
mov.u64 %previous, %in;
ld.param.u64 %g4, [woven];
cvta.to.global.u64 %g5, %g4;
ld.param.u64 %g6, [common];
cvta.to.global.u64 %common, %g6;
ld.param.u32 %n, [n];
mov.u32 %x0, %ntid.x;
mov.u32 %x1, %ntid.y;
mov.u32 %x2, %tid.x;
mov.u32 %x3, %tid.y;
mad.lo.u32 %me, %x3, %x0, %x2;
mul.lo.u32 %x1, %x0, %x1;
mov.u32 %x0, %ctaid.x;
mad.lo.u32 %all, %x0, %x1, %me;
mul.wide.u32 %g3, %all, 192;
add.s64 %gout, %gout, %g3;
cvta.to.global.u64 %out, %gout;
shl.b32 %t3, %me, 6;
mov.u32 %t2, room;
add.s32 %own, %t2, %t3;
mov.u32 %same, %own;
cvt.u64.u32 %g7, %own;
cvta.shared.u64 %gshared, %g7;
mov.u64 %g7, stack;
cvta.local.u64 %glocal, %g7;
add.s32 %next, %me, 1;
rem.u32 %next, %next, %x1;
mad.lo.u32 %peer, %x0, %x1, %next;
shl.b32 %next, %next, 6;
add.s32 %next, %next, %t2;
)";

}  // namespace

RandomProgram::RandomProgram(std::uint64_t seed) : RandomGroupStatements(seed) {
  make_shape();
  ptx_ = ".version 7.8\n.target sm_80\n.address_size 64\n";
  ptx_ += functions;
  for (unsigned k = 0; k < blocks_.size(); ++k) ptx_ += kernel(k, rows_.threads / blocks_[k]);
  workload_ = workload_text();
}

void RandomProgram::make_shape() {
  static constexpr unsigned sizes[] = {64, 96, 128, 128, 192, 200, 256};
  rows_.threads = sizes[pick(std::size(sizes))];
  const unsigned kernels = 1 + pick(3);
  for (unsigned k = 0; k < kernels; ++k) {
    unsigned blocks = 0;
    do {
      blocks = 1 + pick(4);
    } while (rows_.threads % blocks != 0 || rows_.threads / blocks > 128);
    blocks_.push_back(blocks);
  }
}

std::string RandomProgram::head(unsigned index) {
  std::string text = ".visible .entry k" + number(index) +
                     R"((.param .u64 out, .param .u64 in, .param .u64 woven, .param .u64 common,
.param .u32 n)
{
)";
  text += registers;
  text += addresses;
  for (const unsigned width : WovenRows::widths) {
    text += "mad.wide.u32 %w" + number(width) + ", %all, " + number(width) + ", %g5;\n";
    text += "add.s64 %w" + number(width) + ", %w" + number(width) + ", " +
            number(rows_.first_of(width)) + ";\n";
  }
  text +=
      "mad.wide.u32 %pw4, %peer, 4, %g5;\nadd.s64 %pw4, %pw4, " + number(rows_.first_of(4)) + ";\n";
  const std::string half = number(8 * common_words);
  text += "add.s64 %oldcommon, %common, " + half + ";\n";
  if (index % 2 != 0) {
    text += "mov.u64 %oldcommon, %common;\nadd.s64 %common, %common, " + half + ";\n";
  }
  for (unsigned k = 0; k < 64; k += 4) text += "st.shared.u32 [%own+" + number(k) + "], %me;\n";
  for (unsigned k = 0; k < 64; k += 8) text += "st.local.u64 [stack+" + number(k) + "], %g3;\n";
  for (unsigned k = 0; k < 32; k += 8) text += "st.shared.u64 [sums+" + number(k) + "], 0;\n";
  text += "bar.sync 0;\n" + initial_values();
  for (unsigned k = 0; k < 4; ++k) {
    text += "cvt.rn.f64.s32 %d" + number(k) + ", %r" + number(k) + ";\n";
    text += "cvt.rn.f16.f32 %h" + number(k) + ", %f" + number(k) + ";\n";
  }
  return text;
}

std::string RandomProgram::kernel(unsigned index, unsigned block) {
  body_.clear();
  labels_ = 0;
  block_ = block;
  const std::string start = head(index);
  const unsigned parts = 2 + pick(5);
  for (unsigned p = 0; p < parts; ++p) {
    for (unsigned s = 0; s < 6; ++s) statement(0);
    if (chance(2)) group_statement();
  }
  if (chance(4)) {  // some threads leave; no barrier follows
    emit("@" + p() + " exit");
    for (unsigned s = 0; s < 4; ++s) statement(0);
  }
  std::string end;
  for (unsigned k = 0; k < 4; ++k) {
    end += "mov.b64 %y0, %d" + number(k) + ";\nxor.b64 %rd0, %rd0, %y0;\n";
    end += "cvt.u32.u16 %x0, %h" + number(k) + ";\nxor.b32 %r7, %r7, %x0;\n";
  }
  end += "ld.local.u64 %y0, [stack+24];\nxor.b64 %rd0, %rd0, %y0;\n";
  return start + body_ + end + footer();
}

}  // namespace lockstep::testing
