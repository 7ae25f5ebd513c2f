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

#include <algorithm>
#include <bit>
#include <utility>

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"

namespace lockstep {

namespace {

/// More would need hundreds of GiB here.
constexpr std::uint64_t maximum_size = std::uint64_t{1} << 32;

using Edge = std::pair<std::uint64_t, std::uint64_t>;

std::uint32_t share(double probability) {
  return static_cast<std::uint32_t>(probability * 0x1.0p32);
}

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

Edge rmat_edge(const Initializer& graph, std::uint64_t edge) {
  const std::uint32_t a = share(0.57), ab = share(0.57 + 0.19), abc = share(0.57 + 0.19 + 0.19);
  const auto levels = static_cast<unsigned>(std::bit_width(graph.vertices - 1));
  constexpr std::uint32_t blocks_per_try = 16;  // 64 levels
  for (std::uint32_t first_block = 0;; first_block += blocks_per_try) {
    Edge ends{0, 0};
    std::array<std::uint32_t, 4> random{};
    for (unsigned level = 0; level < levels; ++level) {
      if (level % 4 == 0) random = words(graph, first_block + level / 4, edge);
      const std::uint32_t choice = random[level % 4];
      ends.first = ends.first << 1 | (choice >= ab ? 1 : 0);
      ends.second = ends.second << 1 | ((choice >= a && choice < ab) || choice >= abc ? 1 : 0);
    }
    if (ends.first < graph.vertices && ends.second < graph.vertices) return ends;
  }
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
  for (std::uint64_t e = 0; e < initial.edges; ++e) {
    edges[e] = initial.rmat ? rmat_edge(initial, e) : uniform_edge(initial, e);
    ++rows_[edges[e].first + 1];
  }
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
