/// Every form of atom and red that PTX has, from text to memory, against values worked out here.
#include <algorithm>
#include <bit>
#include <functional>

#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::atomic_forms_test {
namespace {

LOCKSTEP_BOTH_FORMS(AtomicForms);

using Words = std::vector<std::uint64_t>;

struct Form {
  std::string name;  ///< operation and type
  unsigned bits;
  std::uint64_t old, a, expected;
};

std::vector<Form> forms() {
  std::vector<Form> list;
  const std::uint64_t high = 0x8000'0000'0000'0000;
  for (const std::string sign : {"u", "s"})
    for (const unsigned bits : {32u, 64u}) {
      const std::uint64_t top = high >> (64 - bits), all = top | (top - 1);
      const std::string type = "." + sign + std::to_string(bits);
      const bool is_signed = sign == "s";
      if (!is_signed || bits == 32) list.push_back({"add" + type, bits, all, 5, 4});
      list.push_back({"min" + type, bits, all, 5, is_signed ? all : 5});
      list.push_back({"max" + type, bits, all, 5, is_signed ? 5 : all});
      list.push_back({"min" + type, bits, 7, top, is_signed ? top : 7});
    }
  for (const unsigned bits : {32u, 64u}) {
    const std::string type = ".b" + std::to_string(bits);
    const std::uint64_t x = 0xf0f0'1234'f0f0'1234 >> (64 - bits),
                        y = 0x3333'4321'3333'4321 >> (64 - bits);
    list.push_back({"and" + type, bits, x, y, x & y});
    list.push_back({"or" + type, bits, x, y, x | y});
    list.push_back({"xor" + type, bits, x, y, x ^ y});
    list.push_back({"exch" + type, bits, x, y, y});
  }
  list.push_back({"inc.u32", 32, 4, 5, 5});
  list.push_back({"inc.u32", 32, 5, 5, 0});
  list.push_back({"inc.u32", 32, 9, 5, 0});
  list.push_back({"dec.u32", 32, 0, 5, 5});
  list.push_back({"dec.u32", 32, 9, 5, 5});
  list.push_back({"dec.u32", 32, 3, 5, 2});
  list.push_back({"add.f32", 32, std::bit_cast<std::uint32_t>(1.5f),
                  std::bit_cast<std::uint32_t>(-4.0f), std::bit_cast<std::uint32_t>(-2.5f)});
  list.push_back({"add.f64", 64, std::bit_cast<std::uint64_t>(0.1),
                  std::bit_cast<std::uint64_t>(0.2), std::bit_cast<std::uint64_t>(0.1 + 0.2)});
  list.push_back({"add.noftz.f16", 16, 0x3c00, 0x4200, 0x4400});   // 1 + 3
  list.push_back({"add.noftz.bf16", 16, 0x3f80, 0x4040, 0x4080});  // 1 + 3
  list.push_back({"add.noftz.f16x2", 32, 0x3c00'0001, 0x4200'0001, 0x4400'0002});
  list.push_back({"add.noftz.bf16x2", 32, 0x3f80'4040, 0x4040'3f80, 0x4080'4080});
  return list;
}

/// What a thread finds in the 64 bits that held `old`, and what the atomic returned.
Words run(const std::string& base, const std::string& qualifiers, const Form& form,
          const std::string& space, bool lowered) {
  const std::string width = std::to_string(form.bits), reg = form.bits == 16   ? "%rs"
                                                             : form.bits == 32 ? "%r"
                                                                               : "%rd";
  const std::string place = space == ".shared" ? "s" : space == ".global" ? "%rd1" : "%rd3";
  const std::string data = space == ".shared" ? ".shared" : space == ".global" ? ".global" : "";
  const bool returns = base == "atom";
  std::string body = ".shared .align 8 .b64 s;\n";
  body += "mov.u64 %rd3, s;\ncvta.shared.u64 %rd3, %rd3;\n";
  body += "mov.b64 %rd4, " + std::to_string(form.old) + ";\nst" + data + ".b64 [" + place +
          "], %rd4;\n";
  body += "mov.b" + width + " " + reg + "5, " + std::to_string(form.a) +
          ";\nmov.b64 %rd6, 0;\nmov.b32 %r6, 0;\nmov.b16 %rs6, 0;\n";
  const std::size_t dot = form.name.find('.');
  body += base + qualifiers + space + "." + form.name.substr(0, dot) + form.name.substr(dot) + " " +
          (returns ? reg + "6, " : "") + "[" + place + "], " + reg + "5;\n";
  body += "ld" + data + ".b64 %rd7, [" + place + "];\nst.global.b64 [%rd1], %rd7;\n";
  body += "st.global.b64 [%rd1+8], 0;\nst.global.b" + width + " [%rd1+8], " + reg + "6;\nret;";
  IsaBench bench(kernel_text(body), lowered);
  const std::uint64_t out = bench.buffer(Words(2));
  bench.run("k", {1, 1, 1}, {1, 1, 1}, out);
  return bench.values<std::uint64_t>(out, 2);
}

TEST_P(AtomicForms, EveryOperationAndTypeInEverySpace) {
  for (const Form& form : forms())
    for (const std::string space : {".global", ".shared", ""}) {
      EXPECT_EQ(run("atom", "", form, space, GetParam()), (Words{form.expected, form.old}))
          << "atom" << space << "." << form.name;
      if (form.name.starts_with("exch")) continue;
      EXPECT_EQ(run("red", "", form, space, GetParam())[0], form.expected)
          << "red" << space << "." << form.name;
    }
}

TEST_P(AtomicForms, EveryOrderingAndScope) {
  const Form add{"add.u32", 32, 7, 5, 12};
  for (const std::string scope : {".cta", ".gpu", ".sys"}) {
    for (const std::string order : {"", ".relaxed", ".acquire", ".release", ".acq_rel"})
      EXPECT_EQ(run("atom", order + scope, add, ".global", GetParam()), (Words{12, 7})) << order;
    for (const std::string order : {"", ".relaxed", ".release"})
      EXPECT_EQ(run("red", order + scope, add, ".global", GetParam())[0], 12u) << order;
  }
}

TEST_P(AtomicForms, CompareAndSwapOfEveryWidth) {
  for (const unsigned bits : {16u, 32u, 64u})
    for (const bool equal : {true, false}) {
      const std::uint64_t old = 0x1234'5678'9abc'def0;
      const std::string type = ".b" + std::to_string(bits), reg = bits == 16   ? "%rs"
                                                                  : bits == 32 ? "%r"
                                                                               : "%rd";
      IsaBench bench(kernel_text("ld.global" + type + " " + reg + "5, [%rd1+8];\natom.global.cas" +
                                 type + " " + reg + "6, [%rd1], " + reg + "5, 99;\nst.global" +
                                 type + " [%rd1+8], " + reg + "6;\nret;"),
                     GetParam());
      const std::uint64_t out = bench.buffer(Words{old, equal ? old : 3});
      bench.run("k", {1, 1, 1}, {1, 1, 1}, out);
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
      const Words got = bench.values<std::uint64_t>(out, 2);
      EXPECT_EQ(got[0], equal ? (old & ~mask) | 99 : old) << bits;
      EXPECT_EQ(got[1] & mask, old & mask) << bits;
    }
}

/// Eight 32-bit words: four that the atomic changes, four for what it returned.
std::vector<std::uint32_t> run_vector(const std::string& body, std::vector<std::uint32_t> words,
                                      bool lowered, std::uint32_t threads = 1) {
  words.resize(8);
  IsaBench bench(kernel_text(body), lowered);
  const std::uint64_t out = bench.buffer(words);
  bench.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  return bench.values<std::uint32_t>(out, 8);
}

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST_P(AtomicForms, VectorsOfFloats) {
  const std::vector<std::uint32_t> old{bits(1), bits(2), bits(3), bits(4)};
  const std::vector<std::uint32_t> sum{bits(11), bits(22), bits(33), bits(44)};
  const std::string values =
      "mov.f32 %f1, 0f41200000;\nmov.f32 %f2, 0f41A00000;\nmov.f32 %f3, 0f41F00000;\n"
      "mov.f32 %f4, 0f42200000;\n";
  const auto four = run_vector(values +
                                   "atom.global.v4.f32.add {%f5, %f6, %f7, %f8}, [%rd1], "
                                   "{%f1, %f2, %f3, %f4};\n"
                                   "st.global.v4.f32 [%rd1+16], {%f5, %f6, %f7, %f8};\nret;",
                               old, GetParam());
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(four[i], sum[i]);
    EXPECT_EQ(four[4 + i], old[i]);
  }
  const auto two = run_vector(
      values + "red.relaxed.gpu.global.add.v2.f32 [%rd1+8], {%f3, %f4};\nret;", old, GetParam());
  EXPECT_EQ(two, (std::vector<std::uint32_t>{old[0], old[1], sum[2], sum[3], 0, 0, 0, 0}));
}

TEST_P(AtomicForms, VectorsOfHalves) {
  // 1, 2, 3, ... as f16 and as bf16; one is added, or the extreme with 2.5 taken.
  const std::uint32_t f16[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500,
                               0x4600, 0x4700, 0x4800, 0x4880};
  const std::uint32_t bf16[] = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0,
                                0x40c0, 0x40e0, 0x4100, 0x4110};
  for (const bool brain : {false, true}) {
    const std::uint32_t* numbers = brain ? bf16 : f16;
    const std::string type = brain ? "bf16" : "f16";
    const std::uint32_t half = brain ? 0x4020 : 0x4100;  // 2.5
    for (const unsigned count : {2u, 4u, 8u})
      for (const std::string operation : {"add", "min", "max"}) {
        std::vector<std::uint32_t> old(4), expected(4);
        for (unsigned i = 0; i < 8; ++i) {
          const std::uint32_t x = numbers[i];
          const bool touched = i < count;
          const std::uint32_t y = !touched             ? x
                                  : operation == "add" ? numbers[i + 1]
                                  : operation == "min" ? std::min(x, half)
                                                       : std::max(x, half);
          old[i / 2] |= x << (16 * (i % 2));
          expected[i / 2] |= y << (16 * (i % 2));
        }
        std::string to, from;
        for (unsigned i = 0; i < count; ++i) {
          to += (i ? ", %h" : "%h") + std::to_string(i);
          from += i ? ", %rs1" : "%rs1";
        }
        const std::uint32_t operand = operation == "add" ? numbers[0] : half;
        std::string body = ".reg .b16 %h<8>;\nmov.b16 %rs1, " + std::to_string(operand) + ";\n";
        body += "atom.global.v" + std::to_string(count) + "." + type + "." + operation +
                ".noftz {" + to + "}, [%rd1], {" + from + "};\n";
        for (unsigned i = 0; i < count; ++i)
          body += "st.global.b16 [%rd1+" + std::to_string(16 + 2 * i) + "], %h" +
                  std::to_string(i) + ";\n";
        const auto got = run_vector(body + "ret;", old, GetParam());
        for (unsigned i = 0; i < 4; ++i) {
          EXPECT_EQ(got[i], expected[i]) << type << operation << count;
          EXPECT_EQ(got[4 + i], i < count / 2 ? old[i] : 0) << type << operation << count;
        }
      }
  }
}

TEST_P(AtomicForms, VectorsOfPairs) {
  const std::vector<std::uint32_t> old{0x3c00'4000, 0x4200'4400, 0x3c00'3c00, 0x4000'4000};
  const auto got = run_vector(
      "mov.b32 %r2, 0x3c003c00;\n"
      "red.global.v4.f16x2.add.noftz [%rd1], {%r2, %r2, %r2, %r2};\nret;",
      old, GetParam());
  EXPECT_EQ(got, (std::vector<std::uint32_t>{0x4000'4200, 0x4400'4500, 0x4000'4000, 0x4200'4200, 0,
                                             0, 0, 0}));
}

TEST_P(AtomicForms, HundredAndTwentyEightBitsChangeTogether) {
  const std::string body = R"(
.reg .b128 %q<4>;
ld.global.b128 %q0, [%rd1];
mov.b128 {%rd3, %rd4}, %q0;
add.u64 %rd5, %rd4, 1;
mov.b128 %q1, {%rd3, %rd5};
atom.global.cas.b128 %q2, [%rd1], %q1, %q0;
atom.global.cas.b128 %q2, [%rd1], %q2, %q1;
mov.b128 %q3, {%rd5, %rd3};
@!%p1 atom.global.exch.b128 %q2, [%rd1], %q3;
st.global.b128 [%rd1+16], %q2;
ret;)";
  const auto got = run_vector("setp.ne.u32 %p1, %r1, 0;\n" + body, {1, 2, 3, 4}, GetParam());
  EXPECT_EQ(got, (std::vector<std::uint32_t>{4, 4, 1, 2, 1, 2, 4, 4}));
}

TEST_P(AtomicForms, HundredAndTwentyEightBitsInSharedMemory) {
  const auto got = run_vector(R"(
.shared .align 16 .b8 s[16];
.reg .b128 %q<3>;
mov.b128 %q0, {7, 8};
st.shared.b128 [s], %q0;
mov.b128 %q1, {9, 10};
atom.shared.exch.b128 %q2, [s], %q1;
st.global.b128 [%rd1], %q2;
ld.shared.b128 %q0, [s];
st.global.b128 [%rd1+16], %q0;
ret;)",
                              {}, GetParam());
  EXPECT_EQ(got, (std::vector<std::uint32_t>{7, 0, 8, 0, 9, 0, 10, 0}));
}

TEST(AtomicErrors, WhatPtxDoesNotHaveIsRefused) {
  for (const std::string text :
       {"atom.global.inc.u64 %rd4, [%rd1], %rd5", "atom.global.min.f32 %f1, [%rd1], %f2",
        "atom.global.v2.u32.add {%r2, %r3}, [%rd1], {%r4, %r5}",
        "atom.shared.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4}",
        "atom.global.exch.v2.b64 {%rd4, %rd5}, [%rd1], {%rd6, %rd7}",
        "atom.global.add.noftz.min.f16 %rs1, [%rd1], %rs2"}) {
    EXPECT_THROW(IsaBench(kernel_text(text + ";\nret;")), UserError) << text;
  }
}

}  // namespace
}  // namespace lockstep::isa::atomic_forms_test
