#include "models/isa/interpreter/inexact/inexact_memory.hpp"

#include <algorithm>
#include <cmath>

#include "models/isa/interpreter/inexact/float_trace.hpp"

namespace lockstep::isa {
namespace {

/// Largest distance of a launch's words that count as neighbours, in bytes.
constexpr std::uint64_t around = 256;

bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16;
}

/// Returns the scale of a magnitude; words of one scale are one range.
int scale_of(float magnitude) {
  return magnitude > 0 ? std::ilogb(magnitude) / 3 : -1000;
}

struct Range {
  std::uint64_t begin = 0, end = 0;
  Type type = Type::none;
  double tolerance = 0;
  float magnitude = 0;
  int scale = 0;
};

/// Joins neighbours of one type that are at most `gap` bytes apart.
void join(std::vector<Range>& ranges, std::uint64_t gap, bool any_scale) {
  std::size_t last = 0;
  for (std::size_t next = 1; next < ranges.size(); ++next) {
    Range &before = ranges[last], &range = ranges[next];
    const bool is_near = range.begin - before.end <= gap &&
                         range.begin % bytes_of(range.type) == before.begin % bytes_of(range.type);
    if (!is_near || before.type != range.type || (!any_scale && before.scale != range.scale)) {
      ranges[++last] = range;
      continue;
    }
    before.end = range.end;
    before.tolerance = std::max(before.tolerance, range.tolerance);
    before.magnitude = std::max(before.magnitude, range.magnitude);
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

}  // namespace

double unit_roundoff(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return 0x1p-11;
    case Type::bf16:
    case Type::bf16x2:
      return 0x1p-8;
    case Type::f64:
      return 0x1p-53;
    default:
      return 0x1p-24;
  }
}

void Inexactness::include(const Inexactness& other) {
  unit = std::max(unit, other.unit);
  growth = std::max(growth, other.growth);
}

double Inexactness::tolerance() const {
  return std::min<double>(static_cast<double>(growth) * unit, std::sqrt(unit));
}

void InexactMemory::apply(const FloatTrace& trace) {
  const bool is_derived = !trace.read().is_exact();
  const Inexactness derived{trace.read().unit, 2 * trace.read().growth};
  std::vector<std::uint64_t> group;
  float largest = 0;
  const auto end_group = [&] {
    for (const std::uint64_t address : group) words_.at(address).magnitude = largest;
    group.clear();
    largest = 0;
  };
  trace.words().for_each([&](std::uint64_t address, const FloatTrace::Word& now) {
    if (now.is_stored) clear_word(address);
    if (now.additions == 0 && !(now.is_stored && is_derived && now.type != Type::none)) return;
    Word& word = words_.at(address);
    word.type = now.type;
    word.magnitude = std::max(word.magnitude, now.magnitude);
    if (is_derived) word.off.include(derived);
    word.off.unit = std::max(word.off.unit, static_cast<float>(unit_roundoff(now.type)));
    word.off.growth =
        std::sqrt(word.off.growth * word.off.growth + 16 * static_cast<float>(now.additions));
    if (now.additions > 0) return;
    if (!group.empty() && address - group.back() > around) end_group();
    group.push_back(address);
    largest = std::max(largest, now.magnitude);
  });
  end_group();
}

void InexactMemory::clear_word(std::uint64_t address) {
  constexpr std::uint64_t page_bytes = WordMap<Word>::page_bytes;
  const auto* page = words_.page(address / page_bytes);
  if (page == nullptr) return;
  Word& word = words_.at(address);
  word = {};
  if (address % 8 == 4 && words_.at(address - 4).type == Type::f64) words_.at(address - 4) = {};
}

void InexactMemory::clear(std::uint64_t address, std::uint64_t bytes) {
  if (words_.empty()) return;
  std::vector<std::uint64_t> known;
  const std::uint64_t begin = address - std::min<std::uint64_t>(address, 4);
  words_.for_each(begin, address + bytes, [&](std::uint64_t at, const Word& word) {
    const bool reaches = at + std::max(4u, bytes_of(word.type)) > address;
    if (word.type != Type::none && reaches) known.push_back(at);
  });
  for (const std::uint64_t at : known) words_.at(at) = {};
}

void InexactMemory::copy(std::uint64_t to, const InexactMemory& other, std::uint64_t from,
                         std::uint64_t bytes) {
  std::vector<std::pair<std::uint64_t, Word>> known;
  other.words_.for_each(from, from + bytes, [&](std::uint64_t at, const Word& word) {
    if (word.type != Type::none && at >= from) known.emplace_back(at - from, word);
  });
  clear(to, bytes);
  // A misaligned copy moves no floats that are known here.
  if (to % 4 != 0 || from % 4 != 0) return;
  for (const auto& [offset, word] : known) words_.at(to + offset) = word;
}

std::vector<InexactFloats> InexactMemory::ranges(std::uint64_t address, std::uint64_t bytes,
                                                 std::size_t most) const {
  std::vector<Range> found;
  words_.for_each(address, address + bytes, [&](std::uint64_t at, const Word& word) {
    const std::uint64_t end = at + std::max(4u, bytes_of(word.type));
    if (word.type == Type::none || at < address || end > address + bytes) return;
    found.push_back(
        {at, end, word.type, word.off.tolerance(), word.magnitude, scale_of(word.magnitude)});
    if (found.size() > 1 && found.size() % 65536 == 0) join(found, 0, false);
  });
  join(found, 0, false);
  if (found.size() > most) join(found, 0, true);
  for (std::uint64_t gap = 4; found.size() > most && gap < bytes; gap *= 2) join(found, gap, true);
  std::vector<InexactFloats> result;
  for (const Range& range : found) {
    const unsigned size = is_half(range.type) ? 2 : bytes_of(range.type);
    result.push_back({range.begin - address, (range.end - range.begin) / size, range.type,
                      range.tolerance, range.magnitude});
  }
  return result;
}

}  // namespace lockstep::isa
