#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters/document.hpp"
#include "models/fabric/port.hpp"
#include "models/noc/peer_address.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

using namespace literals;

/// The port of GPU 0 of three among stand-ins: a host, two SMs, one partition, the ports of GPUs 1
/// and 2.  A way carries a byte in a nanosecond, a header has 32 bytes; links take no time.
class PortBench : public testing::Test {
 protected:
  enum Place : std::uint32_t { host, sm0, sm1, partition, gpu1, gpu2, places };
  /// Tenants of GPU 0, by their numbers among all: 3 is tenant 0 here, 5 is tenant 1.
  static constexpr std::uint16_t first = 3, second = 5;

  FabricParameters parameters() const { return defaults_; }
  void make(const FabricParameters& parameters) {
    Port::Setup setup;
    setup.parameters = parameters;
    setup.gpu = 0;
    setup.mapping = AddressMapping(AddressMapping::Kind::plain, 1);
    setup.tenants = {first, second};
    setup.to_host = link(host);
    setup.to_sms = {link(sm0), link(sm1)};
    setup.to_partitions = {link(partition)};
    setup.peers = {{1, 1e9, link(gpu1)}, {2, 1e9, link(gpu2)}};
    port_.emplace(std::move(setup));
  }
  void SetUp() override {
    const FabricParameters like = read_parameters<FabricParameters>(
        parse_document("{name: test, kind: switch, rate: 1GB/s, header: 32B, payload: 128B}", "t"));
    defaults_ = like;
    make(like);
  }

  static MemoryRequest load_of(std::uint32_t gpu, std::uint64_t physical, std::uint16_t sm,
                               std::uint32_t tag, std::uint16_t tenant = 0) {
    MemoryRequest request;
    request.line = peer_address(gpu, physical);
    request.tag = tag;
    request.requester = sm;
    request.tenant = tenant;
    request.sectors = 1;
    return request;
  }
  /// A request of GPU 1's port for memory here.
  static MemoryRequest foreign_load(std::uint64_t physical, std::uint32_t tag,
                                    std::uint16_t tenant = first) {
    MemoryRequest request;
    request.line = physical;
    request.tag = tag;
    request.requester = 1;
    request.tenant = tenant;
    request.sectors = 1;
    request.source = SourceKind::peer;
    return request;
  }

  template <class Body>
  void give(Time arrival, MessageKind kind, const Body& body,
            std::span<const std::byte> payload = {}) {
    inbox_.emplace_back(arrival, kind_of(kind), body, payload);
  }
  /// The answer to a request that was sent.
  void answer(Time arrival, const MessageHeader& request, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes, std::byte{7});
    give(arrival, MessageKind::memory_response, answer_to(request.body<MemoryRequest>()), payload);
  }
  /// Lets the port go on until `horizon` with all that was given.
  void run(Time horizon) {
    std::vector<const MessageHeader*> messages;
    for (const IncomingMessage& message : inbox_) messages.push_back(message.get());
    port_->advance(horizon, messages, sink_.outbox());
    inbox_.clear();
  }
  /// Nanoseconds at which messages left for a place.
  std::vector<std::int64_t> departures(Place place) const {
    std::vector<std::int64_t> all;
    for (const MessageHeader* message : sink_.to(place))
      all.push_back(message->arrival.femtoseconds() / 1'000'000);
    return all;
  }
  const MessageHeader& sent(Place place, std::size_t index = 0) const {
    return *sink_.to(place).at(index);
  }
  const MemoryRequest& request(Place place, std::size_t index = 0) const {
    return sent(place, index).body<MemoryRequest>();
  }
  const MemoryResponse& response(Place place, std::size_t index = 0) const {
    return sent(place, index).body<MemoryResponse>();
  }

  static Link link(Place to) { return {LinkId{to}, ComponentId{to}, Time::zero()}; }

  FabricParameters defaults_;
  MessageSink sink_{places};
  std::optional<Port> port_;
  std::deque<IncomingMessage> inbox_;
};

}  // namespace lockstep::test
