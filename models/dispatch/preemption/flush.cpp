/// Flushing: an SM's blocks that can be repeated are dropped, and start again later; others run to
/// their end.
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
  static auto schema() {
    using P = FlushParameters;
    return parameters<P>().field("idempotence", &P::idempotence, IdempotenceCheck::marks,
                                 idempotence_checks(), idempotence_check_doc);
  }
};

class Flushing final : public Preemption {
 public:
  explicit Flushing(const FlushParameters& parameters) : parameters_(parameters) {}

  Needs needs() const override { return {.follows = true, .idempotence = parameters_.idempotence}; }
  Technique others() const override { return Technique::flush; }

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
