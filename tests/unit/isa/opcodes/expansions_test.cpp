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
    EXPECT_EQ(x.chain.find_first_not_of("apihfdmcnb"), std::string_view::npos) << e;
    EXPECT_EQ(x.beside.find_first_not_of("apihfdmcnb"), std::string_view::npos) << e;
  }
}

TEST(Expansions, HaveAMachineOperationForEveryIssueSlot) {
  constexpr std::array opcodes{Opcode::div,  Opcode::rem, Opcode::rcp, Opcode::sqrt, Opcode::rsqrt,
                               Opcode::popc, Opcode::clz, Opcode::mul, Opcode::mad,  Opcode::add,
                               Opcode::ex2,  Opcode::mov, Opcode::and_};
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
            if (number == 0) continue;
            ++known;
            EXPECT_EQ(expansion(number).size(), issue_slots(operation))
                << static_cast<int>(opcode) << " of type " << static_cast<int>(type);
          }
  EXPECT_GT(known, 40u);
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
