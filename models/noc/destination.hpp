#pragma once

#include <cstddef>
#include <cstdint>

#include "models/noc/ids.hpp"

namespace lockstep {

/// Where a message goes: a kind of components, and a number within the kind.
struct Destination {
  /// Kinds are numbers: a machine may have others.
  enum class Kind : std::uint16_t { partition, host, port };

  Kind kind = Kind::partition;
  std::uint16_t index = 0;

  static constexpr Destination partition(PartitionId partition) {
    return {Kind::partition, partition.value()};
  }
  static constexpr Destination host() { return {Kind::host, 0}; }
  static constexpr Destination port() { return {Kind::port, 0}; }

  constexpr bool operator==(const Destination&) const = default;
};
inline constexpr std::size_t most_destination_kinds = 3;
static_assert(sizeof(Destination) == 4);

}  // namespace lockstep
