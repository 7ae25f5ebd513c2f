/// Parts that every other part of an SM needs: constants, statistics, resident blocks, ports and
/// mistakes.  A part's constructor names what else it needs.
#pragma once

#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/parameters/sm_statistics.hpp"

namespace lockstep {

class Mistakes;
class ResidentBlocks;
class SmPorts;

struct SmContext {
  const SmConstants& constants;
  SmStatistics& statistics;
  SmPorts& ports;
  ResidentBlocks& blocks;
  Mistakes& mistakes;
};

}  // namespace lockstep
