#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/host_link/host_link.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

using namespace literals;

/// A link of one 128-byte line per nanosecond and 8 ns of set-up, so that a transfer of n lines
/// takes 8 + n ns, and two partitions 500 ns away that take turns every 256 bytes.
class HostLinkBench : public testing::Test {
 protected:
  HostLinkBench();
  ~HostLinkBench() override;

  using Class = Transfer::Class;
  using Kind = Transfer::Kind;
  static constexpr std::size_t partitions = 2, tenants = 6;

  static HostParameters parameters(std::uint32_t lines_in_flight = 100000);
  HostLink make(std::uint32_t lines_in_flight = 100000);
  /// Tenant n has priority n.
  HostLink make(const HostParameters& settings, bool stretches = false);
  void SetUp() override;

  Transfer transfer(Transfer::Kind kind, std::uint64_t bytes, std::uint16_t tenant = 0,
                    std::uint64_t physical = 0, std::uint64_t offset = 0);
  Transfer of_class(Transfer::Class rank, std::uint64_t bytes, std::uint16_t tenant = 0);

  struct Sent {
    Time departure;
    std::size_t partition;
    const MessageHeader* message;
    const MemoryRequest& request() const { return message->body<MemoryRequest>(); }
  };
  /// All requests in order of departure.
  std::vector<Sent> sent() const;
  std::vector<std::int64_t> departures_ns() const;

  /// Tenants in the order in which the link served them, a letter for each.
  std::string turns() const;

  void run(HostLink& link, Time end = Time::never());

  /// The partition's answer to a request; loads get bytes that count from `first`.
  std::optional<Transfer> answer(HostLink& link, const MemoryRequest& request,
                                 std::uint8_t first = 0, Time arrival = 0_ns);

  MessageSink sink_;
  std::array<std::vector<std::byte>, 2> memory_;
  std::uint64_t operations_ = 0;
};

}  // namespace lockstep::test
