#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/exec/loopback_ranks.hpp"

namespace lockstep::test {

/// What a run leaves behind, to be compared between layouts.
struct Outcome {
  Time end;
  std::map<std::uint32_t, std::uint64_t> digests;  ///< by component
  std::vector<Time> epochs;
  bool operator==(const Outcome&) const = default;
};

using Digest = std::function<std::uint64_t(const Component&)>;

/// Records the ends of epochs on rank 0.
class EpochLog final : public EpochObserver {
 public:
  void collect(Time end, std::span<const std::vector<std::byte>>) override { ends_.push_back(end); }
  const std::vector<Time>& ends() const { return ends_; }

 private:
  std::vector<Time> ends_;
};

/// Runs the graph on `ranks` loopback ranks with `options.threads` threads each.
inline Outcome run_layout(const Graph& graph, const ComponentFactory& factory, int ranks,
                          const EngineOptions& options, const Digest& digest,
                          const Assignment* assignment = nullptr) {
  Outcome outcome;
  std::mutex mutex;
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    Engine engine(graph,
                  assignment ? *assignment : Assignment::spread(graph, ranks, options.threads),
                  factory, communicator, options);
    EpochLog log;
    RunControl control;
    const RunSummary summary = engine.run(log, control);
    const std::lock_guard lock(mutex);
    for (const LocalComponent& local : engine.components()) {
      outcome.digests[local.id.value()] = digest(*local.component);
    }
    if (communicator.rank() == 0) {
      outcome.end = summary.end;
      outcome.epochs = log.ends();
    }
  });
  return outcome;
}

}  // namespace lockstep::test
