#pragma once

#include <exception>
#include <optional>
#include <string>

#include "core/error/error.hpp"
#include "core/id/id.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A message that arrives before the time up to which its receiver has simulated.
class LateMessage : public InternalError {
 public:
  LateMessage(LinkId link_id, const std::string& what) : InternalError(what), link(link_id) {}
  LinkId link;
};

/// An exception thrown by a component, or by the code around it (component none).
struct Failure {
  Time time;
  ComponentId component;
  std::exception_ptr exception;

  /// Keeps one of several failures of a window, independent of the thread that met it first.
  static void keep_first(std::optional<Failure>& kept, const Failure& other) {
    if (!kept || other.time < kept->time ||
        (other.time == kept->time && other.component < kept->component)) {
      kept = other;
    }
  }
};

}  // namespace lockstep
