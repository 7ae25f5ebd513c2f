#include "core/parameters/differing_values.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lockstep {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

std::string without_name(const std::string& key) {
  constexpr std::string_view policies = "policies.", name = ".name";
  const bool is_policy = key.starts_with(policies) && key.ends_with(name);
  return is_policy ? key.substr(0, key.size() - name.size()) : key;
}

void flatten(const Node& node, const std::string& path, Values& values) {
  const std::string before = path.empty() ? "" : path + ".";
  if (node.is_map()) {
    for (const auto& [key, value] : node.entries()) flatten(value, before + key, values);
  } else if (node.is_sequence()) {
    const std::vector<Node> items = node.items();
    for (std::size_t i = 0; i < items.size(); ++i)
      flatten(items[i], before + std::to_string(i), values);
  } else {
    values.emplace_back(without_name(path), node.is_scalar() ? node.text() : "-");
  }
}

}  // namespace

std::vector<DifferingValue> differing_values(const Node& a, const Node& b) {
  Values in_a, in_b;
  flatten(a, "", in_a);
  flatten(b, "", in_b);
  const std::map<std::string, std::string> of_a(in_a.begin(), in_a.end()),
      of_b(in_b.begin(), in_b.end());
  const auto value_in = [](const std::map<std::string, std::string>& values,
                           const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string("-") : found->second;
  };
  std::vector<DifferingValue> differing;
  std::set<std::string> keys;
  for (const Values* values : {&in_a, &in_b})
    for (const auto& [key, value] : *values)
      if (value_in(of_a, key) != value_in(of_b, key) && keys.insert(key).second)
        differing.push_back({key, value_in(of_a, key), value_in(of_b, key)});
  std::erase_if(differing, [&](const DifferingValue& value) {
    return keys.contains(value.key.substr(0, value.key.rfind('.')));
  });
  return differing;
}

}  // namespace lockstep
