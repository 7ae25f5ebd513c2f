#include "core/parameters/policy_traits.hpp"

#include <algorithm>

#include "core/parameters/access.hpp"
#include "core/parameters/policy.hpp"

namespace lockstep {
namespace {

struct Chosen {
  const ParameterField& field;
  const PolicyChoice& choice;
  PolicyTraits traits;
};

std::vector<Chosen> chosen_policies(const ParameterSchema& schema, const void* values) {
  std::vector<Chosen> all;
  for (const ParameterField& field : schema.fields()) {
    if (field.type != ParameterType::policy) continue;
    const auto& choice = *static_cast<const PolicyChoice*>(member_of(field, values));
    all.push_back({field, choice, traits_of(field.policies(), choice)});
  }
  return all;
}

bool is_met(const PolicyNeed& need, const PolicyTraits& other) {
  const bool has = std::find(other.has.begin(), other.has.end(), need.trait) != other.has.end();
  return has != need.absent;
}

}  // namespace

PolicyTraits traits_of(const PolicyList& policies, const PolicyChoice& choice) {
  for (const PolicyInfo& info : policies)
    if (info.name == choice.name() && info.traits != nullptr) return info.traits(choice);
  return {};
}

bool has_trait(const PolicyList& policies, const PolicyChoice& choice, const std::string& trait) {
  const std::vector<std::string> has = traits_of(policies, choice).has;
  return std::find(has.begin(), has.end(), trait) != has.end();
}

std::optional<PolicyConflict> policy_conflict(const ParameterSchema& schema, const void* values,
                                              const std::string& prefix) {
  const std::vector<Chosen> all = chosen_policies(schema, values);
  for (const Chosen& one : all)
    for (const PolicyNeed& need : one.traits.needs)
      for (const Chosen& other : all)
        if (other.field.key == need.plug_point && !is_met(need, other.traits))
          return PolicyConflict{one.field.key,
                                prefix + one.field.key + ' ' + one.choice.name() + ' ' + need.why +
                                    ", and " + prefix + other.field.key + ' ' +
                                    other.choice.name() + ' ' + need.other,
                                need.advice};
  return std::nullopt;
}

}  // namespace lockstep
