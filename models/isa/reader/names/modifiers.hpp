#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/isa/reader/names/names.hpp"

namespace lockstep::isa {

/// The dotted parts of an opcode; readers remove those that they understand, one after the other.
class Modifiers {
 public:
  explicit Modifiers(const std::string& opcode) {
    std::size_t start = 0;
    while (start <= opcode.size()) {
      std::size_t end = opcode.find('.', start);
      if (end == std::string::npos) end = opcode.size();
      parts_.push_back(opcode.substr(start, end - start));
      start = end + 1;
    }
    base_ = parts_.front();
    parts_.erase(parts_.begin());
  }

  const std::string& base() const { return base_; }

  /// Removes `word` if it is there.  Returns whether it was found.
  bool take(std::string_view word) {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i] == word) {
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
    return false;
  }
  bool has(std::string_view word) const {
    for (const std::string& part : parts_)
      if (part == word) return true;
    return false;
  }

  /// Removes the first word that is in the table. Returns its value, or `otherwise`.
  template <class Value, std::size_t n>
  Value take_one(const std::pair<std::string_view, Value> (&table)[n], Value otherwise) {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (const auto& [word, value] : table)
        if (parts_[i] == word) {
          parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
          return value;
        }
    return otherwise;
  }

  Rounding take_rounding() {
    static constexpr std::pair<std::string_view, Rounding> roundings[] = {
        {"rn", Rounding::rn},   {"rz", Rounding::rz},   {"rm", Rounding::rm},
        {"rp", Rounding::rp},   {"rna", Rounding::rna}, {"rni", Rounding::rni},
        {"rzi", Rounding::rzi}, {"rmi", Rounding::rmi}, {"rpi", Rounding::rpi},
    };
    return take_one(roundings, Rounding::none);
  }

  /// Takes the first type that is there, or Type::none.
  Type take_type() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Type type = type_named(parts_[i]);
      if (type == Type::none) continue;
      parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
      return type;
    }
    return Type::none;
  }

  /// Removes every part with this prefix: cache hints, which have no effect here.
  void drop_starting(std::string_view prefix) {
    std::erase_if(parts_, [&](const std::string& part) { return part.starts_with(prefix); });
  }

  /// Returns the modifiers that have not been taken.
  const std::vector<std::string>& rest() const { return parts_; }

 private:
  std::string base_;
  std::vector<std::string> parts_;
};

}  // namespace lockstep::isa
