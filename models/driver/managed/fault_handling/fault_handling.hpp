#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/parameters/policy.hpp"
#include "models/driver/fault_parameters.hpp"
#include "models/driver/managed/migrations.hpp"
#include "models/driver/prefetch/prefetcher.hpp"
#include "models/vm/local_handling.hpp"

namespace lockstep {

/// Plug point `fault_handling`: it decides who serves a page that is not in GPU memory, and at what
/// cost.
///
/// Contract: a fault in the queue is answered once: its page migrates, is mapped where it is,
/// becomes writable, or is announced again because it is there; until then the fault may wait in
/// the queue for the page or for the CPU.  Forgotten faults get no answer.  Nothing changes between
/// calls, and a policy acts only at the time that it has named.  Decisions depend only on the
/// arguments and on the state in serialize.
/// Sources: 000, sections 2.3, 4.2 and 5.4; 001, section B.2.
class FaultHandling {
 public:
  struct Setup {
    Time link_latency;
    std::uint64_t seed = 0;
    std::size_t tenants = 0;
  };
  /// Parts of the driver with which faults are served.
  struct Parts {
    Driver& driver;
    const BufferDirectory& directory;
    ManagedPages& pages;
    FaultQueue& queue;
    FaultLog& log;
    const Prefetcher& prefetcher;
    Migrations& migrations;
  };
  using Which = std::function<bool(const PageFault&)>;

  virtual ~FaultHandling() = default;
  virtual Time next_activity() const = 0;
  /// Serves faults of the queue whose turn it is, and continues earlier ones.
  virtual void act(const HostCycle& cycle) = 0;
  /// Drops faults that were taken and have not moved anything yet.
  virtual void forget_if(const Which& which) = 0;
  virtual void serialize(Archive& archive) = 0;

  /// Returns whether pages that neither side has used are offered to the GPU, which handles faults
  /// on them by itself as `on_gpu` of the policy's row says.
  virtual bool offers_untouched() const { return false; }
};

struct FaultHandlingFactory {
  std::unique_ptr<FaultHandling> (*make)(const PolicyChoice&, const FaultHandling::Setup&,
                                         const FaultHandling::Parts&);
  /// Parameters for faults that come to the driver.
  HostFaultParameters (*host)(const PolicyChoice&);
  /// Handling on the GPU, if the policy has any; nullptr: none.
  LocalHandling (*on_gpu)(const PolicyChoice&) = nullptr;
};
using FaultHandlingRow = PolicyRegistry<FaultHandlingFactory>::Row;
const PolicyRegistry<FaultHandlingFactory>& fault_handlings();
const PolicyList& fault_handling_policies();
std::unique_ptr<FaultHandling> make_fault_handling(const PolicyChoice& choice,
                                                   const FaultHandling::Setup& setup,
                                                   const FaultHandling::Parts& parts);
/// Returns the handling that the GPU does by itself, if any.
std::optional<LocalHandling> gpu_fault_handling(const PolicyChoice& choice);
/// Returns the parameters of the driver's own service, which every policy has.
HostFaultParameters host_fault_parameters(const PolicyChoice& choice);

}  // namespace lockstep
