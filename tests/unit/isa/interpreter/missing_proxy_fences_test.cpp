/// Asynchronous reads of shared memory that the program has written without a fence between.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::missing_proxy_fences_test {
namespace {

/// k(out): all threads write room, in some way; thread 0 stores it in bulk.
std::string store_of(
    const std::string& write, const std::string& behind_write, const std::string& behind_barrier,
    const std::string& copy = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [room], 128;") {
  return kernel_text(R"(.reg .pred %q<3>; .reg .b32 %w<8>; .reg .b64 %u<6>;
.shared .align 128 .b8 room[256];
mov.u32 %w1, room;
shl.b32 %w2, %r1, 2;
add.u32 %w2, %w2, %w1;
)" + write + "\n" + behind_write +
                     R"(
bar.sync 0;
setp.ne.u32 %q1, %r1, 0;
@%q1 bra done;
)" + behind_barrier + "\n" +
                     copy + R"(
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:
ret;)");
}

const std::string fence = "fence.proxy.async.shared::cta;";
const std::string plain = "st.shared.u32 [%w2], %r1;";

std::string mistake_of(const std::string& text, bool lowered = false) {
  IsaBench bench(text, lowered);
  const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(64));
  try {
    bench.run("k", {1, 1, 1}, {32, 1, 1}, out);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(MissingProxyFences, AreToldWithBothPlaces) {
  const std::string text = mistake_of(store_of(plain, "", ""));
  EXPECT_NE(text.find("reads shared memory that thread (3, 0, 0) has written at line 21"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("thread (0, 0, 0): "), std::string::npos) << text;
  EXPECT_NE(text.find("fence.proxy.async"), std::string::npos) << text;
}

TEST(MissingProxyFences, OneOfTheWriterOrOfTheReaderIsEnough) {
  EXPECT_EQ(mistake_of(store_of(plain, fence, "")), "");
  EXPECT_EQ(mistake_of(store_of(plain, "", fence)), "");
  EXPECT_EQ(mistake_of(store_of(plain, "fence.proxy.async;", "")), "");
  EXPECT_NE(mistake_of(store_of(fence + "\n" + plain, "", "")), "") << "before the write";
  EXPECT_NE(mistake_of(store_of(plain, "fence.proxy.async.global;", "")), "") << "of other memory";
  EXPECT_NE(mistake_of(store_of(plain, "fence.acq_rel.cta;", "")), "") << "of no proxy";
}

TEST(MissingProxyFences, CountForEveryKindOfWrite) {
  for (const std::string write :
       {"atom.shared.add.u32 %w3, [%w2], 1;",
        "cvt.u64.u32 %u1, %w2;\nmov.u64 %u3, room;\ncvta.shared.u64 "
        "%u2, %u1;\nst.u32 [%u2], %r1;",
        "cp.async.ca.shared.global [%w2], [%rd2], 4;\ncp.async.wait_all;"}) {
    EXPECT_NE(mistake_of(store_of(write, "", "")), "") << write;
    EXPECT_EQ(mistake_of(store_of(write, fence, "")), "") << write;
  }
}

TEST(MissingProxyFences, WhatIsNotCopiedNeedsNone) {
  const std::string second_half =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [room+128], 128;";
  EXPECT_EQ(mistake_of(store_of(plain, "", "", second_half)), "");
  EXPECT_EQ(mistake_of(store_of("st.shared.u32 [%w2+128], %r1;", "", "", second_half)).empty(),
            false);
  EXPECT_EQ(mistake_of(store_of("", "", "")), "");
}

TEST(MissingProxyFences, ALoweredProgramHasNoFencesAndIsNotAsked) {
  EXPECT_EQ(mistake_of(store_of(plain, "", ""), true), "");
}

}  // namespace
}  // namespace lockstep::isa::missing_proxy_fences_test
