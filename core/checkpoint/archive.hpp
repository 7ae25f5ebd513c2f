#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockstep {

/// Saves or restores state, so that a component has one `serialize` for both directions.
///
/// A value is a type with `serialize` (a member, or a function beside its type), a number, an
/// enumeration, or a container of values; numbers are little-endian.  One class serves both
/// directions, and a function call moves the bytes: the state of every component is instantiated
/// here, and must stay cheap to compile.
///
/// The state of a component is a row of sections, one for each part that owns state:
///
///     void LoadStoreUnit::serialize(Archive& archive) {
///       archive.section("sm/load_store", 1);
///       archive(queue_, flights_, next_);
///     }
///
/// A section ends where the next begins, so a part saves its own members before its parts.  A
/// change of a section's content raises its version; a checkpoint of another version is refused
/// with the section's name.  A struct is saved member by member, never as its bytes in memory:
/// these include padding, and change unseen.
class Archive {
 public:
  static Archive saving(std::ostream& out) { return Archive(&out, nullptr, ""); }
  /// Makes an archive that restores.  `owner`: the component whose state it is, such as "sm[3]";
  /// errors begin with it.
  static Archive restoring(std::istream& in, std::string owner = "") {
    return Archive(nullptr, &in, std::move(owner));
  }

  bool is_saving() const { return output_ != nullptr; }

  template <class... Values>
  Archive& operator()(Values&... values) {
    (one(values), ...);
    return *this;
  }

  /// Begins a section, named "component/part" ("component" for the component itself).
  void section(const char* name, std::uint32_t version);
  /// Returns how many sections have begun.
  std::size_t sections() const { return sections_; }

  /// Saves or restores a payload: bytes of a known size whose meaning is left to the caller.
  void bytes(void* data, std::size_t size);
  /// Throws UserError unless enough bytes are left: at least `each` for each of `count` values.
  /// Call it before allocating memory for restored values.
  void require(std::uint64_t count, std::uint64_t each = 1) const;
  /// Throws UserError unless a restored list has the required length.
  void require_length(std::size_t restored, std::size_t must_be) const;

 private:
  Archive(std::ostream* out, std::istream* in, std::string owner);

  template <class Value>
  void one(Value& value) {
    if constexpr (requires { value.serialize(*this); }) {
      value.serialize(*this);
    } else if constexpr (requires { serialize(*this, value); }) {
      serialize(*this, value);
    } else if constexpr (is_plain<Value>) {
      bytes(&value, sizeof value);
    } else {
      parts(value);
    }
  }

  /// Plain values, for which any bytes are valid.
  template <class Value>
  static constexpr bool is_plain =
      (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) || std::is_enum_v<Value>;

  /// Saves or restores the elements of a contiguous container.
  template <class Value>
  void elements(Value* values, std::size_t count) {
    if constexpr (is_plain<Value>) {
      bytes(values, count * sizeof(Value));
    } else {
      for (std::size_t i = 0; i < count; ++i) one(values[i]);
    }
  }
  std::size_t size(std::size_t size);
  /// Reads or writes the length of a list.  Throws UserError if there are too few bytes for its
  /// elements.
  template <class Value>
  std::size_t length(std::size_t own) {
    const std::size_t count = size(own);
    if (!is_saving()) require(count, least_bytes<Value>(count));
    return count;
  }
  /// Returns the bytes that an element takes in a checkpoint: a fresh one is the smallest.
  template <class Value>
  static std::size_t least_bytes(std::size_t count) {
    // Inputs up to this size are read into memory without a closer look.
    constexpr std::size_t few_bytes = 1 << 20;
    if constexpr (is_plain<Value>) {
      return sizeof(Value);
    } else {
      if (count <= few_bytes / sizeof(Value)) return 1;
      Value first{};
      return measured(
          [](Archive& archive, void* value) { archive.one(*static_cast<Value*>(value)); }, &first);
    }
  }
  static std::size_t measured(void (*save)(Archive&, void*), void* value);

  template <class Value, std::size_t N>
  void parts(std::array<Value, N>& values) {
    elements(values.data(), N);
  }
  template <class Value, std::size_t N>
  void parts(Value (&values)[N]) {
    elements(values, N);
  }
  template <class Value, class Allocator>
  void parts(std::vector<Value, Allocator>& values) {
    values.resize(length<Value>(values.size()));
    elements(values.data(), values.size());
  }
  void parts(bool& value);
  void parts(std::vector<bool>& values);
  void parts(std::string& text);
  template <class Value>
  void parts(std::deque<Value>& values) {
    values.resize(length<Value>(values.size()));
    for (Value& value : values) one(value);
  }
  template <class First, class Second>
  void parts(std::pair<First, Second>& values) {
    one(values.first);
    one(values.second);
  }
  template <class Value>
  void parts(std::optional<Value>& value) {
    bool has_value = value.has_value();
    one(has_value);
    if (!has_value) {
      value.reset();
    } else {
      if (!value) value.emplace();
      one(*value);
    }
  }
  template <class Key, class Value>
  void parts(std::map<Key, Value>& values) {
    std::size_t count = size(values.size());
    if (is_saving()) {
      for (auto& [key, value] : values) {
        Key copy = key;
        one(copy);
        one(value);
      }
      return;
    }
    values.clear();
    for (; count != 0; --count) {
      Key key{};
      one(key);
      one(values[std::move(key)]);
    }
  }

  std::ostream* output_;
  std::istream* input_;
  std::string owner_;
  const char* section_ = "";  ///< name of the section that began last
  std::size_t sections_ = 0;
  std::uint64_t left_ = 0;  ///< bytes left to restore from
};

}  // namespace lockstep
