#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

/// Ports of the network between SMs and partitions.
///
/// A crossbar without a central component: a sender's port moves some flits per cycle, the link
/// delays, and the receiving port arbitrates among one FIFO per sender.
/// Source: architecture.md, section 3 "noc" and section 8 "Back-pressure"; memory-interference.md,
/// 1.2, steps 1 to 4.
///
/// Simplified: a packet leaves with its first flit and the receiver charges the flits again, so
/// that a long packet takes both ports but its latency counts its flits once.
namespace lockstep {

/// The sending end: a few flits per cycle, packets in order.
class SendPort {
 public:
  SendPort() = default;
  explicit SendPort(std::uint32_t flits_per_cycle) : rate_(flits_per_cycle) {}

  /// The cycle, not before `cycle`, in which the first flit of the next packet leaves.
  std::int64_t reserve(std::int64_t cycle, std::uint32_t flits) {
    const std::int64_t start = std::max(next_, cycle * rate_);
    next_ = start + flits;
    return start / rate_;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(next_);
  }

 private:
  std::int64_t rate_ = 1;
  std::int64_t next_ = 0;  ///< first free flit slot, counted from time 0
};

/// The receiving end: a FIFO per sender in front of `ports` input registers.  A free register
/// takes the oldest packet of the next sender in turn.
class ReceivePort {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  ReceivePort() = default;
  ReceivePort(std::uint32_t senders, std::uint32_t ports)
      : fifos_(senders), waiting_((senders + 63) / 64), registers_(ports) {}

  std::uint32_t ports() const { return static_cast<std::uint32_t>(registers_.size()); }

  /// `packet` is a small dense number that the caller can look up.
  void arrive(std::uint32_t sender, std::uint32_t packet) {
    if (packet >= next_.size()) next_.resize(packet + 1, none);
    next_[packet] = none;
    Fifo& fifo = fifos_[sender];
    if (fifo.head == none) {
      fifo.head = packet;
      waiting_[sender / 64] |= std::uint64_t{1} << (sender % 64);
      ++waiting_senders_;
    } else {
      next_[fifo.tail] = packet;
    }
    fifo.tail = packet;
  }

  /// Fills the free registers; `flits(packet)` is how long a register takes to receive a packet.
  template <class Flits>
  void take(std::int64_t cycle, Flits&& flits) {
    for (std::uint32_t i = 0; i < ports() && waiting_senders_ != 0; ++i) {
      Register& place = registers_[rotated(cycle, i)];
      if (place.packet != none || place.free > cycle) continue;
      place.packet = pop();
      place.ready = cycle + flits(place.packet) - 1;
      place.free = place.ready + 1;
    }
  }

  /// Offers each received packet to `accept(packet)`, the first register rotating by one every
  /// cycle; what is not accepted stays and blocks its register.  True if a packet left.
  template <class Accept>
  bool forward(std::int64_t cycle, Accept&& accept) {
    bool moved = false;
    for (std::uint32_t i = 0; i < ports(); ++i) {
      Register& place = registers_[rotated(cycle, i)];
      if (place.packet == none || place.ready > cycle || !accept(place.packet)) continue;
      place.packet = none;
      moved = true;
    }
    return moved;
  }

  /// Earliest cycle after `cycle` at which take() or forward() has something to do; a received
  /// packet that was not accepted does not count, see blocked().
  std::int64_t next_cycle(std::int64_t cycle, std::int64_t never) const {
    std::int64_t next = never;
    for (const Register& place : registers_) {
      if (place.packet != none) {
        if (place.ready > cycle) next = std::min(next, place.ready);
      } else if (waiting_senders_ != 0) {
        next = std::min(next, std::max(place.free, cycle + 1));
      }
    }
    return next;
  }
  bool blocked(std::int64_t cycle) const {
    for (const Register& place : registers_)
      if (place.packet != none && place.ready <= cycle) return true;
    return false;
  }
  bool empty() const {
    return waiting_senders_ == 0 && std::all_of(registers_.begin(), registers_.end(),
                                                [](const Register& r) { return r.packet == none; });
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(fifos_, waiting_, registers_, next_, waiting_senders_, turn_);
  }

 private:
  struct Fifo {
    std::uint32_t head = none, tail = none;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(head, tail);
    }
  };
  struct Register {
    std::uint32_t packet = none;
    std::int64_t ready = 0;  ///< cycle of its last flit
    std::int64_t free = 0;   ///< first cycle in which it can take the next packet
    template <class Archive>
    void serialize(Archive& archive) {
      archive(packet, ready, free);
    }
  };

  std::uint32_t rotated(std::int64_t cycle, std::uint32_t i) const {
    const auto first = static_cast<std::uint32_t>(cycle % ports());
    return first + i < ports() ? first + i : first + i - ports();
  }

  std::uint32_t pop() {
    const std::uint32_t sender = next_sender();
    turn_ = sender + 1 == fifos_.size() ? 0 : sender + 1;
    Fifo& fifo = fifos_[sender];
    const std::uint32_t packet = fifo.head;
    fifo.head = next_[packet];
    if (fifo.head == none) {
      waiting_[sender / 64] &= ~(std::uint64_t{1} << (sender % 64));
      --waiting_senders_;
    }
    return packet;
  }

  /// First waiting sender at or after turn_, cyclically; there is one.
  std::uint32_t next_sender() const {
    std::uint32_t word = turn_ / 64;
    std::uint64_t bits = waiting_[word] & (~std::uint64_t{0} << (turn_ % 64));
    while (bits == 0) {
      word = word + 1 == waiting_.size() ? 0 : word + 1;
      bits = waiting_[word];
    }
    return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  std::vector<Fifo> fifos_;
  std::vector<std::uint64_t> waiting_;  ///< senders whose FIFO holds something
  std::vector<Register> registers_;
  std::vector<std::uint32_t> next_;  ///< packet behind a packet in its FIFO
  std::uint32_t waiting_senders_ = 0;
  std::uint32_t turn_ = 0;
};

}  // namespace lockstep
