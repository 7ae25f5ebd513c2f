/// Rules on which policies go together, as data in their registry rows.
///
/// A row lists traits that its policy offers to policies at other plug points (`has`), and traits
/// that it needs of them or excludes (`needs`).  Traits are words, so that a new policy needs no
/// change to any check: policy_conflict() compares the rows of the chosen policies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/schema.hpp"

namespace lockstep {

class PolicyChoice;

/// A demand on whatever stands at another plug point.
struct PolicyNeed {
  std::string plug_point;  ///< key of the other policy
  std::string trait;       ///< trait in the row of the other policy
  bool absent = false;     ///< true: the other policy must not have the trait
  std::string why;     ///< action of this policy, worded to follow its name: "takes a block away"
  std::string other;   ///< conflicting action of the other policy: "does not squash"
  std::string advice;  ///< the setting to write instead
};

struct PolicyTraits {
  std::vector<std::string> has;
  std::vector<PolicyNeed> needs;
};

/// Two choices that do not go together.
struct PolicyConflict {
  std::string plug_point;  ///< the plug point whose need is not met
  std::string what, advice;
};

/// Returns the traits of a plug point's policy; none if its row names none.
PolicyTraits traits_of(const PolicyList& policies, const PolicyChoice& choice);
/// Returns whether the policy at a plug point has a trait.
bool has_trait(const PolicyList& policies, const PolicyChoice& choice, const std::string& trait);
/// Returns the first need that is not met among the policies of a struct, in the order of its
/// fields.  `prefix` stands before plug points in the text: "policies.".
std::optional<PolicyConflict> policy_conflict(const ParameterSchema& schema, const void* values,
                                              const std::string& prefix);

}  // namespace lockstep
