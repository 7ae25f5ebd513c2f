/// Warps that must not issue the next instruction of their program though its operands are there.
///
/// Every issue looks at one mask only, which is empty on a machine that stalls on faults.
/// Source: 000, section 3 (what the three schemes add to the issue conditions).
#pragma once

#include <cstdint>
#include <optional>

#include "core/memory/ring.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/front_end/pending_sources.hpp"
#include "models/sm/parameters/stall_cause.hpp"

namespace lockstep {

class HeldWarps {
 public:
  /// `any`: mask of the warps that a cause below keeps from issuing.  The mask stands in its
  /// owner's hot data.
  HeldWarps(std::uint64_t& any, std::size_t warps) : any_(any), early_(warps), late_(warps) {}

  // Causes.
  void stop_fetch(WarpSlot warp) { set(fetch_off_, warp); }
  void resume_fetch(WarpSlot warp) { clear(fetch_off_, warp); }
  bool fetch_is_off(WarpSlot warp) const { return (fetch_off_ & bit_of(warp)) != 0; }
  /// A fault has squashed an instruction of the warp.
  void stop(WarpSlot warp) { set(stopped_, warp); }
  void go_on(WarpSlot warp) { clear(stopped_, warp); }
  bool stopped(WarpSlot warp) const { return (stopped_ & bit_of(warp)) != 0; }
  std::uint64_t stopped() const { return stopped_; }
  /// Freezes the warp, because its block will leave: nothing of it issues any more.
  void freeze(WarpSlot warp) {
    set(frozen_, warp);
    clear(to_freeze_, warp);
  }
  void thaw(WarpSlot warp) {
    clear(frozen_, warp);
    clear(to_freeze_, warp);
  }
  bool frozen(WarpSlot warp) const { return (frozen_ & bit_of(warp)) != 0; }
  /// The warp freezes when it comes to a preemption point.
  void freeze_at_point(WarpSlot warp) { set(to_freeze_, warp); }
  void forget_point(WarpSlot warp) { clear(to_freeze_, warp); }
  bool freezes_at_point(WarpSlot warp) const { return (to_freeze_ & bit_of(warp)) != 0; }
  /// Notes whether the warp has accesses that have not committed or may fault, and must not leave
  /// its slot therefore.
  void set_accesses(WarpSlot warp, bool some) {
    accesses_ = (accesses_ & ~bit_of(warp)) | (std::uint64_t{some} << warp.value());
  }
  bool any() const { return (any_ | accesses_) != 0; }
  bool has_accesses(WarpSlot warp) const { return (accesses_ & bit_of(warp)) != 0; }

  // Sources, until operand read.
  void begin_read(WarpSlot warp, const PreciseRecord& record) {
    early_.begin(warp, record);
    reads_.push({record, static_cast<std::uint8_t>(warp.value())});
    update_reads(warp);
  }
  /// Returns whether an instruction of the warp is in the operand read stage.
  bool reads(WarpSlot warp) const { return early_.any(warp); }
  /// The warp's oldest read is done.
  void end_read(WarpSlot warp) {
    const Read read =
        reads_.take_first([&](const Read& other) { return other.warp == warp.value(); });
    early_.end(warp, read.record);
    update_reads(warp);
  }
  // Sources, for longer.
  void hold_sources(WarpSlot warp, const PreciseRecord& record) {
    late_.begin(warp, record);
    update_reads(warp);
  }
  void release_sources(WarpSlot warp, const PreciseRecord& record) {
    late_.end(warp, record);
    update_reads(warp);
  }
  /// Returns the cause for which an instruction waits that would overwrite a source.
  std::optional<StallCause> source_conflict(WarpSlot warp, const Scoreboard& written) const {
    if (late_.hold(warp, written)) return StallCause::late_source;
    if (early_.hold(warp, written)) return StallCause::dependency;
    return std::nullopt;
  }

  void serialize(Archive& archive) {
    archive(fetch_off_, stopped_, frozen_, to_freeze_, accesses_, reading_, early_, late_, reads_);
  }

 private:
  struct Read {
    PreciseRecord record;
    std::uint8_t warp = 0;

    template <class A>
    void serialize(A& archive) {
      archive(record, warp);
    }
  };
  void set(std::uint64_t& mask, WarpSlot warp) {
    mask |= bit_of(warp);
    any_ |= bit_of(warp);
  }
  void clear(std::uint64_t& mask, WarpSlot warp) {
    mask &= ~bit_of(warp);
    any_ = fetch_off_ | stopped_ | frozen_ | to_freeze_ | reading_;
  }
  void update_reads(WarpSlot warp) {
    early_.any(warp) || late_.any(warp) ? set(reading_, warp) : clear(reading_, warp);
  }

  std::uint64_t& any_;
  std::uint64_t fetch_off_ = 0, stopped_ = 0, frozen_ = 0, to_freeze_ = 0;
  std::uint64_t accesses_ = 0, reading_ = 0;
  PendingSources early_, late_;
  Ring<Read> reads_;  ///< reads in the operand read stage
};

}  // namespace lockstep
