#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// A random directed graph in compressed sparse row form.
class CsrGraph {
 public:
  /// Makes a graph from vertices, edges, rmat and seed. Throws UserError above 2^32 vertices or
  /// edges.
  explicit CsrGraph(const Initializer& initial);

  /// `vertices` + 1 numbers: the edges of vertex v are [rows[v], rows[v + 1]).
  const std::vector<std::uint64_t>& rows() const { return rows_; }
  /// Returns the end vertex of each edge.
  const std::vector<std::uint64_t>& columns() const { return columns_; }

 private:
  std::vector<std::uint64_t> rows_, columns_;
};

}  // namespace lockstep
