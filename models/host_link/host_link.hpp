/// The host's end of the link to a GPU: transfers, and requests of the driver to memory.
///
/// Transfers go line by line (transfer_lines.hpp).  In a machine with one GPU, the host serves them
/// itself.  With several GPUs, a component serves them for each GPU, or for all GPUs behind an
/// uplink (link_unit.hpp), so that the host has no work with lines: it hands over a transfer with
/// its bytes, and is told when the transfer is done.
///
/// Source: architecture.md, section 8 "The host"; virtual-memory-and-exceptions.md, sections 4, 18.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "core/message/message.hpp"
#include "models/host_link/transfer_lines.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

class HostLink {
 public:
  static constexpr std::uint64_t copy_piece_bytes = TransferLines::copy_piece_bytes;

  /// Makes the host's end.  `to_unit`: link to the component that serves the transfers; without it,
  /// this object serves them.  `stretches`: no remote access can come (transfer_lines.hpp).
  HostLink(const HostParameters& parameters, AddressMapping mapping, std::vector<Link> partitions,
           HostBytes host_bytes, const std::vector<std::uint32_t>& priorities,
           UplinkPort uplink = {}, std::optional<Link> to_unit = {}, bool stretches = false);

  void start(Transfer transfer, Time now, Outbox& outbox);
  /// Returns the time at which the next line leaves, or the next transfer begins.
  Time next_activity() const { return to_unit_ ? Time::never() : lines_.next_activity(); }
  /// Sends what leaves at `now`.
  void act(Time now, Outbox& outbox) { act(now, now + Time{1}, outbox); }
  /// Does what concerns the link alone, in order of time: lines leave, and answers that complete
  /// no transfer are taken.  Stops at any other message, and before `until`.  Returns how many of
  /// the messages it has taken.
  std::size_t run(Inbox messages, Time until, Outbox& outbox);
  /// Takes an answer for which the RequestOwner is a transfer, or one for a stretch.  Returns the
  /// transfer that the answer completed, if any.
  std::optional<Transfer> take(const MessageHeader& message);

  // What the component says that serves the transfers.
  void take_bytes(const MessageHeader& message);
  /// Returns the transfer that is done.
  Transfer take_moved(const MessageHeader& message);

  /// Takes bytes for checking.
  void take_inspected(const MessageHeader& message);

  /// Sends the answer to a remote access, when the bytes of both have gone through.  `received`:
  /// bytes that came with the request.
  void answer(const MemoryResponse& answer, std::span<const std::byte> payload,
              std::uint64_t received, Time now, Link& to_sm, Outbox& outbox);
  /// Occupies a direction for the bytes of a remote access.  Returns when the
  /// last byte is through.
  Time occupy(bool to_gpu, Time now, std::uint64_t bytes, TenantId tenant) {
    return lines_.occupy(to_gpu, now, bytes, tenant);
  }
  /// Sends a request to the partition of its line; the caller handles the answer.
  void send_request(const MemoryRequest& request, std::span<const std::byte> payload, Time now,
                    Outbox& outbox);
  /// Has a page copied within its partition.
  void send_copy(const PageCopy& copy, Time now, Outbox& outbox);
  bool in_one_partition(PhysicalAddress one, PhysicalAddress other) const {
    return mapping_.partition(one) == mapping_.partition(other);
  }
  void send_range(PartitionId partition, Time now, MessageKind kind, const ZeroRange& range,
                  Outbox& outbox);
  /// Tells all components that count by tenant about the begin or end of a grid.
  void send_mark(MessageKind kind, const GridMark& mark, Time now, Outbox& outbox);
  /// Returns the tenant's bytes that have gone through a direction here.
  std::uint64_t bytes_of(std::uint16_t tenant, bool to_gpu) const {
    return lines_.bytes_of(tenant, to_gpu);
  }
  /// Returns a number that grows while bytes of the tenant cross the link.
  std::uint64_t moved_of(std::uint16_t tenant) const {
    return to_unit_ ? moved_[tenant] : bytes_of(tenant, false) + bytes_of(tenant, true);
  }
  /// Returns whether another component has a transfer of the tenant under way.
  bool is_moving(std::uint16_t tenant) const;
  bool is_apart() const { return to_unit_.has_value(); }
  bool idle() const { return lines_.idle() && !inspects() && under_way() == 0; }
  /// Returns whether a transfer under way reads or writes some of these frames.
  bool uses(const FrameRun& frames) const;
  /// Returns whether bytes for checking, asked for with Kind::inspect, are still on their way.
  bool inspects() const { return inspected_ > 0; }
  const LinkStatistics& statistics(bool to_gpu) const { return lines_.statistics(to_gpu); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(partitions_, lines_, inspections_, free_inspections_, inspected_, transfers_,
            free_transfers_, moved_);
    if (to_unit_) archive(*to_unit_);
  }

 private:
  void act(Time now, Time until, Outbox& outbox) {
    lines_.act(now, until, Time::zero(), partitions_, outbox);
  }
  struct Inspection {
    Transfer transfer;
    std::uint32_t asked = 0;  ///< answers still to come
    template <class Archive>
    void serialize(Archive& archive) {
      archive(transfer, asked);
    }
  };

  /// Returns whether the message answers a line of a transfer that has further lines to come.
  bool concerns_link_alone(const MessageHeader& message) const;
  void inspect(Transfer transfer, Time now, Outbox& outbox);
  void hand_over(Transfer transfer, Time now, Outbox& outbox);
  /// Returns the partitions that hold some of a range.
  std::vector<std::uint32_t> partitions_of(const InspectedRange& range) const;
  std::size_t under_way() const { return transfers_.size() - free_transfers_.size(); }

  const AddressMapping mapping_;
  std::vector<Link> partitions_;
  std::optional<Link> to_unit_;
  const HostBytes host_bytes_;
  TransferLines lines_;

  std::vector<Inspection> inspections_;
  std::vector<std::uint32_t> free_inspections_;
  std::uint64_t inspected_ = 0;  ///< parts of ranges that partitions have not answered
  /// Transfers that another component serves; free entries have no frames.
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  /// Transfers and answers handed over and done, for each tenant.
  std::vector<std::uint64_t> moved_;
};

}  // namespace lockstep
