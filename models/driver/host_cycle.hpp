#pragma once

#include "core/time/time.hpp"
#include "models/driver/host_statistics.hpp"

namespace lockstep {

class HostLink;
class Outbox;

/// A point in time at which the host acts, and the means with which it acts.
struct HostCycle {
  Time now;
  HostLink& link;
  HostStatistics& statistics;
  Outbox& outbox;
};

}  // namespace lockstep
