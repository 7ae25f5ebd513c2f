/// A line of the L2 as policies see it: the terms in which the plug points `cache_policy` and
/// `replacement` communicate.
#pragma once

#include <cstdint>

namespace lockstep {

/// A line of a full set.
struct CacheWay {
  std::uint8_t line_class = 0;  ///< class from on_insertion (MeDiC: warp type)
  std::uint16_t tenant = 0;
  std::uint32_t line = 0;      ///< number of the line in the partition
  std::uint32_t last_use = 0;  ///< number of lines of the set that were used longer ago
};

/// Where a line stands: `set` counts over all banks of the partition.
struct CachePlace {
  std::uint32_t set = 0, way = 0;
  std::uint32_t line = 0;  ///< number of the line in the partition
};

/// Time after which a new line leaves, compared with the other lines of its set.
enum class CachePosition : std::uint8_t {
  usual,  ///< place that the replacement policy chooses by itself
  most_recent,
  middle,
  next_to_go,
};

}  // namespace lockstep
