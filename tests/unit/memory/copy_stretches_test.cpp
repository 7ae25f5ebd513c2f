#include "models/memory/copy_stretches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "models/noc/store_payload.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test::copy_stretches_test {
namespace {

using namespace literals;

/// A stretch of lines of 128 bytes at addresses from `address` on, that arrive every 10 ns.
IncomingMessage stretch(Time first, std::uint64_t address, std::uint32_t lines, bool to_gpu,
                        std::uint32_t number = 0, bool is_initial = false) {
  const CopyStretch said{1000, number, 3, static_cast<std::uint16_t>(lines), 2, to_gpu, is_initial};
  std::vector<CopiedLine> records;
  for (std::uint32_t i = 0; i < lines; ++i)
    records.push_back(
        {first + Time{std::int64_t{i} * 10'000'000}, address + 128u * i, 128 * i, 128, 70 + i, 0});
  std::vector<std::byte> payload(lines * sizeof(CopiedLine));
  std::memcpy(payload.data(), records.data(), payload.size());
  for (std::uint32_t i = 0; to_gpu && !is_initial && i < lines * 128; ++i)
    payload.push_back(static_cast<std::byte>(i / 128 + i));
  return IncomingMessage(first, kind_of(MessageKind::copy_stretch), said, payload);
}

const MemoryRequest& request_of(const MessageHeader& message) {
  return message.body<MemoryRequest>();
}

TEST(CopyStretches, GiveTheirLinesInOrderOfArrival) {
  CopyStretches stretches({});
  EXPECT_EQ(stretches.next(), Time::never());
  EXPECT_TRUE(stretches.empty());
  stretches.take(*stretch(100_ns, 0, 2, true).get());
  stretches.take(*stretch(105_ns, 4096, 3, false).get());
  for (const auto& [time, line] :
       {std::pair{100_ns, 0u}, {105_ns, 4096u}, {110_ns, 128u}, {115_ns, 4224u}, {125_ns, 4352u}}) {
    EXPECT_EQ(stretches.next(), time);
    EXPECT_EQ(stretches.next_address(), line);
    const MessageHeader& message = stretches.take_line();
    EXPECT_EQ(message.arrival, time);
    EXPECT_EQ(request_of(message).line, line);
  }
  EXPECT_EQ(stretches.next(), Time::never());
  EXPECT_FALSE(stretches.empty());  // the lines to the GPU are not acknowledged
}

TEST(CopyStretches, MakeTheRequestsThatTheHostWouldSend) {
  CopyStretches stretches({});
  stretches.take(*stretch(100_ns, 256, 1, true).get());
  const MessageHeader& store = stretches.take_line();
  EXPECT_EQ(store.kind, kind_of(MessageKind::memory_request));
  EXPECT_EQ(request_of(store).operation, MemoryOperation::store);
  EXPECT_EQ(request_of(store).source, SourceKind::host);
  EXPECT_EQ(request_of(store).tenant, 2);
  EXPECT_EQ(request_of(store).sectors, 15);
  EXPECT_EQ(request_of(store).flags, flag_dma);
  std::vector<std::byte> bytes(128), payload(4 * 36);
  for (std::uint32_t i = 0; i < 128; ++i) bytes[i] = static_cast<std::byte>(i);
  fill_store(payload.data(), 0, 128, bytes.data());
  EXPECT_TRUE(
      std::equal(payload.begin(), payload.end(), store.payload().begin(), store.payload().end()));

  stretches.take(*stretch(200_ns, 512, 1, false).get());
  const MessageHeader& load = stretches.take_line();
  EXPECT_EQ(request_of(load).operation, MemoryOperation::load);
  EXPECT_EQ(request_of(load).tag, 70u);
  EXPECT_EQ(load.payload_bytes, 0u);
}

TEST(CopyStretches, MakeInitialContentWhenALineComes) {
  std::vector<std::uint64_t> offsets;
  CopyStretches stretches([&](std::uint16_t tenant, std::uint32_t buffer, std::uint64_t offset,
                              std::span<std::byte> bytes) {
    EXPECT_EQ(tenant, 2);
    EXPECT_EQ(buffer, 3u);
    offsets.push_back(offset);
    std::fill(bytes.begin(), bytes.end(), std::byte{0x5a});
  });
  stretches.take(*stretch(100_ns, 0, 2, true, 0, true).get());
  EXPECT_TRUE(offsets.empty());
  EXPECT_EQ(stretches.take_line().payload().back(), std::byte{0x5a});
  stretches.take_line();
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{1000, 1128}));
}

TEST(CopyStretches, AreAcknowledgedAsAWhole) {
  CopyStretches stretches({});
  stretches.take(*stretch(100_ns, 0, 3, true, 9).get());
  std::uint32_t number = 0;
  for (int i = 0; i < 3; ++i) number = request_of(stretches.take_line()).tag;
  EXPECT_FALSE(stretches.answered(number));
  EXPECT_FALSE(stretches.answered(number));
  const std::optional<StretchDone> done = stretches.answered(number);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->number, 9u);
  EXPECT_EQ(done->lines, 3u);
  EXPECT_EQ(done->bytes, 3 * 128u);
  EXPECT_TRUE(stretches.empty());
}

TEST(CopyStretches, ComeBehindMessagesOfEarlierLinks) {
  CopyStretches stretches({});
  stretches.take(*stretch(100_ns, 0, 1, true).get());
  MessageHeader message;
  message.link = LinkId{7};
  message.arrival = 100_ns;
  EXPECT_TRUE(stretches.comes_before(message));
  message.arrival = 99_ns;
  EXPECT_FALSE(stretches.comes_before(message));
}

TEST(CopyStretches, GoOnBehindACheckpoint) {
  CopyStretches before({}), after({});
  before.take(*stretch(100_ns, 0, 3, true, 4).get());
  before.take_line();
  std::stringstream saved;
  Archive saving = Archive::saving(saved);
  saving(before);
  Archive restoring = Archive::restoring(saved);
  restoring(after);
  EXPECT_EQ(after.next(), 110_ns);
  while (before.next() != Time::never()) {
    const MessageHeader &one = before.take_line(), &other = after.take_line();
    EXPECT_EQ(one.arrival, other.arrival);
    EXPECT_EQ(request_of(one).line, request_of(other).line);
    EXPECT_TRUE(std::ranges::equal(one.payload(), other.payload()));
  }
  EXPECT_EQ(after.next(), Time::never());
}

}  // namespace
}  // namespace lockstep::test::copy_stretches_test
