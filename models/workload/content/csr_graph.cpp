/// Initial content `csr_graph`: a random graph, its rows and columns in the buffers that name it.
///
/// Edge e is drawn from the random numbers of e alone: uniform (both ends), or R-MAT: at each level
/// one quarter of the adjacency matrix is chosen with the probabilities a, b, c, d; a vertex that
/// does not exist (the number of vertices is no power of two) is drawn again.  Edges are sorted by
/// source; edges of one source keep the order of drawing.  Elements behind those of the graph are
/// zero.  Weights (uniform.cpp): [0, 1) for floats, 1 to 100 for integers.
/// Source: D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM
/// 2004; a = 0.57, b = c = 0.19 as in Graph500.
///
/// Simplified: loops and parallel edges stay; vertices are not renumbered, so small numbers have
/// many edges.
#include "models/workload/content/csr_graph.hpp"

#include <smmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "core/random/philox_lanes.hpp"
#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"

namespace lockstep {

namespace {

/// More would need hundreds of GiB here.
constexpr std::uint64_t maximum_size = std::uint64_t{1} << 32;

using Edge = std::pair<std::uint64_t, std::uint64_t>;

std::array<std::uint32_t, 4> words(const Initializer& graph, std::uint32_t block,
                                   std::uint64_t edge) {
  return random_block(graph.seed, ComponentId{block},
                      static_cast<std::uint32_t>(ContentPurpose::graph_edges), edge);
}

std::uint64_t below(std::uint64_t bound, std::uint32_t low, std::uint32_t high) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t bits = low | std::uint64_t{high} << 32;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

Edge uniform_edge(const Initializer& graph, std::uint64_t edge) {
  const auto random = words(graph, 0, edge);
  return {below(graph.vertices, random[0], random[1]), below(graph.vertices, random[2], random[3])};
}

unsigned levels_of(const Initializer& graph) {
  return static_cast<unsigned>(std::bit_width(graph.vertices - 1));
}

constexpr unsigned levels_of_a_block = 4;

/// Goes down `levels` levels, at most four; each word chooses a quarter.
void descend(Edge& ends, const std::array<std::uint32_t, 4>& random, unsigned levels) {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(random.data()));
  // The first word has the highest bit.
  const __m128i choices = _mm_shuffle_epi32(words, 0b00'01'10'11);
  const auto at_least = [&](double probability) {
    const auto bound = static_cast<std::uint32_t>(probability * 0x1.0p32);
    const __m128i most = _mm_max_epu32(choices, _mm_set1_epi32(static_cast<int>(bound)));
    const __m128i reached = _mm_cmpeq_epi32(most, choices);
    return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(reached)));
  };
  const unsigned b = at_least(0.57), c = at_least(0.57 + 0.19), d = at_least(0.57 + 0.19 + 0.19);
  const unsigned unused = levels_of_a_block - levels;
  ends.first = ends.first << levels | c >> unused;
  ends.second = ends.second << levels | (b ^ c ^ d) >> unused;
}

bool exists(const Initializer& graph, const Edge& ends) {
  return ends.first < graph.vertices && ends.second < graph.vertices;
}

Edge rmat_edge(const Initializer& graph, std::uint64_t edge) {
  const unsigned levels = levels_of(graph);
  constexpr std::uint32_t blocks_per_try = 16;  // 64 levels
  for (std::uint32_t first_block = 0;; first_block += blocks_per_try) {
    Edge ends{0, 0};
    for (unsigned level = 0; level < levels; level += levels_of_a_block) {
      const auto random = words(graph, first_block + level / levels_of_a_block, edge);
      descend(ends, random, std::min(levels - level, levels_of_a_block));
    }
    if (exists(graph, ends)) return ends;
  }
}

/// Edges with neighbouring numbers, drawn together.
using Group = std::array<Edge, PhiloxLanes::blocks>;

/// Returns what rmat_edge() returns for the edges `group` times their number and following ones.
Group rmat_edges(const Initializer& graph, std::uint64_t group) {
  const unsigned levels = levels_of(graph);
  Group edges{};
  for (unsigned level = 0; level < levels; level += levels_of_a_block) {
    const PhiloxLanes lanes(graph.seed, ComponentId{level / levels_of_a_block},
                            static_cast<std::uint32_t>(ContentPurpose::graph_edges));
    const PhiloxLanes::Words random = lanes.at(group);
    const unsigned count = std::min(levels - level, levels_of_a_block);
    for (std::size_t e = 0; e < edges.size(); ++e) descend(edges[e], random[e], count);
  }
  for (std::size_t e = 0; e < edges.size(); ++e)
    if (!exists(graph, edges[e])) edges[e] = rmat_edge(graph, group * edges.size() + e);
  return edges;
}

Group uniform_edges(const Initializer& graph, std::uint64_t group) {
  Group edges;
  for (std::size_t e = 0; e < edges.size(); ++e)
    edges[e] = uniform_edge(graph, group * edges.size() + e);
  return edges;
}

class Numbers final : public Content {
 public:
  Numbers(isa::Type type, std::shared_ptr<const CsrGraph> graph,
          const std::vector<std::uint64_t>& numbers)
      : type_(type), graph_(std::move(graph)), numbers_(numbers) {}

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    for_each_element(type_, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      put_integer(type_, index < numbers_.size() ? numbers_[index] : 0, place);
    });
  }

 private:
  isa::Type type_;
  std::shared_ptr<const CsrGraph> graph_;  ///< owner of numbers_
  const std::vector<std::uint64_t>& numbers_;
};

}  // namespace

CsrGraph::CsrGraph(const Initializer& initial) {
  if (std::max(initial.vertices, initial.edges) > maximum_size) {
    throw UserError(initial.where, "a graph has at most 2^32 vertices and edges",
                    "lower vertices or edges");
  }
  rows_.resize(initial.vertices + 1);
  columns_.resize(initial.edges);
  std::vector<Edge> edges(initial.edges);
  for (std::uint64_t e = 0; e < initial.edges; e += Group{}.size()) {
    const std::uint64_t group = e / Group{}.size();
    const Group drawn = initial.rmat ? rmat_edges(initial, group) : uniform_edges(initial, group);
    const auto count = std::min<std::uint64_t>(drawn.size(), initial.edges - e);
    std::copy_n(drawn.begin(), count, edges.begin() + static_cast<std::ptrdiff_t>(e));
  }
  for (const Edge& edge : edges) ++rows_[edge.first + 1];
  for (std::uint64_t v = 0; v < initial.vertices; ++v) rows_[v + 1] += rows_[v];
  std::vector<std::uint64_t> next(rows_.begin(), rows_.end() - 1);
  for (const Edge& edge : edges) columns_[next[edge.first]++] = edge.second;
}

std::shared_ptr<const Content> make_graph_part(const Buffer& buffer,
                                               std::shared_ptr<const CsrGraph> graph) {
  if (isa::is_float(buffer.type)) {
    throw UserError(buffer.initial.where,
                    "buffer " + buffer.name + " of a graph holds vertices or edges",
                    "give it an integer type");
  }
  const bool row = buffer.initial.kind == Initializer::Kind::csr_row;
  check_fits(buffer, static_cast<double>(row ? buffer.initial.edges : buffer.initial.vertices - 1));
  const std::vector<std::uint64_t>& numbers = row ? graph->rows() : graph->columns();
  return std::make_shared<Numbers>(buffer.type, std::move(graph), numbers);
}

}  // namespace lockstep
