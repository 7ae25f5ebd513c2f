/// Random statements of all threads of a block or a warp together, where none of them is elsewhere.
#pragma once

#include <cstdint>

#include "tests/properties/random/random_statements.hpp"

namespace lockstep::testing {

class RandomGroupStatements : protected RandomStatements {
 protected:
  using RandomStatements::RandomStatements;

  void group_statement();

 private:
  void block_exchange();
  void warp_exchange();
  void divergent_barrier();
  void barrier_reduction();
  void named_barriers();
  void shared_sum();
  // random_matrix.cpp
  void matrices();
  std::string fragment(unsigned count);
  void product();
  void rows_of_matrices();
};

}  // namespace lockstep::testing
