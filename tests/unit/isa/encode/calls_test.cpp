/// Calls of device functions: parameters, results, recursion.
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::calls_test {
namespace {

LOCKSTEP_BOTH_FORMS(Calls);

/// The call of a function of 32 bits: a block for its parameters, so that it may stand twice.
std::string call(const std::string& result, const std::string& function,
                 const std::string& argument) {
  return "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], " + argument + ";\ncall.uni (q), " +
         function + ", (p);\nld.param.b32 " + result + ", [q];\n}\n";
}

/// What the function makes of each thread's index.
std::vector<std::uint32_t> results_of(const std::string& function, const std::string& text,
                                      std::uint32_t threads, bool lowered) {
  const std::string body = call("%r2", function, "%r1") + "st.global.u32 [%rd2], %r2;\nret;";
  return run_block(kernel_text(body, text), threads, lowered);
}

const std::string square_function = R"(
.func (.param .b32 r) square(.param .b32 x)
{
  .reg .b32 %a<3>;
  ld.param.u32 %a1, [x];
  mul.lo.u32 %a2, %a1, %a1;
  st.param.b32 [r], %a2;
  ret;
}
.func (.param .b32 r) successor(.param .b32 x)
{
  .reg .b32 %a<3>;
  ld.param.u32 %a1, [x];
  add.u32 %a2, %a1, 1;
  st.param.b32 [r], %a2;
  ret;
}
)";

TEST_P(Calls, CallsPassParametersAndResults) {
  const auto out =
      run_block(kernel_text(call("%r2", "square", "%r1") + call("%r3", "successor", "%r2") + R"(
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%rd2], %r3;
    ret;)",
                            square_function),
                32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i * i + 1 + i) << i;
}

TEST_P(Calls, AResultThatWasComputedBeforeIsReturned) {
  const std::string function = R"(
.func (.param .b32 r) low_byte(.param .b32 x)
{
  .reg .b32 %a<4>;
  .reg .pred %q<2>;
  ld.param.u32 %a1, [x];
  cvt.u32.u8 %a2, %a1;
  setp.gt.u32 %q1, %a2, 255;
  @%q1 trap;
  st.param.b8 [r], %a1;
  ret;
}
)";
  const auto out =
      run_block(kernel_text("add.u32 %r2, %r1, 250;\n" + call("%r3", "low_byte", "%r2") +
                                "st.global.u32 [%rd2], %r3;\nret;",
                            function),
                32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i + 250) % 256) << i;
}

TEST_P(Calls, IndirectCallsGoWhereEachLanePoints) {
  const auto out = run_block(kernel_text(R"(
    mov.u64 %rd3, square;
    mov.u64 %rd4, successor;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    selp.b64 %rd5, %rd3, %rd4, %p1;
    { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r1;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %rd5, (p), proto;
    ld.param.b32 %r3, [q];
    }
    st.global.u32 [%rd2], %r3;
    ret;)",
                                         square_function),
                             32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? i * i : i + 1) << i;
}

TEST_P(Calls, RecursionKeepsEachActivationsRegisters) {
  // fibonacci(n): both recursive results are needed at once.
  const std::string function = R"(
.func (.param .b32 r) fibonacci(.param .b32 n)
{
  .reg .b32 %a<9>; .reg .pred %q<3>;
  ld.param.u32 %a1, [n];
  setp.lt.u32 %q1, %a1, 2;
  @%q1 bra small;
  sub.u32 %a2, %a1, 1;
  { .param .b32 p; .param .b32 s;
  st.param.b32 [p], %a2;
  call.uni (s), fibonacci, (p);
  ld.param.b32 %a3, [s];
  }
  sub.u32 %a4, %a1, 2;
  { .param .b32 p; .param .b32 s;
  st.param.b32 [p], %a4;
  call.uni (s), fibonacci, (p);
  ld.param.b32 %a5, [s];
  }
  add.u32 %a1, %a3, %a5;
small:
  st.param.b32 [r], %a1;
  ret;
}
)";
  const auto out = results_of("fibonacci", function, 16, GetParam());
  std::uint32_t a = 0, b = 1;
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], a) << i;
    const std::uint32_t next = a + b;
    a = b;
    b = next;
  }
}

TEST_P(Calls, AResultThatIsSetBeforeARecursiveCallStays) {
  const std::string function = R"(
.func (.param .b32 r) tenfold(.param .b32 n)
{
  .reg .b32 %a<9>; .reg .pred %q<3>;
  ld.param.u32 %a1, [n];
  mul.lo.u32 %a2, %a1, 10;
  st.param.b32 [r], %a2;
  setp.eq.u32 %q1, %a1, 0;
  @%q1 bra end;
  sub.u32 %a3, %a1, 1;
  { .param .b32 p; .param .b32 s;
  st.param.b32 [p], %a3;
  call.uni (s), tenfold, (p);
  ld.param.b32 %a4, [s];
  }
  ret;
end:
  ret;
}
)";
  const auto out = results_of("tenfold", function, 8, GetParam());
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(out[i], 10 * i) << i;
}

TEST_P(Calls, RecursiveFunctionsHaveALocalArrayPerActivation) {
  const std::string function = R"(
.func (.param .b32 r) depth(.param .b32 n)
{
  .reg .b32 %a<9>; .reg .b64 %l<3>; .reg .pred %q<3>;
  .local .align 4 .b8 mine[8];
  ld.param.u32 %a1, [n];
  st.local.u32 [mine+4], %a1;
  mov.u32 %a3, 0;
  setp.eq.u32 %q1, %a1, 0;
  @%q1 bra end;
  sub.u32 %a2, %a1, 1;
  { .param .b32 p; .param .b32 s;
  st.param.b32 [p], %a2;
  call.uni (s), depth, (p);
  ld.param.b32 %a3, [s];
  }
end:
  mov.u64 %l1, mine;
  cvta.local.u64 %l2, %l1;
  ld.u32 %a4, [%l2+4];
  add.u32 %a3, %a3, %a4;
  st.param.b32 [r], %a3;
  ret;
}
)";
  const auto out = results_of("depth", function, 40, GetParam());
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(out[i], i * (i + 1) / 2) << i;
}

TEST_P(Calls, StructuresAreGivenByValueAndComeBack) {
  const std::string function = R"(
.func (.param .align 8 .b8 r[16]) turn(.param .align 8 .b8 v[16])
{
  .reg .b64 %a<3>;
  ld.param.b64 %a1, [v];
  ld.param.b64 %a2, [v+8];
  st.param.b64 [r], %a2;
  st.param.b64 [r+8], %a1;
  ret;
}
)";
  const auto out = run_block(kernel_text(R"(
    cvt.u64.u32 %rd3, %r1;
    mov.u64 %rd4, 77;
    { .param .align 8 .b8 p[16]; .param .align 8 .b8 q[16];
    st.param.v2.b64 [p], {%rd3, %rd4};
    call.uni (q), turn, (p);
    ld.param.b64 %rd5, [q];
    ld.param.b64 %rd6, [q+8];
    }
    shl.b64 %rd5, %rd5, 8;
    add.s64 %rd5, %rd5, %rd6;
    st.global.u32 [%rd2], %rd5;
    ret;)",
                                         function),
                             32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (77u << 8) + i) << i;
}

/// As clang compiles a structure given by value whose elements are chosen while the kernel runs.
TEST_P(Calls, TheAddressOfAStructureGivenByValueCanBeTaken) {
  const std::string element = R"(
.func (.param .b32 r) element(.param .align 8 .b8 s[16], .param .b32 i)
{
  .reg .b32 %a<4>;
  .reg .b64 %b<4>;
  ld.param.u32 %a1, [i];
  mov.b64 %b1, s;
  mul.wide.u32 %b2, %a1, 4;
  add.s64 %b1, %b1, %b2;
  ld.param.u32 %a2, [%b1];
  ld.param.u32 %a3, [s+4];
  add.u32 %a2, %a2, %a3;
  st.param.b32 [r], %a2;
  ret;
}
)";
  const auto out = run_block(kernel_text(R"(
and.b32 %r3, %r1, 3;
add.u32 %r4, %r1, 100;
{ .param .align 8 .b8 s[16]; .param .b32 i; .param .b32 q;
st.param.b32 [s], %r1;
st.param.b32 [s+4], %r4;
st.param.b32 [s+8], 7;
st.param.b32 [s+12], 9;
st.param.b32 [i], %r3;
call.uni (q), element, (s, i);
ld.param.b32 %r2, [q];
}
st.global.u32 [%rd2], %r2;
ret;)",
                                         element),
                             32, GetParam());
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t elements[] = {i, i + 100, 7, 9};
    EXPECT_EQ(out[i], elements[i % 4] + i + 100) << i;
  }
}

}  // namespace
}  // namespace lockstep::isa::calls_test
