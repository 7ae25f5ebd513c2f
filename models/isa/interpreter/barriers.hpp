/// Named barriers of a block.
///
/// A barrier counts threads.  Without a count it waits for all that have not exited.  With one,
/// a warp whose remaining threads have all arrived counts as 32, as counts are multiples of the
/// warp size.
/// Source: PTX ISA 8.x, section 9.7.13.1 "bar, barrier".
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/interpreter/races/shared_races.hpp"
#include "models/isa/interpreter/warp.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

class NamedBarriers {
 public:
  static constexpr std::uint32_t count = 16;

  NamedBarriers(const Program& program, std::vector<InterpretedWarp>& warps);
  /// From now on `races` is told who goes on behind which barrier.
  void tell(SharedRaces& races) { races_ = &races; }

  /// All lanes of warp `w`'s current path come to barrier `number`, which waits for `expected`
  /// threads; zero: for all of the block.
  void arrive(std::uint32_t w, const Instruction& instruction, std::uint32_t number,
              std::uint32_t expected);
  /// Lanes have exited: barriers that waited only for them let the others go.
  void complete();

 private:
  struct Barrier {
    bool used = false;
    std::uint32_t expected = 0;
    std::vector<std::uint32_t> arrived;  ///< by warp: lanes, bar.arrive included
    std::vector<std::uint32_t> waiting;  ///< by warp: lanes that wait
    std::uint32_t population = 0;        ///< of bar.red: threads whose predicate holds
    bool all = true;
  };

  void clear(Barrier& barrier) const;
  bool is_complete(const Barrier& barrier) const;
  void release(Barrier& barrier);
  /// The result of a reduction, for lanes of a warp.
  static void give_result(const Barrier& barrier, InterpretedWarp& warp,
                          const Instruction& instruction, std::uint32_t lanes);

  const Program& program_;
  std::vector<InterpretedWarp>& warps_;
  std::array<Barrier, count> barriers_;
  SharedRaces* races_ = nullptr;
};

}  // namespace lockstep::isa
