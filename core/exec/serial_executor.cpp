#include "core/exec/executor.hpp"
#include "core/exec/tick_clock.hpp"

namespace lockstep {
namespace {

class SerialExecutor final : public Executor {
 public:
  std::uint32_t threads() const override { return 1; }
  void run_window(WindowTasks& tasks, std::uint64_t) override {
    const std::uint64_t begin = ticks();
    tasks.run(0, 0, tasks.open(0, 0), 0);
    times_.working += static_cast<double>(ticks() - begin);
  }
  ExecutorTimes times() const override { return times_; }

 private:
  ExecutorTimes times_;
};

}  // namespace

std::unique_ptr<Executor> make_serial_executor() {
  return std::make_unique<SerialExecutor>();
}

}  // namespace lockstep
