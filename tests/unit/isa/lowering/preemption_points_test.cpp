/// Where preemption points stand.
/// Source: 002, section IV.A; preemption.md, section 4.
#include "models/isa/lowering/preemption_points.hpp"

#include "models/isa/load.hpp"
#include "tests/harness/random_kernel.hpp"
#include "tests/unit/isa/lowering/lowered.hpp"

namespace lockstep::isa::preemption_points_test {
namespace {

LoweringOptions with_points() {
  LoweringOptions options;
  options.preemption_points = true;
  return options;
}

/// Places of barriers that are points, among all barriers, and of others, among all operations.
struct Points {
  std::vector<std::size_t> barriers, others;
};

Points points_of(const Lowered& kernel) {
  Points points;
  std::size_t barrier = 0, place = 0;
  for (const ir::Block& block : kernel.function.blocks)
    for (const ir::Operation& operation : block.operations) {
      const bool is_barrier = operation.opcode == Opcode::bar;
      if (operation.preemption_point) {
        is_barrier ? points.barriers.push_back(barrier) : points.others.push_back(place);
      }
      barrier += is_barrier;
      ++place;
    }
  return points;
}

/// A loop of 10 rounds around a body.
std::string loop(const std::string& body, const std::string& name = "AGAIN",
                 const std::string& counter = "%r5") {
  return "mov.u32 " + counter + ", 0;\n" + name + ":\n" + body + "add.u32 " + counter + ", " +
         counter + ", 1;\nsetp.lt.u32 %p1, " + counter + ", %r1;\n@%p1 bra " + name + ";\n";
}

constexpr const char* store = "st.global.u32 [%rd1], %r6;\n";

TEST(PreemptionPoints, AreNotThereUnlessWanted) {
  const Lowered kernel(loop("mad.lo.u32 %r6, %r6, %r3, %r5;\nbar.sync 0;\n") + store);
  EXPECT_TRUE(points_of(kernel).barriers.empty());
  EXPECT_TRUE(points_of(kernel).others.empty());
}

TEST(PreemptionPoints, AShortKernelWithoutLoopOrBarrierHasNone) {
  const Lowered kernel(std::string("add.u32 %r6, %r1, %r3;\n") + store, with_points());
  EXPECT_TRUE(points_of(kernel).barriers.empty());
  EXPECT_TRUE(points_of(kernel).others.empty());
}

TEST(PreemptionPoints, ABarrierOutsideOfLoopsIsOneInAShortKernel) {
  const Lowered kernel(std::string("add.u32 %r6, %r1, %r3;\nbar.sync 0;\n") + store, with_points());
  EXPECT_EQ(points_of(kernel).barriers, std::vector<std::size_t>{0});
}

TEST(PreemptionPoints, ALoopWithoutBarriersHasOneInIt) {
  const Lowered kernel(loop("mad.lo.u32 %r6, %r6, %r3, %r5;\n") + store, with_points());
  ASSERT_EQ(points_of(kernel).others.size(), 1u);
  EXPECT_GT(points_of(kernel).others[0], 0u);
  EXPECT_LT(points_of(kernel).others[0], kernel.place(Opcode::bra));
  EXPECT_NE(kernel.text().find("nop.pp"), std::string::npos);
}

TEST(PreemptionPoints, OfALoopsBarriersTheOneWithTheFewestLiveRegistersIsChosen) {
  // Behind the first barrier three values wait for their use, behind the second one.
  const std::string body = R"(
    ld.global.u32 %r10, [%rd2];
    ld.global.u32 %r11, [%rd2+4];
    ld.global.u32 %r12, [%rd2+8];
    bar.sync 0;
    add.u32 %r13, %r10, %r11;
    mad.lo.u32 %r6, %r13, %r12, %r6;
    bar.sync 0;
    st.global.u32 [%rd2], %r6;
  )";
  EXPECT_EQ(points_of(Lowered(loop(body) + store, with_points())).barriers,
            std::vector<std::size_t>{1});
}

TEST(PreemptionPoints, AThreadThatOnlyArrivesAtABarrierDoesNotStopThere) {
  const Points points = points_of(Lowered(loop("bar.arrive 1, 64;\n") + store, with_points()));
  EXPECT_TRUE(points.barriers.empty());
  EXPECT_EQ(points.others.size(), 1u);
}

TEST(PreemptionPoints, OnlyTheInnermostOfNestedLoopsHasOne) {
  const std::string inner = loop("mad.lo.u32 %r6, %r6, %r3, %r8;\n", "INNER", "%r8");
  EXPECT_EQ(points_of(Lowered(loop(inner) + store, with_points())).others.size(), 1u);
  const std::string other = loop("mad.lo.u32 %r6, %r6, %r3, %r9;\n", "OTHER", "%r9");
  EXPECT_EQ(points_of(Lowered(loop(inner + other) + store, with_points())).others.size(), 2u)
      << "one for each";
}

TEST(PreemptionPoints, EveryIterationComesToTheLoopsPoint) {
  // The least is live in the arm, which few iterations take.
  const std::string body = R"(
    ld.global.u32 %r10, [%rd2];
    ld.global.u32 %r11, [%rd2+4];
    setp.eq.u32 %p2, %r10, %r11;
    @%p2 bra.uni SKIP;
    st.global.u32 [%rd1+4], %r10;
    st.global.u32 [%rd1+8], %r11;
    atom.global.add.u32 %r6, [%rd1+12], %r11;
    bar.sync 0;
SKIP:
  )";
  const Points points = points_of(Lowered(loop(body) + store, with_points()));
  EXPECT_TRUE(points.barriers.empty());
  EXPECT_EQ(points.others.size(), 1u);
}

TEST(PreemptionPoints, StraightCodeHasOneInEveryInterval) {
  std::string body;
  for (unsigned i = 0; i < 1200; ++i) body += "mad.lo.u32 %r6, %r6, %r3, %r1;\n";
  const auto points = [&](std::uint32_t interval) {
    Lowered kernel(body + store);
    lowering::place_preemption_points(kernel.function, interval);
    return points_of(kernel).others.size();
  };
  EXPECT_EQ(points(lowering::preemption_point_interval), 1u);
  EXPECT_EQ(points(400), 3u);
  EXPECT_EQ(points(100), 12u);
  EXPECT_EQ(points(5000), 0u);
}

TEST(PreemptionPoints, NoneStandsWithinAPrintf) {
  const std::string text = R"(.version 7.8
.target sm_75
.address_size 64
.global .align 1 .b8 format[8] = {37, 100, 32, 37, 100, 10, 0, 0};
.extern .func (.param .b32 result) vprintf (.param .b64 f, .param .b64 a);
.visible .entry k(.param .u32 n)
{
.local .align 8 .b8 room[8];
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u32 %r1, [n];
mov.u64 %rd1, room;
cvta.local.u64 %rd2, %rd1;
mov.u64 %rd3, format;
cvta.global.u64 %rd4, %rd3;
mov.u32 %r2, 0;
AGAIN:
st.local.u32 [%rd1], %r2;
st.local.u32 [%rd1+4], %r1;
{
.param .b64 p0; st.param.b64 [p0], %rd4;
.param .b64 p1; st.param.b64 [p1], %rd2;
.param .b32 result;
call.uni (result), vprintf, (p0, p1);
ld.param.b32 %r3, [result];
}
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra AGAIN;
ret;
})";
  const Module module = load_module_text(text, "print.ptx", with_points());
  const Program& program = module.kernels[0].lowered;
  bool printing = false;
  unsigned points = 0;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.category == Category::print)
      printing = instruction.detail != static_cast<std::uint16_t>(ir::PrintStep::end);
    if ((instruction.flags & flag_preemption_point) == 0) continue;
    ++points;
    EXPECT_FALSE(printing);
  }
  EXPECT_EQ(points, 1u);
}

TEST(PreemptionPoints, ChangeNothingOfWhatRandomKernelsCompute) {
  unsigned points = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = RandomKernel(seed).text();
    const Module plain = load_module_text(text, "random.ptx", {}),
                 pointed = load_module_text(text, "random.ptx", with_points());
    const auto& a = plain.kernels[0].lowered.instructions;
    const auto& b = pointed.kernels[0].lowered.instructions;
    std::size_t added = 0;
    for (const Instruction& instruction : b)
      added +=
          (instruction.flags & flag_preemption_point) != 0 && instruction.category == Category::nop;
    EXPECT_EQ(b.size(), a.size() + added);
    points += static_cast<unsigned>(added);
  }
  EXPECT_GT(points, 20u);
}

}  // namespace
}  // namespace lockstep::isa::preemption_points_test
