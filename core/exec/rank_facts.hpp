#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// A fact that every rank of a run must have alike, such as a parameter or a file.
struct RankFact {
  std::string name;   ///< "gpu.sm.count"
  std::string value;  ///< what stands in a message; a file's is its digest

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, value);
  }
  bool operator==(const RankFact&) const = default;
};

/// Nothing if both list the same; otherwise "A has 2 as gpu.sm.count, B has 4" of the first that
/// differs.
std::optional<std::string> first_difference(const std::vector<RankFact>& a,
                                            const std::string& name_of_a,
                                            const std::vector<RankFact>& b,
                                            const std::string& name_of_b);

/// Nothing if all ranks list the same facts in the same order; otherwise on rank 0 a line that
/// names the first that differs and the lowest rank where it does, and "" on the others.
/// Collective.
std::optional<std::string> first_difference(const std::vector<RankFact>& facts,
                                            Communicator& communicator);

}  // namespace lockstep
