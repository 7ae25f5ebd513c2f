/// Order that the loads and stores of a stretch must keep.
///
/// Stores keep their order among each other.  A load therefore needs to know the last store before
/// it and the first store behind it that may be to the same place: the other stores follow from
/// those two.  A load passes stores to another space and to other bytes behind the same base
/// register; read-only data passes all stores.  Stores and loads are kept by space and base, so
/// that finding the two takes no longer in a long stretch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

class MemoryOrder {
 public:
  /// Memory that an operation accesses.
  struct Access {
    using Base = std::tuple<int, bool, std::uint32_t, std::int64_t, std::uint32_t>;
    std::uint32_t operation = 0;
    Space space = Space::none;
    std::optional<Base> base;         ///< base address; none: anywhere in its space
    std::int64_t begin = 0, end = 0;  ///< bytes counted from the base
    bool read_only = false;
  };
  /// `base_version`: how often the base register had been written before.
  static Access access_of(const ir::Operation& operation, std::uint32_t number,
                          std::uint32_t base_version);

  /// Returns the last store that the load must stay behind.
  std::optional<std::uint32_t> add_load(const Access& load);
  /// Adds a store.  Returns the accesses that it must follow: loads, each only for the first such
  /// store, and the store before.
  std::vector<std::uint32_t> add_store(const Access& store);

 private:
  /// Accesses with one base, by their first byte and the byte behind the last.
  struct Group {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint32_t>> operations;
    std::int64_t longest = 0;

    std::vector<std::uint32_t>& at(const Access& access);
    /// Calls `visit` with the places of all that overlap.
    template <class Visit>
    void for_each_overlapping(const Access& access, Visit&& visit);
  };
  struct State {
    std::optional<Access> last, last_of_another;  ///< last store, and last store with another base
    std::map<Access::Base, Group> stores, loads;
    std::vector<std::uint32_t> loads_anywhere;
  };

  static std::optional<std::uint32_t> last_before(State& state, const Access& load);
  static void take_all(State& state, std::vector<std::uint32_t>& into);
  static void take_aliases(State& state, const Access& store, std::vector<std::uint32_t>& into);
  static void note(State& state, const Access& store);

  std::map<Space, State> spaces_;
  std::optional<std::uint32_t> last_store_;
};

}  // namespace lockstep::isa::lowering
