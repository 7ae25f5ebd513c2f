#include "models/reference/buffer_bytes.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::buffer_bytes_test {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

/// Byte i is i mod 251; counts what it made.
class Counting final : public Content {
 public:
  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>((offset + i) % 251);
    made += bytes.size();
  }
  mutable std::uint64_t made = 0;
};

std::byte at(const BufferBytes& bytes, std::uint64_t place) {
  std::byte one[1];
  return bytes.look(place, one)[0];
}

TEST(BufferBytes, ContentIsMadeWhereItIsTouched) {
  const auto content = std::make_shared<Counting>();
  BufferBytes bytes(4 * mib + 100, content);
  EXPECT_EQ(content->made, 0u);
  EXPECT_EQ(bytes.at(mib + 5, 1)[0], static_cast<std::byte>((mib + 5) % 251));
  EXPECT_GT(content->made, 0u);
  EXPECT_LE(content->made, 64 * kib);
  EXPECT_EQ(bytes.at(4 * mib + 99, 1)[0], static_cast<std::byte>((4 * mib + 99) % 251));
}

TEST(BufferBytes, WhatIsAroundIsReadyAndAllOfItInTheEnd) {
  BufferBytes bytes(100 * kib, std::make_shared<Counting>());
  const std::span<std::byte> some = bytes.around(50 * kib, 8);
  EXPECT_LT(some.size(), bytes.size());
  EXPECT_LE(some.data(), bytes.memory().data() + 50 * kib);
  EXPECT_GE(some.data() + some.size(), bytes.memory().data() + 50 * kib + 8);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto place = static_cast<std::uint64_t>(&some[i] - bytes.memory().data());
    ASSERT_EQ(some[i], static_cast<std::byte>(place % 251));
  }
  bytes.at(0, bytes.size());
  EXPECT_EQ(bytes.around(7, 1).size(), bytes.size());
}

TEST(BufferBytes, WhatNobodyTouchedIsKnown) {
  BufferBytes zeros(8 * mib, nullptr), content(8 * mib, std::make_shared<Counting>());
  EXPECT_EQ(zeros.known(0, 8 * mib), Known::zeros);
  EXPECT_EQ(content.known(0, 8 * mib), Known::initial);
  zeros.at(5 * mib, 4)[0] = std::byte{1};
  EXPECT_EQ(zeros.known(4 * mib, 4 * mib), Known::nothing);
  EXPECT_EQ(zeros.known(0, mib), Known::zeros);
}

TEST(BufferBytes, ALookTouchesNothing) {
  BufferBytes bytes(mib, std::make_shared<Counting>());
  EXPECT_EQ(at(bytes, 1000), static_cast<std::byte>(1000 % 251));
  EXPECT_EQ(bytes.known(0, mib), Known::initial);
  bytes.at(20 * kib, 1)[0] = std::byte{0xff};
  std::vector<std::byte> scratch(100 * kib);
  const auto seen = bytes.look(10 * kib, scratch);
  for (std::uint64_t i = 0; i < seen.size(); ++i) {
    const std::uint64_t place = 10 * kib + i;
    ASSERT_EQ(seen[i], place == 20 * kib ? std::byte{0xff} : static_cast<std::byte>(place % 251));
  }
  EXPECT_EQ(bytes.copy()[20 * kib], std::byte{0xff});
}

TEST(BufferBytes, AssignmentBringsZerosOverWhatWasThere) {
  BufferBytes from(4 * mib, nullptr), to(4 * mib, nullptr);
  std::memset(to.at(0, 4 * mib).data(), 7, 4 * mib);
  from.at(3 * mib, 1)[0] = std::byte{9};
  to.assign(from, 100, 4 * mib - 200);
  EXPECT_EQ(at(to, 99), std::byte{7});
  EXPECT_EQ(at(to, 100), std::byte{0});
  EXPECT_EQ(at(to, 2 * mib), std::byte{0});
  EXPECT_EQ(at(to, 3 * mib), std::byte{9});
  EXPECT_EQ(at(to, 4 * mib - 101), std::byte{0});
  EXPECT_EQ(at(to, 4 * mib - 100), std::byte{7});
}

TEST(BufferBytes, ZerosThatGoToZerosTouchNothing) {
  BufferBytes from(64 * mib, nullptr), to(64 * mib, nullptr);
  to.assign(from, 0, 64 * mib);
  EXPECT_EQ(to.known(0, 64 * mib), Known::zeros);
}

TEST(BufferBytes, InitialContentIsAssignedWithoutBeingKept) {
  const BufferBytes from(mib, std::make_shared<Counting>());
  BufferBytes to(mib, nullptr);
  to.assign(from, 0, mib);
  EXPECT_EQ(from.known(0, mib), Known::initial);
  EXPECT_EQ(to.copy(), from.copy());
}

}  // namespace
}  // namespace lockstep::buffer_bytes_test
