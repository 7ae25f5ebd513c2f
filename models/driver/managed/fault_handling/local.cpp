/// The GPU handles first touches by itself; everything else goes to the driver on the CPU.
///
/// Pages of managed buffers without content are offered to the GPU when their buffer is mapped.  A
/// fault on one begins a handler on the SM (vm/gmmu/local_handlers.hpp), which takes frames that
/// the driver keeps zeroed; the driver hears of it afterwards.  When the CPU touches such pages, a
/// prefetch step wants them or advice keeps them at the host, they are taken back by the exchange
/// of an unmapping.  A fault without zeroed frames is an ordinary far-fault.
/// Source: 000, sections 4.2 and 5.4; virtual-memory-and-exceptions.md, section 9.
///
/// Simplified: offered pages do not migrate along with faults of other pages; an evicted page is
/// handled by the host.
#include "models/driver/managed/fault_handling/host.hpp"

namespace lockstep {
namespace {

struct LocalFaultParameters : HostFaultParameters {
  Time handler;
  std::uint32_t handlers_per_sm, pool;

  static auto schema() {
    using namespace literals;
    using P = LocalFaultParameters;
    return fields<P>()
        .field("handler", &P::handler, 20_us, range(0_ns, 1000_ms),
               "time from a fault on an untouched page to its replay, both at the GMMU")
        .field("handlers_per_sm", &P::handlers_per_sm, 0, range(0, 1 << 16),
               "handlers that run at once on an SM; 0: any number", "handlers")
        .field("pool", &P::pool, 16, range(1, 1 << 20),
               "granules of 16 zeroed frames that lie ready at the GMMU", "granules");
  }
};

class LocalFaultHandling final : public HostFaultHandling {
 public:
  LocalFaultHandling(const LocalFaultParameters& parameters, const Setup& setup, const Parts& parts)
      : HostFaultHandling(parameters, setup, parts), parts_(parts) {
    parts_.driver.zeroed_frames().keep(parameters.pool);
  }

  bool offers_untouched() const override { return true; }
  void act(const HostCycle& cycle) override {
    HostFaultHandling::act(cycle);
    if (parts_.migrations.without_frames() == 0) parts_.driver.zeroed_frames().refill(cycle);
  }

 private:
  const Parts parts_;
};

}  // namespace

FaultHandlingRow local_fault_handling() {
  return {"local",
          "first touches by the GPU itself, the rest as `host` (000, 4.2)",
          {[](const PolicyChoice& choice, const FaultHandling::Setup& setup,
              const FaultHandling::Parts& parts) -> std::unique_ptr<FaultHandling> {
             return std::make_unique<LocalFaultHandling>(choice.parameters<LocalFaultParameters>(),
                                                         setup, parts);
           },
           [](const PolicyChoice& choice) -> HostFaultParameters {
             return choice.parameters<LocalFaultParameters>();
           },
           [](const PolicyChoice& choice) {
             const auto& parameters = choice.parameters<LocalFaultParameters>();
             return LocalHandling{parameters.handler, parameters.handlers_per_sm, parameters.pool};
           }},
          &schema_of<LocalFaultParameters>()};
}

}  // namespace lockstep
