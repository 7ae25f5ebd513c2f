#pragma once

#include <cstdint>
#include <optional>

#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// Scope of the finished blocks from which the work and speed of a block are predicted.
enum class HistoryScope : std::uint8_t {
  launch,  ///< finished blocks of the same launch
  kernel,  ///< finished blocks of all launches of the kernel
};

/// History of the blocks of one launch or kernel: sums of integers, so that the order of additions
/// does not matter.
/// Source: 003, section 3.3.2; preemption.md, sections 7.2 and 16.
class KernelHistory {
 public:
  /// Cycles per instruction are counted in parts of this.
  static constexpr std::uint64_t cpi_one = 1024;

  /// Adds a finished block; a block that has executed nothing is ignored.
  void add(const BlockWork& work) {
    if (work.executed.warp == 0) return;
    const std::uint64_t cpi = work.cycles * cpi_one / work.executed.warp;
    ++blocks_;
    instructions_ += work.executed.warp;
    cpi_ += cpi;
    cpi_squares_ += Wide{cpi} * cpi;
  }
  std::uint64_t blocks() const { return blocks_; }
  /// Returns the mean instructions of a block; nothing: no block is known.
  std::optional<std::uint64_t> mean_instructions() const {
    if (blocks_ == 0) return std::nullopt;
    return instructions_ / blocks_;
  }
  /// Returns the mean cycles per instruction, in parts of cpi_one.
  std::optional<std::uint64_t> mean_cpi() const {
    if (blocks_ == 0) return std::nullopt;
    return cpi_ / blocks_;
  }
  /// Returns the variance of the cycles per instruction, in parts of cpi_one squared.
  double variance() const {
    if (blocks_ == 0) return 0;
    const auto count = static_cast<double>(blocks_);
    return static_cast<double>(blocks_ * cpi_squares_ - Wide{cpi_} * cpi_) / (count * count);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    auto low = static_cast<std::uint64_t>(cpi_squares_);
    auto high = static_cast<std::uint64_t>(cpi_squares_ >> 64);
    archive(blocks_, instructions_, cpi_, low, high);
    cpi_squares_ = Wide{high} << 64 | low;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t blocks_ = 0, instructions_ = 0, cpi_ = 0;
  Wide cpi_squares_ = 0;
};

/// History of blocks of one kernel that left for memory.
class ContextHistory {
 public:
  /// Adds a block that has left the SM with a context of `bytes` bytes.
  void saved(std::uint64_t bytes) {
    ++contexts_;
    context_bytes_ += bytes;
  }
  /// Notes how long a block took to leave after the command.
  void left_after(Time time) {
    ++saves_;
    save_time_ += static_cast<std::uint64_t>(time.femtoseconds() / 1'000'000);
  }
  /// Returns the mean bytes of a context; nothing: none is known.
  std::optional<std::uint64_t> mean_context() const {
    if (contexts_ == 0) return std::nullopt;
    return context_bytes_ / contexts_;
  }
  /// Returns the mean time from the command to leave until the place is free; nothing: no block has
  /// left.
  std::optional<Time> mean_save() const {
    if (saves_ == 0) return std::nullopt;
    return Time{static_cast<std::int64_t>(save_time_ / saves_ * 1'000'000)};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(contexts_, context_bytes_, saves_, save_time_);
  }

 private:
  std::uint64_t contexts_ = 0, context_bytes_ = 0;
  std::uint64_t saves_ = 0, save_time_ = 0;  ///< number of saves, and their time in ns
};

}  // namespace lockstep
