#include "core/engine/mail/message_log.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/random/random.hpp"

namespace lockstep::message_log_test {
namespace {

constexpr std::uint32_t destinations = 12;

/// A thread that sends to the components of one share.
struct Sender {
  MessageLog log{destinations};
  Time floor = Time::never();
  std::vector<MailTarget> targets;

  Sender() {
    for (std::uint32_t i = 0; i < destinations; ++i) targets.push_back({&log, &floor, i});
  }

  void send(std::uint32_t destination, std::uint32_t sequence, std::size_t payload = 0,
            Time arrival = Time{1}) {
    MessageHeader header;
    header.arrival = arrival;
    header.link = LinkId{destination};
    header.sequence = sequence;
    header.payload_bytes = static_cast<std::uint32_t>(payload);
    std::fill_n(log.add(header, targets[destination]), payload, static_cast<std::byte>(sequence));
  }

  /// By destination: the sequence numbers, in the order of reading; payloads are looked at.
  std::map<std::uint32_t, std::vector<std::uint32_t>> received() const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> result;
    for (std::size_t i = 0; i < log.size(); ++i) {
      const Mail mail = log[i];
      EXPECT_FALSE(result.contains(mail.destination)) << "one bundle per destination";
      mail.for_each([&](const MessagePlace& place, const std::byte* at) {
        const auto* message = reinterpret_cast<const MessageHeader*>(at);
        EXPECT_EQ(message->link.value(), mail.destination);
        EXPECT_EQ(place.order, std::uint64_t{mail.destination} << 32 | message->sequence);
        EXPECT_EQ(place.arrival, message->arrival);
        EXPECT_EQ(place.size, message->total_bytes());
        for (const std::byte b : message->payload())
          EXPECT_EQ(b, static_cast<std::byte>(message->sequence));
        result[mail.destination].push_back(message->sequence);
      });
    }
    return result;
  }
};

using Received = std::map<std::uint32_t, std::vector<std::uint32_t>>;

TEST(MessageLog, KeepsABundlePerDestinationInTheOrderOfSending) {
  Sender sender;
  sender.send(7, 0);
  sender.send(2, 0, 40);
  sender.send(7, 1, 8);
  EXPECT_EQ(sender.received(), (Received{{2, {0}}, {7, {0, 1}}}));
}

TEST(MessageLog, KeepsMoreMessagesThanABundleHasRoomFor) {
  Sender sender;
  Received expected;
  for (std::uint32_t i = 0; i < 50 * MailBundle::near; ++i) {
    sender.send(3, i, i % 100 * 8);
    sender.send(4, i);
    expected[3].push_back(i);
    expected[4].push_back(i);
  }
  EXPECT_EQ(sender.received(), expected);
}

TEST(MessageLog, CountsNoMessagesOfEarlierWindows) {
  Sender sender;
  for (std::uint32_t i = 0; i < 2 * MailBundle::near; ++i) sender.send(5, i);
  sender.send(6, 0);
  sender.log.reuse(1);
  EXPECT_EQ(sender.log.window(), 1u);
  EXPECT_EQ(sender.received(), Received{});
  // What was the place of 5 is now that of 6.
  sender.send(6, 10);
  sender.send(5, 20);
  sender.send(6, 11);
  EXPECT_EQ(sender.received(), (Received{{5, {20}}, {6, {10, 11}}}));
}

TEST(MessageLog, LowersTheFloorToTheEarliestArrival) {
  Sender sender;
  sender.send(0, 0, 0, Time{30});
  sender.send(1, 0, 0, Time{20});
  sender.send(2, 0, 0, Time{25});
  EXPECT_EQ(sender.floor, Time{20});
}

TEST(MessageLog, GivesFirstMessagesAloneToWhoAsksForFew) {
  Sender sender;
  for (std::uint32_t i = 0; i < 10; ++i) sender.send(0, i);
  for (const std::uint32_t most : {0u, 3u, 6u, 20u}) {
    std::uint32_t seen = 0;
    sender.log[0].for_each([&](const MessagePlace&, const std::byte*) { ++seen; }, most);
    EXPECT_EQ(seen, std::min(most, 10u));
  }
}

TEST(MessageLog, AgreesWithListsWindowAfterWindow) {
  Sender sender;
  Random random(1, ComponentId{0}, 0);
  for (std::uint32_t window = 1; window < 200; ++window) {
    sender.log.reuse(window);
    Received expected;
    const std::uint64_t count = random.below(random.below(4) == 0 ? 300 : 30);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto destination = static_cast<std::uint32_t>(random.below(destinations));
      sender.send(destination, i, 8 * random.below(40));
      expected[destination].push_back(i);
    }
    ASSERT_EQ(sender.received(), expected) << "window " << window;
  }
}

}  // namespace
}  // namespace lockstep::message_log_test
