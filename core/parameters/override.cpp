#include <algorithm>

#include "core/parameters/document.hpp"
#include "core/parameters/node_data.hpp"
#include "core/parameters/suggest.hpp"

namespace lockstep {
namespace {

/// Returns the entry of a sequence that `word` selects: by number, or by its `name:`.
Node& select_item(const Node& sequence, const std::string& word, const Node& value) {
  std::vector<Node>& items = sequence.data()->sequence;
  const bool is_number =
      !word.empty() && word.size() < 9 && word.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && std::stoul(word) < items.size()) return items[std::stoul(word)];
  std::vector<std::string> names;
  for (Node& item : items) {
    if (!item.is_map()) continue;
    const Node::Data::Entry* name = item.data()->find("name");
    if (!name || !name->value.is_scalar()) continue;
    if (name->value.text() == word) return item;
    names.push_back(name->value.text());
  }
  throw UserError(value.where(),
                  sequence.path() + " has no entry \"" + word + "\" (it has " +
                      std::to_string(items.size()) + ", numbered from 0)",
                  suggest(word, names));
}

/// Returns the place of `word` in `parent`; in a map without it, a new empty one.
Node& select(const Node& parent, const std::string& word, const Node& value) {
  if (parent.is_sequence()) return select_item(parent, word, value);
  if (!parent.is_map()) {
    throw UserError(value.where(), parent.path() + " is no map, so it has no \"" + word + "\"",
                    "name a key that is there, or set all of " + parent.path());
  }
  Node::Data& data = *parent.data();
  if (Node::Data::Entry* entry = data.find(word)) return entry->value;
  data.map.push_back({word, value.data()->position, Node{}});
  return data.map.back().value;
}

}  // namespace

void override_value(const Node& root, const std::string& key, const Node& value) {
  Node parent = root;
  std::string path = root.path();
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const std::string word = key.substr(begin, end - begin);
    if (word.empty()) {
      throw UserError(value.where(), "\"" + key + "\" is no key", "write it as gpu.sm.count");
    }
    path += (path.empty() ? "" : ".") + word;
    Node& place = select(parent, word, value);
    if (end == key.size()) {
      place = value;
      set_paths(value, path);
      return;
    }
    if (!place.exists() || place.is_null()) {
      auto data = std::make_shared<Node::Data>();
      data->kind = Node::Kind::map;
      data->position = value.data()->position;
      data->path = path;
      place = Node{std::move(data)};
    }
    // With `gpu: v100` or `gpu: v100.yaml` an override of gpu.sm.count changes a value of that
    // file.
    if (parent.is_map() && stands_for_file(word, place)) {
      resolve_include_at(parent, word);
    } else if (is_file_name(place)) {
      place = resolve_include(place);
    }
    parent = place;
    begin = end + 1;
  }
}

void apply_overrides(const Node& root, const Node& overrides) {
  for (const auto& [key, value] : overrides.entries()) override_value(root, key, value);
}

void apply_settings(const Node& root, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::string name = "--set " + setting;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(name, "is no key=value", "write it as --set gpu.sm.count=16");
    }
    const std::string text = setting.substr(equals + 1);
    Node value =
        parse_document(text.find_first_not_of(' ') == std::string::npos ? "~" : text, name);
    // The whole option is the position: lines and columns inside it would confuse.
    auto forget_lines = [](const Node& node, const auto& self) -> void {
      node.data()->position.line = 0;
      for (const Node& item : node.data()->sequence) self(item, self);
      for (Node::Data::Entry& entry : node.data()->map) {
        entry.key_position.line = 0;
        self(entry.value, self);
      }
    };
    forget_lines(value, forget_lines);
    override_value(root, setting.substr(0, equals), value);
  }
}

}  // namespace lockstep
