/// Who defines and who reads each virtual register, and which are live between blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/flow.hpp"

namespace lockstep::isa::lowering {

/// A place in the function.
struct Place {
  std::uint32_t block = 0, operation = 0;
  bool operator==(const Place&) const = default;
};

/// Definitions and uses, by register.  Invalid once operations were inserted or removed.
struct Definitions {
  struct Entry {
    std::uint32_t definitions = 0;  ///< function inputs count
    std::uint32_t uses = 0;
    bool guarded = false;   ///< some definition keeps lanes
    bool dominates = true;  ///< the only definition comes before every use
    bool is_input = false;
    Place definition;  ///< of the last one found
  };
  std::vector<Entry> entries;

  explicit Definitions(const ir::Function& function);
  const Entry& operator[](std::uint32_t index) const { return entries[index]; }
  /// Written once, in all lanes that are there, before every use: wherever it is read, its sources
  /// (if they are so too) still hold what it was computed from.  One definition alone is not
  /// enough: a register that a loop reads before it writes it holds the last iteration's value.
  bool is_single(std::uint32_t index) const {
    return entries[index].definitions == 1 && !entries[index].guarded && entries[index].dominates;
  }
  /// Registers among the sources are all written once.
  bool sources_are_single(const ir::Operation& operation) const;

 private:
  void find_uses(const ir::Function& function);
};

/// A set of register numbers.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64) {}
  bool contains(std::uint32_t r) const { return words_[r / 64] >> (r % 64) & 1; }
  void insert(std::uint32_t r) { words_[r / 64] |= std::uint64_t{1} << (r % 64); }
  void erase(std::uint32_t r) { words_[r / 64] &= ~(std::uint64_t{1} << (r % 64)); }
  bool merge(const RegisterSet& other);
  std::size_t size() const;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        visit(static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(__builtin_ctzll(bits))));
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Walks a block from its end to its beginning and knows what is live at each point.  A guarded
/// write keeps the old value alive, unless everybody who reads it later does so under that guard.
/// A return reads the function's results.
class LiveWalker {
 public:
  LiveWalker(const ir::Function& function, const RegisterSet& live_out)
      : function_(function), live_(live_out) {}
  void step_back(const ir::Operation& operation);
  const RegisterSet& live() const { return live_; }
  void keep(std::uint32_t index);  ///< from here on upwards live in any lane

 private:
  const ir::Function& function_;
  RegisterSet live_;
  std::map<std::uint32_t, ir::Operand> only_under_;  ///< live, but only for this guard's lanes
};

/// Registers live at the ends of blocks.
struct Liveness {
  std::vector<RegisterSet> live_in, live_out;
  /// Registers some path from the entry may have written on entry to each block: what no write
  /// reaches is not alive, however a guarded write or a path that cannot happen reads it.
  std::vector<RegisterSet> written_before;
  Liveness(const ir::Function& analysed, const Flow& flow);
  /// Anew, after operations changed.
  void solve(const Flow& flow);
  /// A walker at the end of a block.
  LiveWalker walk(std::uint32_t block) const { return {function, live_out[block]}; }

  const ir::Function& function;
};

}  // namespace lockstep::isa::lowering
