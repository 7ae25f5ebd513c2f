#pragma once

#include <algorithm>
#include <optional>

#include "core/time/time.hpp"

namespace lockstep {

/// Time over which the L2 serves the requests of a warp's load if all of them hit: the cost of its
/// banks and queues.
/// Source: 004, section 4.2.2 (inter-bank divergence).
///
/// Simplified: of several loads under way only one is followed. The time in which its requests
/// leave the SM one after the other is subtracted as a whole.
class HitSpread {
 public:
  /// `pc` tells loads apart.
  void sent(std::uint32_t pc, Time now) {
    if (under_way_ == 0) *this = {};
    if (count_ == 0) {
      pc_ = pc;
      first_sent_ = now;
    }
    if (pc != pc_) return;
    last_sent_ = now;
    ++count_;
    ++under_way_;
  }
  /// Takes an answer.  After the last of several answers that all hit, returns how far apart they
  /// came, less how far apart the requests left; otherwise nothing.
  std::optional<Time> answered(std::uint32_t pc, bool hit, Time now) {
    if (under_way_ == 0 || pc != pc_) return std::nullopt;
    all_hit_ &= hit;
    if (!any_answered_) first_answer_ = now;
    any_answered_ = true;
    if (--under_way_ > 0 || !all_hit_ || count_ < 2) return std::nullopt;
    return std::max(Time::zero(), (now - first_answer_) - (last_sent_ - first_sent_));
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(count_, under_way_, pc_, all_hit_, any_answered_, first_sent_, last_sent_,
            first_answer_);
  }

 private:
  std::uint32_t count_ = 0, under_way_ = 0, pc_ = 0;
  bool all_hit_ = true, any_answered_ = false;
  Time first_sent_, last_sent_, first_answer_;
};

}  // namespace lockstep
