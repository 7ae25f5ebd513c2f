#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/parts.hpp"
#include "core/error/error.hpp"

namespace lockstep {

/// A checkpoint in memory.
class KeptParts final : public PartSink, public PartSource {
 public:
  using Chunks = std::vector<std::vector<char>>;

  void begin(const std::string& part) override { open_ = &parts[part]; }
  void write(std::span<const std::byte> chunk) override {
    const auto* first = reinterpret_cast<const char*>(chunk.data());
    open_->emplace_back(first, first + chunk.size());
  }
  void end() override {}

  std::vector<char> read(const std::string& part, std::size_t index) override {
    const auto found = parts.find(part);
    if (found == parts.end()) throw UserError(part, "is not there", "save it before");
    return index < found->second.size() ? found->second[index] : std::vector<char>();
  }

  std::uint64_t size(const std::string& part) override {
    std::uint64_t bytes = 0;
    for (const std::vector<char>& chunk : parts.at(part)) bytes += chunk.size();
    return bytes;
  }

  bool operator==(const KeptParts& other) const { return parts == other.parts; }

  std::map<std::string, Chunks> parts;

 private:
  Chunks* open_ = nullptr;
};

}  // namespace lockstep
