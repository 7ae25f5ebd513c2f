#include "models/isa/opcodes/expansions.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/isa/opcodes/issue_slots.hpp"

namespace lockstep::isa::expansions_test {
namespace {

TEST(Expansions, ConsistOfKnownMachineOperations) {
  for (std::uint32_t e = 1; e < expansion_count(); ++e) {
    const Expansion& x = expansion(e);
    EXPECT_FALSE(x.chain.empty()) << e;
    EXPECT_EQ(x.chain.find_first_not_of("apiwhfdxmcnbqt"), std::string_view::npos) << e;
    EXPECT_EQ(x.beside.find_first_not_of("apiwhfdxmcnbqt"), std::string_view::npos) << e;
  }
}

bool divides_words(const ir::Operation& o) {
  return (o.opcode == Opcode::div || o.opcode == Opcode::rem) && !is_float(o.type) &&
         bytes_of(o.type) == 4;
}

std::size_t size_of_division(Opcode opcode, Type type, bool by_constant) {
  ir::Operation operation;
  operation.opcode = opcode;
  operation.type = type;
  operation.sources = {ir::register_operand(0),
                       by_constant ? ir::immediate_operand(7) : ir::register_operand(1)};
  return expansion(expansion_number(operation)).size();
}

/// ptxas 11.8 for sm_70: operations in the program text of a kernel that divides what it loads.
TEST(Expansions, OfDivisionsAreShorterByAConstant) {
  EXPECT_EQ(size_of_division(Opcode::div, Type::s32, false), 24u);
  EXPECT_EQ(size_of_division(Opcode::div, Type::s32, true), 18u);
  EXPECT_EQ(size_of_division(Opcode::div, Type::u32, false), 18u);
  EXPECT_EQ(size_of_division(Opcode::div, Type::u32, true), 14u);
  EXPECT_EQ(size_of_division(Opcode::rem, Type::s32, false), 22u);
  EXPECT_EQ(size_of_division(Opcode::rem, Type::s32, true), 16u);
  EXPECT_EQ(size_of_division(Opcode::rem, Type::u32, false), 17u);
  EXPECT_EQ(size_of_division(Opcode::rem, Type::u32, true), 13u);
}

TEST(Expansions, HaveAMachineOperationForEveryIssueSlot) {
  constexpr std::array opcodes{Opcode::div,   Opcode::rem,  Opcode::rcp, Opcode::sqrt,
                               Opcode::rsqrt, Opcode::popc, Opcode::clz, Opcode::mul,
                               Opcode::mad,   Opcode::add,  Opcode::ex2, Opcode::mov,
                               Opcode::and_,  Opcode::min,  Opcode::max, Opcode::bfe};
  unsigned known = 0;
  for (const Opcode opcode : opcodes)
    for (const Type type :
         {Type::u32, Type::s32, Type::u64, Type::s64, Type::b64, Type::f32, Type::f64})
      for (const ir::MulPart part : {ir::MulPart::lo, ir::MulPart::hi})
        for (const bool approximate : {false, true})
          for (const bool flush : {false, true}) {
            ir::Operation operation;
            operation.opcode = opcode;
            operation.type = operation.source_type = type;
            operation.part = part;
            operation.approximate = approximate;
            operation.flush = flush;
            operation.sources.resize(3, ir::register_operand(0));
            const std::uint32_t number = expansion_number(operation);
            if (number == 0 || divides_words(operation)) continue;
            ++known;
            EXPECT_EQ(expansion(number).size(), issue_slots(operation))
                << static_cast<int>(opcode) << " of type " << static_cast<int>(type);
          }
  EXPECT_GT(known, 40u);
}

/// IMAD.WIDE, whichever instructions of PTX it was before.
TEST(Expansions, OfProductsWithAllTheirBitsAreOneOperation) {
  ir::Operation product;
  product.opcode = Opcode::mul;
  product.type = Type::s32;
  product.part = ir::MulPart::wide;
  product.sources.resize(3, ir::register_operand(0));
  ir::Operation sum = product;
  sum.opcode = Opcode::mad;
  ir::Operation fused = sum;
  fused.opcode = Opcode::mad_wide_add;
  for (const ir::Operation& operation : {product, sum, fused})
    EXPECT_EQ(expansion(expansion_number(operation)).chain, "w");
  product.type = Type::u16;
  EXPECT_EQ(expansion_number(product), 0u) << "which fits a product of 32 bits";
}

TEST(Expansions, OfQuotientsAndRemaindersDiffer) {
  ir::Operation operation;
  operation.type = Type::s32;
  operation.opcode = Opcode::div;
  const std::uint32_t quotient = expansion_number(operation);
  operation.opcode = Opcode::rem;
  EXPECT_NE(quotient, 0u);
  EXPECT_NE(expansion_number(operation), 0u);
  EXPECT_NE(expansion_number(operation), quotient);
}

}  // namespace
}  // namespace lockstep::isa::expansions_test
