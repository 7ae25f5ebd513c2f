/// Pages on their way to the GPU, in the order of the requests.
///
/// A migration waits for frames, for which other pages are evicted if there are none; then its data
/// cross the link and its entries are written (driver.hpp).  When nothing moves and nothing can be
/// evicted, the first waiting migration gets smaller, or waits for memory that is becoming free, or
/// its tenant ends (memory_shortage.cpp).
/// Source: 001, sections B.2 and B.3; architecture.md, section 8, rules 7, 9 and 10.  What happens
/// when nothing can be evicted is ours: the papers stop there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "models/driver/managed/evictor.hpp"
#include "models/driver/managed/fault_log.hpp"

namespace lockstep {

/// Pages of one buffer that move together.
struct Migration {
  bool fault = false;  ///< an access waits for the pages
  bool writable = true;
  bool remote = false;    ///< the pages are mapped where they are, at the host or on another GPU
  bool taken_in = false;  ///< for a GPU that had no room
  PageRange range;
  Time not_before;  ///< earliest time at which the GMMU hears of the pages
  Time served;      ///< time at which the driver had handled the fault
  std::uint64_t operation = PrefetchOperations::none;
  std::uint32_t record = FaultLog::none;
  /// Frames, held while other GPUs give pages up or send their bytes.
  std::vector<FrameRun> frames;
  std::vector<PageRange> brought;  ///< pages whose bytes come from other GPUs
  std::uint32_t missing = 0;       ///< transfers from other GPUs still missing
  template <class Archive>
  void serialize(Archive& archive) {
    archive(fault, writable, remote, taken_in, range, not_before, served, operation, record, frames,
            brought, missing);
  }
};

class Migrations {
 public:
  /// Parts of the driver that migrations work with.
  struct Parts {
    Driver& driver;
    const BufferDirectory& directory;
    ManagedPages& pages;
    FaultQueue& faults;
    FaultLog& log;
    PrefetchOperations& operations;
    Evictor& evictor;
  };
  Migrations(const Parts& parts, std::size_t tenants) : parts_(parts), tenants_(tenants) {}

  void add(const Migration& migration) { waiting_.push_back(begin(migration)); }
  /// Adds a migration for a prefetch step, which already counts it.
  void prefetch(PageRange range, std::uint64_t operation, Time now);
  /// Begins the migrations for which there are frames.
  void start_waiting(const HostCycle& cycle);
  /// Maps a page that stays at the host; the GPU reaches it over the link.
  void map_remote(const Migration& migration, const HostCycle& cycle);
  /// Maps a page that stays in these frames of another GPU; the GPU reaches it over the fabric.
  void map_peer(const Migration& migration, std::vector<FrameRun> frames, const HostCycle& cycle);
  /// Takes in a unit for which another GPU has no room, if there are frames.
  void take_in(std::uint32_t allocation, std::uint64_t unit, const HostCycle& cycle);
  /// Continues migrations whose pages other GPUs have given up.
  void go_on(const HostCycle& cycle);
  /// Notes that bytes of a migration's unit have come from another GPU.
  void has_come(std::uint32_t index, const HostCycle& cycle);
  /// A copy becomes the only one.
  void make_writable(const Migration& migration, const HostCycle& cycle);
  /// The driver has mapped the pages.
  void mapped(std::uint32_t index, const HostCycle& cycle);

  /// A tenant without room for its pages, and the message for it.
  struct Failure {
    TenantId tenant;
    std::string message;
  };
  std::vector<Failure> take_failures() { return std::exchange(failures_, {}); }

  std::uint64_t under_way() const { return mapping_; }
  std::size_t without_frames() const { return waiting_.size(); }
  /// Returns the number of migrations with frames that wait for other GPUs.
  std::size_t fetching() const { return fetching_.size(); }
  bool somebody_leaves() const;
  void serialize(Archive& archive);

 private:
  /// Puts the pages of a migration on their way.  Returns its number.
  std::uint32_t begin(const Migration& migration);
  std::uint32_t store(const Migration& migration);
  Migration take(std::uint32_t index);
  void start(std::uint32_t index, std::vector<FrameRun> frames, const HostCycle& cycle);
  // migrations_of_others.cpp
  void bring(std::uint32_t index, const HostCycle& cycle);
  void map(std::uint32_t index, const HostCycle& cycle);
  /// Returns false if the first migration must wait longer.
  bool find_room(std::uint64_t pages, const HostCycle& cycle);

  // memory_shortage.cpp
  void give_up(PageRange range, Time now);
  void drop(std::deque<std::uint32_t>::iterator which, const HostCycle& cycle);
  bool drop_those_of_leaving(const HostCycle& cycle);
  bool split_first(const HostCycle& cycle);
  void fail_first();
  bool starved(const HostCycle& cycle);

  const Parts parts_;
  const std::size_t tenants_;
  std::vector<Migration> migrations_;
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> waiting_;  ///< migrations without frames
  /// Migrations with frames for pages that other GPUs still have.
  std::vector<std::uint32_t> fetching_;
  std::uint64_t mapping_ = 0;      ///< migrations with frames whose pages are not mapped yet
  std::vector<Failure> failures_;  ///< failures of the current call
};

}  // namespace lockstep
