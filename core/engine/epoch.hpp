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

/// Samples the machine at epoch boundaries.  Epochs in which nothing happened are passed over.
class EpochObserver {
 public:
  virtual ~EpochObserver() = default;

  /// Returns this rank's contribution. Called on every rank, when all components stand at `end`.
  /// The components are those of this rank, by id.
  virtual std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) {
    static_cast<void>(end), static_cast<void>(components);
    return {};
  }

  /// Takes the contributions of all ranks, in the order of ranks. Called on rank 0 only.
  virtual void collect(Time end, std::span<const std::vector<std::byte>> contributions) {
    static_cast<void>(end), static_cast<void>(contributions);
  }

  /// Returns whether the next collect() also needs what all components wait for. Called on rank 0
  /// only, after collect().
  virtual bool wants_account() const { return false; }
  /// Takes a line for each component that waits for something, by id. Called on rank 0 only, if it
  /// was asked for. A RunError ends the run.
  virtual void account(Time end, const std::string& waiting) {
    static_cast<void>(end), static_cast<void>(waiting);
  }
};

}  // namespace lockstep
