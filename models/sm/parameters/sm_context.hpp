/// What every part of an SM stands on: what is fixed, what is counted, what is resident, and the
/// ways out.  What else a part needs its constructor names.
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
