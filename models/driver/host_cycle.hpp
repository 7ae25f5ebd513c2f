#pragma once

#include "core/time/time.hpp"
#include "models/driver/host_statistics.hpp"

namespace lockstep {

class HostLink;
class Outbox;

/// One point in time at which the host acts, and what it acts with.
struct HostCycle {
  Time now;
  HostLink& link;
  HostStatistics& statistics;
  Outbox& outbox;
};

}  // namespace lockstep
