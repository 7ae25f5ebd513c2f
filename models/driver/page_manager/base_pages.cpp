/// GPU-MMU with 4 KiB pages, in any free frames; frames of all tenants are mixed.
///
/// `frames: random` draws each frame at random, as in a memory after many allocations and releases:
/// no 512 pages of a buffer then lie together by chance.
/// Source: 004, sections 7.2.1 and 7.5.3 and Figure 7.1a; memory-interference.md, section 7.3.
#include "core/parameters/parameters.hpp"
#include "core/random/random.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {
namespace {

enum class FrameOrder : std::uint8_t { first, random };

struct BasePagesParameters {
  FrameOrder frames = FrameOrder::first;
  static auto schema() {
    return parameters<BasePagesParameters>().field(
        "frames", &BasePagesParameters::frames, FrameOrder::first, choice({"first", "random"}),
        "which free frame a page gets: the first, or any (004, section 7.5.3)");
  }
};

class BasePages final : public PageManager {
 public:
  explicit BasePages(const Setup& setup) : PageManager(setup) {}
  std::vector<FrameRun> allocate(const TenantPages& pages, bool) override {
    return allocator().allocate_scattered(pages.count * page_bytes, pages.tenant);
  }
};

class RandomPages final : public PageManager {
 public:
  explicit RandomPages(const Setup& setup)
      : PageManager(setup), random_(setup.seed, ComponentId{0}, purpose) {}
  std::vector<FrameRun> allocate(const TenantPages& pages, bool) override {
    std::vector<FrameRun> runs;
    const std::uint64_t free = frames().free_bytes(pages.tenant) / page_bytes;
    if (pages.count > free) return runs;
    for (std::uint64_t page = 0; page < pages.count; ++page) {
      const PhysicalAddress frame = frames().free_page(random_.below(free - page), pages.tenant);
      allocator().take({frame.value(), page_bytes});
      append_frame(runs, frame, page_bytes);
    }
    return runs;
  }
  void serialize(Archive& archive) override {
    PageManager::serialize(archive);
    archive(random_);
  }

 private:
  static constexpr std::uint32_t purpose = 0x70616765;  ///< "page": key of these random numbers

  Random random_;
};

std::unique_ptr<PageManager> make_base_pages(const PolicyChoice& choice,
                                             const PageManager::Setup& setup) {
  if (choice.parameters<BasePagesParameters>().frames == FrameOrder::random)
    return std::make_unique<RandomPages>(setup);
  return std::make_unique<BasePages>(setup);
}

}  // namespace

PageManagerRow base_pages() {
  return {"base-pages",
          "4 KiB pages, frames in the order of all tenants' requests (004, 7.2.1)",
          {make_base_pages},
          &schema_of<BasePagesParameters>()};
}

}  // namespace lockstep
