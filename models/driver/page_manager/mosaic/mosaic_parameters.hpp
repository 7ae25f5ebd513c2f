#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// How a page is copied when frames are compacted.
enum class PageCopying : std::uint8_t {
  none,     ///< pages stay where they are
  channel,  ///< pages are read and written over the channel, 64 bits at a time
  bulk,     ///< pages are copied within the DRAM
  ideal,    ///< pages are copied in no time
};

/// Parameters of `page_manager: mosaic`.
struct MosaicParameters {
  bool coalesce = true, stall = true;
  PageCopying compaction = PageCopying::channel;
  std::uint32_t threshold = 0;
  Time bulk_copy;

  bool compacts() const { return compaction != PageCopying::none; }

  static auto schema() {
    using namespace literals;
    using P = MosaicParameters;
    return parameters<P>()
        .field("coalesce", &P::coalesce, true,
               "pages that fill a large frame in their order become a large page in place (004, "
               "section 7.3.3)")
        .field(
            "compaction", &P::compaction, PageCopying::channel,
            choice({"none", "channel", "bulk", "ideal"}),
            "how the pages of a large page that was mostly freed are copied to other frames: not "
            "at all, over the memory channel, within the DRAM, or in no time (004, 7.5.4)")
        .field("threshold", &P::threshold, 256, range(0, 512),
               "a large page with fewer pages in use is splintered and compacted when others are "
               "freed (004, 7.3.4, which gives no number)")
        .field("stall", &P::stall, true, "no SM issues while pages are compacted (004, 7.4)")
        .field("bulk_copy", &P::bulk_copy, 80_ns, range(0_ns, 1_ms), "time of a copy (004, 7.3.4)")
        .only_if("threshold", "with a compaction", [](const P& p) { return p.compacts(); })
        .only_if("bulk_copy", "with compaction: bulk",
                 [](const P& p) { return p.compaction == PageCopying::bulk; });
  }
};

}  // namespace lockstep
