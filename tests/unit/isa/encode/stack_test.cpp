/// Memory that threads take while they run: alloca, stacksave, stackrestore.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::stack_test {
namespace {

LOCKSTEP_BOTH_FORMS(Stack);

TEST_P(Stack, EachThreadTakesAsMuchAsItWants) {
  // An array of as many words as the thread's index, plus one; its last word is stored to and read.
  const auto out = run_block(kernel_text(R"(
    mad.lo.u32 %r2, %r1, 4, 4;
    cvt.u64.u32 %rd3, %r2;
    alloca.u64 %rd4, %rd3;
    add.u64 %rd5, %rd4, %rd3;
    st.local.u32 [%rd5-4], %r1;
    cvta.local.u64 %rd6, %rd5;
    ld.u32 %r3, [%rd6-4];
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i) << i;
}

TEST_P(Stack, PiecesFollowEachOtherAligned) {
  const auto out = run_block(kernel_text(R"(
    alloca.u32 %r2, 5;
    alloca.u32 %r3, 1;
    alloca.u32 %r4, 4, 64;
    sub.u32 %r3, %r3, %r2;
    and.b32 %r4, %r4, 63;
    mad.lo.u32 %r5, %r4, 100, %r3;
    st.global.u32 [%rd2], %r5;
    ret;)"),
                             1, GetParam());
  EXPECT_EQ(out[0], 8u);
}

TEST_P(Stack, VariablesAreNotOverwritten) {
  const auto out = run_block(kernel_text(R"(
    .local .align 4 .b8 mine[4];
    st.local.u32 [mine], 7;
    alloca.u32 %r2, 16;
    st.local.u32 [%r2], 9;
    ld.local.u32 %r3, [mine];
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             1, GetParam());
  EXPECT_EQ(out[0], 7u);
}

TEST_P(Stack, RestoringGivesBackWhatWasTakenSince) {
  const auto out = run_block(kernel_text(R"(
    stacksave.u64 %rd3;
    alloca.u64 %rd4, 64;
    stackrestore.u64 %rd3;
    alloca.u64 %rd5, 8;
    sub.u64 %rd6, %rd5, %rd4;
    st.global.u32 [%rd2], %rd6;
    ret;)"),
                             1, GetParam());
  EXPECT_EQ(out[0], 0u);
}

TEST_P(Stack, AFunctionGivesBackWhatItTookWhenItReturns) {
  const std::string function = R"(
.func (.param .b32 r) taken(.param .b32 bytes)
{
  .reg .b32 %a<4>; .reg .pred %q<2>;
  ld.param.u32 %a1, [bytes];
  alloca.u32 %a2, %a1;
  st.local.u32 [%a2], %a1;
  st.param.b32 [r], %a2;
  setp.eq.u32 %q1, %a1, 64;
  @%q1 ret;
  ret;
}
)";
  const std::string call = R"(
    { .param .b32 b; .param .b32 r;
    st.param.b32 [b], SIZE;
    call.uni (r), taken, (b);
    ld.param.b32 RESULT, [r];
    }
)";
  const auto with = [&](const std::string& size, const std::string& result) {
    std::string text = call;
    text.replace(text.find("SIZE"), 4, size);
    return text.replace(text.find("RESULT"), 6, result);
  };
  const auto out =
      run_block(kernel_text(with("64", "%r3") + with("128", "%r4") + with("64", "%r5") + R"(
    sub.u32 %r4, %r4, %r3;
    sub.u32 %r5, %r5, %r3;
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%rd2], %r4;
    ret;)",
                            function),
                2, GetParam());
  EXPECT_EQ(out, (std::vector<std::uint32_t>{0, 0}));
}

TEST_P(Stack, EachActivationOfARecursiveFunctionKeepsItsOwn) {
  // depth(n) keeps n in what it allocates while it calls depth(n - 1), and returns n + that.
  const std::string function = R"(
.func (.param .b32 r) depth(.param .b32 n)
{
  .reg .b32 %a<9>; .reg .pred %q<2>;
  ld.param.u32 %a1, [n];
  alloca.u32 %a2, 4;
  st.local.u32 [%a2], %a1;
  mov.u32 %a3, 0;
  setp.eq.u32 %q1, %a1, 0;
  @%q1 bra end;
  sub.u32 %a4, %a1, 1;
  { .param .b32 p; .param .b32 s;
  st.param.b32 [p], %a4;
  call.uni (s), depth, (p);
  ld.param.b32 %a3, [s];
  }
end:
  ld.local.u32 %a5, [%a2];
  add.u32 %a3, %a3, %a5;
  st.param.b32 [r], %a3;
}
)";
  const auto out = run_block(kernel_text(R"(
    { .param .b32 p; .param .b32 s;
    st.param.b32 [p], %r1;
    call.uni (s), depth, (p);
    ld.param.b32 %r2, [s];
    }
    st.global.u32 [%rd2], %r2;
    ret;)",
                                         function),
                             20, GetParam());
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(out[i], i * (i + 1) / 2) << i;
}

TEST_P(Stack, OnlyTheLanesThatAllocateTake) {
  const auto out = run_block(kernel_text(R"(
    setp.lt.u32 %p1, %r1, 2;
    stacksave.u32 %r2;
    @%p1 alloca.u32 %r3, 24;
    stacksave.u32 %r4;
    sub.u32 %r4, %r4, %r2;
    st.global.u32 [%rd2], %r4;
    ret;)"),
                             4, GetParam());
  EXPECT_EQ(out[0], out[1]);
  EXPECT_GE(out[0], 24u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[3], 0u);
}

TEST_P(Stack, WhoTakesMoreThanThereIsIsToldWhenItTouchesIt) {
  try {
    run_block(kernel_text("alloca.u32 %r2, 100000;\nst.local.u32 [%r2+99996], 1;\nret;"), 1,
              GetParam());
    ADD_FAILURE() << "stored";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("out-of-bounds local store"), std::string::npos)
        << error.what();
  }
}

TEST(StackErrors, AnAlignmentThatIsNoPowerOfTwoIsAnErrorWhereItStands) {
  try {
    load_module_text(kernel_text("alloca.u32 %r2, 16, 12;\nret;"), "bad.ptx");
    ADD_FAILURE() << "loaded";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "bad.ptx:16:21: alignment is no power of two - write 4, 8, 16 or another");
  }
}

}  // namespace
}  // namespace lockstep::isa::stack_test
