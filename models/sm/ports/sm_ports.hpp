/// All that an SM sends, and where answers come in.
#pragma once

#include <bit>
#include <cstring>
#include <span>

#include "core/engine/outbox.hpp"
#include "core/memory/warm.hpp"
#include "models/noc/cluster_port.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/peer_address.hpp"
#include "models/sm/access/line_bytes.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/ports/reception_port.hpp"
#include "models/sm/ports/request_marks.hpp"
#include "models/sm/ports/request_port.hpp"

namespace lockstep {

class SmPorts {
 public:
  explicit SmPorts(const SmConstants& constants)
      : constants_(constants),
        hot_{nullptr,
             RequestPort(
                 {constants.setup.noc,
                  {{Destination::Kind::partition, "partition", constants.setup.to_partitions},
                   {Destination::Kind::host, "the host", {constants.setup.to_host}},
                   {Destination::Kind::port, "port", constants.setup.to_port,
                    constants.setup.port_links}},
                  constants.parameters.port.queue,
                  constants.clock.duration(constants.parameters.port.injection_latency)}),
             ReceptionPort(constants.setup.noc), constants.setup.to_dispatcher,
             constants.setup.to_gmmu},
        marks_(constants),
        to_hub_(constants.setup.to_hub),
        hub_port_(constants.setup.noc.hub),
        hub_clock_(constants.setup.noc.clock) {}

  /// Marks of warps' requests.
  RequestMarks& marks() { return marks_; }
  const RequestMarks& marks() const { return marks_; }

  /// Begins a window: until end_window() messages go to `outbox`.
  void begin_window(Outbox& outbox) { hot_.outbox = &outbox; }
  void end_window() { hot_.outbox = nullptr; }

  /// `is_remote`: not in this GPU's memory.
  Destination destination_of(PhysicalAddress line, bool is_remote) const {
    if (!is_remote) return Destination::partition(constants_.setup.mapping.partition(line));
    return is_peer_address(line.value()) ? Destination::port() : Destination::host();
  }
  /// Returns whether there is room for one more request to `destination`.
  bool accepts(Destination destination) const { return hot_.requests.accepts(destination); }
  /// Returns whether nothing waits and a request to `destination` would leave at once.
  bool is_idle(Destination destination, SmCycle now) const {
    return hot_.requests.is_idle(destination, constants_.time_of(now));
  }
  bool awaits_answers() const { return hot_.requests.awaits_answers(); }
  /// Sends a request.  Returns its place; the caller fills it in before the next request.
  RequestPort::Place send(Destination destination, std::size_t payload_bytes, SmCycle now) {
    return hot_.requests.send(destination, payload_bytes, constants_.time_of(now), *hot_.outbox);
  }
  /// Sends a store of the bytes in `mask`.  Returns the request, for the caller to fill in.
  MemoryRequest& send_store(Destination destination, std::uint8_t sectors, const LineBytes& mask,
                            const std::byte* line, SmCycle now);
  /// Handles an answer, which frees the place of its request.  Returns the time at which its last
  /// flit is in.
  Time receive(Destination source, Time arrival, std::uint32_t data_bytes, SmCycle now) {
    hot_.requests.credit(source, constants_.time_of(now), *hot_.outbox);
    return hot_.reception.receive(arrival, data_bytes);
  }

  template <class Body>
  void tell_host(MessageKind kind, const Body& body, std::span<const std::byte> payload,
                 SmCycle now) {
    hot_.requests.tell_host(kind, body, payload, constants_.time_of(now), *hot_.outbox);
  }
  template <class Body>
  void tell_dispatcher(MessageKind kind, const Body& body, SmCycle now,
                       std::span<const std::byte> payload = {}) {
    hot_.outbox->send(hot_.to_dispatcher, constants_.time_of(now), kind_of(kind), body, payload);
  }
  template <class Body>
  void tell_gmmu(MessageKind kind, const Body& body, SmCycle now,
                 std::span<const std::byte> payload = {}) {
    hot_.outbox->send(hot_.to_gmmu, constants_.time_of(now), kind_of(kind), body, payload);
  }

  /// Sends to the hub of the GPC.  Returns the place of the payload, for the caller to fill in
  /// before the next message.
  template <class Body>
  std::byte* send_to_hub(MessageKind kind, const Body& body, std::size_t payload_bytes,
                         std::uint32_t flits, SmCycle now, bool multicast = false) {
    LOCKSTEP_CHECK(!to_hub_.empty(), "a block of a cluster stands in an SM without a hub");
    const Time at = hub_port_.reserve(flits, constants_.time_of(now), hub_clock_, multicast);
    return hot_.outbox->reserve(to_hub_[0], at, kind_of(kind), body, payload_bytes);
  }
  /// Returns the network cycles for which `flits` flits occupy the port to the hub.
  std::uint32_t hub_cycles(std::uint32_t flits) const { return hub_port_.cycles(flits); }

  /// Returns the time that requests waited for the injection port, summed.
  std::uint64_t wait_femtoseconds() const { return hot_.requests.wait_femtoseconds(); }
  std::string waiting_for() const { return hot_.requests.waiting_for(); }

  void warm_hot() const { warm(&hot_, sizeof hot_); }
  void serialize(Archive& archive) {
    archive.section("sm/ports", 4);
    hot_.requests.serialize(archive);
    archive(hot_.reception);
    hot_.to_dispatcher.serialize(archive);
    hot_.to_gmmu.serialize(archive);
    marks_.serialize(archive);
    archive(to_hub_, hub_port_);
  }

 private:
  /// Members that every window touches.
  struct Hot {
    Outbox* outbox;  ///< outbox of the current window
    RequestPort requests;
    ReceptionPort reception;
    Link to_dispatcher, to_gmmu;
  };

  const SmConstants& constants_;
  Hot hot_;
  RequestMarks marks_;
  std::vector<Link> to_hub_;
  ClusterPort hub_port_;
  const Clock hub_clock_;
};

inline MemoryRequest& SmPorts::send_store(Destination destination, std::uint8_t sectors,
                                          const LineBytes& mask, const std::byte* line,
                                          SmCycle now) {
  const auto count = static_cast<unsigned>(std::popcount(sectors));
  const RequestPort::Place place = send(destination, (4 + sector_bytes) * count, now);
  std::byte* masks = place.payload;
  std::byte* data = place.payload + std::size_t{4} * count;
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    const auto sector = static_cast<unsigned>(std::countr_zero(rest));
    std::memcpy(masks, &mask[sector], 4);
    std::memcpy(data, line + sector_bytes * sector, sector_bytes);
    masks += 4;
    data += sector_bytes;
  }
  return place.request;
}

}  // namespace lockstep
