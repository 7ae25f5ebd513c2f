#pragma once

#include <cstdint>

#include "models/noc/messages.hpp"

namespace lockstep {

/// Mark in peer addresses (noc/peer_address.hpp) of pages for which the port counts requests.
inline constexpr std::uint64_t counted_peer_bit = std::uint64_t{1} << 62;

/// peer_copy: host -> port of the GPU whose memory is read; payload: `from_runs` FrameRuns of that
/// GPU, then those of the other one, `bytes` in all on each side.
/// peer_copied: port -> host, when the other GPU's memory has the last byte.
struct PeerCopy {
  std::uint64_t id = 0;  ///< number chosen by the requester; comes back
  std::uint64_t bytes = 0;
  std::uint32_t from_runs = 0;
  std::uint16_t tenant = 0;  ///< number among the tenants of the GPU that is read
  std::uint16_t gpu = 0;     ///< number of the other GPU

  template <class Archive>
  void serialize(Archive& archive) {
    archive(id, bytes, from_runs, tenant, gpu);
  }
};
static_assert(sizeof(PeerCopy) == 24);

/// peer_counted: port -> host, when the requests of SMs for a page of another GPU have reached the
/// threshold.
struct PeerCounted {
  std::uint64_t page = 0;    ///< address of the page, as in its page table entry
  std::uint64_t tenant = 0;  ///< number among the tenants of the GPU that maps the page

  template <class Archive>
  void serialize(Archive& archive) {
    archive(page, tenant);
  }
};
static_assert(sizeof(PeerCounted) == 16);

}  // namespace lockstep
