#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/engine/component.hpp"
#include "core/id/id.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A component that lives on this rank.
struct LocalComponent {
  ComponentId id;
  Component* component;
};

/// Samples the machine at epoch boundaries.  Epochs without any event are skipped.
class EpochObserver {
 public:
  virtual ~EpochObserver() = default;

  /// Prepares for look(). Called on every rank before its components go to the end of an epoch.
  /// The components are those of this rank, by id.
  virtual void prepare(std::span<const LocalComponent> components) {
    static_cast<void>(components);
  }
  /// Looks at a component of this rank that has just reached `end`.  Threads look at several
  /// components at the same time. `number`: place of the component among those of the rank.
  virtual void look(Time end, std::size_t number, const LocalComponent& component) {
    static_cast<void>(end), static_cast<void>(number), static_cast<void>(component);
  }
  /// Returns this rank's contribution. Called on every rank when all components have reached `end`
  /// and have been looked at.
  virtual std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) {
    static_cast<void>(end), static_cast<void>(components);
    return {};
  }

  /// Takes the contributions of all ranks, in the order of ranks. Called on rank 0 only.
  virtual void collect(Time end, std::span<const std::vector<std::byte>> contributions) {
    static_cast<void>(end), static_cast<void>(contributions);
  }

  /// Returns whether the next collect() also needs the reasons for which components wait. Called on
  /// rank 0 only, after collect().
  virtual bool wants_account() const { return false; }
  /// Takes a line for each waiting component, by id. Called on rank 0 only, if wants_account() was
  /// true. A RunError ends the run.
  virtual void account(Time end, const std::string& waiting) {
    static_cast<void>(end), static_cast<void>(waiting);
  }
};

}  // namespace lockstep
