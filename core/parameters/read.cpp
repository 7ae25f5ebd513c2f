#include <bit>

#include "core/parameters/access.hpp"
#include "core/parameters/document.hpp"
#include "core/parameters/policy.hpp"
#include "core/parameters/renamed_keys.hpp"
#include "core/parameters/suggest.hpp"
#include "core/parameters/units.hpp"

namespace lockstep {
namespace {

std::string range_text(const ParameterField& field) {
  std::string text;
  if (field.low && field.high) {
    text = "from " + to_text(field, *field.low) + " to " + to_text(field, *field.high);
  } else if (field.low) {
    text = "at least " + to_text(field, *field.low);
  } else if (field.high) {
    text = "at most " + to_text(field, *field.high);
  }
  if (field.only_powers_of_two) text += text.empty() ? "a power of two" : ", a power of two";
  return text;
}

bool is_power_of_two(const ParameterScalar& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::has_single_bit(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return *number > 0 && std::has_single_bit(std::uint64_t(*number));
  }
  return true;
}

ParameterScalar read_word(const ParameterField& field, const Node& node) {
  for (std::size_t i = 0; i < field.choices.size(); ++i) {
    if (field.choices[i] != node.text()) continue;
    if (field.type == ParameterType::enumeration) return std::uint64_t(i);
    return node.text();
  }
  throw node.error("no such choice \"" + node.text() + "\"", suggest(node.text(), field.choices));
}

ParameterScalar read_scalar(const ParameterField& field, const Node& node) {
  if (!field.choices.empty()) return read_word(field, node);
  const ParsedScalar parsed = parse_scalar(node.text(), field.type);
  if (!parsed.value) {
    const bool is_unsigned =
        field.type == ParameterType::uint32 || field.type == ParameterType::uint64;
    const std::string range =
        field.low || field.high || !is_unsigned ? range_text(field) : "0 or more";
    throw node.error(parsed.problem, parsed.advice + (range.empty() ? "" : ", " + range));
  }
  const ParameterScalar& value = *parsed.value;
  const bool inside = (!field.low || value >= *field.low) &&
                      (!field.high || value <= *field.high) &&
                      (!field.only_powers_of_two || is_power_of_two(value));
  if (!inside) {
    throw node.error(to_text(field, value) + " is out of range", "allowed: " + range_text(field));
  }
  return value;
}

std::vector<ParameterScalar> read_values(const ParameterField& field, const Node& node) {
  if (!field.is_list) return {read_scalar(field, node)};
  std::vector<ParameterScalar> values;
  for (const Node& item : node.items()) values.push_back(read_scalar(field, item));
  return values;
}

const PolicyInfo* find_policy(const ParameterField& field, const std::string& name) {
  for (const PolicyInfo& info : field.policies()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

PolicyChoice read_policy(const ParameterField& field, const Node& node) {
  const Node name = node.is_map() ? node.at("name") : node;
  const PolicyInfo* info = find_policy(field, name.text());
  if (!info) {
    std::vector<std::string> known;
    for (const PolicyInfo& policy : field.policies()) known.push_back(policy.name);
    throw name.error("no policy \"" + name.text() + "\"", suggest(name.text(), known));
  }
  if (!node.is_map()) return PolicyChoice(*info);
  if (!info->parameters) {
    node.reject_unknown_keys();
    return PolicyChoice(*info);
  }
  std::shared_ptr<void> values = info->parameters->create();
  info->parameters->read(node, values.get());
  return {info->name, info->parameters, std::move(values)};
}

void read_field(const ParameterField& field, const Node& node, void* values) {
  switch (field.type) {
    case ParameterType::group:
      field.group->read(is_file_name(node) ? resolve_include(node) : node,
                        member_of(field, values));
      break;
    case ParameterType::policy:
      *static_cast<PolicyChoice*>(member_of(field, values)) = read_policy(field, node);
      break;
    case ParameterType::part:
      *static_cast<Node*>(member_of(field, values)) = node;
      break;
    default:
      store(field, read_values(field, node), values);
  }
}

/// Returns the last value below `map` that --set or `override` changed, which most likely broke the
/// rule; `map` if there is none.
Node changed_in(const Node& map) {
  Node changed = map;
  const auto search = [&](const Node& node, const auto& self) -> void {
    const bool is_set = node.where().starts_with("--set ");
    if (is_set || (node.file() != map.file() && !changed.where().starts_with("--set ")))
      changed = node;
    if (node.is_map())
      for (const auto& [key, value] : node.entries()) self(value, self);
  };
  search(map, search);
  return changed;
}

}  // namespace

void ParameterSchema::set_defaults(void* values) const {
  for (const ParameterField& field : fields_) {
    if (field.type == ParameterType::group) {
      field.group->set_defaults(member_of(field, values));
    } else if (field.type == ParameterType::policy) {
      const auto& name = std::get<std::string>(field.initial.at(0));
      const PolicyInfo* info = find_policy(field, name);
      LOCKSTEP_CHECK(info, "default of " + field.key + " is no policy: " + name);
      *static_cast<PolicyChoice*>(member_of(field, values)) = PolicyChoice(*info);
    } else if (field.type == ParameterType::part) {
      *static_cast<Node*>(member_of(field, values)) = Node{};
    } else if (!field.required) {
      store(field, field.initial, values);
    }
  }
}

void ParameterSchema::rename_old_keys(const Node& map) const {
  for (const ParameterField& field : fields_) {
    if (field.formerly.empty()) continue;
    if (const std::string where = map.rename_key(field.formerly, field.key); !where.empty())
      note_renamed_key("note: " + where + ": the key \"" + field.formerly + "\" is called \"" +
                       field.key + "\" now; the old name still works");
  }
}

void ParameterSchema::read(const Node& map, void* values) const {
  set_defaults(values);
  rename_old_keys(map);
  for (const ParameterField& field : fields_) {
    const Node node = map.find(field.key);
    if (node.exists() && !(node.is_null() && field.type == ParameterType::group)) {
      read_field(field, node, values);
    } else if (field.required) {
      throw map.missing(field.key, "add it: " + field.doc);
    }
  }
  map.reject_unknown_keys();
  for (const auto& check : checks_) {
    const std::string problem = check(values);
    if (problem.empty()) continue;
    const std::size_t dash = problem.rfind(" - ");
    LOCKSTEP_CHECK(dash != std::string::npos, "no advice follows \" - \" in: " + problem);
    throw changed_in(map).error(problem.substr(0, dash), problem.substr(dash + 3));
  }
}

}  // namespace lockstep
