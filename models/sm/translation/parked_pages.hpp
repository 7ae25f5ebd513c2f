/// Pages asked for, and the lines of accesses that wait for them.
///
/// A line whose page is not in the TLB is parked with the page; other accesses go on, hits and
/// further misses alike.  When the answer comes the parked lines leave in order, before anything
/// else is looked up, so that nothing to the page passes them.
/// Source: architecture.md, section 8, rules 6 to 8; 001, section B.2 (hit and miss under miss,
/// Nack-Replayable).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/memory/buckets.hpp"
#include "core/memory/slot_pool.hpp"
#include "models/noc/ids.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/parameters/sm_cycle.hpp"
#include "models/vm/tlb.hpp"

namespace lockstep {

/// Line of a parked access.
struct ParkedGroup {
  std::uint16_t next = 0xffff;
  std::uint16_t access = 0xffff;
  std::uint16_t group = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(next, access, group);
  }
};

/// A requested page with lines that have not left.
struct PageMiss {
  enum class State : std::uint8_t {
    unused,
    asked,
    refused,   ///< outside GPU memory: the SM asks again after a replay
    draining,  ///< `entry` translates the parked accesses
    invalid,   ///< outside of every buffer: waits for the end of its tenant
  };
  static constexpr SmCycle not_refused{-1};

  TlbKey key;  ///< key of the page itself
  PageTableEntry entry;
  /// Cycle of the first refusal since the page was last there.
  SmCycle refused_since = not_refused;
  std::uint32_t position = 0;  ///< refused: granules that were pending before the page
  std::uint16_t chain = 0xffff;
  std::uint16_t first = 0xffff, last = 0xffff;  ///< first and last parked line
  State state = State::unused;
  bool stored = false;    ///< page_written was sent or is not needed
  bool faulted = false;   ///< the page was refused since its lines last left
  bool replayed = false;  ///< a replay has named the page
  bool handled = false;   ///< refused, and the GPU handles the fault by itself
  bool come = false;      ///< refused and replayed since: squashed accesses may ask again
  bool held = false;      ///< the page waits for the answer to a miss in the same large page

  TenantPage where() const { return key.where(); }
  TenantId tenant() const { return key.tenant(); }
  bool has_lines() const { return first != 0xffff; }
  bool was_refused() const { return refused_since != not_refused; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(key, entry, refused_since, position, chain, first, last, state, stored, faulted,
            replayed, handled, come, held);
  }
};

class ParkedPages {
 public:
  static constexpr std::uint16_t none = 0xffff;

  /// `mshrs`: pages that can be asked for at a time.
  explicit ParkedPages(std::uint32_t mshrs) : mshrs_(mshrs), heads_(buckets_.count(), none) {}

  bool full() const { return asked_ >= mshrs_; }
  std::uint32_t asked() const { return asked_; }
  /// Returns the number of refused pages whose lines have not left, without pages that no line
  /// waits for.
  std::uint32_t faulted() const { return faulted_; }

  std::uint16_t find_miss(TlbKey key) const;
  std::uint16_t take_miss(TlbKey key);
  void give_back_miss(std::uint16_t index);
  PageMiss& miss(std::uint16_t index) { return misses_[index]; }
  const PageMiss& miss(std::uint16_t index) const { return misses_[index]; }
  void set_state(std::uint16_t index, PageMiss::State state);
  void set_faulted(std::uint16_t index, bool faulted);
  void set_refused_since(std::uint16_t index, SmCycle since);
  /// Warps with lines parked for pages that were refused.
  std::uint64_t warps_of_refused() const { return warps_of_refused_; }
  /// Calls function(index) for each requested page, by index; the function may give the page back.
  template <class Function>
  void for_each_miss(Function&& function) const {
    for (std::size_t i = 0; i < misses_.capacity(); ++i)
      if (misses_[i].state != PageMiss::State::unused) function(static_cast<std::uint16_t>(i));
  }
  /// Returns the misses with parked lines whose translation is there, in order of their answers.
  const std::deque<std::uint16_t>& draining() const { return draining_; }

  std::size_t parked_accesses() const { return accesses_.used(); }
  /// Copies the access unless that was done for an earlier line.
  void park(std::uint16_t miss, Access& access, unsigned group);
  /// Returns the first line parked for a page.
  const ParkedGroup& front(std::uint16_t miss) const { return groups_[misses_[miss].first]; }
  Access& access_of(const ParkedGroup& group) { return accesses_[group.access]; }
  const Access& access_of(const ParkedGroup& group) const { return accesses_[group.access]; }
  /// The first line parked for the page waits no more.  Returns whether that was the last parked
  /// line of its access and the queue needs no copy either.
  bool pop(std::uint16_t miss);
  /// Gives up the reference of a parked line, or of the queue, to the copy.  Returns whether it was
  /// the last.
  bool release(std::uint16_t access) {
    if (--accesses_[access].holders != 0) return false;
    accesses_.give_back(access);
    return true;
  }
  /// Calls function(access, group) for each parked line until it returns true.
  template <class Function>
  void for_each_parked(std::uint16_t miss, Function&& function) const {
    for (std::uint16_t i = misses_[miss].first; i != none; i = groups_[i].next)
      if (function(access_of(groups_[i]), groups_[i].group)) return;
  }

  void serialize(Archive& archive);

 private:
  void count_line_of_refused(std::uint16_t access, int change);
  std::uint16_t& head_of(TlbKey key) { return heads_[buckets_.of(key.bits())]; }

  std::uint32_t mshrs_ = 0, asked_ = 0, faulted_ = 0;
  std::uint64_t warps_of_refused_ = 0;
  std::array<std::uint16_t, 64> lines_of_refused_{};  ///< parked lines of refused pages, by warp
  Buckets buckets_{256};
  std::vector<std::uint16_t> heads_;
  SlotPool<PageMiss> misses_;
  SlotPool<ParkedGroup> groups_;
  SlotPool<Access> accesses_;  ///< copies of accesses, each shared by its parked lines
  std::deque<std::uint16_t> draining_;
};

}  // namespace lockstep
