/// Data that a tenant on a CPU core writes, and must read back.
///
/// The bytes of a line follow from its place and from how many lines the core had written before,
/// so that the core need remember only that number for each line.  A line that was never written
/// reads as zero.
/// Source: architecture.md, section 8, rule 10 and "What --check means".
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "models/workload/cpu/cpu_program.hpp"

namespace lockstep {

class LineContents {
 public:
  using Words = std::array<std::uint64_t, cpu_line_bytes / 8>;

  /// Makes the contents.  `remembers`: the number of the last write to each line is kept.
  LineContents(std::uint64_t bytes, bool remembers)
      : versions_(remembers ? bytes / cpu_line_bytes : 0) {}

  bool remembers() const { return !versions_.empty(); }
  /// Writes the next version of the line at `offset`; returns it.
  std::uint32_t write(std::uint64_t offset) {
    ++last_;
    if (remembers()) versions_[offset / cpu_line_bytes] = last_;
    return last_;
  }
  std::uint32_t version(std::uint64_t offset) const {
    return remembers() ? versions_[offset / cpu_line_bytes] : 0;
  }

  static Words words(std::uint64_t offset, std::uint32_t version) {
    Words words{};
    if (version == 0) return words;
    std::uint64_t word = offset * 0x9e3779b97f4a7c15u ^ std::uint64_t{version} << 32;
    for (std::uint64_t& w : words) w = word += 0xd1342543de82ef95u;
    return words;
  }
  static bool holds(std::span<const std::byte> bytes, std::uint64_t offset, std::uint32_t version) {
    const Words expected = words(offset, version);
    return bytes.size() == sizeof expected &&
           std::memcmp(bytes.data(), expected.data(), sizeof expected) == 0;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(last_, versions_);
  }

 private:
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> versions_;  ///< version of each line; 0: never written
};

}  // namespace lockstep
