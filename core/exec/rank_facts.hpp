#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// A fact that must be equal on all ranks of a run, such as a parameter or a file.
struct RankFact {
  std::string name;   ///< "gpu.sm.count"
  std::string value;  ///< value in a message; the digest for a file

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, value);
  }
  bool operator==(const RankFact&) const = default;
};

/// Returns nothing if both list the same facts; otherwise the first that differs: "A has 2 as
/// gpu.sm.count, B has 4".
std::optional<std::string> first_difference(const std::vector<RankFact>& a,
                                            const std::string& name_of_a,
                                            const std::vector<RankFact>& b,
                                            const std::string& name_of_b);

/// Returns nothing if all ranks list the same facts in the same order. Otherwise returns on rank 0
/// a line that names the first fact that differs and the lowest rank where it does, and "" on the
/// others. Collective.
std::optional<std::string> first_difference(const std::vector<RankFact>& facts,
                                            Communicator& communicator);

}  // namespace lockstep
