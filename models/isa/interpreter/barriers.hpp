/// Named barriers of a block.
///
/// Their meaning is in models/isa/barriers/named_barrier.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/barriers/named_barrier.hpp"
#include "models/isa/interpreter/races/shared_races.hpp"
#include "models/isa/interpreter/warp.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

class NamedBarriers {
 public:
  NamedBarriers(const Program& program, std::vector<InterpretedWarp>& warps);
  /// Tells `races` from now on which warps pass which barrier.
  void tell(SharedRaces& races) { races_ = &races; }

  /// Lets all lanes of warp `w`'s current path arrive at barrier `number`, which waits for
  /// `expected` threads; zero: all threads of the block.
  void arrive(std::uint32_t w, const Instruction& instruction, std::uint32_t number,
              std::uint32_t expected);
  /// Completes barriers that waited only for lanes that have exited.
  void complete();

 private:
  struct Barrier {
    bool used = false;
    std::uint32_t expected = 0;
    /// Lanes of each warp that have arrived, bar.arrive included; empty before the first arrives.
    std::vector<std::uint32_t> arrived;
    std::vector<std::uint32_t> waiting;  ///< lanes of each warp that wait
    std::uint32_t before = 0;            ///< threads that had arrived when they arrived once more
    std::uint32_t population = 0;        ///< bar.red: threads whose predicate holds
    bool all = true;
  };

  /// Makes the barrier ready for its next use.
  void clear(Barrier& barrier) const;
  bool is_complete(const Barrier& barrier) const;
  void release(Barrier& barrier);
  WarpContext context_of(const InterpretedWarp& warp);

  const Program& program_;
  std::vector<InterpretedWarp>& warps_;
  std::array<Barrier, named_barriers> barriers_;
  std::array<std::uint32_t, warp_size> discarded_{};  ///< rows for unused results
  SharedRaces* races_ = nullptr;
};

}  // namespace lockstep::isa
