/// Recent states of something that computes, which tell whether it gets on.
///
/// Code that polls a word that nobody sets comes back to states that it had before: as many as its
/// loop has, which are few.  Code that counts, computes or follows pointers has a new state each
/// time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lockstep::isa {

/// Returns a hash of bytes that begins with `hash`.
inline std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash) {
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (; bytes.size() >= sizeof hash; bytes = bytes.subspan(sizeof hash)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    mix(word);
  }
  for (const std::byte byte : bytes) mix(static_cast<std::uint64_t>(byte));
  return hash;
}

/// Last states of something that computes, as hashes.
class RecentStates {
 public:
  /// Adds a state.  Returns false if the state was among the last ones already.
  bool add(std::uint64_t state) {
    const auto end = seen_.begin() + count_;
    if (std::find(seen_.begin(), end, state) != end) return false;
    seen_[next_] = state;
    next_ = static_cast<std::uint8_t>((next_ + 1u) % seen_.size());
    count_ = static_cast<std::uint8_t>(std::min<std::size_t>(count_ + 1u, seen_.size()));
    return true;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen_, count_, next_);
  }

 private:
  std::array<std::uint64_t, 32> seen_{};
  std::uint8_t count_ = 0, next_ = 0;
};

}  // namespace lockstep::isa
