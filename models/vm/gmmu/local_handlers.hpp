/// Faults on untouched pages, which the GPU handles by itself.
///
/// The driver marks the entries of pages that neither side owns (`untouched`) and keeps granules of
/// zeroed frames here. A fault on such a page begins a handler on the SM that faulted. At its end
/// it puts frames into the untouched entries of the page's granule, 16 pages whose entries share a
/// line, by compare-and-swap; the CPU takes such entries by the exchange of an unmapping, which
/// waits for handlers of its pages. A second fault on the granule waits for the first. Pages that
/// were reported to the host for lack of frames are left to the host. Handlers run side by side, at
/// most `per_sm` on an SM; further ones wait for the end of a handler. Source: 000, sections 4.2
/// and 5.4; virtual-memory-and-exceptions.md, section 9.
///
/// Simplified: a handler is a latency, which includes the way to the SM and back. Its instructions
/// take no issue slots.
/// Cost model: `latency` from the fault to the replay.  Its last microsecond is the swap, so that
/// walks of others may find the pages that much before the replay.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/vm/gmmu/far_faults.hpp"
#include "models/vm/gmmu/table_memory.hpp"
#include "models/vm/gmmu_statistics.hpp"
#include "models/vm/local_handling.hpp"

namespace lockstep {

struct LocalHandler {
  enum class State : std::uint8_t { unused, queued, running, swapping };
  State state = State::unused;
  bool ended = false;     ///< the latency is over
  bool answered = false;  ///< memory has answered the swap
  std::uint16_t sm = 0, warp = 0;
  std::uint16_t wanted = 0;  ///< bit i: page i of the granule is to get its frame
  TenantPage first;          ///< first page of the granule
  VirtualPage faulted;
  Time found;
  std::int64_t begun = 0;  ///< cycle in which the handler began
  GranuleFrames frames{};
  /// Present entries of the granule, with the frames that the handler has filled in.
  GranuleFrames entries{};

  PageSpan span() const {
    PageSpan result;
    result.page = first.page.value();
    result.count = pages_per_block;
    result.tenant = first.tenant.value();
    result.sm = sm;
    return result;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(state, ended, answered, sm, warp, wanted, first, faulted, found, begun, frames,
            entries);
  }
};

class LocalHandlers {
 public:
  struct Setup {
    LocalHandling parameters;
    Clock clock;
    std::size_t sms = 0, tenants = 0;
  };
  LocalHandlers(const Setup& setup, TableMemory& memory, GmmuStatistics& statistics);

  /// Takes the place of the entries of a span that has untouched pages.
  void offered(const PageSpan& span, PhysicalAddress entries_at);
  /// The driver has zeroed the frames of a granule.
  void add_frames(const GranuleFrames& frames) { pool_.push_back(frames); }
  /// Takes the first refusal of an untouched page: the granule has a handler, or gets one. Returns
  /// false if the host must handle the fault.
  bool take(const TranslateRequest& request, GmmuCycle& cycle);
  /// Returns whether a handler is about to put frames into entries of the span.
  bool handles_in(const PageSpan& span) const;
  /// Drops the tenant's tables, which have been replaced.
  void forget_tenant(TenantId tenant);

  /// Returns the next cycle with something to do.
  std::int64_t next() const;
  /// Swaps that are due leave.
  void send_swaps(const FarFaults& faults, GmmuCycle& cycle);
  /// Takes memory's answer to a swap: the entries as they were.
  void swapped(std::uint32_t index, const std::byte* old_entries);
  /// Takes a handler that has ended; handlers that waited for it begin.
  std::optional<LocalHandler> take_finished(GmmuCycle& cycle);

  std::size_t under_way() const { return by_granule_.size(); }
  /// Statistics are right up to this cycle.
  void count(std::int64_t cycle);
  void serialize(Archive& archive);

 private:
  using Timers = std::deque<std::pair<std::int64_t, std::uint32_t>>;
  static TenantPage granule_of(TenantPage page) {
    return {page.tenant, page.page.rounded_down(pages_per_block)};
  }
  static TenantPage table_of(TenantPage page) {
    return {page.tenant, page.page.rounded_down(pages_per_large)};
  }
  bool has_room(std::uint16_t sm) const {
    return parameters_.per_sm == 0 || running_[sm] < parameters_.per_sm;
  }
  void begin(std::uint32_t index, std::int64_t cycle);

  const LocalHandling parameters_;
  const std::int64_t latency_, until_swap_;  ///< latencies in cycles
  TableMemory& memory_;
  GmmuStatistics& statistics_;

  std::deque<GranuleFrames> pool_;
  std::map<TenantPage, PhysicalAddress> tables_;  ///< level-4 tables, by their first page
  std::vector<LocalHandler> handlers_;
  std::vector<std::uint32_t> free_;
  std::map<TenantPage, std::uint32_t> by_granule_;
  Timers swaps_, ends_;
  std::vector<std::uint32_t> finished_;
  std::deque<std::uint32_t> queue_;       ///< handlers that wait for others of their SM
  std::vector<std::uint32_t> running_;    ///< handlers running on each SM
  std::vector<std::uint64_t> by_tenant_;  ///< handlers of each tenant under way
  std::int64_t counted_ = 0;              ///< cycle up to which local_handler_cycles is counted
};

}  // namespace lockstep
