#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/memory/warm.hpp"

/// Ports of the network between SMs and partitions.
///
/// A crossbar without a central component: a sender's port moves some flits per cycle, the link
/// delays, and the receiving port arbitrates among one FIFO per sender.
/// Source: architecture.md, section 3 "noc" and section 8 "Back-pressure"; memory-interference.md,
/// 1.2, steps 1 to 4.
///
/// Simplified: a packet leaves with its first flit, and the receiver charges the flits again. So a
/// long packet takes both ports, but its latency counts the flits once.
namespace lockstep {

/// The sending end: a few flits per cycle, packets in order.
class SendPort {
 public:
  SendPort() = default;
  explicit SendPort(std::uint32_t flits_per_cycle) : rate_(flits_per_cycle) {}

  /// Returns the cycle, not before `cycle`, in which the first flit of the next packet leaves.
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

/// Receiving end: a FIFO per sender in front of `ports` input registers.  The registers serve the
/// senders round-robin: up to `burst` of the oldest packets of one sender, then the next one.
class ReceivePort {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  ReceivePort() = default;
  ReceivePort(std::uint32_t senders, std::uint32_t ports, std::uint32_t burst = 1)
      : burst_(burst), fifos_(senders), waiting_((senders + 63) / 64), registers_(ports) {}

  /// Notes the arrival of `packet`, a small dense number that the caller can look up.  A register
  /// receives it in `flits` cycles; `target` is a value of the caller.
  void arrive(std::uint32_t sender, std::uint32_t packet, std::uint32_t flits,
              std::uint32_t target) {
    if (packet >= packets_.size()) packets_.resize(packet + 1);
    packets_[packet] = {none, flits, target};
    Fifo& fifo = fifos_[sender];
    if (fifo.head == none) {
      fifo.head = packet;
      waiting_[sender / 64] |= std::uint64_t{1} << (sender % 64);
      ++waiting_senders_;
    } else {
      packets_[fifo.tail].next = packet;
    }
    fifo.tail = packet;
  }

  /// Fetches the words that the arrival of a packet will write.
  void warm_arrival(std::uint32_t sender, std::uint32_t packet) const {
    warm(&fifos_[sender]);
    if (packet < packets_.size()) warm(&packets_[packet]);
  }

  struct Progress {
    std::int64_t next;     ///< next cycle with something to do, as things stand
    bool blocked = false;  ///< a received packet was not accepted
  };
  /// Runs a cycle. Free registers take packets. Complete packets are offered to `accept(packet,
  /// target)`, the first register rotating by one every cycle; a refused packet blocks its
  /// register. `ahead(packet)` announces packets that will be offered soon.
  template <class Accept, class Ahead>
  Progress step(std::int64_t cycle, std::int64_t never, Accept&& accept, Ahead&& ahead) {
    Progress progress{never};
    const auto ports = static_cast<std::uint32_t>(registers_.size());
    std::uint32_t i = first_register(cycle);
    for (std::uint32_t n = 0; n < ports; ++n, i = i + 1 == ports ? 0 : i + 1) {
      Register& place = registers_[i];
      if (place.packet == none) {
        if (waiting_senders_ == 0) continue;
        if (place.free > cycle) {
          progress.next = std::min(progress.next, place.free);
          continue;
        }
        place.packet = pop(ahead);
        ++taken_;
        place.ready = cycle + packets_[place.packet].flits - 1;
        place.free = place.ready + 1;
      }
      if (place.ready > cycle) {
        progress.next = std::min(progress.next, place.ready);
      } else if (accept(place.packet, packets_[place.packet].target)) {
        place.packet = none;
        --taken_;
        if (waiting_senders_ != 0) progress.next = std::min(progress.next, cycle + 1);
      } else {
        progress.blocked = true;
      }
    }
    return progress;
  }

  bool empty() const { return waiting_senders_ == 0 && taken_ == 0; }
  /// Takes a packet that comes alone to the empty port and is accepted with its last flit; the
  /// effect is that of arrive() and of all step() until then.  Precondition: no other packet comes
  /// before.  Returns false, and changes nothing, if no register is free.
  bool pass(std::uint32_t sender, std::int64_t cycle, std::uint32_t flits) {
    const auto ports = static_cast<std::uint32_t>(registers_.size());
    std::uint32_t i = first_register(cycle);
    for (std::uint32_t n = 0; registers_[i].free > cycle; i = i + 1 == ports ? 0 : i + 1)
      if (++n == ports) return false;
    registers_[i].ready = cycle + flits - 1;
    registers_[i].free = cycle + flits;
    took(sender);
    return true;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(fifos_, waiting_, registers_, packets_, waiting_senders_, taken_, turn_,
            taken_in_turn_);
  }

 private:
  struct Fifo {
    std::uint32_t head = none, tail = none;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(head, tail);
    }
  };
  struct Packet {
    std::uint32_t next = none;  ///< packet behind this one in its FIFO
    std::uint32_t flits = 0, target = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(next, flits, target);
    }
  };
  struct Register {
    std::uint32_t packet = none;
    std::int64_t ready = 0;  ///< cycle of the packet's last flit
    std::int64_t free = 0;   ///< first cycle in which the register can take the next packet
    template <class Archive>
    void serialize(Archive& archive) {
      archive(packet, ready, free);
    }
  };

  std::uint32_t first_register(std::int64_t cycle) const {
    const auto ports = static_cast<std::uint32_t>(registers_.size());
    if (std::has_single_bit(ports)) return static_cast<std::uint32_t>(cycle) & (ports - 1);
    return static_cast<std::uint32_t>(cycle % ports);
  }

  /// Chooses the next sender, after a register has taken a packet of `sender`.
  void took(std::uint32_t sender) {
    taken_in_turn_ = sender == turn_ ? taken_in_turn_ + 1 : 1;
    turn_ = sender;
    if (taken_in_turn_ < burst_) return;
    taken_in_turn_ = 0;
    turn_ = sender + 1 == fifos_.size() ? 0 : sender + 1;
  }

  template <class Ahead>
  std::uint32_t pop(Ahead&& ahead) {
    const std::uint32_t sender = next_sender();
    took(sender);
    Fifo& fifo = fifos_[sender];
    const std::uint32_t packet = fifo.head;
    fifo.head = packets_[packet].next;
    if (fifo.head == none) {
      waiting_[sender / 64] &= ~(std::uint64_t{1} << (sender % 64));
      --waiting_senders_;
    }
    if (waiting_senders_ != 0) {
      const std::uint32_t following = fifos_[next_sender()].head;
      __builtin_prefetch(&packets_[following]);
      ahead(following);
    }
    return packet;
  }

  /// Returns the first waiting sender at or after turn_, cyclically.  Precondition: there is one.
  std::uint32_t next_sender() const {
    std::uint32_t word = turn_ / 64;
    std::uint64_t bits = waiting_[word] & (~std::uint64_t{0} << (turn_ % 64));
    while (bits == 0) {
      word = word + 1 == waiting_.size() ? 0 : word + 1;
      bits = waiting_[word];
    }
    return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  std::uint32_t burst_ = 1;
  std::vector<Fifo> fifos_;
  std::vector<std::uint64_t> waiting_;  ///< senders with packets in their FIFO, a bit each
  std::vector<Register> registers_;
  std::vector<Packet> packets_;
  std::uint32_t waiting_senders_ = 0;
  std::uint32_t taken_ = 0;  ///< number of registers that hold a packet
  std::uint32_t turn_ = 0;
  std::uint32_t taken_in_turn_ = 0;  ///< packets taken in a row from the sender in turn
};

}  // namespace lockstep
