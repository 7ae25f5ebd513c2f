/// The link between host memory and the GPU: transfers in both directions, line by line.
///
/// A transfer is eligible `transfer_setup` after it was started.  Each direction serves the tenants
/// in turn, 4 KiB at a time, a tenant's transfers in order; every 128-byte line occupies its
/// direction for its size over the bandwidth.  Lines travel to the partitions as ordinary memory
/// requests and their answers complete the transfer, so a copy competes with the SMs for L2 and
/// DRAM. Source: architecture.md, section 8 "The host"; figures: 001, Table 1 (bandwidth by size).
///
/// Simplified: one setup time and one bandwidth instead of a curve over sizes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "core/message/message.hpp"
#include "models/host/host_parameters.hpp"
#include "models/host/link_statistics.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class Outbox;

struct Transfer {
  enum class Kind : std::uint8_t {
    to_gpu,
    to_host,
    inspect,  ///< for checking: at once, past bandwidth, caches and queues
  };
  Kind kind = Kind::to_gpu;
  std::uint16_t tenant = 0;
  std::uint32_t buffer = 0;     ///< index in the tenant
  std::uint64_t operation = 0;  ///< what the tenant waits for
  std::uint64_t physical = 0;   ///< of `offset`
  std::uint64_t offset = 0;     ///< in the buffer
  std::uint64_t bytes = 0;
  std::uint64_t sent = 0, acknowledged = 0;
  Time eligible;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind, tenant, buffer, operation, physical, offset, bytes, sent, acknowledged, eligible);
  }
};

/// Where the bytes of a transfer come from or go to.
using HostBytes =
    std::function<std::span<std::byte>(const Transfer&, std::uint64_t offset, std::uint64_t bytes)>;

class HostLink {
 public:
  HostLink(const HostParameters& parameters, AddressMapping mapping, std::vector<Link> partitions,
           HostBytes host_bytes, std::size_t tenants);

  void start(Transfer transfer, Time now, Outbox& outbox);
  /// When the next line leaves.
  Time next_activity() const;
  /// Sends what leaves at `now`.
  void act(Time now, Outbox& outbox);
  /// Takes an answer; the transfer it completed, if it did.
  std::optional<Transfer> take(const MessageHeader& message);

  /// Occupies a direction for an answer to a remote access; when the last byte is through.
  Time occupy(bool to_gpu, Time now, std::uint64_t bytes, std::uint16_t tenant);
  void send_to_partition(std::uint32_t partition, Time now, MessageKind kind,
                         const ZeroRange& range, Outbox& outbox);
  bool idle() const;
  const LinkStatistics& statistics(bool to_gpu) const { return directions_[to_gpu].statistics; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(partitions_, transfers_, free_transfers_, lines_, free_lines_, directions_,
            last_answer_);
  }

 private:
  struct Line {
    std::uint32_t transfer = 0;
    std::uint64_t offset = 0;  ///< in the buffer
    std::uint32_t bytes = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(transfer, offset, bytes);
    }
  };
  struct Direction {
    Time free;                        ///< of the wire
    std::deque<std::uint32_t> queue;  ///< transfers with lines to send, in order of start
    std::uint16_t last_tenant = 0;
    std::uint32_t chunk_left = 0;  ///< bytes before it is the next tenant's turn
    LinkStatistics statistics;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(free, queue, last_tenant, chunk_left, statistics);
    }
  };

  Time next_of(const Direction& direction) const;
  /// Position in the queue of the transfer whose turn it is at `now`.
  std::size_t turn(Direction& direction, Time now) const;
  /// The wire is taken from `now` on.
  void take_wire(Direction& direction, Time now, std::uint64_t bytes, std::uint16_t tenant);
  void send_line(std::uint32_t transfer_index, Time now, Outbox& outbox);
  std::size_t lines_in_flight() const { return lines_.size() - free_lines_.size(); }

  const HostParameters parameters_;
  const AddressMapping mapping_;
  std::vector<Link> partitions_;
  const HostBytes host_bytes_;

  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> free_lines_;
  std::array<Direction, 2> directions_;  ///< to host, to GPU
  Time last_answer_;                     ///< when a place among the lines in flight became free
};

}  // namespace lockstep
