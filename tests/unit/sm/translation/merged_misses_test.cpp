/// Misses in one page of 2 MiB: with `vm.l1_tlb.merges_large` the first asks for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/translation/translation.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::merged_misses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto readable = PageTableEntry::present;
constexpr auto writable = PageTableEntry::present | PageTableEntry::writable;
constexpr std::uint64_t first_page = pages_per_large;  // of a large page
constexpr std::uint64_t frames = 4 * pages_per_large;  // where it lies

class MergedMisses : public testing::Test {
 protected:
  MergedMisses() { world.enter_block(32); }

  void miss(std::uint64_t page, Access::Kind kind = Access::Kind::load) {
    Access access;
    access.kind = kind;
    access.groups = 1;
    access.group[0] = {.line = (first_page + page) * page_bytes + 256, .lanes = 1, .sectors = 1};
    ASSERT_EQ(translation->look_up(access, 0, now += 1), Translation::Lookup::parked);
    translation->release(access.parked);
  }
  void answer(std::uint64_t page, std::uint64_t flags,
              TranslationStatus status = TranslationStatus::found) {
    const std::uint64_t frame = frames + ((flags & PageTableEntry::large) != 0 ? 0 : page);
    TranslationAnswer answer;
    answer.page = first_page + page;
    answer.status = status;
    answer.entry = PageTableEntry::of(frame * page_bytes, flags);
    translation->on_answer(answer, now += 1);
  }
  /// Pages of the large page that the GMMU has been asked for since the last call.
  std::vector<std::uint64_t> asked() {
    std::vector<std::uint64_t> pages;
    for (const MessageHeader* message : world.sent(SmWorld::gmmu))
      if (static_cast<MessageKind>(message->kind) == MessageKind::translate)
        pages.push_back(message->body<TranslateRequest>().page - first_page);
    world.forget_sent();
    return pages;
  }
  /// Frames to which the lines leave that can, from the first of the large page on.
  std::vector<std::uint64_t> leave() {
    std::vector<std::uint64_t> to;
    while (translation->has_lines_to_leave()) {
      to.push_back(translation->next_line(SmCycle(101)).physical.value() / page_bytes - frames);
      translation->line_left(SmCycle(101));
    }
    return to;
  }

  SmWorld world{"", [](SmSetup& setup) { setup.vm.l1_tlb.merges_large = true; }};
  SmCycle now{10};
  ParkedLog log;
  std::unique_ptr<Translation> translation = std::make_unique<Translation>(world.sm, log);
};

TEST_F(MergedMisses, OneAsksAndAllLeaveWithItsAnswer) {
  for (const std::uint64_t page : {3, 7, 400}) miss(page);
  EXPECT_THAT(asked(), ElementsAre(3));
  answer(3, writable | PageTableEntry::large);
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_THAT(leave(), testing::UnorderedElementsAre(3, 7, 400));
}

TEST_F(MergedMisses, OthersAskOnceTheAnswerIsASmallPage) {
  for (const std::uint64_t page : {3, 7}) miss(page);
  answer(3, writable);
  EXPECT_THAT(asked(), ElementsAre(3, 7));
  for (const std::uint64_t page : {8, 9}) miss(page);
  EXPECT_THAT(asked(), ElementsAre(8, 9)) << "small pages are expected from now on";
  answer(7, writable | PageTableEntry::large);
  for (const std::uint64_t page : {600, 601}) miss(page);
  EXPECT_THAT(asked(), ElementsAre(600)) << "and large ones again";
}

TEST_F(MergedMisses, OthersAskOnceTheFirstIsRefused) {
  for (const std::uint64_t page : {3, 7}) miss(page);
  answer(3, 0, TranslationStatus::refused);
  EXPECT_THAT(asked(), ElementsAre(3, 7));
}

TEST_F(MergedMisses, AStoreThatTheLargePageDoesNotAllowAsksForItself) {
  miss(3);
  miss(7, Access::Kind::store);
  answer(3, readable | PageTableEntry::large);
  EXPECT_THAT(asked(), ElementsAre(3, 7));
  EXPECT_THAT(leave(), ElementsAre(3));
}

TEST_F(MergedMisses, GoThroughACheckpoint) {
  for (const std::uint64_t page : {3, 7}) miss(page);
  auto restored = std::make_unique<Translation>(world.sm, log);
  save_and_restore(*translation, *restored);
  translation = std::move(restored);
  answer(3, writable);
  EXPECT_THAT(asked(), ElementsAre(3, 7));
  answer(7, writable);
  EXPECT_THAT(leave(), ElementsAre(3, 7));
}

}  // namespace
}  // namespace lockstep::merged_misses_test
