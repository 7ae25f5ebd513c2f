/// Initial content `texture`: a header, then zeros.
#include <algorithm>

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"

namespace lockstep {

namespace {

class TextureContent final : public Content {
 public:
  explicit TextureContent(const isa::TextureHeader& header) : header_(header) {}

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    const auto image = std::as_bytes(std::span(&header_, 1));
    if (offset < image.size())
      std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(offset),
                  std::min(bytes.size(), image.size() - offset), bytes.begin());
  }

 private:
  isa::TextureHeader header_;
};

}  // namespace

std::shared_ptr<const Content> make_texture(const Buffer& buffer) {
  return std::make_shared<TextureContent>(buffer.initial.texture);
}

}  // namespace lockstep
