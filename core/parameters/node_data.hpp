#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"

namespace lockstep {

/// Place in a document: a file with line and column from 1, or (line 0) a command-line option.
struct Position {
  std::shared_ptr<const std::string> source;
  int line = 0, column = 0;

  std::string text() const {
    if (line == 0) return *source;
    return *source + ":" + std::to_string(line) + ":" + std::to_string(column);
  }
};

/// The tree behind Node.
struct Node::Data {
  struct Entry {
    std::string key;
    Position key_position;
    Node value;
  };

  Kind kind = Kind::null;
  Position position;
  std::string path;
  std::string scalar;
  bool quoted = false;
  std::vector<Node> sequence;
  std::vector<Entry> map;
  std::set<std::string> asked;  ///< keys that a reader knows

  Entry* find(const std::string& key) {
    for (Entry& entry : map) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
};

/// Names `node` and everything below it, from its dotted path.
void set_paths(const Node& node, const std::string& path);

}  // namespace lockstep
