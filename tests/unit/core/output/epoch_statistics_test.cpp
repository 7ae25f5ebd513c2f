#include "core/output/epoch_statistics.hpp"

#include <gtest/gtest.h>

#include "core/error/error.hpp"
#include "core/output/compare.hpp"
#include "tests/unit/core/output/sample_run.hpp"

namespace lockstep::epoch_statistics_test {
namespace {

using namespace sample;

template <class Statistics>
class Stub final : public Component {
 public:
  Time next_activity() const override { return Time::never(); }
  void advance(Time, Inbox, Outbox&) override {}
  void serialize(Archive&) override {}
  StatisticsView statistics(Time) override { return statistics_view(values); }
  std::vector<StatisticsView> parts(Time) override { return parts_; }
  Statistics values;
  std::vector<StatisticsView> parts_;
};

/// The sample machine as components, interleaved so that ids and kinds have another order.
struct Components {
  Graph graph;
  std::array<Stub<SmStatistics>, 3> sms;
  std::array<Stub<PartitionStatistics>, 2> partitions;
  std::vector<Component*> by_id;

  Components() {
    const KindId sm = graph.add_kind("sm"), partition = graph.add_kind("partition");
    for (std::size_t i = 0; i < 3; ++i) {
      graph.add_component(sm);
      by_id.push_back(&sms[i]);
      sms[i].values.instructions += 10 + i;
      if (i == 2) continue;
      graph.add_component(partition);
      by_id.push_back(&partitions[i]);
      set_tenants(partitions[i].values, 2);
      partitions[i].values.reads[i] += 7;
    }
  }

  /// One epoch written by ranks that own the components that `rank_of` gives them.
  template <class RankOf>
  void write(const std::string& path, std::size_t ranks, RankOf&& rank_of) {
    RunOutput output(path);
    StatisticsRecorder recorder(output, Machine::layout(), {"graph", "dense"});
    output.start();
    const StatisticsLayout layout = Machine::layout();
    EpochStatistics observer(graph, layout, &recorder);
    std::vector<std::vector<std::byte>> contributions;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<LocalComponent> local;
      for (std::uint32_t id = 0; id < by_id.size(); ++id) {
        if (rank_of(id) == rank) local.push_back({ComponentId{id}, by_id[id]});
      }
      observer.prepare(local);
      for (std::size_t i = 0; i < local.size(); ++i) observer.look(Time{5}, i, local[i]);
      contributions.push_back(observer.sample(Time{5}, local));
    }
    observer.collect(Time{5}, contributions);
    recorder.finish();
    output.finish_epochs();
    recorder.write_totals();
    output.close();
  }
};

TEST(EpochStatistics, FileDoesNotDependOnWhoOwnsWhat) {
  const TemporaryFile one("one"), three("three");
  Components components;
  components.write(one.path(), 1, [](std::uint32_t) { return 0u; });
  components.write(three.path(), 4, [](std::uint32_t id) { return (7 - id) % 3; });
  const FileComparison comparison = compare_files(one.path(), three.path());
  EXPECT_TRUE(comparison.equal) << comparison.text();
  const h5::File file = h5::File::open_to_read(three.path());
  const auto bytes = file.read("/final/stats/sm/instructions", 0, 3);
  const auto* values = reinterpret_cast<const std::uint64_t*>(bytes.data());
  EXPECT_EQ((std::vector<std::uint64_t>(values, values + 3)),
            (std::vector<std::uint64_t>{10, 11, 12}));
}

TEST(EpochStatistics, PartsOfAComponentAreInstancesOfTheKindWithTheirSchema) {
  const TemporaryFile file("parts");
  Components components;
  auto& [left, right] = components.partitions;
  components.sms[0].parts_ = {statistics_view(left.values), statistics_view(right.values)};
  // The partitions themselves live on no rank.
  components.write(file.path(), 1, [&](std::uint32_t id) {
    return components.graph.nodes()[id].kind == KindId{0} ? 0u : 1u;
  });
  const h5::File written = h5::File::open_to_read(file.path());
  const auto bytes = written.read("/final/stats/partition/reads", 0, 2);
  const auto* reads = reinterpret_cast<const std::uint64_t*>(bytes.data());
  EXPECT_EQ((std::vector<std::uint64_t>(reads, reads + 4)),
            (std::vector<std::uint64_t>{7, 0, 0, 7}));
}

TEST(EpochStatistics, PartsOfSeveralComponentsStandInTheOrderOfTheComponents) {
  const TemporaryFile file("parts_of_several");
  Components components;
  components.sms[1].parts_ = {statistics_view(components.partitions[0].values)};
  components.sms[0].parts_ = {statistics_view(components.partitions[1].values)};
  components.write(file.path(), 1, [&](std::uint32_t id) {
    return components.graph.nodes()[id].kind == KindId{0} ? 0u : 1u;
  });
  const h5::File written = h5::File::open_to_read(file.path());
  const auto bytes = written.read("/final/stats/partition/reads", 0, 2);
  const auto* reads = reinterpret_cast<const std::uint64_t*>(bytes.data());
  EXPECT_EQ((std::vector<std::uint64_t>(reads, reads + 4)),
            (std::vector<std::uint64_t>{0, 7, 7, 0}));
}

TEST(EpochStatistics, ComponentWithStatisticsOfAnotherKindIsCaught) {
  const TemporaryFile file("wrong");
  Components components;
  std::swap(components.by_id[0], components.by_id[1]);
  EXPECT_THROW(components.write(file.path(), 1, [](std::uint32_t) { return 0u; }), InternalError);
}

}  // namespace
}  // namespace lockstep::epoch_statistics_test
