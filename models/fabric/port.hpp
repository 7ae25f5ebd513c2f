/// Port of a GPU to others: requests of its SMs for memory there, copies that it sends, and
/// requests of others for memory here.
///
/// A request of an SM gets a tag in this port and goes over the link out, through the fabric and,
/// behind a switch, over the link into the other GPU, whose port passes it on to a partition.  The
/// answer takes the same way back.  Bytes are accessed in place: memory of another GPU is cached in
/// the L2 of that GPU, and nowhere else.  A copy reads lines here and stores them there.
///
/// There is no deadlock: a request leaves only with a tag, which reserves a place for the answer,
/// and answers wait for the wire only.  Each other port has tags of its own, so that a port keeps
/// at most as many requests as all others have tags.  Requests of an SM to one place stay in order,
/// as do all packets from one port to another.
/// Source: design of the project; architecture.md, section 8, rules 1, 2 and "Back-pressure".
///
/// Simplified: a packet reaches the other end with its last byte and is passed on at once; from
/// then on it occupies the link in. Acknowledgements of copies are carried by other packets.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "models/fabric/fabric.hpp"
#include "models/fabric/port_messages.hpp"
#include "models/fabric/port_statistics.hpp"
#include "models/fabric/wire.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/vm/frame_run.hpp"

namespace lockstep {

class Port final : public Component {
 public:
  /// Port of another GPU that this one has a link to.
  struct Peer {
    std::uint32_t gpu = 0;
    double bytes_per_second = 0;
    Link link;
  };
  struct Setup {
    FabricParameters parameters;
    std::uint32_t gpu = 0;
    AddressMapping mapping;
    std::vector<std::uint32_t> tenants;  ///< ascending numbers of this GPU's tenants among all
    Link to_host;
    std::vector<Link> to_sms, to_partitions;
    std::vector<Peer> peers;
    std::uint32_t counts_to = 0;  ///< requests to a page after which the host is told; 0: never
  };
  explicit Port(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  bool finished() const override;
  std::string waiting_for() const override;

 private:
  /// Sender of a request that waits for an answer: an SM, another port, or a copy.
  struct Slot {
    enum class Kind : std::uint8_t {
      free,
      sm,       ///< an SM of this GPU, for memory of another one
      foreign,  ///< another port, for memory of this GPU
      reading,  ///< a line of a copy is read from this GPU's memory
      writing,  ///< a line of a copy is written to the other GPU's memory
    };
    Kind kind = Kind::free;
    /// Bytes of a line, and bytes of its first sector before the copy begins.
    std::uint8_t bytes = 0, skip = 0;
    std::uint16_t origin = 0;   ///< number of the SM, or index of the port
    std::uint16_t tenant = 0;   ///< number among this GPU's tenants
    std::uint32_t tag = 0;      ///< tag of the requester; for a line, index of its copy
    std::uint64_t address = 0;  ///< address that the SM names; for a line, its destination
    template <class Archive>
    void serialize(Archive& archive) {
      archive(kind, bytes, skip, origin, tenant, tag, address);
    }
  };
  /// A message that waits here.
  struct Packet {
    Time since;  ///< time at which the packet came, or will have come in
    bool is_answer = false;
    MemoryRequest request;
    MemoryResponse response;
    std::vector<std::byte> payload;
    void serialize(Archive& archive);
  };
  struct Copy {
    PeerCopy asked;
    std::vector<FrameRun> from, to;
    std::uint32_t from_run = 0, to_run = 0;
    std::uint64_t from_at = 0, to_at = 0;  ///< bytes done of the current runs
    std::uint64_t sent = 0, done = 0;
    std::uint32_t peer = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(asked, from, to, from_run, to_run, from_at, to_at, sent, done, peer);
    }
  };
  /// Reads lines of the copies that take a link out, in turns, at the rate of that link.
  struct Engine {
    std::deque<std::uint32_t> copies;  ///< copies with lines left
    Time next;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(copies, next);
    }
  };

  bool reads() const { return lines_ < parameters_.lines_in_flight; }
  void take(const MessageHeader& message, Outbox& outbox);
  void act(Time now, Outbox& outbox);

  // Requests of SMs.
  void ask(const MemoryRequest& request, std::span<const std::byte> payload, Time now,
           Outbox& outbox);
  void send_waiting(Time now, Outbox& outbox);
  void count(const MemoryRequest& request, Time now, Outbox& outbox);
  void answer_sm(const Slot& slot, MemoryResponse response, std::span<const std::byte> payload,
                 Time now, Outbox& outbox);

  // Packets that come from other ports.
  void receive(Packet packet, double bytes, std::uint16_t tenant, Time now, Outbox& outbox);
  void pass_on(const Packet& packet, Time now, Outbox& outbox);
  void serve(const Packet& packet, Time now, Outbox& outbox);
  void take_answer(const Packet& packet, Time now, Outbox& outbox);
  void answer_port(const Slot& slot, MemoryResponse response, std::span<const std::byte> payload,
                   Time now, Outbox& outbox);

  // Copies (port_copies.cpp).
  void begin_copy(const MessageHeader& message);
  void read_line(Engine& engine, Time now, Outbox& outbox);
  void write_line(std::uint32_t slot, std::span<const std::byte> payload, Time now, Outbox& outbox);
  void line_written(const Slot& slot, Time now, Outbox& outbox);

  /// Returns when a packet of `bytes` bytes has left for a peer.
  Time leave(std::uint32_t peer, double bytes, std::uint16_t tenant, Time now);
  double packet_bytes(std::size_t payload) const {
    return static_cast<double>(payload + parameters_.header.count());
  }
  double line_bytes_of(std::uint64_t bytes) const;
  double bytes_of(const MemoryResponse& response, std::size_t payload) const {
    const bool is_free = (response.flags & flag_dma) != 0 && payload == 0;
    return is_free ? 0 : packet_bytes(payload);
  }
  double bytes_of(const MemoryRequest& request, std::size_t payload) const;
  std::uint32_t peer_of(std::uint32_t gpu) const;
  std::uint16_t local_tenant(std::uint32_t number) const;
  Slot release(std::uint32_t slot);

  const FabricParameters parameters_;
  const bool has_way_in_;
  const std::uint32_t gpu_, counts_to_;
  const AddressMapping mapping_;
  const std::vector<std::uint32_t> tenants_;
  Link to_host_;
  std::vector<Link> to_sms_, to_partitions_;
  std::vector<Peer> peers_;

  PortStatistics statistics_;
  std::vector<Wire> out_;  ///< one way out per peer; one for all at a switch
  Wire in_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t tags_ = 0, lines_ = 0;  ///< tags and lines in use
  std::deque<Packet> waiting_;          ///< requests of SMs for which there is no tag
  std::deque<Packet> arriving_;         ///< packets behind others on the way in
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> free_copies_;
  std::vector<Engine> engines_;  ///< engine of each way out
  /// Number of requests to each page, by its address.
  std::map<std::uint64_t, std::uint32_t> counts_;
};

}  // namespace lockstep
