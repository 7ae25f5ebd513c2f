#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

class Archive;

/// A dimension of a statistic besides epoch and instance.
struct StatisticsAxis {
  enum class Kind : std::uint8_t { tenants, bins, names };
  Kind kind = Kind::tenants;
  std::size_t size = 0;  ///< number of bins or names; tenants are counted at run time
  std::vector<std::uint64_t> bin_starts;  ///< least value of each bin
  std::vector<std::string> names;         ///< names of the entries
};

/// A declared statistic, independent of its struct.  Construction and destruction are calls,
/// because schemas are instantiated in many files.
struct StatisticsField {
  enum class Kind : std::uint8_t { counter, gauge, real_gauge };

  StatisticsField(const char* name, const char* unit, const char* doc, std::size_t offset);
  StatisticsField(const StatisticsField& other);
  StatisticsField(StatisticsField&& other) noexcept;
  ~StatisticsField();

  std::string name, unit, doc;
  Kind kind = Kind::counter;
  std::vector<StatisticsAxis> axes;
  std::size_t offset;  ///< offset of the member in its struct
  /// Returns the first of the member's words, and the number of tenants for which it was sized.
  std::uint64_t* (*words)(void* member) = nullptr;
  /// nullptr: the statistic is not per tenant.
  std::size_t (*tenants)(const void* member) = nullptr;
  void (*resize)(void* member, std::size_t tenants) = nullptr;
  /// The words are contiguous, or those of each tenant are: behind `first` other words, `stride`
  /// words from tenant to tenant.
  std::size_t first = 0, stride = 0;

  /// Returns the words of one component for this many tenants.
  std::size_t size(std::size_t tenant_count) const;
  /// Calls `action(words, count)` for each contiguous piece of the member's values, in the order of
  /// a row.
  template <class Action>
  void walk(void* member, std::size_t tenant_count, Action action) const {
    std::uint64_t* begin = words(member);
    if (stride == 0) return action(begin, size(tenant_count));
    const std::size_t count = size(1);
    for (std::size_t t = 0; t < tenant_count; ++t) action(begin + t * stride + first, count);
  }
};

/// All statistics of a kind of component, in the order of declaration.
class StatisticsSchema {
 public:
  const std::vector<StatisticsField>& fields() const { return fields_; }
  const StatisticsField* find(const std::string& name) const;
  void add(const StatisticsField& field);

  /// Returns the number of words in one component's row.
  std::size_t row_size(std::size_t tenants) const;
  /// Copies all values of one component to `row`, field after field; real gauges as their bits.
  void gather(const void* values, std::size_t tenants, std::span<std::uint64_t> row) const;
  /// Sizes every per-tenant member.
  void set_tenants(void* values, std::size_t tenants) const;
  /// Saves or restores all values, per-tenant members with their size.
  void serialize(Archive& archive, void* values) const;

 private:
  /// Consecutive fields in memory: all their words, or those of each tenant.  What gather() needs
  /// of the first field stands here, so that one look at it serves all.
  struct Stretch {
    std::size_t first_field, fields;
    std::size_t words;  ///< words of one tenant
    std::size_t offset, first;
    std::uint64_t* (*begin)(void* member);
    std::size_t (*tenants)(const void* member);
    bool is_one_piece;  ///< true: for a single tenant, all words are one piece
  };
  bool continues_last(const StatisticsField& field) const;

  std::vector<StatisticsField> fields_;
  std::vector<Stretch> stretches_;
};

}  // namespace lockstep
