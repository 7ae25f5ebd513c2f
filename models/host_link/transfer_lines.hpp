/// Transfers over the link between host memory and a GPU, in both directions, line by line.
///
/// A transfer occupies its direction alone, for a time that depends on its size (link_curve.hpp);
/// its 128-byte lines leave evenly spaced over that time.  They travel to the partitions as
/// ordinary memory requests and their answers complete the transfer, so that a transfer competes
/// with the SMs for L2 and DRAM.  link_queue.hpp chooses the next transfer.  Transfers of faults
/// are never split; copies go in pieces of 256 KiB at the rate of their whole size, so that a fault
/// waits for one piece at most, and prefetches in pages if link_preempts_prefetch is set.  Remote
/// accesses go between the lines and push them back.
///
/// Behind a shared uplink (uplink.hpp) each line also takes its turn there.
///
/// Where nothing can come between the lines of a piece, the link computes the times of a stretch of
/// them at once and sends it to the partitions (copy_stretch.hpp).
///
/// Source: architecture.md, section 8 "The host"; virtual-memory-and-exceptions.md, sections 4, 18.
///
/// Simplified: a request for a line occupies the direction in which its bytes will travel.  A
/// partition's lines of a stretch count as in flight from the stretch's begin until the last of
/// them is acknowledged.  A stretch has the bytes that the host's buffer has when it begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "models/host_link/host_parameters.hpp"
#include "models/host_link/link_curve.hpp"
#include "models/host_link/link_queue.hpp"
#include "models/host_link/link_statistics.hpp"
#include "models/host_link/request_owner.hpp"
#include "models/host_link/transfer.hpp"
#include "models/host_link/uplink.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/copy_stretch.hpp"
#include "models/noc/grid_counts.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/wait_meter.hpp"

namespace lockstep {

class Outbox;

/// Where the bytes of a transfer come from or go to.
using HostBytes =
    std::function<std::span<std::byte>(const Transfer&, std::uint64_t offset, std::uint64_t bytes)>;

class TransferLines {
 public:
  static constexpr std::uint64_t copy_piece_bytes = 256 * 1024;
  static constexpr std::uint64_t stretch_bytes = 64 * 1024;
  /// Lines in flight from which on copies go in stretches: far more than there ever are.
  static constexpr std::uint32_t lines_for_stretches = 4096;

  /// `source`: the kind that sends the lines to partitions; `stretches`: no remote access can come.
  TransferLines(const HostParameters& parameters, AddressMapping mapping, SourceKind source,
                HostBytes host_bytes, const std::vector<std::uint32_t>& priorities,
                UplinkPort uplink, bool stretches = false);

  void start(Transfer transfer, Time now);
  /// Returns the time at which the next line leaves, or the next transfer begins.
  Time next_activity() const;
  /// Sends the lines that leave at `now`.  Lines of a stretch, which have been sent, leave up to
  /// `until`.  `late`: time by which the engine's clock is ahead of this one.
  void act(Time now, Time until, Time late, std::vector<Link>& partitions, Outbox& outbox);
  /// Bytes that a line carries.
  struct Landing {
    const Transfer& transfer;
    std::uint64_t offset, bytes;  ///< offset and length in the buffer
    std::uint64_t skip;           ///< bytes of the first sector that do not belong to the piece
  };
  /// `line`: number in the tag of the line's request.
  Landing landing_of(std::uint32_t line) const;
  /// Returns whether an answer for the line completes its transfer.
  bool is_last(std::uint32_t line) const {
    const Active& active = transfers_[lines_[line].transfer];
    return active.acknowledged + lines_[line].bytes == active.transfer.bytes;
  }
  /// Notes that the line was acknowledged.  Returns the transfer that this completed, if any.
  std::optional<Transfer> landed(std::uint32_t line, Time now);
  /// Notes that a partition's lines of a stretch were acknowledged.  Returns the transfer that this
  /// completed, if any.
  std::optional<Transfer> landed(const StretchDone& done, Time now);
  const Transfer& transfer_of(const StretchDone& done) const {
    return transfers_[stretches_[done.number].transfer].transfer;
  }
  /// Returns whether this completes its transfer.
  bool completes(const StretchDone& done) const {
    const Active& active = transfers_[stretches_[done.number].transfer];
    return active.acknowledged + done.bytes == active.transfer.bytes;
  }
  /// Occupies a direction for the bytes of a remote access.  Returns when the
  /// last byte is through.
  Time occupy(bool to_gpu, Time now, std::uint64_t bytes, TenantId tenant);
  /// Bytes of the tenant that have gone through a direction.
  std::uint64_t bytes_of(std::uint16_t tenant, bool to_gpu) const;
  bool idle() const;
  /// A transfer under way reads or writes some of these frames.
  bool uses(const FrameRun& frames) const;
  const LinkStatistics& statistics(bool to_gpu) const { return directions_[to_gpu].statistics; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(transfers_, free_transfers_, lines_, free_lines_, stretches_, free_stretches_,
            stretched_, directions_, last_answer_, engine_free_, last_direction_);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Place in a transfer.
  struct Place {
    std::uint64_t sent = 0;      ///< bytes before it
    std::uint64_t in_frame = 0;  ///< bytes of frames[frame] before it
    std::uint32_t frame = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(sent, in_frame, frame);
    }
  };
  struct Active {
    Transfer transfer;
    Time duration;             ///< duration of the whole transfer
    double time_per_byte = 0;  ///< femtoseconds per byte
    std::uint64_t acknowledged = 0;
    Place at;  ///< place of the next line
    template <class Archive>
    void serialize(Archive& archive) {
      archive(transfer, duration, time_per_byte, acknowledged, at);
    }
    /// Returns the time, counted from the begin, at which the first `bytes` of the transfer have
    /// passed.
    Time through(std::uint64_t bytes) const {
      if (bytes == transfer.bytes) return duration;
      return Time{static_cast<std::int64_t>(time_per_byte * static_cast<double>(bytes))};
    }
    /// Returns the bytes of the line at a place that lie in this frame and transfer.
    std::uint64_t bytes_at(const Place& place) const {
      const FrameRun& run = transfer.frames[place.frame];
      const std::uint64_t begin = (run.physical + place.in_frame) % line_bytes;
      return std::min(
          {line_bytes - begin, run.bytes - place.in_frame, transfer.bytes - place.sent});
    }
    std::uint64_t address_of(const Place& place) const {
      return transfer.frames[place.frame].physical + place.in_frame;
    }
    /// Moves the place behind `bytes` of its frame.
    void pass(Place& place, std::uint64_t bytes) const {
      place.sent += bytes;
      place.in_frame += bytes;
      if (place.in_frame < transfer.frames[place.frame].bytes) return;
      ++place.frame;
      place.in_frame = 0;
    }
  };
  /// A stretch to the GPU that is not acknowledged.
  struct Stretch {
    std::uint32_t transfer = 0;
    std::uint32_t lines = 0;  ///< lines that are not acknowledged
    template <class Archive>
    void serialize(Archive& archive) {
      archive(transfer, lines);
    }
  };
  struct Line {
    std::uint64_t offset = 0;  ///< offset in the buffer
    std::uint32_t transfer = 0;
    std::uint16_t bytes = 0;
    /// Bytes of the line's first sector that do not belong to the transfer.
    std::uint16_t skip = 0;
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
    std::uint32_t active = none;  ///< transfer in service
    std::uint64_t arrival = 0;    ///< number of the active transfer in the queue
    /// Bytes of the active transfer that may be sent before others get their turn.
    std::uint64_t piece_end = 0;
    Time origin;              ///< time at which the transfer would have begun without interruptions
    Time next;                ///< departure of the next line, if there is a place in flight
    bool is_stretch = false;  ///< the lines up to the transfer's place have been sent ahead
    Place left;               ///< place in the stretch up to which lines have left
    Time ready;               ///< time before which nothing begins
    Time remote_free;         ///< time at which the remote accesses so far are through
    ServerWaits waits;        ///< waits for the first turn
    std::uint16_t last_remote = 0;  ///< tenant of the last remote access
    LinkStatistics statistics;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(queue, active, arrival, piece_end, origin, next, is_stretch, left, ready, remote_free,
              waits, last_remote, statistics);
    }
  };

  Time next_of(const Direction& direction) const;
  /// Returns when a transfer begins for which the only copy engine has to be free.
  Time with_one_engine(const Direction& direction, Time ready) const;
  std::size_t number_of(const Direction& direction) const {
    return static_cast<std::size_t>(&direction - directions_.data());
  }
  static void count_wait(const Transfer& transfer, LinkStatistics& statistics);
  /// Returns the bytes after which a transfer lets others have their turn.
  std::uint64_t piece_bytes(const Transfer& transfer) const;
  void begin(Direction& direction, Time now);
  /// Returns when the line at a place of the transfer in service leaves if nothing holds it up.
  static Time departure_of(const Direction& direction, const Active& active, const Place& place) {
    return direction.origin + active.through(place.sent + active.bytes_at(place));
  }
  /// Sends the next stretch of the piece in service, or sets when its next line leaves.
  void go_on(Direction& direction, Time now, Time late, std::vector<Link>& partitions,
             Outbox& outbox);
  /// Returns whether no other line can make one of a stretch wait.
  bool may_send_stretch() const;
  void send_stretch(Direction& direction, Time late, std::vector<Link>& partitions, Outbox& outbox);
  void send_lines_of(const CopyStretch& stretch, const Transfer& transfer, Link& partition,
                     std::span<const CopiedLine> lines, Outbox& outbox) const;
  /// The next line of a stretch leaves, and those before `until`.  Returns whether the last one has
  /// left; `next` is its departure then.
  bool leave(Direction& direction, Time until);
  static void count_lines(const Active& active, std::uint64_t from, std::uint64_t to,
                          LinkStatistics& statistics);
  std::optional<Transfer> acknowledge(std::uint32_t transfer, std::uint64_t bytes, Time now);
  /// Sets when the next line of the piece in service leaves.
  void book_line(Direction& direction, Time now);
  /// Sends the next line of the piece in service, or lets lines of a stretch leave up to `until`.
  void advance(Direction& direction, Time now, Time until, Time late, std::vector<Link>& partitions,
               Outbox& outbox);
  /// Sends the next line of a transfer.  Returns its number of bytes.
  std::uint64_t send_line(std::uint32_t transfer, Time departure, std::vector<Link>& partitions,
                          Outbox& outbox);
  RequestOwner enter_line(std::uint32_t transfer, std::uint64_t bytes);
  std::size_t lines_in_flight() const { return lines_.size() - free_lines_.size() + stretched_; }

  const HostParameters parameters_;
  const LinkCurve curve_;
  const AddressMapping mapping_;
  const SourceKind source_;
  const HostBytes host_bytes_;
  const UplinkPort uplink_;
  const bool sends_stretches_;

  std::vector<Active> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> free_lines_;
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> free_stretches_;
  std::uint64_t stretched_ = 0;  ///< lines of stretches to the GPU in flight
  std::vector<std::vector<CopiedLine>>
      parts_;                            ///< each partition's lines of the stretch being sent
  std::array<Direction, 2> directions_;  ///< directions to the host and to the GPU
  Time last_answer_;  ///< time at which a place among the lines in flight last became free
  Time engine_free_;  ///< time at which the last piece was through
  std::uint64_t last_direction_ = 0;  ///< direction of the last piece
};

/// Returns the bytes of the tenant, as grids count them.
inline GridCounts link_counts(const TransferLines& lines, std::uint16_t tenant) {
  GridCounts counts;
  counts.bytes_to_host = lines.bytes_of(tenant, false);
  counts.bytes_to_gpu = lines.bytes_of(tenant, true);
  return counts;
}

}  // namespace lockstep
