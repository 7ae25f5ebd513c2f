#include "core/parameters/access.hpp"
#include "core/parameters/node.hpp"
#include "core/parameters/policy.hpp"

namespace lockstep {
namespace {

std::string policy_yaml(const ParameterField& field, const PolicyChoice& choice, int indent) {
  const std::string key = std::string(std::size_t(indent), ' ') + field.key + ":";
  if (!choice.schema()) return key + " " + choice.name() + "\n";
  return key + "\n" + std::string(std::size_t(indent) + 2, ' ') + "name: " + choice.name() + "\n" +
         to_yaml(*choice.schema(), choice.values(), indent + 2);
}

}  // namespace

std::string to_yaml(const ParameterSchema& schema, const void* values, int indent) {
  std::string text;
  for (const ParameterField& field : schema.fields()) {
    const std::string key = std::string(std::size_t(indent), ' ') + field.key + ":";
    if (field.type == ParameterType::group) {
      const std::string inner = to_yaml(*field.group, member_of(field, values), indent + 2);
      text += key + (inner.empty() ? " {}\n" : "\n" + inner);
    } else if (field.type == ParameterType::policy) {
      text +=
          policy_yaml(field, *static_cast<const PolicyChoice*>(member_of(field, values)), indent);
    } else if (field.type == ParameterType::part) {
      const Node& node = *static_cast<const Node*>(member_of(field, values));
      if (node.exists()) text += key + " " + node.to_flow() + "\n";
    } else if (field.absent.empty() || fetch(field, values) != field.initial) {
      text += key + " " + to_text(field, fetch(field, values)) + "\n";
    }
  }
  return text;
}

}  // namespace lockstep
