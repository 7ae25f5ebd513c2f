#include "jobs/capture/machine_code/registers.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep::capture {
namespace {

/// An attribute with a value of known size behind it.
struct Attribute {
  std::uint8_t format, name;
  std::uint16_t bytes;
};
constexpr std::uint8_t value_behind = 4, register_count = 0x2f;

struct RegisterCount {
  std::uint32_t symbol, registers;
};

class Elf {
 public:
  explicit Elf(std::span<const char> bytes) : bytes_(bytes) {}

  std::map<std::string, std::uint32_t> registers() const {
    std::map<std::string, std::uint32_t> result;
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return result;
    std::vector<Elf64_Shdr> sections;
    for (std::uint64_t s = 0; s < header->e_shnum; ++s)
      if (const auto section = at<Elf64_Shdr>(header->e_shoff + s * sizeof(Elf64_Shdr)))
        sections.push_back(*section);
    if (header->e_shstrndx >= sections.size()) return result;
    for (const Elf64_Shdr& section : sections) {
      if (text(sections[header->e_shstrndx].sh_offset + section.sh_name) != ".nv.info") continue;
      if (section.sh_link >= sections.size()) continue;
      const Elf64_Shdr& symbols = sections[section.sh_link];
      if (symbols.sh_link >= sections.size()) continue;
      for (const RegisterCount& count : counts(section))
        if (const auto symbol = at<Elf64_Sym>(symbols.sh_offset + count.symbol * sizeof(Elf64_Sym)))
          result[std::string(text(sections[symbols.sh_link].sh_offset + symbol->st_name))] =
              count.registers;
    }
    return result;
  }

 private:
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return {};
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::string_view text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest(bytes_.data() + offset, bytes_.size() - offset);
    return rest.substr(0, rest.find('\0'));
  }

  std::vector<RegisterCount> counts(const Elf64_Shdr& section) const {
    std::vector<RegisterCount> result;
    const std::uint64_t end = section.sh_offset + section.sh_size;
    for (std::uint64_t place = section.sh_offset; place < end;) {
      const auto attribute = at<Attribute>(place);
      if (!attribute) break;
      place += sizeof(Attribute);
      if (attribute->format != value_behind) continue;
      if (attribute->name == register_count && attribute->bytes == sizeof(RegisterCount))
        if (const auto count = at<RegisterCount>(place)) result.push_back(*count);
      place += attribute->bytes;
    }
    return result;
  }

  std::span<const char> bytes_;
};

}  // namespace

std::map<std::string, std::uint32_t> registers_of_kernels(std::span<const char> elf) {
  return Elf(elf).registers();
}

}  // namespace lockstep::capture
