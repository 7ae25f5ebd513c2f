#include "models/host_link/link_curve.hpp"

#include <gtest/gtest.h>

#include "core/parameters/document.hpp"

namespace lockstep::link_curve_test {
namespace {

using namespace literals;

LinkCurve curve(CurveKind kind) {
  auto parameters = defaults<HostParameters>();
  parameters.link_curve = kind;
  parameters.link_bandwidth = Bandwidth{10e9};
  parameters.transfer_setup = 900_ns;
  return LinkCurve(parameters);
}

double microseconds(Time time) {
  return static_cast<double>(time.femtoseconds()) * 1e-9;
}
double kib(const LinkCurve& curve, std::uint64_t size) {
  return microseconds(curve.duration(size * 1024));
}

/// The link of a file in configs/hosts.
LinkCurve shipped(const std::string& host) {
  const std::string file = std::string(LOCKSTEP_SOURCE_DIR) + "/configs/hosts/" + host + ".yaml";
  return LinkCurve(read_parameters<HostParameters>(load_document(file)));
}

// 000, section 5.3 (difference of a fault with and without data); 001, Table 1; 004, 7.2.2.
TEST(LinkCurve, ShippedHostsTransferAsTheirPapersSay) {
  EXPECT_NEAR(kib(shipped("nvlink"), 64), 2, 0.0001);
  EXPECT_NEAR(kib(shipped("pcie3_tanasic"), 64), 13, 0.0001);
  EXPECT_NEAR(kib(shipped("pcie3_tanasic"), 4) + kib(shipped("pcie3_tanasic"), 60), 13, 0.0001);
  EXPECT_NEAR(kib(shipped("pcie3_uvmsmart"), 64), 7.7309, 0.00005);
  EXPECT_NEAR(kib(shipped("pcie3_mosaic"), 2048) - kib(shipped("pcie3_mosaic"), 4), 263, 0.1);
}

TEST(LinkCurve, MeasuredTimesOfPcie) {
  const LinkCurve measured = curve(CurveKind::measured);
  const struct {
    std::uint64_t kib;
    double microseconds, gigabytes_per_second;
  } table[] = {{4, 1.2713, 3.2219},     {8, 1.6951, 4.8328},     {16, 2.5426, 6.4437},
               {32, 4.3923, 7.4604},    {60, 7.3296, 8.3824},    {64, 7.7309, 8.4771},
               {124, 13.4422, 9.4460},  {128, 13.8079, 9.4925},  {188, 19.1446, 10.0557},
               {192, 19.4921, 10.0866}, {252, 24.6113, 10.4849}, {256, 24.9471, 10.508},
               {508, 47.8934, 10.8615}, {512, 48.2525, 10.8655}, {1020, 93.0828, 11.2210},
               {1024, 93.4310, 11.223}};
  for (const auto& row : table) {
    const double time = kib(measured, row.kib);
    EXPECT_NEAR(time, row.microseconds, 0.00005) << row.kib << " KiB";
    EXPECT_NEAR(static_cast<double>(row.kib) * 1.024 / time, row.gigabytes_per_second, 0.000051);
  }
}

TEST(LinkCurve, MeasuredTimesAreExactAtThePoints) {
  // s / B(s) in femtoseconds, rounded.
  EXPECT_EQ(curve(CurveKind::measured).duration(4096), 1271299544_fs);
  EXPECT_EQ(curve(CurveKind::measured).duration(1 << 20), 93430989931_fs);
}

TEST(LinkCurve, SmallTransfersTakeAsLongAsAPage) {
  const LinkCurve measured = curve(CurveKind::measured);
  EXPECT_EQ(measured.duration(1), measured.duration(4096));
  EXPECT_LT(measured.duration(4096), measured.duration(4097));
}

TEST(LinkCurve, LargeTransfersGoAtTheLastBandwidth) {
  EXPECT_NEAR(kib(curve(CurveKind::measured), 1 << 20), 1073741824 / 11.223e3, 0.001);
}

TEST(LinkCurve, TimesOfTheTreeExamples) {
  const LinkCurve measured = curve(CurveKind::measured);
  EXPECT_NEAR(kib(measured, 4) + kib(measured, 60) + 3 * kib(measured, 64), 31.79, 0.005);
  EXPECT_NEAR(kib(measured, 4) + kib(measured, 252), 25.88, 0.005);
}

TEST(LinkCurve, LongerTransfersNeverTakeLess) {
  for (const CurveKind kind : {CurveKind::measured, CurveKind::affine, CurveKind::atan}) {
    const LinkCurve one = curve(kind);
    Time before;
    for (std::uint64_t bytes = 128; bytes <= 4 << 20; bytes += 128) {
      const Time time = one.duration(bytes);
      ASSERT_GE(time, before) << bytes << " bytes";
      before = time;
    }
  }
}

TEST(LinkCurve, AffineIsSetUpAndBandwidth) {
  EXPECT_EQ(curve(CurveKind::affine).duration(1000), 1'000_ns);
  EXPECT_EQ(curve(CurveKind::affine).duration(1'000'000), 100'900_ns);
}

TEST(LinkCurve, ArcTangentIsThatOfTheLibraryWithinRounding) {
  const LinkCurve fitted = curve(CurveKind::atan);
  for (const double size : {0.125, 1.0, 4.0, 7.0, 8.0, 64.0, 1024.0, 65536.0}) {
    const double rate = 2 / M_PI * 10.01 * std::atan(0.129 * size);  // GB/s
    const double time = microseconds(fitted.duration(static_cast<std::uint64_t>(size * 1024)));
    EXPECT_NEAR(time, size * 1.024 / rate, 1e-6 * time) << size << " KiB";
  }
}

}  // namespace
}  // namespace lockstep::link_curve_test
