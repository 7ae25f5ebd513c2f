#pragma once

namespace lockstep {

/// Returns the object; its address is kept, where the compiler would compute it anew at each use.
template <class T>
[[gnu::always_inline]] inline T& kept(T& object) {
  T* address = &object;
  asm("" : "+r"(address));
  return *address;
}

}  // namespace lockstep
