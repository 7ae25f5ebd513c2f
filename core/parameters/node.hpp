#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.hpp"
#include "core/time/bytes.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A place in a YAML document that knows where it was written, so that every error can say so.
///
/// Nodes are cheap handles on a shared tree.  A map remembers which keys were asked for: after
/// reading, reject_unknown_keys() reports the first one that nobody wanted.
class Node {
 public:
  enum class Kind : std::uint8_t { absent, null, scalar, sequence, map };
  struct Data;

  Node() = default;
  explicit Node(std::shared_ptr<Data> data) : data_(std::move(data)) {}

  Kind kind() const;
  bool exists() const { return data_ != nullptr; }
  bool is_null() const { return kind() == Kind::null; }
  bool is_scalar() const { return kind() == Kind::scalar; }
  bool is_sequence() const { return kind() == Kind::sequence; }
  bool is_map() const { return kind() == Kind::map; }

  /// Returns the place of the node: "two_tenants.yaml:6:23", or "--set key=value".
  std::string where() const;
  /// Returns the dotted name from the root: "policies.sharing", "tenants.0.sms".
  const std::string& path() const;
  /// Returns the file in which the node was written ("" for --set), to resolve file names relative
  /// to it.
  const std::string& file() const;
  /// Returns an error to throw: "file:line:column: path: what - advice".
  UserError error(const std::string& what, const std::string& advice = "") const;

  // Functions for maps.  All throw UserError if the node is no map; entries are in the order of the
  // file.
  bool has(const std::string& key) const;
  /// Returns the node of a key; an absent node if there is none.
  Node find(const std::string& key) const;
  /// Throws UserError if there is no such key.
  Node at(const std::string& key) const;
  /// Returns an error to throw: `key` is missing, or an unknown key that is there was probably
  /// meant as `key`.
  UserError missing(const std::string& key, const std::string& advice) const;
  /// Returns all entries, and marks all keys as known.
  std::vector<std::pair<std::string, Node>> entries() const;
  /// Returns the place of the key itself.
  std::string where_key(const std::string& key) const;
  /// Throws UserError for the first key that was never read, with the nearest one that was.
  void reject_unknown_keys() const;
  /// Renames the old name of a key, in place of a value that the key has. Returns the position of
  /// the old name; "": the map has no old name.
  std::string rename_key(const std::string& before, const std::string& now) const;

  // Functions for sequences, which throw UserError for other nodes, and sizes of maps and
  // sequences.
  std::size_t size() const;
  std::vector<Node> items() const;
  Node item(std::size_t index) const;

  // Functions for scalars; each throws UserError if the text is not of that type.  Quantities need
  // their unit.
  const std::string& text() const;
  bool is_quoted() const;
  bool boolean() const;
  std::int64_t integer() const;
  std::uint64_t unsigned_integer() const;
  double real() const;
  Bytes bytes() const;
  Time time() const;
  Frequency frequency() const;
  Bandwidth bandwidth() const;

  /// Returns the node as one line of YAML.
  std::string to_flow() const;

  const std::shared_ptr<Data>& data() const { return data_; }

 private:
  std::shared_ptr<Data> data_;
};

}  // namespace lockstep
