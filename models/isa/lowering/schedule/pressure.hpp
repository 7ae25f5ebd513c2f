/// Pressure: how many rows are live while the operations of a stretch are taken in some order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/liveness.hpp"

namespace lockstep::isa::lowering {

/// Registers that a stretch mentions, each with a number: its entry.
class StretchRegisters {
 public:
  struct Entry {
    std::uint32_t rows = 0;
    bool live_before = false, live_after = false;  ///< live before, and after, the stretch
    std::uint32_t readers = 0;                     ///< operations that read the register
    std::uint32_t readers_parity = 0;              ///< exclusive or of the readers' numbers
  };
  /// Pressure of a single operation.
  struct Mentions {
    std::vector<std::uint32_t> reads;  ///< registers read, each once
    std::vector<std::uint32_t> writes;
  };

  explicit StretchRegisters(const ir::Function& function)
      : function_(function), entry_(function.registers.size()) {}
  /// Begins a stretch of `count` operations.  `walker` is behind them and is moved to their begin.
  void begin(const ir::Operation* first, std::uint32_t count, LiveWalker& walker);

  const std::vector<Entry>& entries() const { return entries_; }
  const Mentions& of(std::uint32_t operation) const { return mentions_[operation]; }
  std::uint32_t rows_before() const { return rows_before_; }

 private:
  std::uint32_t entry_of(std::uint32_t index, const LiveWalker& behind);
  void add_read(std::uint32_t operation, std::uint32_t entry);

  const ir::Function& function_;
  /// Index in entries of each register; valid where registers_[entry] names the register.
  std::vector<std::uint32_t> entry_;
  std::vector<std::uint32_t> registers_;
  std::vector<Entry> entries_;
  std::vector<Mentions> mentions_;
  std::uint32_t rows_before_ = 0;
};

class Pressure {
 public:
  explicit Pressure(const StretchRegisters& registers);

  /// Returns how many rows more (or less, negative) are live after this operation than before.
  int change(std::uint32_t operation) const;
  void take(std::uint32_t operation);
  int now() const { return rows_; }
  int peak() const { return peak_; }
  /// Calls `visit` with the only remaining operation that reads the register, if there is exactly
  /// one.
  template <class Visit>
  void with_last_reader(std::uint32_t entry, Visit&& visit) const {
    if (state_[entry].readers == 1) visit(state_[entry].readers_parity);
  }

 private:
  const StretchRegisters& registers_;
  /// Registers of the operations not yet taken; live_before: live now.
  std::vector<StretchRegisters::Entry> state_;
  int rows_, peak_ = 0;
};

}  // namespace lockstep::isa::lowering
