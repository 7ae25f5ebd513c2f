/// Pages on their way off the GPU: to make room, for the CPU, or for good.
///
/// The pages are unmapped; pages that the GPU has stored to are written back over the link; then
/// the frames become free.  Source: architecture.md, section 8, rule 7;
/// virtual-memory-and-exceptions.md, section 10.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/driver/buffer_directory.hpp"
#include "models/driver/driver.hpp"
#include "models/driver/managed/fault_queue.hpp"
#include "models/driver/managed/prefetch_operations.hpp"

namespace lockstep {

class Departures {
 public:
  /// Reason why pages leave.
  struct Reason {
    bool keep_bytes = true;
    bool then_to_gpu = false;  ///< a prefetch step wants a page that was mapped remotely
    std::uint64_t operation = PrefetchOperations::none;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(keep_bytes, then_to_gpu, operation);
    }
  };
  /// Pages that have left and are wanted on the GPU again; the prefetch step still counts them.
  struct Wanted {
    PageRange range;
    std::uint64_t operation = PrefetchOperations::none;
  };

  Departures(Driver& driver, const BufferDirectory& directory, ManagedPages& pages,
             FaultQueue& faults, PrefetchOperations& operations)
      : driver_(driver),
        directory_(directory),
        pages_(pages),
        faults_(faults),
        operations_(operations) {}

  /// Starts the departure of pages of one buffer, all on the GPU, all mapped remotely, or all
  /// offered to the GPU.
  void start(PageRange range, const Reason& reason, const HostCycle& cycle);
  /// Starts departures of all pages of the range that are there; without `copies_too` the pages
  /// stay that the host also has.
  void start_all(PageRange range, bool copies_too, const Reason& reason, const HostCycle& cycle);

  /// Continues departures whose pages other GPUs have given up.
  void go_on(const HostCycle& cycle);
  /// Starts departures of pages that another GPU wants: pages in memory here, or mapped.
  void give_away(PageRange range, const HostCycle& cycle);
  /// Takes back the pages of the range that are offered to the GPU.
  void withdraw(PageRange range, const HostCycle& cycle);
  /// The GPU has mapped a page by itself that is leaving.
  void mapped_by_gpu(ManagedPage page);

  // Handles an answer; if it ends a departure, its pages may be wanted on the GPU again and are
  // returned.
  std::optional<Wanted> unmapped(const Unmapped& pages, const HostCycle& cycle);
  std::optional<Wanted> transfer_done(const Transfer& transfer, const HostCycle& cycle);
  /// Notes that another GPU has read the frames of a departure.
  void was_read(std::uint32_t index, const HostCycle& cycle) { finish(index, cycle); }

  void serialize(Archive& archive);

 private:
  struct Departure {
    Reason reason;
    PageRange range;
    std::uint64_t in_memory = 0;   ///< pages with frames
    std::uint32_t transfers = 0;   ///< write-backs under way
    std::vector<FrameRun> frames;  ///< frames of dirty pages
    template <class Archive>
    void serialize(Archive& archive) {
      archive(reason, range, in_memory, transfers, frames);
    }
  };

  /// Starts departures of the pages for which `goes` is true, one for each run of pages in one
  /// place.
  template <class Goes>
  void start_runs(PageRange pages, Goes&& goes, const Reason& reason, const HostCycle& cycle);
  void unmap(std::uint32_t index, const HostCycle& cycle);
  void count_use(ManagedPage page, PageTableEntry entry, HostStatistics& statistics);
  /// Divides the frames into those that are free now and those whose bytes are written back first.
  /// Returns the transfers of the latter.
  std::vector<Transfer> write_backs(std::uint32_t index, std::span<const std::uint64_t> entries,
                                    std::vector<FrameRun>& clean, HostStatistics& statistics);
  /// Goes on with pages that were unmapped, which had these entries.
  std::optional<Wanted> go_home(std::uint32_t index, std::span<const std::uint64_t> entries,
                                const HostCycle& cycle);
  /// Starts the departure of pages of which some are wanted by other GPUs: each of these, and each
  /// run between them, becomes a departure of its own.
  void split(std::uint32_t index, std::span<const std::uint64_t> entries, const HostCycle& cycle);
  /// Keeps the frames of pages for another GPU to read.
  void park(std::uint32_t index, std::span<const std::uint64_t> entries, const HostCycle& cycle);
  std::optional<Wanted> finish(std::uint32_t index, const HostCycle& cycle);

  Driver& driver_;
  const BufferDirectory& directory_;
  ManagedPages& pages_;
  FaultQueue& faults_;
  PrefetchOperations& operations_;
  std::vector<Departure> departures_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> recalled_;  ///< departures that wait for GPUs that map their pages
};

}  // namespace lockstep
