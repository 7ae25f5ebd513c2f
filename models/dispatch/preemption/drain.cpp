/// Draining: an SM gets no new blocks of the less urgent grid, and is free when its running blocks
/// are done.
///
/// Latency: the remaining time of the longest block, without a bound.  No work is repeated.
/// Source: preemption.md, section 2 (SM draining); 002, section II; 003, section 2.
#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

struct DrainParameters {
  Cycles signal;
  static auto schema() {
    using P = DrainParameters;
    return parameters<P>().field(
        "signal", &P::signal, Cycles{0}, range(Cycles{0}, Cycles{1'000'000'000}),
        "cycles after which one SM, the next in turn, makes room and takes its blocks back, though "
        "no other grid wants it (002, section V); 0: never");
  }
};

class Draining final : public Preemption {
 public:
  explicit Draining(const DrainParameters& parameters) : parameters_(parameters) {}

  PreemptionSteps steps() const override {
    return {.take = PreemptionSteps::Take{.signal = parameters_.signal}};
  }

 private:
  const DrainParameters parameters_;
};

}  // namespace

PreemptionRow preemption_by_draining() {
  return {"drain", "blocks that run on the SM run to their end, no others start",
          [](const PolicyChoice& choice) -> std::unique_ptr<Preemption> {
            return std::make_unique<Draining>(choice.parameters<DrainParameters>());
          },
          &schema_of<DrainParameters>()};
}

}  // namespace lockstep
