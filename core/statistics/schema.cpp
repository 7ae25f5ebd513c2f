#include "core/statistics/schema.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
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
  if (continues_last(field)) {
    ++stretches_.back().fields;
    stretches_.back().words += field.size(1);
  } else {
    stretches_.push_back({fields_.size(), 1, field.size(1), field.offset, field.first, field.words,
                          field.tenants, !field.tenants || field.stride > 0});
  }
  fields_.push_back(field);
}

bool StatisticsSchema::continues_last(const StatisticsField& field) const {
  if (fields_.empty()) return false;
  const StatisticsField& last = fields_.back();
  if (!field.tenants && !last.tenants)
    return field.offset == last.offset + last.size(1) * sizeof(std::uint64_t);
  return field.stride > 0 && field.stride == last.stride && field.offset == last.offset &&
         field.first == last.first + last.size(1);
}

std::size_t StatisticsSchema::row_size(std::size_t tenants) const {
  std::size_t sum = 0;
  for (const StatisticsField& field : fields_) sum += field.size(tenants);
  return sum;
}

void StatisticsSchema::gather(const void* values, std::size_t tenants,
                              std::span<std::uint64_t> row) const {
  constexpr const char* size_message = "a row of statistics has another size";
  std::uint64_t* out = row.data();
  const std::uint64_t* end = out + row.size();
  const auto copy = [&](const std::uint64_t* words, std::size_t count) {
    LOCKSTEP_CHECK(count <= std::size_t(end - out), size_message);
    out = std::copy_n(words, count, out);
  };
  for (const Stretch& stretch : stretches_) {
    // The value is only read.
    void* member = static_cast<char*>(const_cast<void*>(values)) + stretch.offset;
    LOCKSTEP_CHECK(!stretch.tenants || stretch.tenants(member) == tenants,
                   "statistic " + fields_[stretch.first_field].name +
                       " was not sized for the tenants of this run");
    if (stretch.is_one_piece && (tenants == 1 || !stretch.tenants)) {
      copy(stretch.begin(member) + stretch.first, stretch.words);
    } else {
      for (std::size_t i = 0; i < stretch.fields; ++i)
        fields_[stretch.first_field + i].walk(member, tenants, copy);
    }
  }
  LOCKSTEP_CHECK(out == end, size_message);
}

void StatisticsSchema::set_tenants(void* values, std::size_t tenants) const {
  for (const StatisticsField& field : fields_) {
    if (field.resize) field.resize(static_cast<char*>(values) + field.offset, tenants);
  }
}

void StatisticsSchema::serialize(Archive& archive, void* values) const {
  for (const StatisticsField& field : fields_) {
    std::string name = field.name;
    archive(name);
    if (name != field.name) {
      const bool is_readable = std::all_of(name.begin(), name.end(),
                                           [](unsigned char c) { return c > 0x20 && c < 0x7f; });
      throw UserError("",
                      "the checkpoint counts " +
                          (is_readable ? '"' + name + '"' : "something else") +
                          " where this program counts \"" + field.name + "\"",
                      "resume with the program that wrote it");
    }
    void* member = static_cast<char*>(values) + field.offset;
    std::uint64_t tenants = field.tenants ? field.tenants(member) : 0;
    const std::uint64_t own = tenants;
    if (field.tenants) archive(tenants);
    if (own != 0) archive.require_length(tenants, own);
    archive.require(tenants, sizeof(std::uint64_t));
    if (field.resize && !archive.is_saving()) field.resize(member, tenants);
    field.walk(member, tenants, [&](std::uint64_t* words, std::size_t count) {
      archive.bytes(words, count * sizeof *words);
    });
  }
}

}  // namespace lockstep
