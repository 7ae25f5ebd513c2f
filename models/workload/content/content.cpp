#include "models/workload/content/content.hpp"

#include <tuple>

#include "core/error/error.hpp"
#include "models/workload/content/csr_graph.hpp"
#include "models/workload/content/generators.hpp"

namespace lockstep {

namespace {

/// Graphs by their descriptions.
class Graphs {
 public:
  std::shared_ptr<const CsrGraph> get(const Initializer& initial) {
    const Key key = key_of(initial);
    for (const auto& [other, graph] : graphs_) {
      if (other == key) return graph;
    }
    graphs_.emplace_back(key, std::make_shared<const CsrGraph>(initial));
    return graphs_.back().second;
  }

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, bool>;
  static Key key_of(const Initializer& initial) {
    return {initial.seed, initial.vertices, initial.edges, initial.rmat};
  }
  std::vector<std::pair<Key, std::shared_ptr<const CsrGraph>>> graphs_;
};

std::shared_ptr<const Content> make(const Buffer& buffer, Graphs& graphs) {
  using Kind = Initializer::Kind;
  switch (buffer.initial.kind) {
    case Kind::zero:
      return nullptr;
    case Kind::value:
    case Kind::linear:
      return make_linear(buffer);
    case Kind::uniform:
      return make_uniform(buffer);
    case Kind::normal:
      return make_normal(buffer);
    case Kind::permutation:
      return make_permutation(buffer);
    case Kind::csr_row:
    case Kind::csr_column:
      return make_graph_part(buffer, graphs.get(buffer.initial));
    case Kind::csr_weight:
      return make_graph_weights(buffer);
    case Kind::file:
      return buffer.initial.data_set.empty() ? make_raw_file(buffer) : make_data_set(buffer);
    case Kind::texture:
      return make_texture(buffer);
  }
  internal_error(__FILE__, __LINE__, "a kind", "buffer " + buffer.name + " has no initial content");
}

}  // namespace

bool is_computed(const Initializer& initial) {
  using Kind = Initializer::Kind;
  switch (initial.kind) {
    case Kind::zero:
    case Kind::value:
    case Kind::linear:
    case Kind::uniform:
    case Kind::normal:
    case Kind::permutation:
    case Kind::csr_weight:
      return true;
    case Kind::csr_row:
    case Kind::csr_column:
    case Kind::file:
    case Kind::texture:
      return false;
  }
  return false;
}

std::shared_ptr<const Content> make_content(const Buffer& buffer) {
  Graphs graphs;
  return make(buffer, graphs);
}

std::vector<std::shared_ptr<const Content>> make_contents(const Workload& workload) {
  Graphs graphs;
  std::vector<std::shared_ptr<const Content>> contents;
  for (const Buffer& buffer : workload.buffers) contents.push_back(make(buffer, graphs));
  return contents;
}

}  // namespace lockstep
