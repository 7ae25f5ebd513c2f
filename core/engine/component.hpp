#pragma once

#include <string>
#include <vector>

#include "core/message/message.hpp"
#include "core/statistics/view.hpp"
#include "core/time/time.hpp"

namespace lockstep {

class Archive;
class Outbox;

/// A logical process: one SM, one memory partition, the dispatcher, the host.
///
/// A component is advanced in windows.  Between windows its whole state is in its members; it
/// shares no mutable state with other components and communicates only by messages.
class Component {
 public:
  virtual ~Component() = default;

  /// Returns the earliest time at which the component will act by itself if no message arrives;
  /// Time::never() when idle. Messages not yet delivered are counted by the engine, not here.
  virtual Time next_activity() const = 0;

  /// Simulates everything strictly before `horizon`.  `inbox` holds every message that arrives
  /// before it, sorted by (arrival, link, sequence).  At equal times an arrival comes before own
  /// activity.  Sends through `outbox` only.
  virtual void advance(Time horizon, Inbox inbox, Outbox& outbox) = 0;

  /// Saves or restores the whole mutable state. The state begins with its section.
  virtual void serialize(Archive& archive) = 0;

  /// Returns the statistics to sample at an epoch (see core/statistics); called when the component
  /// stands at `now`.
  virtual StatisticsView statistics(Time now) = 0;

  /// Returns statistics of parts that the output shows as a kind of their own, such as the
  /// directions of a link: instances of one schema, those of one component behind those of another.
  /// Only components of one kind have parts of a schema, and each has as many.
  virtual std::vector<StatisticsView> parts(Time) { return {}; }

  /// Returns false while the component still has work that must end before the run may end. The run
  /// ends at the first epoch boundary where every component is finished.
  virtual bool finished() const { return true; }

  /// Returns for stall reports what the component waits for and what holds it up; "" when it waits
  /// for nothing.
  virtual std::string waiting_for() const { return ""; }
};

}  // namespace lockstep
