#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/host/host_link.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

using namespace literals;

/// A link of one 128-byte line per nanosecond and 8 ns of set-up, so that a transfer of n lines
/// takes 8 + n ns, and two partitions 500 ns away that take turns every 256 bytes.
class HostLinkBench : public testing::Test {
 protected:
  using Class = Transfer::Class;
  using Kind = Transfer::Kind;
  static constexpr std::size_t partitions = 2, tenants = 6;

  static HostParameters parameters(std::uint32_t lines_in_flight = 100000) {
    HostParameters result;
    result.link_curve = CurveKind::affine;
    result.link_bandwidth = Bandwidth{128e9};
    result.link_latency = 500_ns;
    result.transfer_setup = 8_ns;
    result.lines_in_flight = lines_in_flight;
    return result;
  }

  HostLink make(std::uint32_t lines_in_flight = 100000) {
    std::vector<Link> links;
    for (std::uint32_t p = 0; p < partitions; ++p) {
      links.emplace_back(LinkId{p}, ComponentId{p}, 500_ns);
    }
    return HostLink(
        parameters(lines_in_flight), AddressMapping(AddressMapping::Kind::plain, partitions), links,
        [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
          return std::span(memory_[transfer.buffer]).subspan(offset, bytes);
        },
        tenants);
  }

  void SetUp() override {
    for (auto& buffer : memory_) {
      buffer.resize(2 << 20);
      for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(i * 7 + 1);
    }
  }

  Transfer transfer(Transfer::Kind kind, std::uint64_t bytes, std::uint16_t tenant = 0,
                    std::uint64_t physical = 0, std::uint64_t offset = 0) {
    Transfer result;
    result.kind = kind;
    result.tenant = tenant;
    result.operation = ++operations_;
    result.frames = {{physical, bytes}};
    result.offset = offset;
    result.bytes = bytes;
    return result;
  }

  Transfer of_class(Transfer::Class rank, std::uint64_t bytes, std::uint16_t tenant = 0) {
    Transfer result = transfer(Transfer::Kind::to_gpu, bytes, tenant);
    result.rank = rank;
    return result;
  }

  struct Sent {
    Time departure;
    std::size_t partition;
    const MessageHeader* message;
    const MemoryRequest& request() const { return message->body<MemoryRequest>(); }
  };
  /// All requests in order of departure.
  std::vector<Sent> sent() const {
    std::vector<Sent> all;
    for (std::size_t p = 0; p < partitions; ++p) {
      for (const MessageHeader* message : sink_.to(p)) {
        all.push_back({message->arrival - 500_ns, p, message});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Sent& a, const Sent& b) { return a.departure < b.departure; });
    return all;
  }
  std::vector<std::int64_t> departures_ns() const {
    std::vector<std::int64_t> times;
    for (const Sent& s : sent()) times.push_back(s.departure.femtoseconds() / 1'000'000);
    return times;
  }

  /// Tenants in the order in which the link served them, a letter for each.
  std::string turns() const {
    std::string text;
    for (const Sent& s : sent()) {
      const char tenant = static_cast<char>('a' + s.request().tenant);
      if (text.empty() || text.back() != tenant) text += tenant;
    }
    return text;
  }

  void run(HostLink& link, Time end = Time::never()) {
    while (link.next_activity() < end) link.act(link.next_activity(), sink_.outbox());
  }

  /// The partition's answer to a request; loads get bytes that count from `first`.
  std::optional<Transfer> answer(HostLink& link, const MemoryRequest& request,
                                 std::uint8_t first = 0, Time arrival = 0_ns) {
    MemoryResponse response;
    response.line = request.line;
    response.tag = request.tag;
    response.operation = request.operation;
    response.sectors = request.sectors;
    std::vector<std::byte> payload;
    if (request.operation != MemoryOperation::store) {
      payload.resize(request.sector_count() * sector_bytes);
      for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = std::byte(first + i);
    }
    const IncomingMessage message(arrival, kind_of(MessageKind::memory_response), response,
                                  payload);
    return link.take(*message.get());
  }

  MessageSink sink_{partitions};
  std::array<std::vector<std::byte>, 2> memory_;
  std::uint64_t operations_ = 0;
};

}  // namespace lockstep::test
