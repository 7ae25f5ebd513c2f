#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"

namespace lockstep {

/// Reads a YAML file.  Throws UserError for an unreadable file, malformed YAML or a repeated key.
/// `path`: dotted name of its root.
Node load_document(const std::string& file, const std::string& path = "");

/// Parses YAML text; `name` stands for the file in positions.
Node parse_document(const std::string& text, const std::string& name, const std::string& path = "");

/// `base` as seen from the folder of the file that `node` was written in.
std::string resolve_file_name(const Node& node);

/// Returns whether `node` is a text that ends in .yaml.
bool is_file_name(const Node& node);

/// Returns the document of a file if `node` is a single value, which names the file (relative to
/// the file with the name); otherwise the node itself.
Node resolve_include(const Node& node);

/// Returns the file that `value` of `key` names by its word alone: v100 for v100.yaml, searched by
/// find_by_name() in a folder named after the key (gpus for `gpu`).  Returns "" if there is no such
/// file; nothing if `value` is no such word.
std::optional<std::string> file_by_word(const std::string& key, const Node& value);

/// Returns whether resolve_include_at() finds a document for `value` of `key`: by word, in a
/// folder, or as a text that ends in .yaml.
bool stands_for_file(const std::string& key, const Node& value);

/// Replaces the value of `key` in the map `root` by the document that it names, as file_by_word()
/// or else resolve_include() finds it; does nothing without the key.
void resolve_include_at(const Node& root, const std::string& key);

/// Puts `value` at the dotted place `key` below `root`, making maps on the way; numbers and the
/// `name:` of an entry select from sequences (`tenants.0.sms`, `tenants.graph.sms`).  A value on
/// the way that names a file is replaced by the file's document.
void override_value(const Node& root, const std::string& key, const Node& value);

/// Applies each entry of `overrides` (a map with dotted keys) to `root`.
void apply_overrides(const Node& root, const Node& overrides);

/// Applies `--set key=value` strings to `root`, in order; values are YAML.
void apply_settings(const Node& root, const std::vector<std::string>& settings);

}  // namespace lockstep
