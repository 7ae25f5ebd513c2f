#include "core/parameters/idle_keys.hpp"

#include "core/parameters/access.hpp"
#include "core/parameters/document.hpp"
#include "core/parameters/node_data.hpp"
#include "core/parameters/policy.hpp"

namespace lockstep {
namespace {

/// Returns the value of a key; absent if there is none.  A word that names a file has no keys.
Node value_of(const Node& map, const std::string& key) {
  if (!map.is_map()) return {};
  const Node::Data::Entry* entry = map.data()->find(key);
  return entry ? entry->value : Node{};
}

Node value_at(Node map, const std::string& dotted) {
  for (std::size_t begin = 0; map.exists();) {
    const std::size_t end = dotted.find('.', begin);
    map = value_of(map, dotted.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return map;
}

/// Appends the values below a node as idle: a map is replaced by its values.
void append(const Node& node, const std::string& when, std::vector<IdleKey>& idle) {
  if (!node.exists()) return;
  if (!node.is_map()) {
    idle.push_back({node, when});
    return;
  }
  for (const Node::Data::Entry& entry : node.data()->map) append(entry.value, when, idle);
}

void collect(const ParameterSchema& schema, const void* values, const Node& map,
             std::vector<IdleKey>& idle) {
  for (const ParameterField& field : schema.fields()) {
    const Node node = value_of(map, field.key);
    if (!node.exists()) continue;
    if (field.type == ParameterType::group) {
      collect(*field.group, member_of(field, values), node, idle);
    } else if (field.type == ParameterType::policy) {
      const auto& choice = *static_cast<const PolicyChoice*>(member_of(field, values));
      if (choice.schema() != nullptr) collect(*choice.schema(), choice.values(), node, idle);
    }
  }
  for (const ParameterCondition& condition : schema.conditions()) {
    if (condition.holds(values)) continue;
    for (const std::string& key : condition.keys) append(value_at(map, key), condition.when, idle);
  }
}

}  // namespace

std::string IdleKey::text() const {
  return node.where() + ": " + node.path() + " does nothing here: only " + when;
}

std::vector<IdleKey> idle_keys(const ParameterSchema& schema, const void* values, const Node& map) {
  std::vector<IdleKey> idle;
  collect(schema, values, map, idle);
  return idle;
}

}  // namespace lockstep
