#include "core/statistics/schema.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

StatisticsField::StatisticsField(const char* its_name, const char* its_unit, const char* its_doc,
                                 std::size_t its_offset)
    : name(its_name), unit(its_unit), doc(its_doc), offset(its_offset) {}
StatisticsField::StatisticsField(const StatisticsField& other) = default;
StatisticsField::StatisticsField(StatisticsField&& other) noexcept = default;
StatisticsField::~StatisticsField() = default;

std::size_t StatisticsField::size(std::size_t tenant_count) const {
  std::size_t product = 1;
  for (const StatisticsAxis& axis : axes) {
    product *= axis.kind == StatisticsAxis::Kind::tenants ? tenant_count : axis.size;
  }
  return product;
}

const StatisticsField* StatisticsSchema::find(const std::string& name) const {
  auto found = std::find_if(fields_.begin(), fields_.end(),
                            [&](const StatisticsField& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

void StatisticsSchema::add(const StatisticsField& field) {
  LOCKSTEP_CHECK(!find(field.name), "statistic " + field.name + " is declared twice");
  LOCKSTEP_CHECK(!field.unit.empty() && !field.doc.empty(),
                 "statistic " + field.name + " needs a unit and a sentence");
  fields_.push_back(field);
}

std::size_t StatisticsSchema::row_size(std::size_t tenants) const {
  std::size_t sum = 0;
  for (const StatisticsField& field : fields_) sum += field.size(tenants);
  return sum;
}

void StatisticsSchema::gather(const void* values, std::size_t tenants,
                              std::span<std::uint64_t> row) const {
  LOCKSTEP_CHECK(row.size() == row_size(tenants), "a row of statistics has another size");
  std::uint64_t* out = row.data();
  for (const StatisticsField& field : fields_) {
    const void* member = static_cast<const char*>(values) + field.offset;
    LOCKSTEP_CHECK(!field.tenants || field.tenants(member) == tenants,
                   "statistic " + field.name + " was not sized for the tenants of this run");
    const std::uint64_t* words = field.words(member);
    if (field.stride == 0) {
      out = std::copy_n(words, field.size(tenants), out);
    } else {
      for (std::size_t t = 0; t < tenants; ++t)
        out = std::copy_n(words + t * field.stride + field.first, field.size(1), out);
    }
  }
}

void StatisticsSchema::set_tenants(void* values, std::size_t tenants) const {
  for (const StatisticsField& field : fields_) {
    if (field.resize) field.resize(static_cast<char*>(values) + field.offset, tenants);
  }
}

}  // namespace lockstep
