/// Waiting faults: they wait for the driver, for pages that leave or that the CPU holds, or for
/// their own page.
///
/// Source: 001, section B.2; virtual-memory-and-exceptions.md, sections 3.5 and 18.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "models/driver/fault_parameters.hpp"
#include "models/driver/managed/managed_pages.hpp"

namespace lockstep {

/// A far-fault of a managed page.
struct PageFault {
  ManagedPage page;
  Time found, arrived;
  /// Time at which the fault last entered the queue; it may have waited for the CPU, or come too
  /// late.
  Time queued;
  bool write = false;
  std::uint32_t position = 0;  ///< older granules that were pending at the GMMU
  /// No fault: the GPU counted many accesses to a page that it maps elsewhere.
  bool counted = false;

  bool is_in(PageRange range) const { return page >= range.first && page < range.end(); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(page, found, arrived, queued, write, position, counted);
  }
};

class FaultQueue {
 public:
  FaultQueue(ManagedPages& pages, const HostFaultParameters& parameters,
             const std::vector<std::uint32_t>& priorities)
      : pages_(pages), parameters_(parameters), turns_(parameters.order, priorities) {}

  bool empty() const { return queue_.empty(); }
  /// Returns the time at which the first fault entered the queue.  Precondition: there is one.
  Time first() const { return queue_.front().queued; }
  void push(const PageFault& fault) { queue_.push_back(fault); }
  /// Queues a fault again that waited for something else.
  void push_again(PageFault fault, Time now);
  /// Takes the next fault by the tenants' turns.
  PageFault take_next();
  /// Takes the faults that are handled together with the fault just taken.
  std::vector<PageFault> take_with(const PageFault& first);

  /// Lets the fault wait until its page has left, here or other GPUs, or the CPU is done.
  void defer(const PageFault& fault) { deferred_.push_back(fault); }
  /// Lets the fault wait for its page, which is on its way.
  void await(const PageFault& fault);
  /// Takes the faults that waited for pages of the range.
  std::vector<PageFault> take_awaited(PageRange range);
  /// Queues deferred faults again that may continue, in the order in which they came.
  void reconsider(Time now);

  template <class Which>
  void forget_if(const Which& which) {
    std::erase_if(queue_, which);
    std::erase_if(deferred_, which);
    std::erase_if(awaited_, which);
  }

  std::size_t size() const { return queue_.size(); }
  std::size_t deferred() const { return deferred_.size(); }
  void serialize(Archive& archive);

 private:
  bool together(const PageFault& first, const PageFault& other) const;

  ManagedPages& pages_;
  const HostFaultParameters& parameters_;
  TenantTurns turns_;
  std::deque<PageFault> queue_;  ///< faults in order of arrival
  std::vector<PageFault> deferred_, awaited_;
};

}  // namespace lockstep
