#include "core/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::statistics_test {
namespace {

struct Sample {
  Counter hits;
  std::array<Counter, 3> stalls;
  Histogram<4> delay;
  Gauge level;
  RealGauge share;
  PerTenant<Counter> row_hits;
  PerTenant<Histogram<2>> latency;
  PerTenantPair waits;
  PerTenant<std::array<Counter, 2>> causes;

  static auto schema() {
    return statistics<Sample>()
        .counter("hits", &Sample::hits, "sectors", "served without DRAM")
        .counters("stalls", &Sample::stalls, {"tag", "mshr", "queue"}, "cycles", "why it waited")
        .histogram("delay", &Sample::delay, "cycles", "wait before the tag array")
        .gauge("level", &Sample::level, "entries", "queue length")
        .gauge("share", &Sample::share, "ratio", "of the bus")
        .per_tenant("row_hits", &Sample::row_hits, "accesses", "to an open row")
        .per_tenant("latency", &Sample::latency, "cycles", "of a read")
        .per_tenant_pair("waits", &Sample::waits, "cycles", "of one tenant behind another")
        .per_tenant("causes", &Sample::causes, {"a", "b"}, "cycles", "why each waited");
  }
};

/// All that a tenant has side by side, here with a word between that no field names.
struct Grouped {
  struct OfTenant {
    Counter hits;
    std::uint64_t unnamed = 99;
    std::array<Counter, 2> causes;
    Histogram<2> latency;
  };
  Counter all;
  PerTenant<OfTenant> tenant;

  static auto schema() {
    using S = Grouped;
    return statistics<S>()
        .per_tenant("causes", &S::tenant, &OfTenant::causes, {"a", "b"}, "cycles",
                    "why each waited")
        .counter("all", &S::all, "sectors", "of all tenants")
        .per_tenant("latency", &S::tenant, &OfTenant::latency, "cycles", "of a read")
        .per_tenant("hits", &S::tenant, &OfTenant::hits, "sectors", "served without DRAM");
  }
};

template <class S>
std::vector<std::uint64_t> row_of(const S& sample, std::size_t tenants) {
  const StatisticsSchema& schema = statistics_schema_of<S>();
  std::vector<std::uint64_t> row(schema.row_size(tenants));
  schema.gather(&sample, tenants, row);
  return row;
}

/// Two tenants, and another value in each kind of field.
Sample busy_sample() {
  Sample sample;
  set_tenants(sample, 2);
  ++sample.hits;
  sample.stalls[2] += 5;
  sample.delay.add(0);
  sample.delay.add(2, 3);
  sample.level = 7;
  sample.share = 0.5;
  ++sample.row_hits[1];
  sample.latency[1].add(9);
  sample.waits.at(0, 1) += 4;
  sample.causes[1][0] += 6;
  return sample;
}
Grouped busy_group() {
  Grouped grouped;
  set_tenants(grouped, 2);
  grouped.all += 7;
  grouped.tenant[0].hits += 1;
  grouped.tenant[1].hits += 2;
  grouped.tenant[0].causes[1] += 3;
  grouped.tenant[1].causes[0] += 4;
  grouped.tenant[1].latency.add(0, 5);
  return grouped;
}

TEST(Statistics, RowHoldsEveryValueInTheOrderOfDeclaration) {
  EXPECT_EQ(row_of(busy_sample(), 2),
            (std::vector<std::uint64_t>{
                1, 0, 0, 5, 1, 0, 3, 0, 7, std::bit_cast<std::uint64_t>(0.5), 0, 1, 0, 0, 0,
                1, 0, 4, 0, 0, 0, 0, 6, 0}));
}

TEST(Statistics, FieldsOfATenantsGroupStandTenantByTenantInTheRow) {
  const Grouped grouped = busy_group();
  EXPECT_EQ(row_of(grouped, 2), (std::vector<std::uint64_t>{0, 3, 4, 0, 7, 0, 0, 5, 0, 1, 2}));
  EXPECT_THROW(row_of(grouped, 3), InternalError);
}

template <class S>
std::string saved(S values) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  archive(values);
  return out.str();
}
template <class S>
void restore(S& values, const std::string& bytes) {
  std::istringstream in(bytes);
  Archive archive = Archive::restoring(in);
  archive(values);
}

TEST(Statistics, EveryKindOfFieldComesBackFromACheckpoint) {
  Sample sample;  // not sized for its tenants: they come with the values
  restore(sample, saved(busy_sample()));
  EXPECT_EQ(row_of(sample, 2), row_of(busy_sample(), 2));
  EXPECT_EQ(sample.waits.at(0, 1).value(), 4u);
  EXPECT_EQ(sample.share.value(), 0.5);
}

TEST(Statistics, FieldsOfATenantsGroupComeBackAndWhatTheSchemaDoesNotNameStays) {
  Grouped original = busy_group(), grouped;
  original.tenant[1].unnamed = 5;
  restore(grouped, saved(original));
  EXPECT_EQ(row_of(grouped, 2), row_of(original, 2));
  EXPECT_EQ(grouped.tenant[1].hits.value(), 2u);
  EXPECT_EQ(grouped.tenant[1].unnamed, 99u);
}

/// The sample of a program whose schema has one more field.
struct Longer : Grouped {
  Counter added;
  static auto schema() {
    return statistics<Longer>()
        .counter("all", &Longer::all, "sectors", "of all tenants")
        .counter("added", &Longer::added, "sectors", "of late");
  }
};

TEST(Statistics, AFieldThatIsAddedToTheSchemaIsSaved) {
  Longer original, longer;
  original.added += 3;
  restore(longer, saved(original));
  EXPECT_EQ(longer.added.value(), 3u);
}

TEST(Statistics, ACheckpointOfOtherFieldsIsRefusedByName) {
  Longer longer;
  EXPECT_EQ(message_of([&] { restore(longer, saved(busy_group())); }),
            "the checkpoint counts \"causes\" where this program counts \"all\" - resume with the "
            "program that wrote it");
}

TEST(Statistics, RowSizeGrowsWithTheTenants) {
  const StatisticsSchema& schema = statistics_schema_of<Sample>();
  EXPECT_EQ(schema.row_size(1), 10u + 1 + 2 + 1 + 2);
  EXPECT_EQ(schema.row_size(8), 10u + 8 + 16 + 64 + 16);
}

TEST(Statistics, UnsizedPerTenantCounterIsCaught) {
  Sample sample;
  EXPECT_THROW(row_of(sample, 2), InternalError);
}

TEST(Statistics, DeclaringANameTwiceIsCaught) {
  EXPECT_THROW(statistics<Sample>()
                   .counter("hits", &Sample::hits, "x", "y")
                   .counter("hits", &Sample::hits, "x", "y"),
               InternalError);
}

TEST(Statistics, StatisticWithoutUnitOrSentenceIsCaught) {
  EXPECT_THROW(statistics<Sample>().counter("hits", &Sample::hits, "", "y"), InternalError);
  EXPECT_THROW(statistics<Sample>().counter("hits", &Sample::hits, "x", ""), InternalError);
}

TEST(Histogram, BinsDoubleAndTheLastHoldsTheRest) {
  Histogram<4> histogram;
  for (const std::uint64_t value : {0, 1, 2, 3, 4, 1000}) histogram.add(value);
  EXPECT_EQ(histogram.bin(0), 1u);
  EXPECT_EQ(histogram.bin(1), 1u);
  EXPECT_EQ(histogram.bin(2), 2u);
  EXPECT_EQ(histogram.bin(3), 2u);
  EXPECT_EQ(Histogram<4>::bin_start(3), 4u);
}

TEST(Histogram, WidestHoldsEveryValue) {
  Histogram<65> histogram;
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.bin(64), 1u);
}

TEST(LinearHistogram, BinsHaveTheirWidth) {
  LinearHistogram<3, 10> histogram;
  for (const std::uint64_t value : {0, 9, 10, 20, 99}) histogram.add(value);
  EXPECT_EQ(histogram.bin(0), 2u);
  EXPECT_EQ(histogram.bin(1), 1u);
  EXPECT_EQ(histogram.bin(2), 2u);
}

}  // namespace
}  // namespace lockstep::statistics_test
