#include <algorithm>

#include "models/workload/content/csr_graph.hpp"
#include "tests/unit/workload/content/content_bytes.hpp"

namespace lockstep::graph_test {
namespace {

using isa::Type;
using Kind = Initializer::Kind;

Initializer graph(bool rmat, std::uint64_t vertices, std::uint64_t edges, std::uint64_t seed = 1) {
  Initializer initial;
  initial.where = "w.yaml:4:40";
  initial.rmat = rmat;
  initial.vertices = vertices;
  initial.edges = edges;
  initial.seed = seed;
  return initial;
}

TEST(GraphContent, RowsCountEveryEdgeOnce) {
  for (const bool rmat : {false, true}) {
    const CsrGraph result(graph(rmat, 100, 1000));
    ASSERT_EQ(result.rows().size(), 101u);
    EXPECT_EQ(result.rows().front(), 0u);
    EXPECT_EQ(result.rows().back(), 1000u);
    EXPECT_TRUE(std::is_sorted(result.rows().begin(), result.rows().end()));
    ASSERT_EQ(result.columns().size(), 1000u);
    EXPECT_LT(*std::max_element(result.columns().begin(), result.columns().end()), 100u);
  }
}

TEST(GraphContent, UniformDegreesAreNearTheirMean) {
  const CsrGraph result(graph(false, 64, 64 * 400));
  for (std::size_t v = 0; v < 64; ++v) {
    EXPECT_NEAR(static_cast<double>(result.rows()[v + 1] - result.rows()[v]), 400, 100);
  }
}

TEST(GraphContent, RmatQuartersHaveTheirProbabilities) {
  constexpr std::uint64_t vertices = 1024, edges = 100000;
  const CsrGraph result(graph(true, vertices, edges));
  std::array<double, 4> share{};
  for (std::uint64_t v = 0; v < vertices; ++v) {
    for (std::uint64_t e = result.rows()[v]; e < result.rows()[v + 1]; ++e) {
      share[2 * (v >= vertices / 2) + (result.columns()[e] >= vertices / 2)] += 1.0 / edges;
    }
  }
  EXPECT_NEAR(share[0], 0.57, 0.008);
  EXPECT_NEAR(share[1], 0.19, 0.008);
  EXPECT_NEAR(share[2], 0.19, 0.008);
  EXPECT_NEAR(share[3], 0.05, 0.008);
}

TEST(GraphContent, RmatLevelsAreIndependent) {
  // The first vertex takes the first half at each of ten levels: edges * 0.76^10.
  const CsrGraph result(graph(true, 1024, 100000));
  EXPECT_NEAR(static_cast<double>(result.rows()[1]), 100000 * 0.0643, 400);
}

TEST(GraphContent, RmatWithoutAPowerOfTwoKeepsToItsVertices) {
  const CsrGraph result(graph(true, 33, 2000));
  EXPECT_EQ(result.rows().size(), 34u);
  EXPECT_LT(*std::max_element(result.columns().begin(), result.columns().end()), 33u);
}

TEST(GraphContent, OneVertexHasOnlyLoops) {
  const CsrGraph result(graph(true, 1, 3));
  EXPECT_EQ(result.rows(), (std::vector<std::uint64_t>{0, 3}));
  EXPECT_EQ(result.columns(), (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(GraphContent, MoreEdgesKeepTheFirstOnes) {
  // Edge e depends on e alone, so a graph with fewer edges is part of the larger one.
  for (const bool rmat : {false, true})
    for (const std::uint64_t vertices : {4u, 5u, 100u}) {
      const CsrGraph many(graph(rmat, vertices, 80));
      for (const std::uint64_t edges : {1u, 2u, 39u, 40u, 41u}) {
        const CsrGraph few(graph(rmat, vertices, edges));
        for (std::size_t v = 0; v < vertices; ++v) {
          const auto begin = few.columns().begin() + static_cast<std::ptrdiff_t>(few.rows()[v]);
          const auto end = few.columns().begin() + static_cast<std::ptrdiff_t>(few.rows()[v + 1]);
          const auto other = many.columns().begin() + static_cast<std::ptrdiff_t>(many.rows()[v]);
          EXPECT_TRUE(std::equal(begin, end, other)) << "edges of " << v << " in order of drawing";
        }
      }
    }
}

TEST(GraphContent, BuffersOfAWorkloadHoldPartsOfOneGraph) {
  Workload workload;
  for (const Kind kind : {Kind::csr_row, Kind::csr_column, Kind::csr_weight}) {
    Buffer buffer = sample::buffer(kind == Kind::csr_weight ? Type::f32 : Type::u32, 50, kind);
    buffer.initial = graph(true, 40, 45);
    buffer.initial.kind = kind;
    workload.buffers.push_back(buffer);
  }
  const CsrGraph expected(graph(true, 40, 45));
  const auto contents = make_contents(workload);
  std::vector<std::uint32_t> rows(50), columns(50);
  contents[0]->read(0, std::as_writable_bytes(std::span(rows)));
  contents[1]->read(0, std::as_writable_bytes(std::span(columns)));
  EXPECT_TRUE(std::equal(expected.rows().begin(), expected.rows().end(), rows.begin()));
  EXPECT_TRUE(std::equal(expected.columns().begin(), expected.columns().end(), columns.begin()));
  EXPECT_EQ(rows[49], 0u) << "beyond the graph";
  EXPECT_EQ(columns[49], 0u) << "beyond the graph";
}

TEST(GraphContent, WeightsAreBelowOneOrSmallIntegers) {
  for (const double weight : sample::values_of(sample::buffer(Type::f32, 500, Kind::csr_weight))) {
    ASSERT_GE(weight, 0);
    ASSERT_LT(weight, 1);
  }
  for (const double weight : sample::values_of(sample::buffer(Type::u32, 500, Kind::csr_weight))) {
    ASSERT_GE(weight, 1);
    ASSERT_LE(weight, 100);
  }
}

TEST(GraphContent, VerticesInAFloatBufferAreAnError) {
  Buffer buffer = sample::buffer(Type::f32, 50, Kind::csr_row);
  buffer.initial.vertices = buffer.initial.edges = 4;
  EXPECT_THAT(sample::content_error(buffer), testing::StartsWith("w.yaml:4:40: "));
}

TEST(GraphContent, TypeMustHoldTheNumberOfEdges) {
  Buffer buffer = sample::buffer(Type::u8, 50, Kind::csr_row);
  buffer.initial.vertices = 4;
  buffer.initial.edges = 256;
  EXPECT_THAT(sample::content_error(buffer), testing::HasSubstr("cannot hold 256"));
}

TEST(GraphContent, TooManyVerticesAreAnError) {
  Buffer buffer = sample::buffer(Type::u64, 50, Kind::csr_row);
  buffer.initial.vertices = (std::uint64_t{1} << 32) + 1;
  EXPECT_THAT(sample::content_error(buffer), testing::HasSubstr("at most 2^32 vertices and edges"));
}

}  // namespace
}  // namespace lockstep::graph_test
