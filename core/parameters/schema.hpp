#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

class Node;
class ParameterSchema;
class PolicyChoice;
struct PolicyTraits;

/// A value as read from or written to YAML.  Quantities stand in their base unit: bytes (unsigned),
/// femtoseconds and cycles (signed), hertz and bytes per second (double).
using ParameterScalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

enum class ParameterType : std::uint8_t {
  boolean,
  uint32,
  uint64,
  int32,
  int64,
  real,
  text,
  enumeration,
  bytes,
  time,
  cycles,
  frequency,
  bandwidth,
  group,
  policy,
  part,  ///< a Node that other code reads
};

/// A policy of a plug point, with its parameters (nullptr: none).
struct PolicyInfo {
  std::string name, doc;
  const ParameterSchema* parameters = nullptr;
  /// Function that returns the traits: services for policies at other plug points, and needs of
  /// them (policy_traits.hpp); nullptr: none.
  PolicyTraits (*traits)(const PolicyChoice&) = nullptr;
};
using PolicyList = std::vector<PolicyInfo>;

/// A declared parameter, independent of its struct.  Construction and destruction are calls,
/// because schemas are instantiated in many files.
struct ParameterField {
  ParameterField(const char* key, const char* doc, const char* unit, ParameterType type,
                 std::size_t offset);
  ParameterField(const ParameterField& other);
  ParameterField(ParameterField&& other) noexcept;
  ~ParameterField();

  std::string key, doc, unit;
  std::string formerly;  ///< old name of the key, still accepted
  ParameterType type;
  bool is_list = false;  ///< true: the type is std::vector of `type`
  bool required = false;
  std::string absent;                    ///< word for the default of a key that may be left out
  std::size_t offset;                    ///< offset of the member in its struct
  std::size_t size = 0;                  ///< size of the member, for enumerations
  std::vector<ParameterScalar> initial;  ///< default: one value, or the elements of a list
  std::optional<ParameterScalar> low, high;
  bool only_powers_of_two = false;
  std::vector<std::string> choices;
  const ParameterSchema* group = nullptr;
  const PolicyList& (*policies)() = nullptr;
};

/// Keys that have an effect in some configurations only.
struct ParameterCondition {
  std::vector<std::string> keys;  ///< dotted keys; a group names all keys in it
  std::string when;  ///< condition under which the keys matter, worded to follow "only"
  std::function<bool(const void* values)> holds;
};

/// All parameters of a struct, in the order of their declaration.
class ParameterSchema {
 public:
  const std::vector<ParameterField>& fields() const { return fields_; }
  const std::vector<ParameterCondition>& conditions() const { return conditions_; }
  const ParameterField* find(const std::string& key) const;

  void set_defaults(void* values) const;
  /// Reads default values, then the values of `map`. Throws UserError for an unknown or missing
  /// key, a wrong unit, a value out of range, or a failed check().
  void read(const Node& map, void* values) const;
  /// Gives entries of `map` under an old name their present key, and notes it for the user.
  void rename_old_keys(const Node& map) const;
  /// Returns a fresh object with default values.
  std::shared_ptr<void> create() const { return create_(); }

  void add(const ParameterField& field);
  /// Declares that the last declared field was called `key` in earlier versions.
  void add_old_name(const char* key) { fields_.back().formerly = key; }
  void add_check(std::function<std::string(const void*)> check) {
    checks_.push_back(std::move(check));
  }
  /// Adds a condition.  `keys`: names of fields declared before, with spaces between them.
  void add_condition(const char* keys, const char* when, std::function<bool(const void*)> holds);
  void set_create(std::shared_ptr<void> (*function)()) { create_ = function; }

 private:
  std::vector<ParameterField> fields_;
  std::vector<std::function<std::string(const void*)>> checks_;
  std::vector<ParameterCondition> conditions_;
  std::shared_ptr<void> (*create_)() = nullptr;
};

/// Returns the values of a struct as YAML text that reads back to the same values, every quantity
/// with its unit, keys in the order of declaration.
std::string to_yaml(const ParameterSchema& schema, const void* values, int indent = 0);

/// Returns a table of all parameters below `prefix`, recursively: key, type or unit, default,
/// range, meaning. `only` keeps the keys that start with it ("" keeps all).
std::string describe(const ParameterSchema& schema, const std::string& prefix = "",
                     const std::string& only = "");

/// Returns the table of describe() as Markdown, one per group and policy, under headings of
/// `level` #s.
std::string reference_page(const ParameterSchema& schema, const std::string& title, int level = 2);

}  // namespace lockstep
