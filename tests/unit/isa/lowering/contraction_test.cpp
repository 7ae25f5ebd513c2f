/// Which products and sums become fma, as ptxas does it, and that the program as read computes the
/// same bits as the lowered one.
#include "models/isa/lowering/contraction.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "models/isa/control_flow/control_flow.hpp"
#include "models/isa/reader/reader.hpp"
#include "models/isa/text/disassemble.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::contraction_test {
namespace {

/// Returns the arithmetic operations of the code after contraction, in their order; fma with the
/// signs of product and addend.  Loads of floats come before `body`.
std::string contracted(const std::string& body) {
  const std::string text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data)
{
.reg .f32 %a, %b, %c, %d, %t, %u, %v, %w, %x, %y, %z;
.reg .f64 %da, %db, %dc, %dt, %dx;
.reg .b16 %ha, %hb, %hc, %ht, %hx;
.reg .b32 %ja, %jb, %jc, %jt, %jx;
.reg .b64 %p;
.reg .pred %q;
ld.param.u64 %p, [data];
ld.global.v4.f32 {%a, %b, %c, %d}, [%p];
)" + body + "\nret;\n}\n";
  SourceModule module = read_ptx(text, "test.ptx");
  EXPECT_FALSE(module.functions[1].mistake) << module.functions[1].mistake->what();
  ir::Function function = std::move(module.functions[1].code);
  find_successors(function);
  contract_products(function);
  std::string result;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations) {
      if (!is_float(operation.type) || operation.sources.size() < 2) continue;
      if (operation.opcode == Opcode::st || operation.opcode == Opcode::setp) continue;
      if (!result.empty()) result += ' ';
      result += name_of(operation.opcode);
      if (operation.opcode == Opcode::fma) {
        EXPECT_EQ(operation.rounding, Rounding::rn);
        result += (operation.mode & 1) != 0 ? "-" : "+";
        result += (operation.mode & 2) != 0 ? "-" : "+";
      }
    }
  return result;
}

std::string store(const std::string& name) {
  return "st.global.f32 [%p], %" + name + ";\n";
}

const std::string product = "mul.f32 %t, %a, %b;\n", other = "mul.f32 %u, %c, %d;\n";

TEST(Contraction, OfAProductAndASumWithoutRounding) {
  EXPECT_EQ(contracted(product + "add.f32 %x, %t, %c;"), "fma++");
  EXPECT_EQ(contracted(product + "add.f32 %x, %c, %t;"), "fma++");
  EXPECT_EQ(contracted(product + "sub.f32 %x, %t, %c;"), "fma+-");
  EXPECT_EQ(contracted(product + "sub.f32 %x, %c, %t;"), "fma-+");
  EXPECT_EQ(contracted(product + "add.sat.f32 %x, %t, %c;"), "fma++");
  EXPECT_EQ(contracted("mul.f32 %t, %a, 0f40490FDB;\nadd.f32 %x, %t, 0f3FB504F3;"), "fma++");
}

TEST(Contraction, OfEveryFormat) {
  EXPECT_EQ(contracted("mul.f64 %dt, %da, %db;\nsub.f64 %dx, %dc, %dt;"), "fma-+");
  EXPECT_EQ(contracted("mul.f16 %ht, %ha, %hb;\nsub.f16 %hx, %ht, %hc;"), "fma+-");
  EXPECT_EQ(contracted("mul.f16x2 %jt, %ja, %jb;\nadd.f16x2 %jx, %jt, %jc;"), "fma++");
  EXPECT_EQ(contracted("mul.bf16x2 %jt, %ja, %jb;\nadd.bf16x2 %jx, %jt, %jc;"), "fma++");
}

TEST(Contraction, NotWithARoundingModifier) {
  EXPECT_EQ(contracted("mul.rn.f32 %t, %a, %b;\nadd.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted(product + "add.rn.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted("mul.rm.f32 %t, %a, %b;\nadd.rm.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted("mul.rn.f64 %dt, %da, %db;\nadd.f64 %dx, %dt, %dc;"), "mul add");
}

TEST(Contraction, NotWithAnotherFlushOrASaturatedProduct) {
  EXPECT_EQ(contracted("mul.ftz.f32 %t, %a, %b;\nadd.ftz.f32 %x, %t, %c;"), "fma++");
  EXPECT_EQ(contracted("mul.ftz.f32 %t, %a, %b;\nadd.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted(product + "add.ftz.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted("mul.sat.f32 %t, %a, %b;\nadd.f32 %x, %t, %c;"), "mul add");
}

TEST(Contraction, OfAllUsesOrNone) {
  const std::string two = product + "add.f32 %x, %t, %c;\nsub.f32 %y, %d, %t;\n";
  EXPECT_EQ(contracted(two), "fma++ fma-+");
  EXPECT_EQ(contracted(two + store("t")), "mul add sub");
  EXPECT_EQ(contracted(product + "add.f32 %x, %t, %c;\nmul.f32 %y, %t, %d;"), "mul add mul");
  EXPECT_EQ(contracted(product + "add.f32 %x, %t, %c;\nfma.rn.f32 %y, %a, %c, %t;"),
            "mul add fma++");
  EXPECT_EQ(contracted(product + "add.f32 %x, %t, %t;"), "mul add");
}

TEST(Contraction, TakesInOneOfTwoProducts) {
  const std::string both = product + other;
  EXPECT_EQ(contracted(both + "add.f32 %x, %t, %u;"), "mul fma++");
  EXPECT_EQ(contracted(both + "sub.f32 %x, %t, %u;\n" + store("t")), "mul fma-+");
  EXPECT_EQ(contracted(both + "sub.f32 %x, %t, %u;\n" + store("u")), "mul fma+-");
  // The one without another use, though the sums could take in the other one as well.
  EXPECT_EQ(contracted(both + "sub.f32 %x, %t, %u;\nadd.f32 %y, %t, %c;"), "mul fma-+ add");
  EXPECT_EQ(contracted(product + "add.f32 %y, %t, %c;\n" + other + "sub.f32 %x, %u, %t;"),
            "mul add fma+-");
  // The first one, if both have other uses.
  const std::string sums = "add.f32 %y, %t, %a;\nadd.f32 %z, %u, %b;\n";
  EXPECT_EQ(contracted(both + "add.f32 %x, %t, %u;\n" + sums), "mul fma++ fma++ add");
  EXPECT_EQ(contracted(both + sums + "add.f32 %x, %t, %u;\n"), "mul fma++ fma++ fma++");
}

TEST(Contraction, OfOneBlockOnly) {
  const std::string branch = "setp.lt.f32 %q, %a, %b;\n@%q bra L;\n";
  EXPECT_EQ(contracted(product + branch + "add.f32 %x, %t, %c;\nL:\n"), "mul add");
  EXPECT_EQ(contracted(product + "add.f32 %x, %t, %c;\n" + branch + "add.f32 %y, %t, %d;\nL:\n"),
            "mul add add");
  // %t is that of the round before.
  EXPECT_EQ(
      contracted("L:\nadd.f32 %x, %t, %c;\n" + product + "setp.lt.f32 %q, %x, %b;\n@%q bra L;\n"),
      "add mul");
}

TEST(Contraction, UnderGuardsOfTheSumOnly) {
  const std::string guard = "setp.lt.f32 %q, %a, %b;\n";
  EXPECT_EQ(contracted(guard + product + "@%q add.f32 %x, %t, %c;"), "fma++");
  EXPECT_EQ(contracted(guard + "@%q " + product + "@%q add.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted(guard + "@%q " + product + "@!%q add.f32 %x, %t, %c;"), "mul add");
}

TEST(Contraction, NotOfFactorsThatChange) {
  EXPECT_EQ(contracted(product + "ld.global.f32 %a, [%p+64];\nadd.f32 %x, %t, %c;"), "mul add");
  EXPECT_EQ(contracted(product + "ld.global.f32 %c, [%p+64];\nadd.f32 %x, %t, %c;"), "fma++");
  EXPECT_EQ(contracted(product + "mul.f32 %t, %c, %d;\nadd.f32 %x, %t, %c;"), "mul mul add");
}

TEST(Contraction, LooksThroughCopiesAndNegations) {
  EXPECT_EQ(contracted(product + "neg.f32 %u, %t;\nadd.f32 %x, %u, %c;"), "mul fma-+");
  EXPECT_EQ(contracted(product + "mov.f32 %u, %t;\nsub.f32 %x, %c, %u;"), "mul fma-+");
  EXPECT_EQ(contracted(product + "neg.f32 %u, %t;\nadd.f32 %x, %u, %c;\n" + store("u")), "mul add");
  EXPECT_EQ(contracted(product + "mov.f32 %u, %t;\nadd.f32 %x, %t, %c;\n" + store("u")), "mul add");
}

LOCKSTEP_BOTH_FORMS(ContractedBits);

TEST_P(ContractedBits, AreThoseOfOneRounding) {
  IsaBench bench(R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{
.reg .f32 %f<8>;
.reg .b16 %h<6>;
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [data];
ld.param.u64 %rd2, [out];
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
mul.f32 %f5, %f1, %f2;
mul.f32 %f6, %f3, %f4;
sub.f32 %f7, %f6, %f5;
st.global.f32 [%rd2], %f7;
ld.global.v4.b16 {%h1, %h2, %h3, %h4}, [%rd1+16];
mul.f16 %h5, %h1, %h2;
sub.f16 %h4, %h3, %h5;
st.global.b16 [%rd2+4], %h4;
ret;
}
)",
                 GetParam());
  const float a = 1.1f, b = 1.3f, c = 1.7f, d = 0.9f;
  // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; only the fused operation leaves 2^-20.
  const std::uint32_t one_and_a_bit = 0x3c01, its_square = 0x3c02;
  const std::uint64_t in =
      bench.buffer<std::uint32_t>({std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b),
                                   std::bit_cast<std::uint32_t>(c), std::bit_cast<std::uint32_t>(d),
                                   one_and_a_bit | one_and_a_bit << 16, its_square});
  const std::uint64_t out = bench.allocate(8);
  bench.run("k", {1, 1, 1}, {1, 1, 1}, in, out);
  const auto results = bench.values<std::uint32_t>(out, 2);
  const float rounded = a * b;
  EXPECT_EQ(results[0], std::bit_cast<std::uint32_t>(std::fma(c, d, -rounded)));
  EXPECT_EQ(results[1] & 0xffff, 0x8010u);  // -2^-20
}

}  // namespace
}  // namespace lockstep::isa::contraction_test
