/// Where control may go: what liveness, and so the cost of saving a warp's registers, rests on.
#include "models/isa/encode/successors.hpp"

#include <algorithm>

#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::successors_test {
namespace {

using Places = std::vector<std::uint32_t>;

/// Two calls of one function.
Program two_calls() {
  const std::string call =
      "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), same, (p);\n"
      "ld.param.b32 %r2, [q];\nst.global.u32 [%rd2], %r2;\n}\n";
  const std::string function =
      ".func (.param .b32 r) same(.param .b32 x)\n{\n.reg .b32 %a<2>;\nld.param.u32 %a1, [x];\n"
      "st.param.b32 [r], %a1;\nret;\n}\n";
  const Module module =
      load_module_text(kernel_text(call + call + "ret;", function), "two_calls.ptx");
  return module.kernels[0].reference;
}

Places places_of(const Program& program, Category category) {
  Places places;
  for (std::uint32_t pc = 0; pc < program.instructions.size(); ++pc)
    if (program.instructions[pc].category == category) places.push_back(pc);
  return places;
}

TEST(Successors, ACallGoesIntoItsFunctionAndOn) {
  const Program program = two_calls();
  const auto next = successors(program);
  const Places calls = places_of(program, Category::call);
  ASSERT_EQ(calls.size(), 2u);
  for (const std::uint32_t pc : calls)
    EXPECT_EQ(next[pc], (Places{program.instructions[pc].target, pc + 1}));
}

TEST(Successors, AReturnGoesBehindEveryCallOfItsFunction) {
  const Program program = two_calls();
  const auto next = successors(program);
  const Places calls = places_of(program, Category::call),
               returns = places_of(program, Category::ret);
  ASSERT_EQ(returns.size(), 1u);
  EXPECT_EQ(next[returns[0]], (Places{calls[0] + 1, calls[1] + 1}));
}

}  // namespace
}  // namespace lockstep::isa::successors_test
