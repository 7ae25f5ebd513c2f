#pragma once

#include <compare>
#include <cstdint>

namespace lockstep {

/// An index with the type of its objects; default-constructed means "none".
template <class Tag, class Integer = std::uint32_t>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(Integer value) : value_(value) {}
  static constexpr Id none() { return Id{}; }

  constexpr Integer value() const { return value_; }
  constexpr bool valid() const { return value_ != static_cast<Integer>(-1); }
  constexpr auto operator<=>(const Id&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_);
  }

 private:
  Integer value_ = static_cast<Integer>(-1);
};

using ComponentId = Id<struct ComponentTag>;
using KindId = Id<struct KindTag, std::uint16_t>;
using LinkId = Id<struct LinkTag>;

}  // namespace lockstep
