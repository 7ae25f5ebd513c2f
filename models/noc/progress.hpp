/// Whether tenants get on: what components say of each at every epoch.
///
/// All that is waiting for something may wait for ever, and most of it with events pending: a warp
/// polls, pages come and go.  So every component that can tell says, for each tenant, whether
/// something has come about since it was last asked; the host puts it together
/// (host/progress_watch.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/time/time.hpp"

namespace lockstep {

/// Signs of progress of a tenant; bits of one byte.
namespace progress {
/// A store or an atomic changed a word, a warp's registers are not what they were before, a thread
/// block has ended.
inline constexpr std::uint8_t got_on = 1;
/// A step of its host program has ended, or will when a transfer or a delay has.
inline constexpr std::uint8_t stepped = 2;
inline constexpr std::uint8_t issued = 4;       ///< bit: the tenant issued warp instructions
inline constexpr std::uint8_t on_chip = 8;      ///< bit: the tenant had thread blocks on SMs
inline constexpr std::uint8_t wants_page = 16;  ///< bit: an access of the tenant waits for a page
inline constexpr std::uint8_t unfinished = 32;  ///< bit: the tenant's program has not ended
}  // namespace progress

using ProgressBits = std::vector<std::uint8_t>;  ///< bits of each tenant

/// A component that sees whether tenants get on.
class ProgressSource {
 public:
  virtual ~ProgressSource() = default;
  /// Adds the progress of each tenant since the last call to its bits. The component stands at
  /// `now`.
  virtual void take_progress(Time now, std::span<std::uint8_t> tenants) = 0;
};

}  // namespace lockstep
