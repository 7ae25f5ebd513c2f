#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace lockstep {

/// Values that a parameter may take, both ends included.
template <class T>
struct Limits {
  std::optional<T> low, high;
  bool only_powers_of_two = false;

  /// `range(1u, 64u).powers_of_two()`
  Limits powers_of_two() const {
    Limits copy = *this;
    copy.only_powers_of_two = true;
    return copy;
  }
};

template <class A, class B>
auto range(A low, B high) {
  using T = std::common_type_t<A, B>;
  return Limits<T>{T(low), T(high)};
}
template <class T>
Limits<T> at_least(T low) {
  return {low, std::nullopt};
}
template <class T>
Limits<T> at_most(T high) {
  return {std::nullopt, high};
}

/// Words that a text or enumeration parameter may take; for an enumeration in the order of its
/// enumerators, which start at 0.
struct Choice {
  std::vector<std::string> words;
};
inline Choice choice(std::initializer_list<const char*> words) {
  return {{words.begin(), words.end()}};
}

}  // namespace lockstep
