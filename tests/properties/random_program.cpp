#include "tests/properties/random_program.hpp"

namespace lockstep::testing {
namespace {

constexpr unsigned rows_per_width = 3;
constexpr unsigned widths[] = {1, 2, 4, 8, 16};
constexpr unsigned common_words = 16;  ///< of 8 bytes, per kernel parity

/// Threads of a woven row, padded so that every row is aligned.
unsigned padded(unsigned threads) {
  return (threads + 15) / 16 * 16;
}

/// Rows of one width follow each other, from a place that only `threads` decides.
unsigned first_of_width(unsigned width, unsigned threads) {
  unsigned at = 0;
  for (const unsigned w : widths) {
    if (w == width) break;
    at += rows_per_width * w * padded(threads);
  }
  return at;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

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

}  // namespace

RandomProgram::RandomProgram(std::uint64_t seed) : RandomKernel(seed) {
  make_shape();
  ptx_ = ".version 7.8\n.target sm_80\n.address_size 64\n";
  ptx_ += functions;
  for (unsigned k = 0; k < blocks_.size(); ++k) ptx_ += kernel(k, threads_ / blocks_[k]);
  workload_ = workload_text();
}

void RandomProgram::make_shape() {
  static constexpr unsigned sizes[] = {64, 96, 128, 128, 192, 200, 256};
  threads_ = sizes[pick(std::size(sizes))];
  const unsigned kernels = 1 + pick(3);
  for (unsigned k = 0; k < kernels; ++k) {
    unsigned blocks = 0;
    do {
      blocks = 1 + pick(4);
    } while (threads_ % blocks != 0 || threads_ / blocks > 128);
    blocks_.push_back(blocks);
  }
}

std::string RandomProgram::workload_text() {
  const unsigned words = threads_ * words_per_thread;
  const unsigned woven_bytes = rows_per_width * 31 * padded(threads_);
  // Mostly device memory: the caches see no other.
  static const char* const kinds[] = {"device", "device", "device", "managed", "pinned"};
  std::string steps, end;
  const auto buffer = [&](const std::string& name, const std::string& type, unsigned count,
                          const std::string& init) {
    const std::string kind = one_of(kinds);
    if (kind == "device") {
      if (!init.empty()) steps += "  - copy: {buffer: " + name + ", to: device}\n";
      end += "  - copy: {buffer: " + name + ", to: host}\n";
    } else if (chance(2)) {
      end += "  - read: " + name + "\n";
    }
    return "  " + name + ": {type: " + type + ", count: " + number(count) + ", memory: " + kind +
           (init.empty() ? "" : ", init: {uniform: {" + init + "}}") + "}\n";
  };
  std::string text = "module: kernels.ptx\nbuffers:\n";
  text += buffer("a", "u32", words, "");
  text += buffer("b", "u32", words, "low: 0, high: 4000000000, seed: 3");
  text += buffer("woven", "u8", woven_bytes, "low: 0, high: 255, seed: 4");
  text += buffer("common", "u64", 2 * common_words, "low: 0, high: 4000000000000000, seed: 5");
  text += "program:\n" + steps;
  for (unsigned k = 0; k < blocks_.size(); ++k) {
    text += "  - launch: {kernel: k" + number(k) + ", grid: [" + number(blocks_[k]) +
            "], block: [" + number(threads_ / blocks_[k]) + "], arguments: [" +
            (k % 2 == 0 ? "a, b" : "b, a") + ", woven, common, 12345]}\n";
  }
  return text + end;
}

std::string RandomProgram::head(unsigned index) {
  std::string text = ".visible .entry k" + number(index) +
                     R"((.param .u64 out, .param .u64 in, .param .u64 woven, .param .u64 common,
.param .u32 n)
{
.reg .pred %p<5>; .reg .pred %q<4>; .reg .pred %s<2>; .reg .b32 %r<12>; .reg .b32 %t<4>;
.reg .b32 %c<4>; .reg .b64 %rd<6>; .reg .b64 %a<8>; .reg .f32 %f<6>; .reg .b64 %out; .reg .b64 %in;
.reg .b64 %g<8>; .reg .b32 %n; .reg .b32 %own; .reg .b32 %same; .reg .b32 %next; .reg .b32 %me;
.reg .f64 %d<4>; .reg .b16 %h<4>; .reg .b32 %x<8>; .reg .b64 %y<4>; .reg .b32 %all; .reg .b32 %peer;
.reg .b64 %w1; .reg .b64 %w2; .reg .b64 %w4; .reg .b64 %w8; .reg .b64 %w16; .reg .b64 %common; .reg .b64 %oldcommon;
.reg .b128 %b<2>; .reg .b64 %previous; .reg .b64 %gout; .reg .b64 %gshared; .reg .b64 %pw4;
.shared .align 16 .b8 before[20];
.shared .align 16 .b8 room[8192];
.shared .align 8 .b8 sums[32];
.local .align 16 .b8 stack[64];
ld.param.u64 %gout, [out];
ld.param.u64 %g2, [in];
cvta.to.global.u64 %in, %g2;
mov.u64 %previous, %in;
ld.param.u64 %g4, [woven];
cvta.to.global.u64 %g5, %g4;
ld.param.u64 %g6, [common];
cvta.to.global.u64 %common, %g6;
ld.param.u32 %n, [n];
mov.u32 %me, %tid.x;
mov.u32 %x0, %ctaid.x;
mov.u32 %x1, %ntid.x;
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
add.s32 %next, %me, 1;
rem.u32 %next, %next, %x1;
mad.lo.u32 %peer, %x0, %x1, %next;
shl.b32 %next, %next, 6;
add.s32 %next, %next, %t2;
)";
  for (const unsigned width : widths) {
    text += "mad.wide.u32 %w" + number(width) + ", %all, " + number(width) + ", %g5;\n";
    text += "add.s64 %w" + number(width) + ", %w" + number(width) + ", " +
            number(first_of_width(width, threads_)) + ";\n";
  }
  text += "mad.wide.u32 %pw4, %peer, 4, %g5;\nadd.s64 %pw4, %pw4, " +
          number(first_of_width(4, threads_)) + ";\n";
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
    if (chance(2)) top_level();
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

void RandomProgram::statement(unsigned depth) {
  if (chance(2)) {
    extra(depth);
  } else {
    RandomKernel::statement(depth);
  }
}

void RandomProgram::extra(unsigned) {
  switch (pick(19)) {
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

void RandomProgram::top_level() {
  switch (pick(7)) {
    case 0:
      return block_exchange();
    case 1:
      return warp_exchange();
    case 2:
      return divergent_barrier();
    case 3:
      return barrier_reduction();
    case 4:
      return named_barriers();
    case 5:
      return shared_sum();
    default:
      return chance(2) ? exchange() : shuffle();
  }
}

std::string RandomProgram::woven(unsigned width, unsigned byte) {
  return "[%w" + number(width) + "+" +
         number(pick(rows_per_width) * width * padded(threads_) + byte) + "]";
}

std::string RandomProgram::load_operator() {
  static const char* const list[] = {
      "",    "",          ".ca",          ".cg",          ".cv",          ".cs",
      ".lu", ".volatile", ".relaxed.gpu", ".acquire.gpu", ".relaxed.cta", ".acquire.sys"};
  const std::string chosen = one_of(list);
  // The space stands behind .volatile and orderings, before cache operators.
  return chosen.size() > 3 ? "ld" + chosen + ".global" : "ld.global" + chosen;
}

std::string RandomProgram::store_operator() {
  static const char* const list[] = {
      "", "", "", ".wb", ".cg", ".wt", ".volatile", ".relaxed.gpu", ".release.gpu"};
  const std::string chosen = one_of(list);
  return chosen.size() > 3 ? "st" + chosen + ".global" : "st.global" + chosen;
}

// Bytes and halves between those of the neighbours.
void RandomProgram::narrow() {
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

void RandomProgram::vector() {
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
void RandomProgram::ordered() {
  const bool wide = chance(3);
  const std::string place = woven(wide ? 8 : 4);
  const std::string value = wide ? rd() : r(), type = wide ? ".u64" : ".u32";
  if (chance(2)) return line(store_operator() + type + " " + place + ", " + value);
  line(load_operator() + type + " " + value + ", " + place);
}

void RandomProgram::own_atomic() {
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
void RandomProgram::common_atomic() {
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

void RandomProgram::read_previous() {
  if (chance(4)) {
    emit("ld.global.u32 %x3, [%oldcommon+" + number(4 * pick(2 * common_words)) + "]");
    return line("xor.b32 " + r() + ", " + r() + ", %x3");
  }
  static const char* const kinds[] = {"ld.global", "ld.global.nc", "ld.global.cg", "ldu.global"};
  emit("and.b32 %x3, " + r() + ", 1023");
  emit("mad.wide.u32 %y1, %x3, 4, %previous");
  line(std::string(one_of(kinds)) + ".u32 " + r() + ", [%y1]");
}

void RandomProgram::local_array() {
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

void RandomProgram::shared_bytes() {
  const std::string place = "[%own+" + number(pick(64)) + "]";
  if (chance(2)) return line("st.shared.u8 " + place + ", " + r());
  if (chance(2)) return line("ld.volatile.shared.s8 " + r() + ", " + place);
  line("atom.shared.add.u32 " + r() + ", [%own+" + number(4 * pick(16)) + "], " + r());
}

void RandomProgram::generic() {
  const std::string at = "+" + number(4 * pick(16)) + "]";
  const std::string place = (chance(2) ? "[%gout" : "[%gshared") + at;
  if (chance(3)) return line("atom.add.u32 " + r() + ", " + place + ", " + r());
  if (chance(2)) return line("st.u32 " + place + ", " + r());
  line("ld.u32 " + r() + ", " + place);
}

void RandomProgram::call() {
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
               std::string(chance(2) ? "%gout" : "%gshared") + ";\nst.param.b32 [v], " + y +
               ";\ncall touch, (u, v);\n}\n";
  }
}

void RandomProgram::variables() {
  emit("and.b32 %x3, " + r() + ", 7");
  emit(chance(2) ? "mov.u64 %y2, words" : "mov.u64 %y2, table");
  const bool constant = body_.ends_with("table;\n");
  emit("mad.wide.u32 %y1, %x3, 4, %y2");
  line((constant ? "ld.const.u32 " : "ld.global.u32 ") + r() + ", [%y1]");
}

void RandomProgram::indexed_branch() {
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

void RandomProgram::fence() {
  static const char* const fences[] = {"membar.gl",         "membar.cta",        "membar.sys",
                                       "fence.acq_rel.gpu", "fence.acq_rel.cta", "fence.sc.gpu"};
  line(one_of(fences));
}

void RandomProgram::double_precision() {
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

void RandomProgram::half_precision() {
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

void RandomProgram::more_integer() {
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
      body_ += "add.cc.u32 %x0, " + a + ", " + b + ";\naddc.u32 %x1, " + b + ", " + c + ";\n";
      return line("mov.b64 " + rd() + ", {%x0, %x1}");
    case 5:
      return line("sqrt.rn.f32 " + f() + ", " + f());
    case 6:
      return line("div.rn.f32 " + f() + ", " + f() + ", " + fv());
    default:
      return line(one_of(three_operands) + three);
  }
}

// The fill is on its way when the same warp, or its neighbours in the line, store.
void RandomProgram::load_then_store() {
  static constexpr unsigned bytes[] = {1, 2, 4};
  static const char* const types[] = {".u8", ".u16", ".u32"};
  const unsigned first = pick(3), second = pick(3);
  const unsigned row = pick(rows_per_width);
  const auto place = [&](unsigned kind) {
    return "[%w" + number(bytes[kind]) + "+" + number(row * bytes[kind] * padded(threads_)) + "]";
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

// Values pass to the neighbour through global memory, in the same sector.
void RandomProgram::block_exchange() {
  const std::string row = "+" + number(pick(rows_per_width) * 4 * padded(threads_)) + "]";
  emit("st.global.u32 [%w4" + row + ", " + r());
  emit("bar.sync 0");
  emit(load_operator() + ".u32 %x6, [%pw4" + row);
  emit("bar.sync 0");
  emit("xor.b32 " + r() + ", %x6, " + r());
}

void RandomProgram::warp_exchange() {
  if (block_ % 32 != 0) return;
  switch (pick(7)) {
    case 0:
      return emit("vote.sync.ballot.b32 " + r() + ", " + p() + ", -1");
    case 1:
      return emit("vote.sync.any.pred " + p() + ", " + p() + ", -1");
    case 2:
      return emit("vote.sync.all.pred " + p() + ", " + p() + ", -1");
    case 3:
      emit("and.b32 %x0, " + r() + ", 3");
      return emit("match.any.sync.b32 " + r() + ", %x0, -1");
    case 4:
      return emit("redux.sync.add.s32 " + r() + ", " + r() + ", -1");
    case 5:
      return emit("shfl.sync.idx.b32 " + r() + ", " + r() + ", " + r() + ", 31, -1");
    default:
      return emit("shfl.sync.up.b32 " + r() + "|" + p() + ", " + r() + ", " + number(pick(32)) +
                  ", 0, -1");
  }
}

// Both arms meet at the same barrier.
void RandomProgram::divergent_barrier() {
  const std::string other = label(), end = label();
  const std::string row = "+" + number(pick(rows_per_width) * 4 * padded(threads_)) + "]";
  emit("st.global.u32 [%w4" + row + ", " + r());
  emit("@" + p() + " bra " + other);
  statement(2);
  emit("bar.sync 0");
  emit("ld.global.u32 %x6, [%pw4" + row);
  emit("bar.sync 0");
  statement(2);
  emit("bra.uni " + end);
  body_ += other + ":\n";
  emit("bar.sync 0");
  emit("ld.global.u32 %x6, [%pw4" + row);
  emit("bar.sync 0");
  statement(2);
  body_ += end + ":\n";
  emit("xor.b32 " + r() + ", %x6, " + r());
}

void RandomProgram::barrier_reduction() {
  switch (pick(3)) {
    case 0:
      return emit("bar.red.popc.u32 " + r() + ", 0, " + p());
    case 1:
      return emit("bar.red.and.pred " + p() + ", 0, " + p());
    default:
      return emit("bar.red.or.pred " + p() + ", 0, " + p());
  }
}

// The first warp waits for what the second leaves, at a barrier of their own.
void RandomProgram::named_barriers() {
  if (block_ % 32 != 0 || block_ < 64) return;
  const std::string second = label(), end = label();
  emit("shr.u32 %x7, %me, 5");
  emit("bar.sync 0");
  emit("setp.ge.u32 %s0, %x7, 2");
  emit("@%s0 bra " + end);
  emit("setp.eq.u32 %s1, %x7, 1");
  emit("@%s1 bra " + second);
  emit("bar.sync 3, 64");
  emit("ld.shared.u32 %x6, [%own+2048]");
  emit("xor.b32 " + r() + ", %x6, " + r());
  emit("bra.uni " + end);
  body_ += second + ":\n";
  emit("st.shared.u32 [%own], " + r());
  emit(chance(2) ? "bar.arrive 3, 64" : "bar.sync 3, 64");
  body_ += end + ":\n";
  emit("bar.sync 0");
}

void RandomProgram::shared_sum() {
  const std::string word = "[sums+" + number(4 * pick(8)) + "]";
  emit("bar.sync 0");
  line("red.shared.add.u32 " + word + ", " + r());
  emit("bar.sync 0");
  emit("ld.shared.u32 %x6, " + word);
  emit("bar.sync 0");
  emit("xor.b32 " + r() + ", %x6, " + r());
}

}  // namespace lockstep::testing
