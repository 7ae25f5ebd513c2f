#pragma once

#include <vector>

#include "core/engine/epoch.hpp"
#include "core/engine/graph.hpp"
#include "core/output/recorder.hpp"

namespace lockstep {

/// Samples the statistics of all components at each epoch and hands them to the recorder of rank 0,
/// in an order that does not depend on the owners of components.  Threads gather the words of the
/// components that they have just run, whose counters are in their caches.
class EpochStatistics final : public EpochObserver {
 public:
  /// Makes the sampler.  `layout`: kinds in the order of the graph, then those of parts;
  /// `recorder`: nullptr on other ranks.
  EpochStatistics(const Graph& graph, const StatisticsLayout& layout, StatisticsRecorder* recorder)
      : graph_(graph), layout_(layout), recorder_(recorder) {}

  void prepare(std::span<const LocalComponent> components) override;
  void look(Time end, std::size_t number, const LocalComponent& component) override;
  /// Returns what look() has seen of the components.
  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override;
  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override;

  using Bytes = std::span<const std::byte>;
  /// Collects contributions that stand among others.
  void collect(Time end, std::span<const Bytes> contributions);

  /// Returns all words as the layout orders them, from the contributions of all ranks.
  std::span<const std::uint64_t> merge(std::span<const Bytes> contributions);
  std::span<const std::uint64_t> merge(std::span<const std::vector<std::byte>> contributions) {
    return merge(std::vector<Bytes>(contributions.begin(), contributions.end()));
  }

 private:
  /// Appends one row to a contribution: its place in the layout, its length and its words.
  void append(std::size_t kind, std::size_t instance, const StatisticsView& view,
              std::vector<std::byte>& contribution) const;

  const Graph& graph_;
  const StatisticsLayout& layout_;
  StatisticsRecorder* recorder_;
  std::vector<std::uint64_t> values_;
  std::vector<std::vector<std::byte>> seen_;  ///< rows of each component, as look() found them
};

}  // namespace lockstep
