/// Flushing: an SM's blocks that can be repeated are dropped, and start again later; others run to
/// their end.
///
/// A block that drains may wait for one that was flushed, which does not return before the urgent
/// grid is through.  If blocks drain for too long while flushed ones wait, the SM goes back to its
/// grid for a while (back_off.hpp).
///
/// Latency: until the requests of a dropped block are answered.  All that it has done is done
/// twice.  When a block can be repeated: isa/encode/idempotence.hpp.
/// Source: 003, section 4.1 (flushing of Chimera, the relaxed condition); preemption.md, sections 2
/// and 2.2.
#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

struct FlushParameters {
  IdempotenceCheck idempotence;
  Time drain_limit;
  static auto schema() {
    using namespace literals;
    using P = FlushParameters;
    return parameters<P>()
        .field("idempotence", &P::idempotence, IdempotenceCheck::marks, idempotence_checks(),
               idempotence_check_doc)
        .field("drain_limit", &P::drain_limit, 0_us, range(0_us, 1'000'000_us),
               "time after which an SM goes back to its grid for a while if blocks still drain "
               "there and flushed blocks of the grid wait, since the draining ones may wait for "
               "those; 0: ten times the latency_bound, or 1ms without one");
  }
};

class Flushing final : public Preemption {
 public:
  explicit Flushing(const FlushParameters& parameters) : parameters_(parameters) {}

  PreemptionSteps steps() const override {
    return {.take = PreemptionSteps::Take{.others = Technique::flush,
                                          .drain_limit = parameters_.drain_limit},
            .flush = PreemptionSteps::Flush{parameters_.idempotence, true}};
  }

 private:
  const FlushParameters parameters_;
};

}  // namespace

PreemptionRow preemption_by_flushing() {
  return {"flush", "blocks that can be repeated are dropped and start again, others drain",
          [](const PolicyChoice& choice) -> std::unique_ptr<Preemption> {
            return std::make_unique<Flushing>(choice.parameters<FlushParameters>());
          },
          &schema_of<FlushParameters>()};
}

}  // namespace lockstep
