#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>

#include "core/id/id.hpp"

namespace lockstep {

/// Random numbers without hidden state: the `counter`-th block of four words that belongs to
/// (seed, component, purpose).  Philox4x32-10 of J. Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3", SC 2011, as Random123 implements it.
inline std::array<std::uint32_t, 4> random_block(std::uint64_t seed, ComponentId component,
                                                 std::uint32_t purpose, std::uint64_t counter) {
  const r123::Philox4x32 generator;
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const r123::Philox4x32::ctr_type input{{static_cast<std::uint32_t>(counter),
                                          static_cast<std::uint32_t>(counter >> 32),
                                          component.value(), purpose}};
  const r123::Philox4x32::ctr_type output = generator(input, key);
  return {output[0], output[1], output[2], output[3]};
}

}  // namespace lockstep
