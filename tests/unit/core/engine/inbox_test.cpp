#include "core/engine/mail/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/engine/mail/ranking.hpp"
#include "core/random/random.hpp"

namespace lockstep::inbox_test {
namespace {

/// What one thread sends to one component.
struct Buffer {
  MessageLog log{1};
  Time floor = Time::never();
  MailTarget target{&log, &floor};

  Mail contents() const { return log[0]; }
};

/// Appends a message as an outbox would.
void put(Buffer& buffer, Time arrival, std::uint32_t link, std::uint32_t sequence,
         std::size_t payload = 0) {
  MessageHeader header;
  header.arrival = arrival;
  header.link = LinkId{link};
  header.sequence = sequence;
  header.payload_bytes = static_cast<std::uint32_t>(payload);
  std::fill_n(buffer.log.add(header, buffer.target), payload, static_cast<std::byte>(sequence));
}

using Key = std::tuple<Time, std::uint32_t, std::uint32_t>;

std::vector<Key> keys(Inbox inbox) {
  std::vector<Key> result;
  for (const MessageHeader* m : inbox) {
    for (const std::byte b : m->payload()) EXPECT_EQ(b, static_cast<std::byte>(m->sequence));
    result.emplace_back(m->arrival, m->link.value(), m->sequence);
  }
  return result;
}

Inbox build(InboxBuilder& builder, PendingMessages& pending, std::span<const Mail> mail,
            Time horizon, Time reached) {
  builder.begin(reached, horizon);
  for (const Mail& buffer : mail) builder.add(buffer, pending);
  return builder.finish(pending);
}

TEST(Inbox, IsSortedByArrivalThenLinkThenSequence) {
  Buffer first, second;
  put(first, Time{20}, 3, 0);
  put(first, Time{10}, 7, 1);
  put(first, Time{10}, 7, 0);
  put(second, Time{10}, 2, 9);
  put(second, Time{20}, 1, 5);
  PendingMessages pending;
  InboxBuilder builder;
  const Mail mail[] = {first.contents(), second.contents()};
  EXPECT_EQ(keys(build(builder, pending, mail, Time{100}, Time{0})),
            (std::vector<Key>{{Time{10}, 2, 9},
                              {Time{10}, 7, 0},
                              {Time{10}, 7, 1},
                              {Time{20}, 1, 5},
                              {Time{20}, 3, 0}}));
}

TEST(Inbox, KeepsWhatArrivesAtTheHorizonOrLater) {
  Buffer buffer;
  put(buffer, Time{99}, 0, 0);
  put(buffer, Time{100}, 0, 1);
  put(buffer, Time{300}, 0, 2);
  PendingMessages pending;
  InboxBuilder builder;
  const Mail mail[] = {buffer.contents()};
  EXPECT_EQ(build(builder, pending, mail, Time{100}, Time{0}).size(), 1u);
  EXPECT_EQ(pending.earliest(), Time{100});
  buffer.log.reuse(0);
  EXPECT_EQ(keys(build(builder, pending, {}, Time{200}, Time{100})),
            (std::vector<Key>{{Time{100}, 0, 1}}));
  EXPECT_EQ(pending.earliest(), Time{300});
}

/// A checkpoint holds them so: the same bytes in every layout.
TEST(Inbox, ListsWhatIsPendingByArrivalThenLinkThenSequence) {
  Buffer first, second;
  put(first, Time{20}, 1, 3);
  put(first, Time{10}, 7, 1);
  put(second, Time{10}, 7, 0);
  put(second, Time{10}, 2, 9);
  PendingMessages pending;
  InboxBuilder builder;
  const Mail mail[] = {first.contents(), second.contents()};
  EXPECT_TRUE(build(builder, pending, mail, Time{1}, Time{0}).empty());
  EXPECT_EQ(
      keys(pending.sorted()),
      (std::vector<Key>{{Time{10}, 2, 9}, {Time{10}, 7, 0}, {Time{10}, 7, 1}, {Time{20}, 1, 3}}));
}

TEST(Inbox, RefusesAMessageThatIsLate) {
  Buffer buffer;
  put(buffer, Time{49}, 0, 0);
  PendingMessages pending;
  InboxBuilder builder;
  const Mail mail[] = {buffer.contents()};
  EXPECT_THROW(build(builder, pending, mail, Time{100}, Time{50}), InternalError);
}

/// Many windows with batches of all sizes and distributions against a plain sort.
TEST(Inbox, AgreesWithAPlainSortWindowAfterWindow) {
  Random random(1, ComponentId{0}, 0);
  PendingMessages pending;
  InboxBuilder builder;
  std::vector<Key> expected;
  std::int64_t reached = 0;
  for (int window = 0; window < 300; ++window) {
    const auto span = static_cast<std::int64_t>(1 + random.below(random.below(2) ? 100'000 : 50));
    std::array<Buffer, 3> buffers;
    const std::uint64_t count = random.below(random.below(4) == 0 ? 600 : 40);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Time arrival{
          reached + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(3 * span)))};
      const auto link = static_cast<std::uint32_t>(random.below(5));
      const auto sequence =
          static_cast<std::uint32_t>(window * 1000) + static_cast<std::uint32_t>(i);
      put(buffers[random.below(3)], arrival, link, sequence, random.below(130));
      expected.emplace_back(arrival, link, sequence);
    }
    std::sort(expected.begin(), expected.end());
    const Time horizon{reached + span};
    const auto later = std::lower_bound(expected.begin(), expected.end(), Key{horizon, 0, 0});
    std::vector<Mail> mail;
    for (const Buffer& buffer : buffers)
      if (buffer.log.size() > 0) mail.push_back(buffer.contents());
    ASSERT_EQ(keys(build(builder, pending, mail, horizon, Time{reached})),
              std::vector<Key>(expected.begin(), later));
    expected.erase(expected.begin(), later);
    ASSERT_EQ(pending.earliest(), expected.empty() ? Time::never() : std::get<0>(expected[0]));
    reached += span;
  }
}

TEST(Ranking, IsTheSameWithVectorsOfAnySize) {
  Random random(2, ComponentId{0}, 0);
  for (std::size_t count = 0; count <= most_ranked; count += ranked_at_once) {
    RankKeys keys{};
    for (std::size_t i = 0; i < count; ++i)
      keys[i] = static_cast<std::int32_t>(random.below(3 * most_ranked));
    for (const CountLesser count_lesser : lesser_counters()) {
      RankKeys ranks{};
      count_lesser(keys, count, ranks);
      for (std::size_t i = 0; i < count; ++i) {
        const auto lesser = std::count_if(keys.begin(), keys.begin() + static_cast<long>(count),
                                          [&](std::int32_t key) { return key < keys[i]; });
        ASSERT_EQ(ranks[i], lesser);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::inbox_test
