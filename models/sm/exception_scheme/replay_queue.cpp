/// Replay queue: a warp goes on after its memory instructions, and keeps their source registers.
///
/// A queue of each warp holds its memory instructions, without data, from issue to commit; after a
/// fault the squashed instructions are issued again in that order, out of order with instructions
/// that have committed since (sparse replay).  They must read the same operands, so no younger
/// instruction may overwrite their sources until their last check: this costs the stalls called
/// `late_source`.
/// Source: 000, section 3.2, Figures 6 and 7.
#include "core/parameters/parameters.hpp"
#include "models/sm/exception_scheme/exception_scheme.hpp"
#include "models/sm/exception_scheme/queue_entries.hpp"

namespace lockstep {

namespace {

struct ReplayQueueParameters {
  std::uint32_t entries;
  static auto schema() {
    return parameters<ReplayQueueParameters>().field(
        "entries", &ReplayQueueParameters::entries, 0, range(0, 64),
        "memory instructions of a warp between issue and commit; 0: no limit", "instructions");
  }
};

class ReplayQueue final : public ExceptionScheme {
 public:
  explicit ReplayQueue(const ReplayQueueParameters& parameters) : queues_(parameters.entries) {}

  bool hears_commits() const override { return queues_.limited(); }
  std::optional<StallCause> refusal(const Pipeline&, WarpSlot warp, const PreciseRecord&) override {
    if (queues_.full(warp)) return StallCause::queue_full;
    return std::nullopt;
  }
  void issued(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record) override {
    queues_.take(warp);
    pipeline.held().hold_sources(warp, record);
  }
  void checked(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record,
               SmCycle) override {
    pipeline.held().release_sources(warp, record);
  }
  void committed(const Pipeline&, WarpSlot warp, const PreciseRecord&, SmCycle) override {
    queues_.give_back(warp);
  }
  void context_out(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record,
                   SmCycle) override {
    pipeline.held().release_sources(warp, record);
    queues_.give_back(warp);
  }
  void context_in(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record) override {
    issued(pipeline, warp, record);
  }
  void serialize(Archive& archive) override { archive(queues_); }

 private:
  QueueEntries queues_;
};

}  // namespace

PolicyRegistry<MakeExceptionScheme>::Row replay_queue() {
  return {"replay-queue",
          "memory instructions wait in a queue to be issued again, sources are kept until the last "
          "check (000, section 3.2)",
          [](const PolicyChoice& choice) -> std::unique_ptr<ExceptionScheme> {
            return std::make_unique<ReplayQueue>(choice.parameters<ReplayQueueParameters>());
          },
          &schema_of<ReplayQueueParameters>()};
}

}  // namespace lockstep
