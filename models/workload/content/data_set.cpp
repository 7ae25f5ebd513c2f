/// Initial content `file` with `data_set`: numbers of an HDF5 file in their stored order,
/// independent of the data set's shape, converted to the buffer's type.
///
/// Simplified: the whole data set is read at the start, since its chunks do not coincide with
/// pages.
#include <vector>

#include "core/output/hdf5.hpp"
#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

isa::Type type_of(h5::Scalar scalar) {
  using enum h5::Scalar;
  switch (scalar) {
    case u8:
      return isa::Type::u8;
    case u16:
      return isa::Type::u16;
    case u32:
      return isa::Type::u32;
    case u64:
      return isa::Type::u64;
    case i8:
      return isa::Type::s8;
    case i16:
      return isa::Type::s16;
    case i32:
      return isa::Type::s32;
    case i64:
      return isa::Type::s64;
    case f16:
      return isa::Type::f16;
    case bf16:
      return isa::Type::bf16;
    case f32:
      return isa::Type::f32;
    case f64:
      return isa::Type::f64;
  }
  return isa::Type::none;
}

class StoredBytes final : public Content {
 public:
  explicit StoredBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    std::memcpy(bytes.data(), bytes_.data() + offset, bytes.size());
  }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> convert(const std::vector<std::byte>& from, isa::Type stored,
                               const Buffer& buffer) {
  const std::size_t step = isa::bytes_of(stored), size = isa::bytes_of(buffer.type);
  std::vector<std::byte> converted(buffer.bytes());
  for (std::uint64_t i = 0; i < buffer.count; ++i) {
    const double value = load_element(stored, from.data() + i * step);
    check_fits(buffer, value);
    store_element(buffer.type, value, converted.data() + i * size);
  }
  return converted;
}

}  // namespace

std::shared_ptr<const Content> make_data_set(const Buffer& buffer) {
  const Initializer& initial = buffer.initial;
  const auto fail = [&](const std::string& what, const std::string& advice) {
    throw UserError(initial.where, initial.file + ", " + initial.data_set + ": " + what, advice);
  };
  require_file(initial.file, initial.where);
  const h5::File file = h5::File::open_to_read(initial.file);
  if (!file.has(initial.data_set)) fail("there is no such data set", "h5ls -r lists them");
  const h5::ElementType type = file.type(initial.data_set);
  const auto* scalar = std::get_if<h5::Scalar>(&type.number);
  if (!scalar)
    fail("does not hold numbers", "name a data set of integers or floating-point numbers");
  const h5::Shape shape = file.shape(initial.data_set);
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  if (count < buffer.count) {
    fail("has " + std::to_string(count) + " numbers, buffer " + buffer.name + " needs " +
             std::to_string(buffer.count),
         "lower its count, or name a larger data set");
  }
  std::vector<std::byte> bytes = file.read(initial.data_set, 0, shape.empty() ? 1 : shape.front());
  const isa::Type stored = type_of(*scalar);
  if (stored == buffer.type) {
    bytes.resize(buffer.bytes());
  } else {
    bytes = convert(bytes, stored, buffer);
  }
  return std::make_shared<StoredBytes>(std::move(bytes));
}

}  // namespace lockstep
