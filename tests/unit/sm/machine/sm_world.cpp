#include "tests/unit/sm/machine/sm_world.hpp"

#include "models/noc/grid_messages.hpp"
#include "models/sm/block_switching/registry.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/tables/constant_rows.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "models/sm/warp_scheduler/registry.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep {

static SmSetup setup_of(const isa::Module& module, void (*change)(SmSetup&)) {
  SmSetup setup;
  setup.parameters = defaults<SmParameters>();
  setup.noc = defaults<NocParameters>();
  setup.warp_scheduler = policy_named(warp_scheduler_policies(), "lrr");
  setup.exception_scheme = policy_named(exception_scheme_policies(), "stall-on-fault");
  setup.block_switching = policy_named(block_switching_policies(), "none");
  setup.tenants = {"first", "second"};
  setup.modules = {&module};
  setup.mapping = AddressMapping(AddressMapping::Kind::plain, 4);
  for (std::uint32_t i = 0; i < 4; ++i)
    setup.to_partitions.emplace_back(LinkId{i}, ComponentId{i}, Time{1'000'000});
  setup.to_host = Link{LinkId{4}, ComponentId{SmWorld::host}, Time{1'000'000}};
  setup.to_dispatcher = Link{LinkId{5}, ComponentId{SmWorld::dispatcher}, Time{1'000'000}};
  setup.to_gmmu = Link{LinkId{6}, ComponentId{SmWorld::gmmu}, Time{1'000'000}};
  if (change != nullptr) change(setup);
  setup.issue_tables = make_issue_tables(setup.parameters, setup.modules,
                                         detail_for(setup.parameters, setup.exception_scheme));
  setup.constant_rows = std::make_shared<ConstantRows>();
  return setup;
}

SmWorld::SmWorld(const std::string& body, void (*change)(SmSetup&), const std::string& declarations)
    : module_(kernel_of(body, declarations)),
      sink_(7),
      constants(setup_of(module_, change)),
      ports(constants),
      blocks(constants, statistics),
      mistakes(constants, blocks, ports) {
  set_tenants(statistics, constants.setup.tenants.size());
  ports.begin_window(sink_.outbox());
  alignas(64) static thread_local std::array<std::uint32_t, 64 * isa::warp_size> scratch;
  blocks.begin_window(scratch.data());
}

BlockPlace SmWorld::enter_block(std::uint32_t threads, std::uint64_t index, std::uint16_t tenant) {
  GridLaunch launch;
  launch.grid = static_cast<std::uint32_t>(blocks.grid_places());
  launch.tenant = tenant;
  launch.blocks = {64, 1, 1};
  launch.threads = {threads, 1, 1};
  launch.parameter_bytes = 24;
  blocks.start_grid(launch, std::vector<std::byte>(24));
  return blocks.enter({launch.grid, 0, index}, blocks.place_of(GridId(launch.grid)));
}

std::uint32_t SmWorld::find(isa::Category category) const {
  const isa::Program& program = module_.kernels[0].lowered;
  for (std::uint32_t pc = 0; pc < program.instructions.size(); ++pc)
    if (program.instructions[pc].category == category) return pc;
  throw InternalError("no such instruction");
}

std::uint32_t SmWorld::find_global(isa::Category category) const {
  const isa::Program& program = module_.kernels[0].lowered;
  for (std::uint32_t pc = 0; pc < program.instructions.size(); ++pc)
    if (program.instructions[pc].category == category &&
        program.instructions[pc].memory.space == isa::Space::global)
      return pc;
  throw InternalError("no such instruction");
}

std::size_t SmWorld::requests() const {
  std::size_t count = 0;
  for (const MessageHeader* message : sink_.all())
    count += message->kind == kind_of(MessageKind::memory_request);
  return count;
}

}  // namespace lockstep
