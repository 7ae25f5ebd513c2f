/// Translations taken away: flushes and shootdowns.
///
/// A shootdown drops the TLB entries of its pages and the L1 sectors of their frames and is
/// answered when all requests sent to the frames have their answers, whatever else is stalled.
/// Lines parked for the pages ask again.  Source: architecture.md, section 8, rule 7.
#include <algorithm>
#include <cstring>

#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

std::uint64_t frame_of(const Miss& miss) {
  return frame_number(miss.tag * line_bytes, miss.in_host);
}

bool contains(std::span<const std::uint64_t> sorted, std::uint64_t frame) {
  return std::binary_search(sorted.begin(), sorted.end(), frame);
}

/// Frames that the pages of a shootdown had, sorted.
std::vector<std::uint64_t> frames_of(std::span<const std::byte> entries) {
  std::vector<std::uint64_t> frames;
  for (std::size_t at = 0; at < entries.size(); at += sizeof(PageTableEntry)) {
    PageTableEntry entry;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    if (entry.bits != 0)
      frames.push_back(frame_number(entry.address(), entry.is(PageTableEntry::remote)));
  }
  std::sort(frames.begin(), frames.end());
  return frames;
}

}  // namespace

void SmState::on_flush(std::uint16_t tenant) {
  for (std::uint16_t t = 0; t < statistics.tenant.size(); ++t)
    if (t == tenant || tenant == all_tenants)
      statistics.tenant[t].tlb_flushed += translation.flush(t);
}

void SmState::on_shootdown(const PageSpan& span, std::span<const std::byte> entries,
                           std::int64_t now) {
  statistics.tenant[span.tenant].pages_shot_down += span.count;
  const std::uint16_t index = translation.shootdowns.take();
  OpenShootdown& shootdown = translation.shootdowns[index];
  shootdown = {};
  shootdown.span = span;
  shootdown.stored = drop_translations(span);
  const std::uint64_t first = Tlb::base_key(span.tenant, span.page);
  translation.for_each_miss([&](std::uint16_t i) {
    const PageMiss& miss = translation.miss(i);
    if (miss.state == PageMiss::State::draining && miss.key - first < span.count) ask(i, now);
  });
  const std::vector<std::uint64_t> frames = frames_of(entries);
  drop_frames(frames);
  shootdown.requests = mark_requests(frames, index);
  if (shootdown.requests == 0) answer_shootdown(index, now);
}

std::array<std::uint64_t, pages_per_large / 64> SmState::drop_translations(const PageSpan& span) {
  std::array<std::uint64_t, pages_per_large / 64> stored{};
  for (std::uint32_t i = 0; i < span.count; ++i) {
    const bool wrote = translation.stored_under(Tlb::base_key(span.tenant, span.page + i));
    stored[i / 64] |= std::uint64_t{wrote} << (i % 64);
  }
  for (std::uint32_t i = 0; i < span.count; ++i) {
    statistics.tenant[span.tenant].tlb_shot_down +=
        translation.drop(Tlb::base_key(span.tenant, span.page + i));
    translation.known.take(span.tenant, span.page + i);
  }
  return stored;
}

void SmState::drop_frames(std::span<const std::uint64_t> frames) {
  if (frames.empty()) return;
  for (std::uint32_t i = 0; i < l1.lines(); ++i) {
    L1Cache::Line& line = l1.line(static_cast<std::uint16_t>(i));
    if (line.used && !line.local && contains(frames, frame_number(line.tag * line_bytes, false)))
      line.valid = 0;
  }
  misses.for_each_open([&](std::uint16_t miss) {
    if (!misses[miss].local && contains(frames, frame_of(misses[miss]))) close_miss(miss);
  });
}

std::uint32_t SmState::mark_requests(std::span<const std::uint64_t> frames,
                                     std::uint16_t shootdown) {
  std::uint32_t marked = 0;
  const auto mark = [&](std::uint16_t& place) {
    LOCKSTEP_CHECK(place == TranslationUnit::none, "a frame was shot down twice at a time");
    place = shootdown;
    ++marked;
  };
  misses.for_each_used([&](std::uint16_t i) {
    if (!misses[i].local && contains(frames, frame_of(misses[i]))) mark(misses[i].shootdown);
  });
  stores.for_each_used([&](std::uint16_t i) {
    if (contains(frames, stores[i].frame)) mark(stores[i].shootdown);
  });
  return marked;
}

void SmState::shootdown_request_done(std::uint16_t index, std::int64_t now) {
  if (--translation.shootdowns[index].requests == 0) answer_shootdown(index, now);
}

void SmState::answer_shootdown(std::uint16_t index, std::int64_t now) {
  const OpenShootdown& shootdown = translation.shootdowns[index];
  PageSpan answer = shootdown.span;
  answer.sm = static_cast<std::uint16_t>(setup.index);
  const std::size_t words = (answer.count + 63) / 64;
  outbox->send(to_gmmu, time_of(now), kind_of(MessageKind::shootdown_done), answer,
               std::as_bytes(std::span(shootdown.stored).first(words)));
  translation.shootdowns.give_back(index);
}

}  // namespace lockstep
