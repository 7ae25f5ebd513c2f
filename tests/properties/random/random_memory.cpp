/// Accesses of global, shared and local memory whose result does not depend on other threads.
#include "tests/properties/random/random_statements.hpp"

namespace lockstep::testing {

std::string RandomStatements::woven(unsigned width, unsigned byte) {
  return "[%w" + number(width) + "+" +
         number(pick(WovenRows::per_width) * width * rows_.padded() + byte) + "]";
}

std::string RandomStatements::row_of_words() {
  return "+" + number(pick(WovenRows::per_width) * 4 * rows_.padded()) + "]";
}

std::string RandomStatements::load_operator() {
  static const char* const list[] = {
      "",    "",          ".ca",          ".cg",          ".cv",          ".cs",
      ".lu", ".volatile", ".relaxed.gpu", ".acquire.gpu", ".relaxed.cta", ".acquire.sys"};
  const std::string chosen = one_of(list);
  // The space stands behind .volatile and orderings, before cache operators.
  return chosen.size() > 3 ? "ld" + chosen + ".global" : "ld.global" + chosen;
}

std::string RandomStatements::store_operator() {
  static const char* const list[] = {
      "", "", "", ".wb", ".cg", ".wt", ".volatile", ".relaxed.gpu", ".release.gpu"};
  const std::string chosen = one_of(list);
  return chosen.size() > 3 ? "st" + chosen + ".global" : "st.global" + chosen;
}

// Bytes and halves between those of the neighbours.
void RandomStatements::narrow() {
  static const char* const bytes[] = {".u8", ".s8"};
  static const char* const halves[] = {".u16", ".s16"};
  const bool byte = chance(2);
  const std::string type = byte ? one_of(bytes) : one_of(halves);
  const bool part = chance(3);  // of the thread's own word
  const std::string place = part   ? woven(4, byte ? pick(4) : 2 * pick(2))
                              : byte ? woven(1)
                                   : woven(2);
  if (chance(2)) return line(store_operator() + type + " " + place + ", " + r());
  line(load_operator() + type + " " + r() + ", " + place);
}

void RandomStatements::vector() {
  switch (pick(6)) {
    case 0:
      return line("st.global.v4.u32 " + woven(16) + ", {" + r() + ", " + r() + ", " + r() + ", " +
                  r() + "}");
    case 1:
      return line("ld.global.v4.u32 {%r0, %r5, %r9, %r3}, " + woven(16));
    case 2:
      return line("st.global.v2.u64 " + woven(16) + ", {" + rd() + ", " + rd() + "}");
    case 3:
      return line("ld.global.v2.u64 {%rd1, %rd4}, " + woven(16));
    case 4:
      return line("st.global.v2.f32 " + woven(8) + ", {" + f() + ", " + f() + "}");
    default:
      return line("ld.global.v2.u32 {%r2, %r7}, " + woven(8));
  }
}

// Cached, uncached, volatile and ordered accesses of the same bytes.
void RandomStatements::ordered() {
  const bool wide = chance(3);
  const std::string place = woven(wide ? 8 : 4);
  const std::string value = wide ? rd() : r(), type = wide ? ".u64" : ".u32";
  if (chance(2)) return line(store_operator() + type + " " + place + ", " + value);
  line(load_operator() + type + " " + value + ", " + place);
}

void RandomStatements::own_atomic() {
  static const char* const words[] = {"add.u32", "min.s32",  "max.u32", "and.b32", "or.b32",
                                      "xor.b32", "exch.b32", "inc.u32", "dec.u32"};
  static const char* const doubles[] = {"add.u64", "min.s64", "max.u64", "exch.b64", "xor.b64"};
  switch (pick(8)) {
    case 5:
      return line("red.global.max.noftz.v4.bf16x2 " + woven(16) + ", {" + r() + ", " + r() + ", " +
                  r() + ", " + r() + "}");
    case 6:
      emit("mov.b128 %b0, {" + rd() + ", " + rd() + "}");
      emit("atom.global.exch.b128 %b1, " + woven(16) + ", %b0");
      return line("mov.b128 {%rd2, %rd3}, %b1");
    case 7:
      emit("atom.global.v2.f16x2.add.noftz {%x0, %x1}, " + woven(8) + ", {" + r() + ", " + r() +
           "}");
      return line("xor.b32 " + r() + ", %x0, %x1");
    case 0:
      return line("atom.global.cas.b32 " + r() + ", " + woven(4) + ", " + r() + ", " + r());
    case 1:
      return line("atom.global." + std::string(one_of(doubles)) + " " + rd() + ", " + woven(8) +
                  ", " + rd());
    case 2:
      return line("red.global.add.u32 " + woven(4) + ", " + r());
    case 3:
      return line("atom.acq_rel.gpu.global.add.u32 " + r() + ", " + woven(4) + ", " + r());
    default:
      return line("atom.global." + std::string(one_of(words)) + " " + r() + ", " + woven(4) + ", " +
                  r());
  }
}

// Each common word has one operation, so that the order does not matter.
void RandomStatements::common_atomic() {
  static const char* const operations[common_words] = {
      "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "max.s32", "min.u32",
      "add.u64", "min.s64", "max.u64", "and.b64", "or.b64", "xor.b64", "max.s64", "min.u64"};
  const unsigned word = pick(common_words);
  const std::string place = "[%common+" + number(8 * word) + "]";
  line("red.global." + std::string(operations[word]) + " " + place + ", " +
       (word < 8 ? r() : rd()));
  if (chance(3)) {  // keeps the line in L1 beside the atomics; the value is not used
    emit("ld.global.u32 %x2, " + place);
    emit("and.b32 %x2, %x2, 0");
    line("add.u32 " + r() + ", %n, %x2");
  }
}

void RandomStatements::read_previous() {
  if (chance(4)) {
    emit("ld.global.u32 %x3, [%oldcommon+" + number(4 * pick(2 * common_words)) + "]");
    return line("xor.b32 " + r() + ", " + r() + ", %x3");
  }
  static const char* const kinds[] = {"ld.global", "ld.global.nc", "ld.global.cg", "ldu.global"};
  emit("and.b32 %x3, " + r() + ", 1023");
  emit("mad.wide.u32 %y1, %x3, 4, %previous");
  line(std::string(one_of(kinds)) + ".u32 " + r() + ", [%y1]");
}

void RandomStatements::local_array() {
  if (chance(4)) {  // a word of which a part is dirty while the rest is on its way
    const unsigned at = 4 * pick(16);
    const std::string first = r(), word = "[stack+" + number(at) + "]";
    emit("ld.local.u32 " + first + ", " + word);
    line("st.local.u8 [stack+" + number(at + pick(4)) + "], %me");
    emit("ld.local.u32 %x5, " + word);
    return emit("xor.b32 " + first + ", " + first + ", %x5");
  }
  const unsigned log = pick(4);  // bytes per element
  static const char* const types[] = {".u8", ".s16", ".u32", ".u64"};
  const std::string value = log == 3 ? rd() : r();
  emit("and.b32 %x4, " + r() + ", " + number((64u >> log) - 1));
  emit("shl.b32 %x4, %x4, " + number(log));
  emit("mov.u32 %x5, stack");
  emit("add.u32 %x4, %x4, %x5");
  if (chance(2)) return line("st.local" + std::string(types[log]) + " [%x4], " + value);
  line("ld.local" + std::string(types[log]) + " " + value + ", [%x4]");
}

void RandomStatements::shared_bytes() {
  const std::string place = "[%own+" + number(pick(64)) + "]";
  if (chance(2)) return line("st.shared.u8 " + place + ", " + r());
  if (chance(2)) return line("ld.volatile.shared.s8 " + r() + ", " + place);
  line("atom.shared.add.u32 " + r() + ", [%own+" + number(4 * pick(16)) + "], " + r());
}

void RandomStatements::generic() {
  static const char* const spaces[] = {"[%gout", "[%gshared", "[%glocal"};
  const unsigned space = pick(3);
  const std::string place = spaces[space] + ("+" + number(4 * pick(16))) + "]";
  if (space < 2 && chance(3)) return line("atom.add.u32 " + r() + ", " + place + ", " + r());
  if (chance(2)) return line("st.u32 " + place + ", " + r());
  line("ld.u32 " + r() + ", " + place);
}

void RandomStatements::variables() {
  emit("and.b32 %x3, " + r() + ", 7");
  emit(chance(2) ? "mov.u64 %y2, words" : "mov.u64 %y2, table");
  const bool constant = body_.ends_with("table;\n");
  emit("mad.wide.u32 %y1, %x3, 4, %y2");
  line((constant ? "ld.const.u32 " : "ld.global.u32 ") + r() + ", [%y1]");
}

void RandomStatements::fence() {
  static const char* const fences[] = {"membar.gl",         "membar.cta",        "membar.sys",
                                       "fence.acq_rel.gpu", "fence.acq_rel.cta", "fence.sc.gpu"};
  line(one_of(fences));
}

// The fill is on its way when the same warp, or its neighbours in the line, store.
void RandomStatements::load_then_store() {
  static constexpr unsigned bytes[] = {1, 2, 4};
  static const char* const types[] = {".u8", ".u16", ".u32"};
  const unsigned first = pick(3), second = pick(3);
  const unsigned row = pick(WovenRows::per_width);
  const auto place = [&](unsigned kind) {
    return "[%w" + number(bytes[kind]) + "+" + number(row * bytes[kind] * rows_.padded()) + "]";
  };
  const std::string to = r();
  emit("ld.global" + std::string(types[first]) + " " + to + ", " + place(first));
  if (second == 2 && chance(2)) {
    line("red.global.add.u32 " + place(second) + ", " + r());
  } else {
    line("st.global" + std::string(types[second]) + " " + place(second) + ", " + r());
  }
  if (chance(2)) line("ld.global" + std::string(types[second]) + " " + r() + ", " + place(second));
  emit("xor.b32 " + r() + ", " + r() + ", " + to);
}

// Up to four asynchronous copies to the thread's own shared bytes, some in groups that are waited
// for one by one; nothing but arithmetic stands between a copy and its wait.
void RandomStatements::copies() {
  static constexpr unsigned sizes[] = {4, 8, 16};
  const unsigned depth = 1 + pick(4);
  const bool in_groups = chance(2);
  for (unsigned i = 0; i < depth; ++i) {
    const unsigned bytes = sizes[pick(3)];
    const std::string kind = bytes == 16 && chance(2) ? "cg" : "ca";
    const std::string hint = chance(4) ? ".L2::128B" : "";
    std::string part;
    if (chance(4)) {
      emit("and.b32 %x6, " + r() + ", " + number(2 * bytes - 1));
      emit("min.u32 %x6, %x6, " + number(bytes));
      part = ", %x6";
    } else if (chance(4)) {
      part = ", " + p();
    }
    line("cp.async." + kind + ".shared.global" + hint + " [%own+" + number(16 * i) + "], " +
         woven(bytes) + ", " + number(bytes) + part);
    if (in_groups) emit("cp.async.commit_group");
  }
  integer();
  floating();
  if (in_groups) {
    const unsigned newest = pick(depth);
    emit("cp.async.wait_group " + number(newest));
    for (unsigned i = 0; i + newest < depth; ++i)
      emit("ld.shared.u32 %x6, [%own+" + number(16 * i) + "]");
    emit("xor.b32 " + r() + ", " + r() + ", %x6");
  }
  emit("cp.async.wait_all");
  line("ld.shared.u32 " + r() + ", [%own+" + number(4 * pick(16)) + "]");
}

}  // namespace lockstep::testing
