#pragma once

#include "core/time/time.hpp"
#include "models/driver/host_statistics.hpp"

namespace lockstep {

class HostLink;
class Outbox;

/// Moment at which the host acts, with its link, outbox and statistics.
struct HostCycle {
  Time now;
  HostLink& link;
  HostStatistics& statistics;
  Outbox& outbox;
};

}  // namespace lockstep
