/// The link between host memory and the GPU: transfers in both directions, line by line.
///
/// A transfer takes its direction for a time that depends on its size (link_curve.hpp), alone; its
/// 128-byte lines leave evenly spaced over that time.  They travel to the partitions as ordinary
/// memory requests and their answers complete the transfer, so that a transfer competes with the
/// SMs for L2 and DRAM.  link_queue.hpp says who is next.  Transfers of faults are never split;
/// copies go in pieces of 256 KiB at the rate of their whole size, so that a fault waits for one
/// piece at most, and prefetches in pages if link_preempts_prefetch is set.  Remote accesses go
/// between the lines and push them back.
///
/// Behind a shared uplink (uplink.hpp) each line also takes its turn there.
///
/// Source: architecture.md, section 8 "The host"; virtual-memory-and-exceptions.md, sections 4, 18.
///
/// Simplified: a request for a line occupies the direction in which its bytes will travel.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "core/message/message.hpp"
#include "models/host_link/host_parameters.hpp"
#include "models/host_link/link_curve.hpp"
#include "models/host_link/link_queue.hpp"
#include "models/host_link/link_statistics.hpp"
#include "models/host_link/request_owner.hpp"
#include "models/host_link/transfer.hpp"
#include "models/host_link/uplink.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/wait_meter.hpp"

namespace lockstep {

class Outbox;

/// Bytes of host memory that a transfer reads or writes.
using HostBytes =
    std::function<std::span<std::byte>(const Transfer&, std::uint64_t offset, std::uint64_t bytes)>;

class HostLink {
 public:
  static constexpr std::uint64_t copy_piece_bytes = 256 * 1024;

  HostLink(const HostParameters& parameters, AddressMapping mapping, std::vector<Link> partitions,
           HostBytes host_bytes, const std::vector<std::uint32_t>& priorities,
           UplinkPort uplink = {});

  void start(Transfer transfer, Time now, Outbox& outbox);
  /// The next line leaves then, or the next transfer begins.
  Time next_activity() const;
  /// Sends what leaves at `now`.
  void act(Time now, Outbox& outbox);
  /// Takes an answer whose RequestOwner is a transfer.  Returns the transfer that the answer
  /// completed, if there is one.
  std::optional<Transfer> take(const MessageHeader& message);

  /// Takes bytes for checking.
  void take_inspected(const MessageHeader& message);

  /// Occupies a direction for the bytes of a remote access.  Returns when the
  /// last byte is through.
  Time occupy(bool to_gpu, Time now, std::uint64_t bytes, TenantId tenant);
  /// Passes a request on to the partition of its line; the caller takes the answer.
  void send_request(const MemoryRequest& request, std::span<const std::byte> payload, Time now,
                    Outbox& outbox);
  /// Has a page copied within its partition.
  void send_copy(const PageCopy& copy, Time now, Outbox& outbox);
  bool in_one_partition(PhysicalAddress one, PhysicalAddress other) const {
    return mapping_.partition(one) == mapping_.partition(other);
  }
  void send_range(PartitionId partition, Time now, MessageKind kind, const ZeroRange& range,
                  Outbox& outbox);
  /// Tells all partitions of a grid's begin or end.
  void send_mark(MessageKind kind, const GridMark& mark, Time now, Outbox& outbox);
  /// Bytes of the tenant that have gone through a direction.
  std::uint64_t bytes_of(std::uint16_t tenant, bool to_gpu) const;
  bool idle() const;
  /// Returns whether a transfer under way reads or writes some of these frames.
  bool uses(const FrameRun& frames) const;
  /// Returns whether bytes for checking, asked for with Kind::inspect, are still on their way.
  bool inspects() const { return inspected_ > 0; }
  const LinkStatistics& statistics(bool to_gpu) const { return directions_[to_gpu].statistics; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(partitions_, transfers_, free_transfers_, lines_, free_lines_, inspected_, directions_,
            last_answer_);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Active {
    Transfer transfer;
    Time duration;             ///< of the whole transfer
    double time_per_byte = 0;  ///< femtoseconds
    std::uint64_t sent = 0, acknowledged = 0;
    std::uint64_t in_frame = 0;  ///< bytes sent of frames[frame]
    std::uint32_t frame = 0;
    std::uint32_t asked = 0;  ///< of an inspection: answers that are to come
    template <class Archive>
    void serialize(Archive& archive) {
      archive(transfer, duration, time_per_byte, sent, acknowledged, in_frame, frame, asked);
    }
    /// Returns how long after its begin the first `bytes` of the transfer have gone through.
    Time through(std::uint64_t bytes) const {
      if (bytes == transfer.bytes) return duration;
      return Time{static_cast<std::int64_t>(time_per_byte * static_cast<double>(bytes))};
    }
    /// Returns the part of the next line that lies in this frame and transfer.
    std::uint64_t next_bytes() const;
  };
  struct Line {
    std::uint64_t offset = 0;  ///< in the buffer
    std::uint32_t transfer = 0;
    std::uint16_t bytes = 0;
    std::uint16_t skip = 0;  ///< bytes of its first sector that do not belong to it
    template <class Archive>
    void serialize(Archive& archive) {
      archive(offset, transfer, bytes, skip);
    }
  };
  struct Direction {
    explicit Direction(const TenantTurns& turns) : queue(turns), waits(turns.tenants()) {
      set_tenants(statistics, turns.tenants());
    }

    LinkQueue queue;
    std::uint32_t active = none;    ///< transfer in service
    std::uint64_t arrival = 0;      ///< its number in the queue
    std::uint64_t piece_end = 0;    ///< bytes of it that may be sent before others get their turn
    Time origin;                    ///< when it would have begun if it had never been interrupted
    Time next;                      ///< when its next line leaves, if there is a place in flight
    Time ready;                     ///< nothing begins before
    Time remote_free;               ///< when the remote accesses so far are through
    ServerWaits waits;              ///< for the first turn
    std::uint16_t last_remote = 0;  ///< tenant of the last remote access
    LinkStatistics statistics;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(queue, active, arrival, piece_end, origin, next, ready, remote_free, waits,
              last_remote, statistics);
    }
  };

  Time next_of(const Direction& direction) const;
  static void count_wait(const Transfer& transfer, LinkStatistics& statistics);
  /// A transfer lets others have their turn after so many bytes.
  std::uint64_t piece_bytes(const Transfer& transfer) const;
  void begin(Direction& direction, Time now);
  /// Sets when the next line of the piece in service leaves.
  void book_line(Direction& direction, Time now);
  /// The piece in service sends its next line.
  void advance(Direction& direction, Time now, Outbox& outbox);
  /// Sends the next line of a transfer.  Returns how many bytes it carries.
  std::uint64_t send_line(std::uint32_t transfer, Time now, Outbox& outbox);
  std::size_t lines_in_flight() const { return lines_.size() - free_lines_.size(); }
  void inspect(std::uint32_t transfer, Time now, Outbox& outbox);
  /// Returns the partitions that hold some of a range.
  std::vector<std::uint32_t> partitions_of(const InspectedRange& range) const;

  const HostParameters parameters_;
  const LinkCurve curve_;
  const AddressMapping mapping_;
  std::vector<Link> partitions_;
  const HostBytes host_bytes_;
  const UplinkPort uplink_;

  std::vector<Active> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> free_lines_;
  std::uint64_t inspected_ = 0;          ///< parts of ranges that partitions have not answered
  std::array<Direction, 2> directions_;  ///< to host, to GPU
  Time last_answer_;                     ///< when a place among the lines in flight became free
};

}  // namespace lockstep
