#include "models/host/host_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "core/checkpoint/archive.hpp"

namespace lockstep {
namespace {

/// Byte i of the content is i / 128 + i; counts what was made of it.
class Counted final : public Content {
 public:
  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    made += bytes.size();
    for (std::uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = byte(offset + i);
  }
  static std::byte byte(std::uint64_t i) { return static_cast<std::byte>(i / 128 + i); }
  mutable std::uint64_t made = 0;
};

constexpr std::uint64_t size = 5 * 4096 + 1000;

void write(HostBuffer& buffer, std::uint64_t offset, std::uint64_t count) {
  const auto to = buffer.overwrite(offset, count);
  std::fill(to.begin(), to.end(), std::byte{0xee});
}

TEST(HostBuffer, ContentThatIsOverwrittenAsAWholeIsNotMade) {
  const auto content = std::make_shared<Counted>();
  HostBuffer buffer(size, content);
  for (std::uint64_t line = 4096; line < 3 * 4096; line += 128) write(buffer, line, 128);
  EXPECT_EQ(content->made, 0u);
  EXPECT_EQ(buffer.known(0, 4096), Known::initial);
  EXPECT_EQ(buffer.known(4096, 4096), Known::nothing);
  const auto bytes = buffer.at(4096, 2 * 4096);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0xee}; }));
  EXPECT_EQ(content->made, 0u);
}

TEST(HostBuffer, HoldsWhatWasWrittenInAnyOrderOfAccesses) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    HostBuffer buffer(size, std::make_shared<Counted>());
    std::vector<std::byte> expected(size);
    for (std::uint64_t i = 0; i < size; ++i) expected[i] = Counted::byte(i);
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t line = random() % (size / 128) * 128;
      const std::uint64_t offset = random() % 3 == 0 ? line + random() % 100 : line;
      const std::uint64_t count = offset == line && random() % 4 != 0 ? 128 : 1 + random() % 28;
      std::vector<std::byte> seen(std::min<std::uint64_t>(size - offset, 300 + random() % 5000));
      switch (random() % 4) {
        case 0: {
          const auto looked = buffer.look(offset, seen);
          EXPECT_TRUE(std::ranges::equal(looked, std::span(expected).subspan(offset, seen.size())));
          break;
        }
        case 1:
          EXPECT_TRUE(std::ranges::equal(buffer.at(offset, seen.size()),
                                         std::span(expected).subspan(offset, seen.size())));
          break;
        default:
          write(buffer, offset, count);
          std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), count,
                      std::byte{0xee});
      }
    }
    std::stringstream saved;
    Archive saving = Archive::saving(saved);
    saving(buffer);
    HostBuffer restored(size, std::make_shared<Counted>());
    Archive restoring = Archive::restoring(saved);
    restoring(restored);
    EXPECT_TRUE(std::ranges::equal(buffer.at(0, size), expected)) << seed;
    EXPECT_TRUE(std::ranges::equal(restored.at(0, size), expected)) << seed;
  }
}

}  // namespace
}  // namespace lockstep
