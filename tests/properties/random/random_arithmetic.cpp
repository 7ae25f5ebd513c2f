/// Calls, indexed branches and arithmetic beyond what RandomKernel has.
#include "tests/properties/random/random_statements.hpp"

namespace lockstep::testing {

void RandomStatements::statement(unsigned depth) {
  if (chance(2)) {
    extra();
  } else {
    RandomKernel::statement(depth);
  }
}

void RandomStatements::extra() {
  switch (pick(25)) {
    case 19:
      return call_indirect();
    case 20:
    case 21:
      return video();
    case 22:
      return eight_bit_precision();
    case 23:
    case 24:
      return copies();
    case 17:
      return variables();
    case 18:
      return indexed_branch();
    case 0:
    case 1:
      return narrow();
    case 2:
      return vector();
    case 3:
    case 4:
      return ordered();
    case 5:
      return own_atomic();
    case 6:
      return common_atomic();
    case 7:
      return read_previous();
    case 8:
      return local_array();
    case 9:
      return shared_bytes();
    case 10:
      return generic();
    case 11:
      return call();
    case 12:
      return fence();
    case 13:
      return double_precision();
    case 14:
      return half_precision();
    case 15:
      return more_integer();
    default:
      return load_then_store();
  }
}

void RandomStatements::call() {
  static const char* const pointers[] = {"%gout", "%gshared", "%glocal"};
  const std::string to = r(), x = r(), y = r();
  switch (pick(3)) {
    case 0:
      body_ += "{ .param .b32 u; .param .b32 v; .param .b32 w;\nst.param.b32 [u], " + x +
               ";\nst.param.b32 [v], " + y + ";\ncall (w), mix, (u, v);\nld.param.b32 " + to +
               ", [w];\n}\n";
      return;
    case 1:
      body_ += "{ .param .b32 u; .param .b32 w;\nst.param.b32 [u], " + x +
               ";\ncall (w), steps, (u);\nld.param.b32 " + to + ", [w];\n}\n";
      return;
    default:
      body_ += "{ .param .b64 u; .param .b32 v;\nst.param.b64 [u], " +
               std::string(one_of(pointers)) + ";\nst.param.b32 [v], " + y +
               ";\ncall touch, (u, v);\n}\n";
  }
}

// Neighbours call different functions.
void RandomStatements::call_indirect() {
  const std::string prototype = label(), to = r(), x = r(), y = r();
  emit("mov.u64 %y0, mix");
  emit("mov.u64 %y1, blend");
  emit("selp.b64 %y0, %y0, %y1, " + p());
  body_ += "{ .param .b32 u; .param .b32 v; .param .b32 w;\nst.param.b32 [u], " + x +
           ";\nst.param.b32 [v], " + y + ";\n" + prototype +
           ": .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\ncall (w), %y0, "
           "(u, v), " +
           prototype + ";\nld.param.b32 " + to + ", [w];\n}\n";
}

void RandomStatements::indexed_branch() {
  const std::string first = label(), second = label(), end = label(), targets = label();
  emit("and.b32 %x0, " + r() + ", 3");
  body_ +=
      targets + ": .branchtargets " + first + ", " + second + ", " + end + ", " + second + ";\n";
  emit("brx.idx %x0, " + targets);
  body_ += first + ":\n";
  more_integer();
  emit("bra.uni " + end);
  body_ += second + ":\n";
  ordered();
  body_ += end + ":\n";
}

void RandomStatements::double_precision() {
  switch (pick(8)) {
    case 0:
      return line("fma.rn.f64 " + d() + ", " + d() + ", " + d() + ", " + d());
    case 1:
      return line("add.rn.f64 " + d() + ", " + d() + ", " + d());
    case 2:
      return line("mul.rn.f64 " + d() + ", " + d() + ", " + d());
    case 3:
      return line("div.rn.f64 " + d() + ", " + d() + ", " + d());
    case 4:
      return line("cvt.f64.f32 " + d() + ", " + f());
    case 5:
      return line("cvt.rn.f32.f64 " + f() + ", " + d());
    case 6:
      return line("cvt.rzi.s32.f64 " + r() + ", " + d());
    default:
      return line((chance(2) ? "st.global.f64 " + woven(8) + ", " + d()
                             : "ld.global.f64 " + d() + ", " + woven(8)));
  }
}

void RandomStatements::half_precision() {
  switch (pick(7)) {
    case 0:
      return line("fma.rn.f16 " + h() + ", " + h() + ", " + h() + ", " + h());
    case 1:
      return line("add.f16 " + h() + ", " + h() + ", " + h());
    case 2:
      return line("fma.rn.f16x2 " + r() + ", " + r() + ", " + r() + ", " + r());
    case 3:
      return line("cvt.f32.f16 " + f() + ", " + h());
    case 4:
      return line("cvt.rn.f16.f32 " + h() + ", " + f());
    case 5:
      return line("st.global.b16 " + woven(2) + ", " + h());
    default:
      return line("ld.global.b16 " + h() + ", " + woven(2));
  }
}

void RandomStatements::eight_bit_precision() {
  const std::string format = chance(2) ? "e4m3x2" : "e5m2x2";
  const std::string to = h();
  switch (pick(3)) {
    case 0:
      return line("cvt.rn.satfinite." + format + ".f32 " + to + ", " + f() + ", " + f());
    case 1:
      return line("cvt.rn.satfinite.relu." + format + ".f16x2 " + to + ", " + r());
    default:
      return line("cvt.rn.f16x2." + format + " " + r() + ", " + to);
  }
}

void RandomStatements::more_integer() {
  const std::string to = r(), a = r(), b = r(), c = r();
  const std::string three = " " + to + ", " + a + ", " + b + ", " + c;
  static const char* const three_operands[] = {"bfe.u32",      "bfe.s32",        "prmt.b32",
                                               "sad.s32",      "shf.l.wrap.b32", "shf.r.clamp.b32",
                                               "dp4a.u32.u32", "dp4a.s32.s32",   "mad.hi.u32"};
  switch (pick(8)) {
    case 0:
      return line("bfi.b32 " + to + ", " + a + ", " + b + ", " + c + ", " + number(pick(32)));
    case 1:
      return line("clz.b32 " + to + ", " + a);
    case 2:
      return line("bfind.u32 " + to + ", " + a);
    case 3:
      return line((chance(2) ? "div.u32 " : "rem.s32 ") + to + ", " + a + ", " + b);
    case 4:
      body_ += (chance(2) ? "add.cc.u32 %x0, " : "sub.cc.u32 %x0, ") + a + ", " + b + ";\n";
      body_ += (chance(2) ? "addc.u32 %x1, " : "subc.u32 %x1, ") + b + ", " + c + ";\n";
      return line("mov.b64 " + rd() + ", {%x0, %x1}");
    case 5:
      return line("sqrt.rn.f32 " + f() + ", " + f());
    case 6:
      return line("div.rn.f32 " + f() + ", " + f() + ", " + fv());
    default:
      return line(one_of(three_operands) + three);
  }
}

void RandomStatements::video() {
  static const char* const packed[] = {"add.u16x2", "min.s16x2", "max.u16x2", "max.s16x2.relu"};
  static const char* const pairs[] = {"vadd2.s32.u32.s32.sat", "vsub2.u32.u32.u32",
                                      "vavrg2.s32.s32.s32", "vmin2.u32.u32.u32.add",
                                      "vset2.u32.u32.gt"};
  static const char* const quads[] = {"vadd4.u32.u32.u32", "vabsdiff4.u32.u32.u32.add",
                                      "vmax4.s32.s32.s32", "vset4.s32.s32.le.add",
                                      "vsub4.s32.s32.s32.sat"};
  static const char* const scalars[] = {"vadd.s32.s32.u32.sat", "vabsdiff.u32.s32.s32",
                                        "vset.u32.s32.lt", "vshl.u32.u32.u32.wrap"};
  static const char* const parts[] = {"", ".b0", ".b3", ".h1"};
  static const char* const halves[] = {"", ".h10", ".h32", ".h21"};
  const std::string to = " " + r(), a = ", " + r(), b = ", " + r(), c = ", " + r();
  switch (pick(5)) {
    case 0:
      return line(one_of(packed) + to + a + b);
    case 1:
      return line(one_of(pairs) + to + (chance(3) ? ".h1" : "") + a + one_of(halves) + b + c);
    case 2:
      return line(one_of(quads) + to + (chance(3) ? ".b20" : "") + a + b +
                  (chance(3) ? ".b7041" : "") + c);
    case 3:
      return line(one_of(scalars) + to + a + one_of(parts) + b + one_of(parts));
    default:
      return line("vmad.s32.s32.s32.sat.shr7" + to + a + one_of(parts) + b + c);
  }
}

}  // namespace lockstep::testing
