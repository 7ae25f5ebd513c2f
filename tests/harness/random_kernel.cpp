#include "tests/harness/random_kernel.hpp"

namespace lockstep::isa {

RandomKernel::RandomKernel(std::uint64_t seed) : random_(seed) {}
RandomKernel::~RandomKernel() = default;

std::string RandomKernel::text() {
  body_.clear();
  const unsigned parts = 4 + pick(6);
  for (unsigned p = 0; p < parts; ++p) {
    for (unsigned s = 0; s < 6; ++s) statement(0);
    if (chance(3)) exchange();
    if (chance(3)) shuffle();
  }
  return header() + body_ + footer();
}

std::string RandomKernel::r() {
  return "%r" + std::to_string(pick(12));
}

std::string RandomKernel::rd() {
  return "%rd" + std::to_string(pick(6));
}

std::string RandomKernel::f() {
  return "%f" + std::to_string(pick(6));
}

std::string RandomKernel::p() {
  return "%p" + std::to_string(pick(5));
}

std::string RandomKernel::immediate() {
  static const char* const values[] = {"0", "1", "-1", "2", "4", "16", "255", "-4096", "1234567"};
  return one_of(values);
}

std::string RandomKernel::r_or_immediate() {
  return chance(3) ? immediate() : chance(6) ? "%n" : r();
}

std::string RandomKernel::fv() {
  static const char* const values[] = {"0f00000000", "0f3F800000", "0fBF000000", "0f7F800000"};
  return chance(4) ? one_of(values) : f();
}

void RandomKernel::line(const std::string& text) {
  static const std::string none;
  const std::string guard = chance(7) ? "@" + std::string(chance(2) ? "!" : "") + p() + " " : none;
  body_ += guard + text + ";\n";
}

void RandomKernel::statement(unsigned depth) {
  switch (pick(depth < 3 ? 13 : 10)) {
    case 0:
    case 1:
    case 2:
      integer();
      break;
    case 3:
      wide();
      break;
    case 4:
      floating();
      break;
    case 5:
      predicate();
      break;
    case 6:
      move();
      break;
    case 7:
      shared();
      break;
    case 8:
      global();
      break;
    case 9:
      address_pattern();
      break;
    case 10:
    case 11:
      branch(depth);
      break;
    default:
      loop(depth);
  }
}

void RandomKernel::integer() {
  static const char* const binary[] = {"add.s32", "add.u32", "sub.s32", "mul.lo.s32", "and.b32",
                                       "or.b32",  "xor.b32", "min.s32", "max.u32",    "mul.hi.u32"};
  static const char* const unary[] = {"not.b32", "neg.s32", "popc.b32", "abs.s32", "brev.b32"};
  switch (pick(8)) {
    case 0:
      return line(std::string(one_of(unary)) + " " + r() + ", " + r());
    case 1:
      return line("mad.lo.s32 " + r() + ", " + r() + ", " + r_or_immediate() + ", " + r());
    case 2:
      return line(std::string(chance(2)   ? "shl.b32 "
                              : chance(2) ? "shr.u32 "
                                          : "shr.s32 ") +
                  r() + ", " + r() + ", " + std::to_string(pick(8)));
    case 3:
      return line("selp.b32 " + r() + ", " + r_or_immediate() + ", " + r_or_immediate() + ", " +
                  p());
    case 4:
      return line("lop3.b32 " + r() + ", " + r() + ", " + r() + ", " + r() + ", " +
                  std::to_string(pick(256)));
    default:
      return line(std::string(one_of(binary)) + " " + r() + ", " + r() + ", " + r_or_immediate());
  }
}

void RandomKernel::wide() {
  static const char* const binary[] = {"add.s64", "sub.s64", "and.b64", "xor.b64", "mul.lo.s64"};
  switch (pick(8)) {
    case 0:
      return line("mul.wide.s32 " + rd() + ", " + r() + ", " + r_or_immediate());
    case 1:
      return line("mad.wide.u32 " + rd() + ", " + r() + ", " + r() + ", " + rd());
    case 2:
      return line("cvt.s64.s32 " + rd() + ", " + r());
    case 3:
      return line("cvt.u64.u32 " + rd() + ", " + r());
    case 4:
      return line("cvt.u32.u64 " + r() + ", " + rd());
    case 5:
      return line("shl.b64 " + rd() + ", " + rd() + ", " + std::to_string(pick(9)));
    default:
      return line(std::string(one_of(binary)) + " " + rd() + ", " + rd() + ", " +
                  (chance(3) ? immediate() : rd()));
  }
}

void RandomKernel::floating() {
  static const char* const binary[] = {"add.rn.f32", "sub.rn.f32", "mul.rn.f32", "min.f32"};
  switch (pick(5)) {
    case 0:
      return line("fma.rn.f32 " + f() + ", " + f() + ", " + fv() + ", " + f());
    case 1:
      return line("neg.f32 " + f() + ", " + f());
    case 2:
      return line("cvt.rn.f32.s32 " + f() + ", " + r());
    default:
      return line(std::string(one_of(binary)) + " " + f() + ", " + f() + ", " + fv());
  }
}

void RandomKernel::predicate() {
  static const char* const comparisons[] = {"eq.s32", "ne.s32", "lt.s32", "ge.u32", "gt.s32"};
  static const char* const floats[] = {"lt.f32", "geu.f32", "eq.f32"};
  static const char* const logic[] = {"and.pred", "or.pred", "xor.pred"};
  switch (pick(6)) {
    case 0:
      return line(std::string(one_of(logic)) + " " + p() + ", " + p() + ", " + p());
    case 1:
      return line("not.pred " + p() + ", " + p());
    case 2:
      return line("setp." + std::string(one_of(floats)) + " " + p() + ", " + f() + ", " + fv());
    default:
      return line("setp." + std::string(one_of(comparisons)) + " " + p() + ", " + r() + ", " +
                  r_or_immediate());
  }
}

void RandomKernel::move() {
  static const char* const special[] = {"%laneid", "%tid.x", "%ntid.x", "%ctaid.x"};
  switch (pick(6)) {
    case 0:
      return line("mov.u32 " + r() + ", " + one_of(special));
    case 1:
      return line("mov.b32 " + r() + ", " + f());
    case 2:
      return line("mov.b64 " + rd() + ", {" + r() + ", " + r() + "}");
    case 3:
      return line("mov.u32 " + r() + ", " + immediate());
    case 4:
      return line("mov.b64 " + rd() + ", " + rd());
    default:
      return line("mov.u32 " + r() + ", " + r_or_immediate());
  }
}

void RandomKernel::shared() {
  const std::string base = chance(2) ? "%own" : "%same";
  const unsigned at = pick(16) * 4;
  if (chance(2)) return line("st.shared.u32 [" + base + "+" + std::to_string(at) + "], " + r());
  const unsigned count = chance(2) ? 4 : 1;
  const unsigned first = count == 4 ? at / 16 * 16 : at;
  for (unsigned k = 0; k < count; ++k)
    body_ += "ld.shared.u32 " + r() + ", [" + base + "+" + std::to_string(first + 4 * k) + "];\n";
}

void RandomKernel::global() {
  switch (pick(4)) {
    case 0:
      return line("st.global.u32 [%out+" + std::to_string(4 * pick(16)) + "], " + r());
    case 1:
      return line("ld.global.u32 " + r() + ", [%out+" + std::to_string(4 * pick(16)) + "]");
    case 2:
      body_ += "and.b32 %t0, " + r() + ", " + std::to_string(input_words - 1) + ";\n";
      body_ += "mul.wide.u32 %a0, %t0, 4;\nadd.s64 %a1, %in, %a0;\n";
      return line("ld.global.nc.u32 " + r() + ", [%a1]");
    default:
      return line("st.global.u64 [%out+" + std::to_string(64 + 8 * pick(8)) + "], " + rd());
  }
}

void RandomKernel::address_pattern() {
  body_ += "and.b32 %t1, " + r() + ", 7;\n";
  body_ +=
      chance(2) ? "mul.wide.s32 %a2, %t1, 4;\n" : "cvt.s64.s32 %a4, %t1;\nshl.b64 %a2, %a4, 2;\n";
  body_ += "add.s64 %a3, %out, %a2;\nadd.s64 %a5, %a3, 16;\n";
  if (chance(2))
    line("st.global.u32 [%a5], " + r());
  else
    line("ld.global.u32 " + r() + ", [%a5+4]");
}

std::string RandomKernel::label() {
  return "$L" + std::to_string(labels_++);
}

void RandomKernel::branch(unsigned depth) {
  const std::string other = label(), end = label();
  body_ += "@" + std::string(chance(2) ? "!" : "") + p() + " bra " + other + ";\n";
  const unsigned inside = 1 + pick(4);
  for (unsigned s = 0; s < inside; ++s) statement(depth + 1);
  if (chance(2)) {
    body_ += "bra.uni " + end + ";\n" + other + ":\n";
    statement(depth + 1);
    body_ += end + ":\n";
  } else {
    body_ += other + ":\n";
  }
}

void RandomKernel::loop(unsigned depth) {
  const std::string head = label(), out = label();
  const std::string counter = "%c" + std::to_string(depth), stop = "%q" + std::to_string(depth);
  body_ += "and.b32 " + counter + ", " + r() + ", 3;\n" + head + ":\n";
  const unsigned inside = 1 + pick(4);
  for (unsigned s = 0; s < inside; ++s) statement(depth + 1);
  if (chance(3)) body_ += "@" + p() + " bra " + out + ";\n";
  body_ += "add.s32 " + counter + ", " + counter + ", -1;\nsetp.ge.s32 " + stop + ", " + counter +
           ", 0;\n@" + stop + " bra " + head + ";\n" + out + ":\n";
}

void RandomKernel::exchange() {
  body_ += "st.shared.u32 [%own], " + r() + ";\nbar.sync 0;\n";
  body_ += "ld.shared.u32 %t2, [%next];\nbar.sync 0;\n";
  body_ += "add.s32 " + r() + ", %t2, " + r() + ";\n";
}

void RandomKernel::shuffle() {
  body_ += "shfl.sync.bfly.b32 " + r() + "|" + p() + ", " + r() + ", " + std::to_string(pick(8)) +
           ", 31, -1;\n";
}

std::string RandomKernel::header() {
  std::string text = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
.reg .pred %p<5>; .reg .pred %q<4>; .reg .b32 %r<12>; .reg .b32 %t<4>; .reg .b32 %c<4>;
.reg .b64 %rd<6>; .reg .b64 %a<8>; .reg .f32 %f<6>; .reg .b64 %out; .reg .b64 %in; .reg .b64 %g<4>;
.reg .b32 %n; .reg .b32 %own; .reg .b32 %same; .reg .b32 %next; .reg .b32 %me;
.shared .align 16 .b8 before[20];
.shared .align 16 .b8 room[8192];
ld.param.u64 %g0, [out];
cvta.to.global.u64 %g1, %g0;
ld.param.u64 %g2, [in];
cvta.to.global.u64 %in, %g2;
ld.param.u32 %n, [n];
mov.u32 %me, %tid.x;
mul.wide.u32 %g3, %me, 192;
add.s64 %out, %g1, %g3;
shl.b32 %t3, %me, 6;
mov.u32 %t2, room;
add.s32 %own, %t2, %t3;
mov.u32 %same, %own;
add.s32 %next, %me, 1;
and.b32 %next, %next, 63;
shl.b32 %next, %next, 6;
add.s32 %next, %next, %t2;
)";
  for (unsigned k = 0; k < 64; k += 4)
    text += "st.shared.u32 [%own+" + std::to_string(k) + "], %me;\n";
  return text + "bar.sync 0;\n" + initial_values();
}

std::string RandomKernel::initial_values() {
  std::string text;
  for (unsigned k = 0; k < 12; ++k)
    text += "mad.lo.s32 %r" + std::to_string(k) + ", %me, " + std::to_string(2 * k + 1) + ", " +
            std::to_string(static_cast<int>(pick(1000)) - 500) + ";\n";
  for (unsigned k = 0; k < 6; ++k) {
    const std::string number = std::to_string(k);
    text += "mul.wide.s32 %rd" + number + ", %r" + number + ", 77;\n";
    text += "cvt.rn.f32.s32 %f" + number + ", %r" + number + ";\n";
  }
  for (unsigned k = 0; k < 5; ++k)
    text += "setp.gt.s32 %p" + std::to_string(k) + ", %r" + std::to_string(k) + ", " +
            std::to_string(pick(60)) + ";\n";
  return text;
}

std::string RandomKernel::footer() {
  std::string text;
  unsigned at = 128;
  const auto store = [&](const std::string& what) { text += "st.global." + what + ";\n"; };
  for (unsigned k = 0; k < 6; ++k) {
    store("u32 [%out+" + std::to_string(at) + "], %r" + std::to_string(k));
    at += 4;
  }
  for (unsigned k = 6; k < 12; ++k) text += "xor.b32 %r6, %r6, %r" + std::to_string(k) + ";\n";
  for (unsigned k = 1; k < 6; ++k) text += "xor.b64 %rd0, %rd0, %rd" + std::to_string(k) + ";\n";
  for (unsigned k = 0; k < 6; ++k) {
    text += "mov.b32 %t0, %f" + std::to_string(k) + ";\nxor.b32 %r7, %r7, %t0;\n";
  }
  for (unsigned k = 0; k < 5; ++k)
    text += "selp.b32 %t0, " + std::to_string(1U << k) + ", 0, %p" + std::to_string(k) +
            ";\nor.b32 %r8, %r8, %t0;\n";
  store("u32 [%out+" + std::to_string(at) + "], %r6");
  store("u32 [%out+" + std::to_string(at + 4) + "], %r7");
  store("u64 [%out+" + std::to_string(at + 8) + "], %rd0");
  store("u32 [%out+" + std::to_string(at + 16) + "], %r8");
  return text + "ret;\n}\n";
}

}  // namespace lockstep::isa
