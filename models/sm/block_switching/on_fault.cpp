/// Block switching on fault: a block that would wait for a page leaves the SM, another one runs.
///
/// A fault far behind in the queue of pending faults takes long, so that its block is worth moving;
/// near the head it is not.  The source gives no threshold; its default, 1, is the sum of save and
/// restore over the time of a fault, rounded up, for 000's machine: a context of 32 to 64 KiB at a
/// sixteenth of 208 GB/s takes 2.5 to 5 us each way, a fault 10 to 25 us.
/// Source: 000, section 4.1, Figure 9; section 5.3 (four extra blocks; ideal switching).
#include "core/parameters/parameters.hpp"
#include "models/sm/block_switching/block_switching.hpp"

namespace lockstep {

namespace {

struct OnFaultParameters {
  std::uint32_t extra_blocks, threshold;
  ContextKind context;
  bool ideal;
  Time max_wait;
  static auto schema() {
    using namespace literals;
    using P = OnFaultParameters;
    return parameters<P>()
        .field("extra_blocks", &P::extra_blocks, 4, range(1, 64),
               "blocks of an SM in addition to its resident blocks; their contexts are in memory",
               "blocks")
        .field("threshold", &P::threshold, 1, range(0, 1000000),
               "number of pending faults before a block's fault up to which the block stays",
               "faults")
        .field("context", &P::context, ContextKind::occupied, context_kinds(), context_kinds_doc)
        .field("ideal", &P::ideal, false,
               "a context moves within a cycle, without traffic, and takes no GPU memory")
        .field("max_wait", &P::max_wait, 20_us, range(1_us, 1000_ms),
               "a block in memory that could go on and has waited for so long takes the place of "
               "the youngest block in the SM, which may be waiting for it");
  }
};

class OnFault final : public BlockSwitching {
 public:
  explicit OnFault(const OnFaultParameters& parameters) : parameters_(parameters) {}

  std::uint32_t extra_blocks() const override { return parameters_.extra_blocks; }
  bool worth_leaving(std::uint32_t position) const override {
    return position > parameters_.threshold;
  }
  ContextKind context() const override { return parameters_.context; }
  bool ideal() const override { return parameters_.ideal; }
  Time max_wait() const override { return parameters_.max_wait; }

 private:
  const OnFaultParameters parameters_;
};

}  // namespace

PolicyRegistry<MakeBlockSwitching>::Row switch_on_fault() {
  return {"on-fault",
          "a block that waits for a page leaves the SM, another one runs (000, section 4.1)",
          [](const PolicyChoice& choice) -> std::unique_ptr<BlockSwitching> {
            return std::make_unique<OnFault>(choice.parameters<OnFaultParameters>());
          },
          &schema_of<OnFaultParameters>()};
}

}  // namespace lockstep
