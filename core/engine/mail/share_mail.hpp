#pragma once

#include <cstdint>

#include "core/engine/mail/message_log.hpp"
#include "core/memory/cache_aligned.hpp"

namespace lockstep {

/// Messages of the last window to the components of a share, by their positions in the share. The
/// messages stay in the order of the logs, with one chain per component: senders may be other
/// cores, and a list per component would be one more cache line to wait for.
class ShareMail {
 public:
  void resize(std::size_t positions) { first_.assign(positions, none); }

  /// Forgets a window's entries; all of them have been taken.
  void clear() { entries_.clear(); }
  void add(std::uint32_t position, const Mail& mail) {
    entries_.push_back({mail, first_[position]});
    first_[position] = static_cast<std::uint32_t>(entries_.size() - 1);
  }

  bool waits_for(std::uint32_t position) const { return first_[position] != none; }
  template <class Action>
  void for_each(std::uint32_t position, Action&& action) const {
    for (std::uint32_t at = first_[position]; at != none; at = entries_[at].next)
      action(entries_[at].mail);
  }
  void take(std::uint32_t position) { first_[position] = none; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Entry {
    Mail mail;
    std::uint32_t next;  ///< next entry of the same component
  };

  CacheAlignedVector<Entry> entries_;
  /// First entry of the component at each position of the share.
  CacheAlignedVector<std::uint32_t> first_;
};

}  // namespace lockstep
