#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/error/error.hpp"
#include "core/parameters/policy_traits.hpp"
#include "core/parameters/schema.hpp"

namespace lockstep {

template <class T>
const ParameterSchema& schema_of();

/// Choice at a plug point: `tree`, or `{name: tree, threshold: 0.5}`.
class PolicyChoice {
 public:
  PolicyChoice() = default;
  /// `info` with the default values of its parameters.
  explicit PolicyChoice(const PolicyInfo& info)
      : name_(info.name),
        schema_(info.parameters),
        values_(schema_ ? schema_->create() : std::shared_ptr<void>()) {}
  PolicyChoice(std::string name, const ParameterSchema* schema, std::shared_ptr<const void> values)
      : name_(std::move(name)), schema_(schema), values_(std::move(values)) {}

  const std::string& name() const { return name_; }
  const ParameterSchema* schema() const { return schema_; }
  const void* values() const { return values_.get(); }

  /// Returns the policy's own parameters; P is the struct whose schema was registered with the
  /// policy.
  template <class P>
  const P& parameters() const {
    LOCKSTEP_CHECK(schema_ == &schema_of<P>(), "policy " + name_ + " has other parameters");
    return *static_cast<const P*>(values_.get());
  }

 private:
  std::string name_;
  const ParameterSchema* schema_ = nullptr;
  std::shared_ptr<const void> values_;
};

/// The implementations of one plug point under the names used in YAML.  `Factory` is a function
/// pointer type that takes at least the PolicyChoice.  Adding a policy is one row.
///
///     const PolicyRegistry<MakeScheduler>& schedulers() {
///       static const PolicyRegistry<MakeScheduler> registry{
///           {"fcfs", "first come, first served", make<Fcfs>},
///           {"atlas", "... (004, section 2)", make<Atlas>, &schema_of<AtlasParameters>()}};
///       return registry;
///     }
///     const PolicyList& scheduler_policies() { return schedulers().list(); }
template <class Factory>
class PolicyRegistry {
 public:
  struct Row {
    std::string name, doc;
    Factory make;
    const ParameterSchema* parameters = nullptr;
    /// Function that returns PolicyInfo::traits.
    PolicyTraits (*traits)(const PolicyChoice&) = nullptr;
  };
  /// `traits`: traits of the policies whose rows name none of their own.
  PolicyRegistry(std::initializer_list<Row> rows,
                 PolicyTraits (*traits)(const PolicyChoice&) = nullptr)
      : traits_(traits) {
    for (const Row& row : rows) add(row);
  }
  /// Adds a policy, for programs with policies of their own; called before a scenario names it.
  void add(const Row& row) {
    rows_.push_back(row);
    if (row.traits == nullptr) rows_.back().traits = traits_;
    list_.push_back({row.name, row.doc, row.parameters, rows_.back().traits});
  }

  const PolicyList& list() const { return list_; }
  const std::vector<Row>& rows() const { return rows_; }
  Factory factory(const PolicyChoice& choice) const {
    for (const Row& row : rows_) {
      if (row.name == choice.name()) return row.make;
    }
    internal_error(__FILE__, __LINE__, "registered", "no policy " + choice.name());
  }

 private:
  PolicyTraits (*traits_)(const PolicyChoice&);
  std::vector<Row> rows_;
  PolicyList list_;
};

}  // namespace lockstep
