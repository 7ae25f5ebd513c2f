#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/error/error.hpp"
#include "partitioner/fair_turns.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep::partition_test {
namespace {

using namespace literals;

/// `pairs` SMs each talking much to its own partition and little to the next pair, and a hub.
Graph clustered(int clusters, int per_cluster) {
  Graph graph;
  const KindId sm = graph.add_kind("sm"), hub = graph.add_kind("hub");
  std::vector<ComponentId> ids;
  for (int i = 0; i < clusters * per_cluster; ++i) ids.push_back(graph.add_component(sm, 1));
  for (std::size_t a = 0; a < ids.size(); ++a) {
    for (std::size_t b = 0; b < ids.size(); ++b) {
      const bool same = int(a) / per_cluster == int(b) / per_cluster;
      if (a != b) graph.connect(ids[a], ids[b], same ? 20_ns : 100_ns, same ? 10 : 0.01);
    }
  }
  const ComponentId center = graph.add_component(hub, 0.5);
  for (const ComponentId id : ids) {
    graph.connect(id, center, 45_ns, 0.1);
    graph.connect(center, id, 45_ns, 0.1);
  }
  return graph;
}

std::vector<double> loads(const Graph& graph, const Assignment& assignment, int ranks) {
  std::vector<double> result(std::size_t(ranks), 0);
  for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
    result[std::size_t(assignment.places[id].rank)] += graph.nodes()[id].weight;
  }
  return result;
}

TEST(Partition, KeepsClustersTogether) {
  const Graph graph = clustered(4, 5);
  const Assignment assignment = partition(graph, {.ranks = 4});
  for (int cluster = 0; cluster < 4; ++cluster) {
    std::set<int> ranks;
    for (int i = 0; i < 5; ++i) ranks.insert(assignment.places[std::size_t(cluster * 5 + i)].rank);
    EXPECT_EQ(ranks.size(), 1u) << "cluster " << cluster << " is torn";
  }
}

TEST(Partition, BalancesRanksOfAnyNumber) {
  const Graph graph = clustered(1, 80);
  for (int ranks = 1; ranks <= 16; ++ranks) {
    const std::vector<double> load = loads(graph, partition(graph, {.ranks = ranks}), ranks);
    const double most = *std::max_element(load.begin(), load.end());
    EXPECT_LE(most, 80.5 / ranks + 1) << ranks << " ranks";
  }
}

/// Every SM, from number 0, is linked to every memory partition, which come behind them.
Graph crossbar(int sms, int partitions) {
  Graph graph;
  const KindId sm = graph.add_kind("sm"), memory = graph.add_kind("partition");
  std::vector<ComponentId> ids;
  for (int i = 0; i < sms; ++i) ids.push_back(graph.add_component(sm, 1));
  for (int i = 0; i < partitions; ++i) {
    const ComponentId partition = graph.add_component(memory, 0.5);
    for (const ComponentId id : ids) {
      graph.connect(id, partition, 60_ns);
      graph.connect(partition, id, 60_ns);
    }
  }
  return graph;
}

/// SMs and memory partitions take turns: what balances in all would not in either.
TEST(Partition, GivesRanksTheSameShareOfEachKind) {
  const Graph graph = crossbar(80, 32);
  for (const int ranks : {2, 3, 4, 5, 8}) {
    std::vector<int> sms_of(std::size_t(ranks), 0), partitions_of(std::size_t(ranks), 0);
    const Assignment assignment = partition(graph, {.ranks = ranks});
    for (std::size_t id = 0; id < 112; ++id)
      ++(id < 80 ? sms_of : partitions_of)[std::size_t(assignment.places[id].rank)];
    for (const auto& counts : {sms_of, partitions_of}) {
      const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
      EXPECT_LE(*most - *least, 1) << ranks << " ranks";
    }
  }
}

/// Numbers of SMs, their squares and cubes, which is how a trend over them weighs.
template <class Part>
std::array<std::vector<double>, 3> powers(int sms, int parts, Part part_of) {
  std::array<std::vector<double>, 3> sums;
  for (auto& sum : sums) sum.resize(std::size_t(parts), 0);
  for (int i = 0; i < sms; ++i)
    for (std::size_t power = 0; power < sums.size(); ++power)
      sums[power][std::size_t(part_of(std::size_t(i)))] += std::pow(i, double(power + 1));
  return sums;
}

TEST(FairTurns, GiveEachPartTheSameSumsOfPowers) {
  for (const int parts : {2, 3, 4, 5}) {
    const int things = int(std::pow(parts, 4));
    for (const auto& sums :
         powers(things, parts, [&](std::size_t i) { return fair_turn(i, std::size_t(parts)); }))
      for (const double sum : sums) EXPECT_EQ(sum, sums[0]) << parts << " parts";
  }
}

TEST(Partition, NobodyProfitsFromATrendOverTheNumbersOfSms) {
  const Graph graph = crossbar(64, 16);
  for (const int parts : {2, 4}) {
    const Assignment ranks = partition(graph, {.ranks = parts});
    const Assignment threads = partition(graph, {.threads = parts});
    for (const auto& sums : powers(64, parts, [&](std::size_t i) { return ranks.places[i].rank; }))
      EXPECT_LT(*std::max_element(sums.begin(), sums.end()) / sums[0], 1.01) << parts << " ranks";
    for (const auto& sums :
         powers(64, parts, [&](std::size_t i) { return threads.places[i].thread; }))
      EXPECT_LT(*std::max_element(sums.begin(), sums.end()) / sums[0], 1.01) << parts << " threads";
  }
}

TEST(Partition, NoRankIsEmptyEvenWithOneComponentEach) {
  const Graph graph = clustered(2, 3);
  for (int ranks = 1; ranks <= 7; ++ranks) {
    const Assignment assignment = partition(graph, {.ranks = ranks});
    std::set<int> used;
    for (const Place& place : assignment.places) used.insert(place.rank);
    EXPECT_EQ(used.size(), std::size_t(ranks));
    EXPECT_EQ(*used.rbegin(), ranks - 1);
  }
}

TEST(Partition, IsTheSameEveryTime) {
  const Graph graph = clustered(3, 7);
  const Assignment a = partition(graph, {.ranks = 3, .threads = 2});
  const Assignment b = partition(graph, {.ranks = 3, .threads = 2});
  for (std::size_t id = 0; id < a.places.size(); ++id) {
    EXPECT_EQ(a.places[id].rank, b.places[id].rank);
    EXPECT_EQ(a.places[id].thread, b.places[id].thread);
  }
}

TEST(Partition, HeaviestComponentsGoToDifferentThreads) {
  Graph graph;
  const KindId kind = graph.add_kind("x");
  for (const double weight : {5, 4, 3, 3, 3}) graph.add_component(kind, weight);
  const Assignment assignment = partition(graph, {.threads = 2});
  std::vector<int> threads;
  for (const Place& place : assignment.places) threads.push_back(place.thread);
  EXPECT_EQ(threads, (std::vector<int>{0, 1, 1, 0, 1}));
}

TEST(Partition, ProfiledWeightsReplaceThoseOfTheGraph) {
  Graph graph;
  const KindId kind = graph.add_kind("x");
  for (int i = 0; i < 4; ++i) graph.add_component(kind, 1);
  const Assignment assignment = partition(graph, {.ranks = 2, .weights = {3, 1, 1, 1}});
  for (std::size_t id = 1; id < 4; ++id) {
    EXPECT_NE(assignment.places[id].rank, assignment.places[0].rank);
  }
}

TEST(Partition, MoreRanksThanComponentsIsOneLine) {
  const Graph graph = clustered(1, 3);
  try {
    partition(graph, {.ranks = 5});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "there are more ranks (5) than components (4) - start at most 4 ranks");
  }
}

TEST(Partition, ComponentThatNeedsRank0IsThere) {
  const Graph graph = clustered(3, 3);
  for (std::uint32_t id = 0; id < 10; ++id) {
    const ComponentId component{id};
    EXPECT_EQ(partition(graph, 3, 1, component).places[id].rank, 0);
    EXPECT_EQ(random_assignment(graph, 3, 1, id, component).places[id].rank, 0);
    std::set<int> used;
    for (const Place& place : partition(graph, 3, 1, component).places) used.insert(place.rank);
    EXPECT_EQ(used.size(), 3u);
  }
}

TEST(RankCuts, LookaheadIsTheLeastLatencyOfTheCutLinks) {
  Graph graph;
  const KindId kind = graph.add_kind("x");
  const ComponentId a = graph.add_component(kind), b = graph.add_component(kind),
                    c = graph.add_component(kind);
  graph.connect(a, c, 30_ns, 2);
  graph.connect(b, c, 20_ns, 3);
  graph.connect(a, b, 1_ns, 7);
  graph.connect(c, a, 50_ns, 1);
  Assignment assignment;
  assignment.places = {{0, 0}, {0, 0}, {1, 0}};
  const std::vector<RankCut> cuts = rank_cuts(graph, assignment);
  ASSERT_EQ(cuts.size(), 2u);
  EXPECT_EQ(cuts[0].lookahead, 20_ns);
  EXPECT_EQ(cuts[0].links, 2u);
  EXPECT_EQ(cuts[0].weight, 5);
  EXPECT_EQ(cuts[1].lookahead, 50_ns);
}

/// GPUs with so many SMs and as many partitions each, all linked with a host.
Graph gpus(const std::vector<int>& sms) {
  Graph graph;
  const ComponentId host = graph.add_component(graph.add_kind("host"), 0.2);
  for (std::uint32_t gpu = 0; gpu < sms.size(); ++gpu) {
    const std::string prefix = "gpu" + std::to_string(gpu) + "/";
    const KindId sm = graph.add_kind(prefix + "sm"),
                 partition = graph.add_kind(prefix + "partition");
    std::vector<ComponentId> all;
    for (int i = 0; i < sms[gpu]; ++i) {
      all.push_back(graph.add_component(sm, 1, gpu));
      all.push_back(graph.add_component(partition, 0.5, gpu));
    }
    for (const ComponentId a : all) {
      for (const ComponentId b : all)
        if (a != b) graph.connect(a, b, 60_ns, 1);
      graph.connect(host, a, 400_ns, 0.02);
      graph.connect(a, host, 400_ns, 0.02);
    }
  }
  return graph;
}

/// Ranks on which a group lives.
std::set<int> ranks_of(const Graph& graph, const Assignment& assignment, std::uint32_t group) {
  std::set<int> ranks;
  for (std::size_t id = 0; id < graph.nodes().size(); ++id)
    if (graph.nodes()[id].group == group) ranks.insert(assignment.places[id].rank);
  return ranks;
}

TEST(PartitionOfGroups, NoGroupIsTornWhileThereAreEnough) {
  const Graph graph = gpus({8, 4, 4, 4, 4});
  for (int ranks = 2; ranks <= 5; ++ranks) {
    const Assignment assignment = partition(graph, {.ranks = ranks, .on_rank_0 = ComponentId{0}});
    for (std::uint32_t gpu = 0; gpu < 5; ++gpu)
      EXPECT_EQ(ranks_of(graph, assignment, gpu).size(), 1u) << ranks << " ranks";
    const std::vector<double> load = loads(graph, assignment, ranks);
    EXPECT_LE(*std::max_element(load.begin(), load.end()), ranks == 2 ? 24.2 : 18.2);
    EXPECT_EQ(assignment.places[0].rank, 0);
  }
}

TEST(PartitionOfGroups, TheHostIsWhereThereIsLeastToDo) {
  const Graph graph = gpus({8, 4});
  const Assignment assignment = partition(graph, {.ranks = 2, .on_rank_0 = ComponentId{0}});
  EXPECT_EQ(ranks_of(graph, assignment, 1), std::set<int>{0});
  EXPECT_EQ(ranks_of(graph, assignment, 0), std::set<int>{1});
}

TEST(PartitionOfGroups, MoreRanksThanGroupsGoByWeight) {
  const Graph graph = gpus({8, 4});
  const Assignment assignment = partition(graph, {.ranks = 3, .on_rank_0 = ComponentId{0}});
  EXPECT_EQ(ranks_of(graph, assignment, 0).size(), 2u);
  EXPECT_EQ(ranks_of(graph, assignment, 1).size(), 1u);
  const std::vector<double> load = loads(graph, assignment, 3);
  EXPECT_LE(*std::max_element(load.begin(), load.end()), 6.5);
}

TEST(PartitionOfGroups, MeasuredWeightsDecide) {
  const Graph graph = gpus({4, 4});
  std::vector<double> weights(graph.nodes().size(), 1);
  for (std::size_t id = 0; id < weights.size(); ++id)
    if (graph.nodes()[id].group == 1u) weights[id] = 10;
  const Assignment assignment =
      partition(graph, {.ranks = 4, .weights = weights, .on_rank_0 = ComponentId{0}});
  EXPECT_EQ(ranks_of(graph, assignment, 0).size(), 1u);
  EXPECT_EQ(ranks_of(graph, assignment, 1).size(), 3u);
}

TEST(PartitionOfGroups, AnyNumberOfRanksHasSomethingToDo) {
  const Graph graph = gpus({3, 2});
  for (int ranks = 1; ranks <= int(graph.nodes().size()); ++ranks) {
    std::set<int> used;
    for (const Place& place : partition(graph, {.ranks = ranks}).places) used.insert(place.rank);
    EXPECT_EQ(used.size(), std::size_t(ranks));
  }
}

TEST(DescribePartition, NamesOwnersCutAndLookahead) {
  Graph graph;
  const KindId sm = graph.add_kind("sm"), hub = graph.add_kind("hub");
  for (int i = 0; i < 4; ++i) graph.add_component(sm, 2);
  const ComponentId center = graph.add_component(hub, 2);
  graph.connect(ComponentId{3}, center, 45_ns, 1);
  graph.connect(ComponentId{0}, center, 30_ns, 3);
  Assignment assignment;
  assignment.places = {{0, 0}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(describe_partition(graph, assignment),
            "5 components and 2 links on 2 ranks of 2 threads\n"
            "rank 0 thread 0: 40.0 % of the work: sm[0-1]\n"
            "rank 0 thread 1: 20.0 % of the work: sm[2]\n"
            "rank 1 thread 0: 20.0 % of the work: sm[3]\n"
            "rank 1 thread 1: 20.0 % of the work: hub[0]\n"
            "cut: 1 of 2 links, 75.0 % of the traffic\n"
            "rank 0 -> 1: 1 links, 75.0 % of the traffic, lookahead 30.000 ns (sm[0] -> hub[0])\n");
}

TEST(RandomAssignment, GivesEveryRankSomethingAndDependsOnTheSeed) {
  const Graph graph = clustered(2, 4);
  bool differs = false;
  const Assignment first = random_assignment(graph, 3, 2, 0);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Assignment assignment = random_assignment(graph, 3, 2, seed);
    std::set<int> used;
    for (std::size_t id = 0; id < assignment.places.size(); ++id) {
      used.insert(assignment.places[id].rank);
      differs |= assignment.places[id].rank != first.places[id].rank;
    }
    EXPECT_EQ(used, (std::set<int>{0, 1, 2}));
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace lockstep::partition_test
