/// Loads and stores of surfaces, inside and outside.
#include "core/error/error.hpp"
#include "tests/unit/isa/textures/texture_bench.hpp"

namespace lockstep::isa::texture_test {
namespace {

LOCKSTEP_BOTH_FORMS(Surfaces);

/// Threads access bytes (x, y) of a surface of 4 x 3 words, which has numbers from 100 on.
struct SurfaceBench {
  SurfaceBench(const std::string& access, bool lowered)
      : bench(fetch_kernel("mov.b32 %r4, 7;\nmov.b32 %r5, 7;\nmov.b32 %r6, 7;\nmov.b32 %r7, 7;\n" +
                           access),
              lowered) {
    std::vector<std::uint32_t> words(3 * row_words);
    for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = 100 + i;
    texels = bench.buffer(words);
    Picture picture = floats({}, 4, 3);
    picture.row_bytes = 4 * row_words;
    surface = bench.buffer(std::vector{header_of(picture, texels)});
  }
  std::vector<std::uint32_t> run(const std::vector<int>& coordinates) {
    const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(coordinates.size()));
    bench.run("k", {1, 1, 1}, {static_cast<std::uint32_t>(coordinates.size() / 4), 1, 1}, out,
              surface, bench.buffer(coordinates));
    return bench.values<std::uint32_t>(out, coordinates.size());
  }
  std::vector<std::uint32_t> words() { return bench.values<std::uint32_t>(texels, 3 * row_words); }

  static constexpr int row_words = 8;
  IsaBench bench;
  std::uint64_t texels, surface;
};

TEST_P(Surfaces, XCountsBytesAndYRows) {
  SurfaceBench two("suld.b.2d.b32.trap {%r4}, [%rd2, {%r1, %r2}]", GetParam());
  const auto got = two.run({0, 0, 0, 0, 12, 0, 0, 0, 4, 2, 0, 0});
  EXPECT_EQ((std::vector{got[0], got[4], got[8]}), (std::vector<std::uint32_t>{100, 103, 117}));
  SurfaceBench one("suld.b.1d.v2.b32.trap {%r4, %r5}, [%rd2, {%r1}]", GetParam());
  EXPECT_EQ(one.run({8, 0, 0, 0}), (std::vector<std::uint32_t>{102, 103, 7, 7}));
}

TEST_P(Surfaces, BytesAndHalvesGoIntoNarrowRegisters) {
  SurfaceBench bench("suld.b.2d.b8.trap {%rs1}, [%rd2, {%r1, %r2}];\ncvt.u32.u16 %r4, %rs1",
                     GetParam());
  EXPECT_EQ(bench.run({4, 1, 0, 0})[0], 109u);
}

TEST_P(Surfaces, ClampBringsAnAccessToTheEdge) {
  SurfaceBench bench("suld.b.2d.b32.clamp {%r4}, [%rd2, {%r1, %r2}]", GetParam());
  const auto got = bench.run({-8, -1, 0, 0, 16, 1, 0, 0, 4, 9, 0, 0});
  EXPECT_EQ((std::vector{got[0], got[4], got[8]}), (std::vector<std::uint32_t>{100, 111, 117}));
}

TEST_P(Surfaces, ZeroIsReadOutsideAndNothingIsWritten) {
  SurfaceBench reads("suld.b.2d.v2.b32.zero {%r4, %r5}, [%rd2, {%r1, %r2}]", GetParam());
  const auto got = reads.run({8, 1, 0, 0, 16, 1, 0, 0, 0, -1, 0, 0});
  EXPECT_EQ(got, (std::vector<std::uint32_t>{110, 111, 7, 7, 0, 0, 7, 7, 0, 0, 7, 7}));
  SurfaceBench writes("sust.b.2d.b32.zero [%rd2, {%r1, %r2}], {%r3}", GetParam());
  const auto before = writes.words();
  writes.run({16, 0, 55, 0, 0, 3, 55, 0, -4, 0, 55, 0, 8, 1, 55, 0});
  auto expected = before;
  expected[10] = 55;
  EXPECT_EQ(writes.words(), expected);
}

TEST_P(Surfaces, WhatWasStoredIsLoaded) {
  SurfaceBench bench(
      "sust.b.2d.v4.b32.trap [%rd2, {%r1, %r2}], {%r3, %r2, %r1, %r9};\n"
      "suld.b.2d.v4.b32.trap {%r4, %r5, %r6, %r7}, [%rd2, {%r1, %r2}]",
      GetParam());
  EXPECT_EQ(bench.run({0, 1, 33, 44}), (std::vector<std::uint32_t>{33, 1, 0, 44}));
}

/// Three slices of a row of four words, or layers of the same.
TEST_P(Surfaces, SlicesLieOneBehindTheOther) {
  const auto loads = [&](const std::string& access, const std::vector<int>& coordinates) {
    SurfaceBench bench(access, GetParam());
    Picture picture = floats({}, 4, 1);
    picture.row_bytes = 4 * SurfaceBench::row_words;
    picture.size[2] = 3;
    const TextureHeader header = header_of(picture, bench.texels);
    bench.bench.memory().write(bench.surface, &header, sizeof header);
    std::vector<std::uint32_t> first;
    const auto got = bench.run(coordinates);
    for (std::size_t i = 0; i < got.size(); i += 4) first.push_back(got[i]);
    return first;
  };
  using Words = std::vector<std::uint32_t>;
  const std::string volume = " {%r4}, [%rd2, {%r1, %r2, %r3, %r3}]";
  EXPECT_EQ(loads("suld.b.3d.b32.trap" + volume, {4, 0, 2, 0, 12, 0, 1, 0}), (Words{117, 111}));
  EXPECT_EQ(
      loads("suld.b.3d.b32.zero" + volume, {4, 1, 1, 0, 4, 0, 3, 0, 4, 0, -1, 0, 4, -1, 1, 0}),
      (Words{0, 0, 0, 0}));
  EXPECT_EQ(loads("suld.b.3d.b32.clamp" + volume, {99, 9, 9, 0, -4, -1, -1, 0}), (Words{119, 100}));
  EXPECT_EQ(loads("suld.b.a1d.b32.zero {%r4}, [%rd2, {%r1, %r2}]", {2, 4, 0, 0, 3, 4, 0, 0}),
            (Words{117, 0}));
  EXPECT_EQ(
      loads("suld.b.a2d.b32.zero {%r4}, [%rd2, {%r1, %r2, %r3, %r3}]", {1, 8, 0, 0, 1, 8, 1, 0}),
      (Words{110, 0}));
}

TEST_P(Surfaces, TrapEndsTheProgramAtItsLine) {
  SurfaceBench bench("suld.b.2d.b32.trap {%r4}, [%rd2, {%r1, %r2}]", GetParam());
  EXPECT_NO_THROW(bench.run({12, 2, 0, 0}));
  for (const auto& [x, y] : {std::pair{16, 0}, {0, 3}, {-4, 0}, {0, -1}}) try {
      bench.run({x, y, 0, 0});
      ADD_FAILURE() << x << ", " << y << " is inside";
    } catch (const UserError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("an access lies outside of its surface"), std::string::npos)
          << message;
      EXPECT_NE(message.find("test.ptx:26"), std::string::npos) << message;
    }
}

TEST_P(Surfaces, LanesWhoseGuardDoesNotHoldAccessNothing) {
  SurfaceBench bench("setp.eq.u32 %p1, %r10, 0;\n@%p1 suld.b.2d.b32.trap {%r4}, [%rd2, {%r1, %r2}]",
                     GetParam());
  EXPECT_EQ(bench.run({4, 0, 0, 0, 400, 400, 0, 0}),
            (std::vector<std::uint32_t>{101, 7, 7, 7, 7, 7, 7, 7}));
}

TEST(SurfaceErrors, WhatIsNotSupportedIsRefused) {
  for (const std::string instruction :
       {"suld.b.cube.b32.trap {%r4}, [%rd2, {%r1, %r2, %r3, %r3}]",
        "sust.p.2d.v4.b32.trap [%rd2, {%r1, %r2}], {%r4, %r5, %r6, %r7}",
        "sured.b.add.2d.u32.trap [%rd2, {%r1, %r2}], %r3",
        "suld.b.2d.b32.trap {%r4}, [%rd2, {%r1}]"})
    EXPECT_THROW(IsaBench(fetch_kernel(instruction)), UserError) << instruction;
}

}  // namespace
}  // namespace lockstep::isa::texture_test
