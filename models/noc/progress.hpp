/// Progress of tenants, as components report it at every epoch.
///
/// A tenant may wait for ever although events are pending: a warp polls, pages come and go.  So
/// components report for each tenant whether it has made progress since the last report; the host
/// combines the reports (host/progress_watch.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/time/time.hpp"

namespace lockstep {

/// Signs of progress of a tenant; bits of one byte.
namespace progress {
/// Bit: a store or an atomic changed a word, a warp's registers changed, or a thread block ended.
inline constexpr std::uint8_t got_on = 1;
/// Bit: a step of the host program has ended, or will end with a transfer or a delay.
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
  /// Adds the progress of each tenant since the last call to the tenant's bits. The component has
  /// reached `now`.
  virtual void take_progress(Time now, std::span<std::uint8_t> tenants) = 0;
};

}  // namespace lockstep
