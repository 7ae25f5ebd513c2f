#include "jobs/capture/fat_binary.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error/error.hpp"
#include "jobs/capture/machine_code/registers.hpp"

namespace lockstep::capture {
namespace {

constexpr std::uint32_t container_magic = 0xba55ed50;
constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
constexpr std::uint64_t largest_text = std::uint64_t{1} << 32;

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< bytes that follow this header
};

struct EntryHeader {
  enum Kind : std::uint16_t { ptx = 1, machine_code = 2 };
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;             ///< bytes that follow this header, with padding
  std::uint32_t compressed_bytes;  ///< bytes without padding; 0: not compressed
  std::uint32_t options_offset;
  std::uint16_t minor, major;
  std::uint32_t architecture, name_offset, name_bytes;
  std::uint64_t flags, unused, text_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint32_t elf_magic = 0x464c457f;

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw UserError(name, what, "build the program with nvcc 9 or later");
}

template <class Header>
Header header_at(std::span<const char> bytes, const std::string& name) {
  if (bytes.size() < sizeof(Header)) fail(name, "the fat binary ends within a header");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Returns the content of an entry; nothing, if it cannot be unpacked.
std::optional<std::string> unpack(std::uint64_t flags, std::uint32_t packed, std::uint64_t unpacked,
                                  std::span<const char> payload, const std::string& name) {
  if ((flags & (lz4_flag | zstd_flag)) == 0) return std::string(payload.begin(), payload.end());
  if (packed > payload.size() || unpacked > largest_text)
    fail(name, "the fat binary has an entry of impossible size");
  std::string content(unpacked, '\0');
  const auto expected = static_cast<long long>(content.size());
  const long long got =
      (flags & lz4_flag) != 0
          ? LZ4_decompress_safe(payload.data(), content.data(), static_cast<int>(packed),
                                static_cast<int>(content.size()))
          : static_cast<long long>(
                ZSTD_decompress(content.data(), content.size(), payload.data(), packed));
  return got == expected ? std::optional(std::move(content)) : std::nullopt;
}

std::string text_of(const EntryHeader& header, std::span<const char> payload,
                    const std::string& name) {
  const auto text = unpack(header.flags, header.compressed_bytes, header.text_bytes, payload, name);
  if (!text) fail(name, "PTX in the fat binary cannot be decompressed");
  return text->substr(0, std::min(text->size(), text->find('\0')));
}

/// Returns whether an architecture is a better choice for a GPU than another: the newest that is
/// not newer than the GPU, and otherwise the oldest.
bool is_better(std::uint32_t candidate, std::uint32_t best, std::uint32_t wanted) {
  const bool fits = candidate <= wanted, best_fits = best <= wanted;
  return (fits && (!best_fits || candidate > best)) || (!fits && !best_fits && candidate < best);
}

}  // namespace

static FatBinary read_container(std::span<const char> rest, const std::string& name) {
  FatBinary binary;
  while (!rest.empty()) {
    const auto entry = header_at<EntryHeader>(rest, name);
    if (entry.header_bytes < sizeof entry || entry.header_bytes > rest.size() ||
        entry.bytes > rest.size() - entry.header_bytes)
      fail(name, "the fat binary has an entry of impossible size");
    if (entry.kind == EntryHeader::ptx)
      binary.ptx.push_back({entry.architecture,
                            text_of(entry, rest.subspan(entry.header_bytes, entry.bytes), name)});
    if (entry.kind == EntryHeader::machine_code) {
      const auto payload = rest.subspan(entry.header_bytes, entry.bytes);
      binary.machine_code.push_back({entry.architecture,
                                     entry.flags,
                                     entry.text_bytes,
                                     entry.compressed_bytes,
                                     {payload.begin(), payload.end()}});
    }
    rest = rest.subspan(entry.header_bytes + entry.bytes);
  }
  return binary;
}

std::vector<FatBinary> read_fat_binaries(std::span<const char> containers,
                                         const std::string& name) {
  std::vector<FatBinary> binaries;
  while (!containers.empty()) {
    const auto whole = header_at<ContainerHeader>(containers, name);
    if (whole.magic == elf_magic)
      throw UserError(name, "is machine code, without PTX",
                      "load PTX (nvcc -ptx), or a fat binary that has some (nvcc -fatbin)");
    if (whole.magic != container_magic || whole.header_bytes > containers.size() ||
        whole.bytes > containers.size() - whole.header_bytes)
      fail(name, "is no fat binary");
    binaries.push_back(read_container(containers.subspan(whole.header_bytes, whole.bytes), name));
    containers = containers.subspan(whole.header_bytes + whole.bytes);
  }
  return binaries;
}

bool is_ptx(std::span<const char> bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  const std::string_view text(bytes.data(), bytes.size());
  return magic != container_magic && text.find(".version") < text.find(".target");
}

FatBinary ptx_alone(std::span<const char> text) {
  FatBinary binary;
  FatBinary::Ptx& ptx = binary.ptx.emplace_back();
  ptx.text.assign(text.begin(), std::find(text.begin(), text.end(), '\0'));
  const std::size_t target = ptx.text.find(".target");
  const std::size_t number = ptx.text.find("sm_", target);
  if (target != ptx.text.npos && number != ptx.text.npos)
    ptx.architecture = static_cast<std::uint32_t>(std::atoi(ptx.text.c_str() + number + 3));
  return binary;
}

const FatBinary::Ptx& best_ptx(const FatBinary& binary, std::uint32_t architecture,
                               const std::string& name) {
  const FatBinary::Ptx* best = nullptr;
  for (const FatBinary::Ptx& ptx : binary.ptx)
    if (!best || is_better(ptx.architecture, best->architecture, architecture)) best = &ptx;
  if (best) return *best;
  std::string found;
  for (const FatBinary::MachineCode& code : binary.machine_code)
    found += (found.empty() ? "sm_" : ", sm_") + std::to_string(code.architecture);
  throw UserError(name, "has no PTX, only machine code for " + (found.empty() ? "nothing" : found),
                  "build it with nvcc -arch=sm_75, or -gencode arch=compute_75,code=compute_75");
}

std::optional<std::uint32_t> machine_registers(const FatBinary& binary, std::uint32_t architecture,
                                               const std::string& kernel) {
  const FatBinary::MachineCode* best = nullptr;
  for (const FatBinary::MachineCode& code : binary.machine_code)
    if (!best || is_better(code.architecture, best->architecture, architecture)) best = &code;
  if (!best) return {};
  const auto elf =
      unpack(best->flags, best->packed_bytes, best->unpacked_bytes, best->payload, kernel);
  if (!elf) return {};
  const auto registers = registers_of_kernels(*elf);
  const auto found = registers.find(kernel);
  return found == registers.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lockstep::capture
