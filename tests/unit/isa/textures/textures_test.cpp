/// Texture fetches from text to values: what the programming guide says, one rule each, and random
/// textures against a reference of its own.
#include <cstdlib>
#include <random>

#include "core/error/error.hpp"
#include "tests/unit/isa/textures/texture_bench.hpp"

namespace lockstep::isa::texture_test {
namespace {

LOCKSTEP_BOTH_FORMS(Textures);

const std::string fetch_1d = "tex.1d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1}]";
const std::string fetch_2d = "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2}]";
const std::string fetch_3d = "tex.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2, %f3, %f3}]";

/// The first channels at these x.
std::vector<float> along_x(const Picture& picture, const std::vector<float>& xs, bool lowered) {
  std::vector<float> coordinates, result;
  for (const float x : xs) coordinates.insert(coordinates.end(), {x, 0, 0, 0});
  const auto all = run_fetches<float>(fetch_kernel(fetch_1d), picture, coordinates, lowered);
  for (std::size_t i = 0; i < xs.size(); ++i) result.push_back(all[4 * i]);
  return result;
}
using Floats = std::vector<float>;

TEST_P(Textures, WithoutFilteringACoordinateTakesTheTexelThatItLiesIn) {
  const Picture picture = floats({10, 20, 30, 40}, 4);
  EXPECT_EQ(along_x(picture, {0, 0.99F, 1, 2.5F, 3.99F}, GetParam()), (Floats{10, 10, 20, 30, 40}));
}

TEST_P(Textures, LinearFilteringMixesTheTexelsWhoseCentresAreAround) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  picture.linear = true;
  EXPECT_EQ(along_x(picture, {0.5F, 1, 0.75F, 1.5F, 3.25F}, GetParam()),
            (Floats{10, 15, 12.5F, 20, 37.5F}));
}

TEST_P(Textures, WeightsHaveEightBitsBehindThePoint) {
  Picture picture = floats({0, 256}, 2);
  picture.linear = true;
  EXPECT_EQ(
      along_x(picture, {0.5F + 1.0F / 1024, 0.5F + 1.0F / 512, 1.5F - 1.0F / 1024}, GetParam()),
      (Floats{0, 1, 256}));
}

TEST_P(Textures, ClampRepeatsTheEdge) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  EXPECT_EQ(along_x(picture, {-5, 4, 1e30F}, GetParam()), (Floats{10, 40, 40}));
  picture.linear = true;
  EXPECT_EQ(along_x(picture, {0, 4, -1e30F}, GetParam()), (Floats{10, 40, 10}));
}

TEST_P(Textures, WrapRepeatsThePicture) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  picture.normalized_coordinates = true;
  picture.addressing[0] = Addressing::wrap;
  EXPECT_EQ(along_x(picture, {0.25F, 1.25F, -0.25F, 3}, GetParam()), (Floats{20, 20, 40, 10}));
  picture.linear = true;
  EXPECT_EQ(along_x(picture, {0, 1}, GetParam()), (Floats{25, 25}));
}

TEST_P(Textures, MirrorTurnsEverySecondPictureAround) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  picture.normalized_coordinates = true;
  picture.addressing[0] = Addressing::mirror;
  EXPECT_EQ(along_x(picture, {0.1F, 1.1F, 1.9F, -0.1F, 2.1F}, GetParam()),
            (Floats{10, 40, 10, 10, 10}));
}

TEST_P(Textures, BorderIsOutside) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  picture.addressing[0] = Addressing::border;
  const float colour = 7;
  std::memcpy(picture.border, &colour, 4);
  EXPECT_EQ(along_x(picture, {-0.5F, 0, 3.5F, 4}, GetParam()), (Floats{7, 10, 40, 7}));
  picture.linear = true;
  EXPECT_EQ(along_x(picture, {0}, GetParam()), (Floats{8.5F}));
}

TEST_P(Textures, WrapAndMirrorNeedNormalizedCoordinates) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  for (const Addressing mode : {Addressing::wrap, Addressing::mirror}) {
    picture.addressing[0] = mode;
    EXPECT_EQ(along_x(picture, {-1, 5}, GetParam()), (Floats{10, 40}));
  }
}

TEST_P(Textures, WhatIsNoNumberIsZero) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  const float nan = std::nanf(""), infinity = INFINITY;
  EXPECT_EQ(along_x(picture, {nan, infinity, -infinity}, GetParam()), (Floats{10, 40, 10}));
  picture.normalized_coordinates = true;
  picture.addressing[0] = Addressing::wrap;
  EXPECT_EQ(along_x(picture, {nan, infinity, 1e38F}, GetParam()), (Floats{10, 10, 10}));
}

TEST_P(Textures, IntegersReadAsFractionsReachOneAndMinusOne) {
  Picture picture;
  picture.kind = Kind::is_unsigned;
  picture.bits = 8;
  picture.normalized_read = true;
  picture.size[0] = 4;
  picture.bytes = {0, 51, 128, 255};
  EXPECT_EQ(along_x(picture, {0, 1, 2, 3}, GetParam()),
            (Floats{0, 0.2F, static_cast<float>(128 / 255.0), 1}));
  picture.kind = Kind::is_signed;
  EXPECT_EQ(along_x(picture, {0, 1, 2, 3}, GetParam()),
            (Floats{0, static_cast<float>(51 / 127.0), -1, static_cast<float>(-1 / 127.0)}));
}

TEST_P(Textures, IntegerResultsHaveTheBitsOfFractions) {
  Picture picture;
  picture.kind = Kind::is_unsigned;
  picture.bits = 8;
  picture.normalized_read = true;
  picture.size[0] = 4;
  picture.bytes = {0, 255, 255, 255};
  const std::vector<float> at{0, 0, 0, 0, 1, 0, 0, 0, 1.5F, 0, 0, 0};
  const auto fetched = [&] {
    const auto all =
        run_fetches<float>(fetch_kernel("tex.1d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1}]"),
                           picture, at, GetParam());
    return Floats{all[0], all[4], all[8]};
  };
  EXPECT_EQ(fetched(), (Floats{0, 1, 1}));
  picture.linear = true;
  EXPECT_EQ(fetched(), (Floats{0, 0.5F, 1}));
}

TEST_P(Textures, IntegerCoordinatesAreNotFiltered) {
  Picture picture = floats({10, 20, 30, 40}, 4);
  picture.linear = true;
  picture.addressing[0] = Addressing::border;
  const auto got = run_fetches<float>(
      fetch_kernel("tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd2, {%r1}]"), picture,
      std::vector<int>{2, 0, 0, 0, -1, 0, 0, 0, 4, 0, 0, 0}, GetParam());
  EXPECT_EQ(got, (Floats{30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_P(Textures, NarrowIntegersAreExtendedByTheirSign) {
  Picture picture;
  picture.bits = 8;
  picture.channels = 4;
  picture.bytes = {1, 0x80, 0xff, 0x7f};
  const std::string kernel =
      fetch_kernel("tex.2d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1, %f2}]");
  picture.kind = Kind::is_signed;
  const std::vector<int> at{0, 0, 0, 0};
  EXPECT_EQ(run_fetches<int>(kernel, picture, at, GetParam()), (std::vector{1, -128, -1, 127}));
  picture.kind = Kind::is_unsigned;
  EXPECT_EQ(run_fetches<int>(kernel, picture, at, GetParam()), (std::vector{1, 128, 255, 127}));
}

TEST_P(Textures, LanesWhoseGuardDoesNotHoldKeepTheirRegisters) {
  const Picture picture = floats({10, 20, 30, 40}, 4);
  const std::string fetch =
      "mov.f32 %f4, 0f3f800000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\nmov.f32 %f7, %f4;\n"
      "and.b32 %r8, %r10, 1;\nsetp.eq.u32 %p1, %r8, 1;\n@!%p1 " +
      fetch_1d;
  const auto got = run_fetches<float>(fetch_kernel(fetch), picture,
                                      Floats{2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0}, GetParam());
  EXPECT_EQ(got, (Floats{30, 0, 0, 0, 1, 1, 1, 1, 20, 0, 0, 0}));
}

TEST_P(Textures, LanesMayUseDifferentTextures) {
  IsaBench bench(fetch_kernel("mad.wide.u32 %rd2, %r10, 64, %rd2;\n" + fetch_1d), GetParam());
  std::vector<TextureHeader> headers;
  std::vector<float> at(4 * 8, 0.75F);
  for (int t = 0; t < 8; ++t) {
    const float first = static_cast<float>(t);
    Picture picture = floats({first, 100}, 2);
    picture.linear = t % 2 != 0;
    headers.push_back(header_of(picture, bench.buffer(picture.bytes)));
  }
  const std::uint64_t out = bench.buffer(std::vector<float>(at.size()));
  bench.run("k", {1, 1, 1}, {8, 1, 1}, out, bench.buffer(headers), bench.buffer(at));
  const auto got = bench.values<float>(out, at.size());
  for (int t = 0; t < 8; ++t)
    EXPECT_EQ(got[static_cast<std::size_t>(4 * t)],
              t % 2 != 0 ? 0.75F * static_cast<float>(t) + 25 : static_cast<float>(t));
}

TEST_P(Textures, LayersAreNotMixed) {
  Picture picture = floats({10, 20, 30, 40, 50, 60, 70, 80}, 2, 2);
  picture.size[2] = 2;
  picture.linear = true;
  const std::string a2d = "tex.a2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%r1, %f2, %f3, %f3}]";
  IsaBench bench(fetch_kernel(a2d), GetParam());
  const std::uint64_t texels = bench.buffer(picture.bytes);
  const std::uint64_t texture = bench.buffer(std::vector{header_of(picture, texels)});
  std::vector<float> at{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0};
  for (const int layer : {0, 1, 7})
    std::memcpy(&at[static_cast<std::size_t>(layer == 7 ? 8 : 4 * layer)], &layer, 4);
  const std::uint64_t out = bench.buffer(std::vector<float>(at.size()));
  bench.run("k", {1, 1, 1}, {3, 1, 1}, out, texture, bench.buffer(at));
  const auto got = bench.values<float>(out, at.size());
  EXPECT_EQ((Floats{got[0], got[4], got[8]}), (Floats{25, 65, 65}));
}

TEST_P(Textures, AReferenceIsAVariableThatHoldsTheHeader) {
  const std::string text = fetch_kernel("tex.1d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [tex, {%f1}]",
                                        ".global .texref tex;\n");
  IsaBench bench(text, GetParam());
  const Picture picture = floats({10, 20, 30, 40}, 4);
  const TextureHeader header = header_of(picture, bench.buffer(picture.bytes));
  bench.memory().write(bench.globals()[0], &header, sizeof header);
  const std::uint64_t out = bench.buffer(Floats(4));
  bench.run("k", {1, 1, 1}, {1, 1, 1}, out, out, bench.buffer(Floats{2, 0, 0, 0}));
  EXPECT_EQ(bench.values<float>(out, 1)[0], 30);
}

TEST_P(Textures, QueriesReadTheHeader) {
  Picture picture = floats(Floats(24), 4, 3);
  picture.size[2] = 2;
  const auto got =
      run_fetches<int>(fetch_kernel("txq.width.b32 %r4, [%rd2];\ntxq.height.b32 %r5, [%rd2];\n"
                                    "txq.depth.b32 %r6, [%rd2];\nsuq.width.b32 %r7, [%rd2]"),
                       picture, std::vector<int>(4), GetParam());
  EXPECT_EQ(got, (std::vector{4, 3, 2, 4}));
}

TEST_P(Textures, LevelsOfDetailHaveNoEffectOnTexturesOfOneLevel) {
  const Picture picture = floats({10, 20, 30, 40}, 2, 2);
  for (const std::string fetch :
       {"tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2}], %f3",
        "tex.grad.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2}], {%f3, %f3}, {%f3, %f3}"})
    EXPECT_EQ(run_fetches<float>(fetch_kernel(fetch), picture, Floats{1, 1, 5, 0}, GetParam())[0],
              40);
}

Picture random_picture(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Picture picture;
  picture.channels = 1 << below(3);
  picture.bits = 8 << below(3);
  picture.kind = picture.bits == 8 ? static_cast<Kind>(below(2)) : static_cast<Kind>(below(3));
  picture.normalized_coordinates = below(2) != 0;
  for (Addressing& mode : picture.addressing) mode = static_cast<Addressing>(below(4));
  for (int& n : picture.size) n = 1 + below(7);
  picture.row_bytes = (picture.size[0] * picture.texel_bytes() + 15) / 16 * 16 + 16 * below(2);
  picture.bytes.resize(
      static_cast<std::size_t>(picture.row_bytes * picture.size[1] * picture.size[2]));
  const auto fill = [&](unsigned char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(random());
    if (picture.kind != Kind::is_float) return;
    // Finite numbers: an exponent bit is missing.
    for (std::size_t i = static_cast<std::size_t>(picture.bits / 8) - 1; i < count;
         i += static_cast<std::size_t>(picture.bits / 8))
      bytes[i] &= 0xbf;
  };
  fill(picture.bytes.data(), picture.bytes.size());
  fill(picture.border, sizeof picture.border);
  // Filtering is of floating-point values.
  const bool fractions = picture.kind != Kind::is_float && picture.bits < 32 && below(4) != 0;
  picture.normalized_read = fractions;
  picture.linear = (fractions || picture.kind == Kind::is_float) && below(3) != 0;
  return picture;
}

/// Coordinates that reach some sizes beyond both ends, many of them where two texels meet.
std::vector<float> random_coordinates(std::mt19937& random, const Picture& picture, int threads) {
  std::vector<float> coordinates;
  for (int i = 0; i < 4 * threads; ++i) {
    const int n = picture.size[std::min(i % 4, 2)];
    const auto eighths = static_cast<int>(random() % static_cast<unsigned>(32 * n)) - 16 * n;
    float x = static_cast<float>(eighths) / 8;
    if (random() % 2 != 0) x += static_cast<float>(random() % 1000) / 8000;
    coordinates.push_back(picture.normalized_coordinates ? x / static_cast<float>(n) : x);
  }
  return coordinates;
}

/// 32-bit integers come as they are where floating point is asked for.
bool is_raw(const Picture& picture) {
  return picture.kind != Kind::is_float && !picture.normalized_read;
}

void expect_random(const std::string& fetch, int dimensions, bool lowered, unsigned seed) {
  std::mt19937 random(seed);
  const char* wanted = std::getenv("LOCKSTEP_CASES");
  const int cases = wanted != nullptr ? std::atoi(wanted) : 150;
  for (int i = 0; i < cases; ++i) {
    const Picture picture = random_picture(random);
    if (is_raw(picture)) continue;
    const auto at = random_coordinates(random, picture, 64);
    const auto got = run_fetches<float>(fetch_kernel(fetch), picture, at, lowered);
    for (std::size_t t = 0; t < 64; ++t)
      for (int c = 0; c < 4; ++c)
        ASSERT_EQ(got[4 * t + static_cast<std::size_t>(c)],
                  picture.fetch(&at[4 * t], dimensions, c))
            << "picture " << i << " of " << picture.channels << " x " << picture.bits
            << (picture.linear ? " bits, filtered" : " bits") << ", channel " << c << " at "
            << at[4 * t] << ", " << at[4 * t + 1] << ", " << at[4 * t + 2];
  }
}

TEST_P(Textures, RandomOnesAreAsTheGuideSays) {
  expect_random(fetch_1d, 1, GetParam(), 1);
  expect_random(fetch_2d, 2, GetParam(), 2);
  expect_random(fetch_3d, 3, GetParam(), 3);
}

/// The texel that a coordinate lies in.
long whole_texel(const Picture& picture, int dimension, double x) {
  return std::lround(std::floor(picture.normalized_coordinates ? x * picture.size[dimension] : x));
}

TEST_P(Textures, RandomOnesOfIntegersAreAsTheGuideSays) {
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    const Picture picture = random_picture(random);
    if (!is_raw(picture)) continue;
    const auto at = random_coordinates(random, picture, 64);
    const std::string type = picture.kind == Kind::is_signed ? "s32" : "u32";
    const auto got = run_fetches<std::uint32_t>(
        fetch_kernel("tex.2d.v4." + type + ".f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1, %f2}]"),
        picture, at, GetParam());
    for (std::size_t t = 0; t < 64; ++t)
      for (int c = 0; c < 4; ++c) {
        const long x = whole_texel(picture, 0, at[4 * t]);
        const long y = whole_texel(picture, 1, at[4 * t + 1]);
        ASSERT_EQ(got[4 * t + static_cast<std::size_t>(c)],
                  static_cast<std::uint32_t>(static_cast<std::int64_t>(picture.texel(x, y, 0, c))))
            << "picture " << i << " channel " << c;
      }
  }
}

TEST(TextureErrors, WhatIsNotSupportedIsNamedWithItsLine) {
  struct Refused {
    const char *instruction, *why;
  };
  for (const auto& [instruction, why] :
       {Refused{"tex.cube.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2, %f3, %f3}]",
                "this geometry is not supported"},
        Refused{"tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, %rd3, {%f1, %f2}]",
                "samplers apart from their texture are not supported"},
        Refused{"tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1}]", "needs 2 coordinates"},
        Refused{"tex.2d.v2.f16x2.f32 {%r4, %r5}, [%rd2, {%f1, %f2}]", "gives four channels, .v4"},
        Refused{"txq.normalized_coords.b32 %r4, [%rd2]", "this query is not supported"},
        Refused{"tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2}]",
                "instruction tld4.r.2d.v4.f32.f32 is not supported"}})
    try {
      IsaBench bench(fetch_kernel(instruction));
      ADD_FAILURE() << instruction << " is read";
    } catch (const UserError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("test.ptx:22:"), std::string::npos) << message;
      EXPECT_NE(message.find(why), std::string::npos) << message;
    }
}

}  // namespace
}  // namespace lockstep::isa::texture_test
