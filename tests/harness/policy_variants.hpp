#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "core/parameters/access.hpp"
#include "core/parameters/policy.hpp"

namespace lockstep {

/// Every policy of a plug point as a scenario may choose it: with its usual parameters, and with
/// each other word of each parameter that takes words.  Registering a policy enrols it.
inline std::vector<std::string> policy_variants(const PolicyList& policies) {
  std::vector<std::string> result;
  for (const PolicyInfo& policy : policies) {
    result.push_back(policy.name);
    if (policy.parameters == nullptr) continue;
    for (const ParameterField& field : policy.parameters->fields())
      for (const std::string& word : field.choices)
        if (to_text(field, field.initial) != word)
          result.push_back("{name: " + policy.name + ", " + field.key + ": " + word + "}");
  }
  return result;
}

/// A variant as the name of a test.
inline std::string variant_name(const std::string& variant) {
  std::string name;
  for (const char c : variant)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
}

}  // namespace lockstep
