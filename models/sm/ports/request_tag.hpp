#pragma once

#include <cstdint>

namespace lockstep {

/// Value that the SM writes into MemoryRequest::tag to know the answer again.
struct RequestTag {
  enum Kind : std::uint8_t {
    fill,        ///< fill of L1; index: miss entry
    store,       ///< store, or atomic without result; index: store record
    atomic,      ///< atomic with result; index: waiter
    write_back,  ///< write-back; nothing waits for the answer
    context,     ///< part of a context; index: line of the context
    code,        ///< line of instructions
    constants,   ///< half a line of constants or parameters
  };
  static std::uint32_t make(Kind kind, std::uint16_t index, bool host) {
    return std::uint32_t{index} | std::uint32_t{kind} << 16 | std::uint32_t{host} << 20;
  }
  /// Number of bits of a program counter that with_pc() adds: as many as there is room for.
  static constexpr unsigned pc_bits = 11;
  static std::uint32_t with_pc(std::uint32_t tag, std::uint32_t pc) {
    return tag | pc << (32 - pc_bits);
  }
  static std::uint32_t pc(std::uint32_t tag) { return tag >> (32 - pc_bits); }
  static Kind kind(std::uint32_t tag) { return static_cast<Kind>((tag >> 16) & 15); }
  static bool host(std::uint32_t tag) { return ((tag >> 20) & 1) != 0; }
  static std::uint16_t index(std::uint32_t tag) { return static_cast<std::uint16_t>(tag); }
};

}  // namespace lockstep
