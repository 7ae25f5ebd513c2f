#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::memory_access_test {
namespace {

LOCKSTEP_BOTH_FORMS(MemoryAccess);

std::string error_of(const std::string& body, bool lowered) {
  try {
    run_block(kernel_text(body), 40, lowered);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_P(MemoryAccess, OneByteBeyondABufferIsReported) {
  const std::string message =
      error_of("st.global.u8 [%rd2], 1;\nadd.s64 %rd3, %rd1, 160;\nst.global.u8 [%rd3], 7;\nret;",
               GetParam());
  EXPECT_EQ(message,
            "test.ptx:18: kernel k, block (0, 0, 0), thread (0, 0, 0): out-of-bounds global store "
            "of 1 bytes at 0x1000000a0 - check the index, and the size of what it goes into");
}

TEST_P(MemoryAccess, TheFirstThreadThatLeavesABufferIsNamed) {
  const std::string message = error_of(
      "add.s64 %rd3, %rd2, 12;\nld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd2], %r2;\nret;",
      GetParam());
  EXPECT_NE(message.find("thread (37, 0, 0): out-of-bounds global load"), std::string::npos)
      << message;
}

TEST_P(MemoryAccess, AMisalignedAddressIsReported) {
  const std::string message =
      error_of("ld.global.u32 %r2, [%rd1+2];\nst.global.u32 [%rd2], %r2;\nret;", GetParam());
  EXPECT_NE(message.find("misaligned global load of 4 bytes at 0x100000002"), std::string::npos)
      << message;
}

TEST_P(MemoryAccess, SharedAndLocalBoundsAreChecked) {
  EXPECT_NE(
      error_of(".shared .align 4 .b8 s[16];\nmov.u32 %r2, s;\nst.shared.u32 [%r2+16], %r1;\nret;",
               GetParam())
          .find("out-of-bounds shared store"),
      std::string::npos);
  EXPECT_NE(
      error_of(".local .align 4 .b8 l[16];\nmov.u32 %r2, l;\nst.local.u32 [%r2+65536], %r1;\nret;",
               GetParam())
          .find("out-of-bounds local store"),
      std::string::npos);
}

TEST_P(MemoryAccess, ATrapNamesTheThread) {
  EXPECT_NE(error_of("setp.eq.u32 %p1, %r1, 33;\n@%p1 trap;\nret;", GetParam())
                .find("thread (33, 0, 0): trap"),
            std::string::npos);
}

TEST_P(MemoryAccess, NarrowLoadsExtendToTheirRegister) {
  const auto out = run_block(kernel_text(R"(
    .shared .align 8 .b8 s[16];
    mov.u32 %r2, 0x8180fffe;
    st.shared.u32 [s], %r2;
    ld.shared.s8 %r3, [s];
    ld.shared.u8 %r4, [s];
    ld.shared.s16 %r5, [s+2];
    ld.shared.s8 %rs1, [s+3];
    cvt.u32.u16 %r6, %rs1;
    ld.shared.s32 %rd3, [s];
    shr.u64 %rd3, %rd3, 32;
    cvt.u32.u64 %r7, %rd3;
    xor.b32 %r3, %r3, 0xfffffffe;
    xor.b32 %r4, %r4, 0xfe;
    xor.b32 %r5, %r5, 0xffff8180;
    xor.b32 %r6, %r6, 0xff81;
    xor.b32 %r7, %r7, 0xffffffff;
    or.b32 %r3, %r3, %r4;
    or.b32 %r3, %r3, %r5;
    or.b32 %r3, %r3, %r6;
    or.b32 %r3, %r3, %r7;
    st.global.u32 [%rd2], %r3;
    ret;)"),
                             32, GetParam());
  EXPECT_EQ(out[5], 0u);
}

TEST_P(MemoryAccess, VectorsMoveAllTheirElements) {
  const auto out = run_block(kernel_text(R"(
    .shared .align 16 .b8 s[16];
    mov.u32 %r2, 11; mov.u32 %r3, 22; mov.u32 %r4, 33; mov.u32 %r5, 44;
    st.shared.v4.u32 [s], {%r2, %r3, %r4, %r5};
    ld.shared.v2.u32 {%r6, %r7}, [s+8];
    ld.shared.v4.u32 {%r8, _, %r9, _}, [s];
    add.u32 %r6, %r6, %r7;
    add.u32 %r8, %r8, %r9;
    mad.lo.u32 %r6, %r6, 100, %r8;
    st.global.u32 [%rd2], %r6;
    ret;)"),
                             1, GetParam());
  EXPECT_EQ(out[0], 7744u);
}

TEST_P(MemoryAccess, VariablesHoldTheirInitialContentAndAddresses) {
  const std::string variables = R"(
.global .align 4 .u32 numbers[2][3] = {{1, 2}, {4, 5, 6}};
.global .align 8 .u64 pointer = generic(numbers)+12;
.const .align 4 .u32 table[4] = {100, 200, 300, 400};
)";
  const auto out = run_block(kernel_text(R"(
    ld.global.u64 %rd3, [pointer];
    ld.u32 %r2, [%rd3];
    ld.global.u32 %r3, [numbers+8];
    and.b32 %r4, %r1, 3;
    mul.wide.u32 %rd4, %r4, 4;
    mov.u64 %rd5, table;
    add.s64 %rd5, %rd5, %rd4;
    ld.const.u32 %r5, [%rd5];
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r5;
    st.global.u32 [%rd2], %r2;
    ret;)",
                                         variables),
                             8, GetParam());
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(out[i], 4 + 100 * (i % 4 + 1)) << i;
}

TEST_P(MemoryAccess, DynamicSharedMemoryLiesBehindTheStatic) {
  IsaBench bench(kernel_text(R"(
    .shared .align 4 .b8 fixed[4];
    mov.u32 %r2, grows;
    mov.u32 %r3, fixed;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r2, %r4;
    st.shared.u32 [%r5], %r1;
    st.shared.u32 [%r3], 7;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    ld.shared.u32 %r7, [fixed];
    mad.lo.u32 %r6, %r7, 1000, %r6;
    st.global.u32 [%rd2], %r6;
    ret;)",
                             ".extern .shared .align 16 .b8 grows[];\n"),
                 GetParam());
  const auto out = bench.allocate(4 * 64);
  bench.dynamic_shared = 256;
  bench.run("k", {1, 1, 1}, {64, 1, 1}, out);
  const auto values = bench.values<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], 7000 + i);
  bench.dynamic_shared = 252;
  EXPECT_THROW(bench.run("k", {1, 1, 1}, {64, 1, 1}, out), UserError);
}

TEST_P(MemoryAccess, AtomicsReturnWhatWasThere) {
  const auto out = run_block(kernel_text(R"(
    .shared .align 4 .b8 s[4];
    st.shared.u32 [s], 0;
    bar.sync 0;
    atom.shared.add.u32 %r2, [s], 1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd3, %rd1, %rd3;
    atom.global.exch.b32 %r3, [%rd3], 5;
    red.global.max.u32 [%rd3], %r1;
    ret;)"),
                             64, GetParam());
  // Every ticket is drawn once, so each element was exchanged once.
  std::uint32_t small = 0;
  for (const std::uint32_t value : out) small += value == 5 ? 1 : 0;
  EXPECT_EQ(small, 6u);
}

const std::string own_shared = ".shared .align 16 .b8 own[160];\n";

/// Cooperative groups compiled for sm_80 and later synchronise groups of several warps there.
TEST_P(MemoryAccess, ReservedSharedMemoryIsApartFromTheKernelsOwn) {
  const std::string text = kernel_text(own_shared + R"(
mov.u32 %r2, %reserved_smem_offset_1;
cvt.u64.u32 %rd3, %r2;
cvta.shared.u64 %rd3, %rd3;
mov.u32 %r3, own;
mad.lo.u32 %r3, %r1, 4, %r3;
st.shared.u32 [%r3], %r1;
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd3, %rd3, %rd4;
not.b32 %r4, %r1;
st.u32 [%rd3], %r4;
ld.shared.u32 %r5, [%r3];
ld.u32 %r6, [%rd3];
sub.u32 %r5, %r5, %r6;
mov.u32 %r7, %reserved_smem_offset_begin;
mov.u32 %r8, %reserved_smem_offset_end;
sub.u32 %r8, %r8, %r7;
mov.u32 %r9, %reserved_smem_offset_cap;
setp.ne.u32 %p1, %r8, %r9;
selp.b32 %r5, 0, %r5, %p1;
st.global.u32 [%rd2], %r5;
ret;)");
  const auto out = run_block(text, 40, GetParam());
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(out[i], 2 * i + 1) << i;
  const Module module = load_module_text(text, "reserved.ptx");
  EXPECT_EQ(module.kernels[0].reference.static_shared_bytes, 1024u + 160u);
  EXPECT_EQ(module.kernels[0].lowered.static_shared_bytes, 1024u + 160u);
}

TEST_P(MemoryAccess, KernelsThatDoNotAskForReservedSharedMemoryHaveNone) {
  const Module module = load_module_text(
      kernel_text(own_shared + "mov.u32 %r3, own;\nst.shared.u32 [%r3], %r1;\nret;"), "own.ptx");
  EXPECT_EQ(module.kernels[0].reference.static_shared_bytes, 160u);
  EXPECT_EQ(module.kernels[0].lowered.static_shared_bytes, 160u);
}

}  // namespace
}  // namespace lockstep::isa::memory_access_test
