#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/parameters/access.hpp"
#include "core/parameters/document.hpp"
#include "core/parameters/policy.hpp"

namespace lockstep {

/// Other values of a parameter: each word but the usual one, the other truth, and of a number the
/// least, one that is twice the usual, and half of it; where the usual is nothing, the most.
inline std::vector<std::string> other_values(const ParameterField& field) {
  std::vector<std::string> values;
  if (field.is_list || field.initial.empty() || field.type >= ParameterType::group) return values;
  if (!field.choices.empty()) values = field.choices;
  if (field.type == ParameterType::boolean) values = {"true", "false"};
  const auto scaled = [&](double factor) {
    ParameterScalar value = field.initial.front();
    std::visit(
        [&](auto& number) {
          using Number = std::decay_t<decltype(number)>;
          if constexpr (std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>) {
            number = static_cast<Number>(static_cast<double>(number) * factor);
            if (field.high) number = std::min(number, std::get<Number>(*field.high));
            if (field.low) number = std::max(number, std::get<Number>(*field.low));
          }
        },
        value);
    return to_text(field, value);
  };
  if (field.choices.empty() && field.type != ParameterType::boolean &&
      field.type != ParameterType::text) {
    if (field.low) values.push_back(to_text(field, *field.low));
    for (const double factor : {0.5, 2.0}) values.push_back(scaled(factor));
    if (field.high && scaled(2) == scaled(1)) values.push_back(to_text(field, *field.high));
  }
  const std::string usual = to_text(field, field.initial);
  std::vector<std::string> others;
  for (const std::string& value : values)
    if (value != usual && std::find(others.begin(), others.end(), value) == others.end())
      others.push_back(value);
  return others;
}

/// Every policy of a plug point as a scenario may choose it: with its usual parameters, and with
/// other values of each parameter alone, as far as the policy takes them.  Registering a policy
/// enrols it.
inline std::vector<std::string> policy_variants(const PolicyList& policies) {
  std::vector<std::string> result;
  for (const PolicyInfo& policy : policies) {
    result.push_back(policy.name);
    if (policy.parameters == nullptr) continue;
    for (const ParameterField& field : policy.parameters->fields())
      for (const std::string& value : other_values(field)) {
        const std::string parameters = "{" + field.key + ": " + value + "}";
        try {
          policy.parameters->read(parse_document(parameters, "variant"),
                                  policy.parameters->create().get());
        } catch (const UserError&) {
          continue;  // it does not go with the usual values of the others
        }
        result.push_back("{name: " + policy.name + ", " + parameters.substr(1));
      }
  }
  return result;
}

/// Variants with other words only, for tests that would take too long with all values.
inline std::vector<std::string> worded_variants(const PolicyList& policies) {
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
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (c == '.' || c == '-')
      name += '_';
  return name;
}

}  // namespace lockstep
