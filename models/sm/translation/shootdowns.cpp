#include "models/sm/translation/shootdowns.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error/error.hpp"

namespace lockstep {

/// Returns the frames that the pages of a shootdown had, sorted, each once.
static std::vector<std::uint64_t> frames_of(std::span<const std::byte> entries) {
  std::vector<std::uint64_t> frames;
  frames.reserve(entries.size() / sizeof(PageTableEntry));
  for (std::size_t at = 0; at < entries.size(); at += sizeof(PageTableEntry)) {
    PageTableEntry entry;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    if (entry.bits != 0)
      frames.push_back(frame_number(entry.address(), entry.is(PageTableEntry::remote)));
  }
  if (!std::is_sorted(frames.begin(), frames.end())) std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  return frames;
}

void Shootdowns::begin(const PageSpan& span, std::span<const std::byte> entries, SmCycle now) {
  statistics_.tenant[span.tenant].pages_shot_down += span.count;
  const std::uint16_t index = open_.take();
  open_[index] = {};
  open_[index].span = span;
  open_[index].stored = translation_.shoot_down(span, now);
  const std::vector<std::uint64_t> frames = frames_of(entries);
  l1_.drop_frames(frames);
  open_[index].requests = mark_requests(frames, index);
  if (open_[index].requests == 0) answer(index, now);
}

std::uint32_t Shootdowns::mark_requests(std::span<const std::uint64_t> frames,
                                        std::uint16_t shootdown) {
  std::uint32_t marked = 0;
  const auto mark = [&](std::uint16_t& place) {
    LOCKSTEP_CHECK(place == none, "a frame was shot down twice at a time");
    place = shootdown;
    ++marked;
  };
  l1_.for_each_request_to(frames, [&](Miss& miss) { mark(miss.shootdown); });
  stores_.for_each([&](StoreRecord& store) {
    if (contains(frames, store.frame)) mark(store.shootdown);
  });
  return marked;
}

void Shootdowns::request_done(std::uint16_t index, SmCycle now) {
  if (--open_[index].requests == 0) answer(index, now);
}

void Shootdowns::answer(std::uint16_t index, SmCycle now) {
  const Open& shootdown = open_[index];
  PageSpan answer = shootdown.span;
  answer.sm = static_cast<std::uint16_t>(constants_.setup.index);
  const std::size_t words = (answer.count + 63) / 64;
  ports_.tell_gmmu(MessageKind::shootdown_done, answer, now,
                   std::as_bytes(std::span(shootdown.stored).first(words)));
  open_.give_back(index);
}

}  // namespace lockstep
