#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "tests/unit/core/output/sample_run.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::file_test {
namespace {

using namespace sample;

TEST(OutputFile, H5pySeesShapesUnitsAxesAndTables) {
  const TemporaryFile file("h5py");
  SampleRun run(file.path());
  for (std::uint64_t n = 0; n < 3; ++n) run.epoch(n);
  run.finish();
  EXPECT_EQ(python(file.path(), R"(
f = h5py.File(path, "r")
d = f["stats/partition/reads"]
print(d.shape, d.dtype, d.attrs["unit"].decode(), "-", d.attrs["description"].decode())
print(d.attrs["axes"].decode(), [len(x) for x in d.dims], d.dims[2][0][:].tolist(), d.compression)
print(f["stats/partition/delay"].dims[2][0][:].tolist())
print(f["stats/partition/share"][1].tolist())
print([x.decode() for x in f["stats/sm/stalls"].dims[2][0][:]])
print(f["kernels"].dtype.names, f["kernels"][1]["kernel"].decode(), f["kernels"][0]["start"])
print(f["kernels"].attrs["unit of start"].decode())
print(f["buffers/dense/c"][:].tolist(), f["config"][()].decode().split()[0])
print(f["run"].attrs["wall_seconds"], f["final/end"][()])
)"),
            "(3, 2, 2) uint64 sectors - served by DRAM\n"
            "epoch, instance, tenant [1, 1, 1] [b'graph', b'dense'] gzip\n"
            "[0, 1, 2, 4]\n"
            "[0.5, 0.0]\n"
            "['memory', 'barrier']\n"
            "('kernel', 'tenant', 'start', 'ipc', 'checked') bfs_kernel 5\n"
            "fs\n"
            "[[1.0, 2.0], [3.0, 4.0]] gpu:\n"
            "1.0 77\n");
}

TEST(OutputFile, ReaderWatchesARunningJob) {
  const TemporaryFile file("watch");
  SampleRun run(file.path());
  run.epoch(0);
  run.epoch(1);
  run.recorder.flush();
  const std::string program = R"(
f = h5py.File(path, "r", libver="latest", swmr=True)
print(len(f["epochs/time"]), f["stats/sm/instructions"][:].tolist())
)";
  EXPECT_EQ(python(file.path(), program), "2 [[0, 1, 2], [10, 11, 12]]\n");
  run.epoch(2);
  run.recorder.flush();
  EXPECT_EQ(python(file.path(), program), "3 [[0, 1, 2], [10, 11, 12], [20, 21, 22]]\n");
}

/// A file with a time per row and a series of 128 KiB rows, of which `rows` are not 0; appended
/// `at_once` by `at_once`.
std::vector<std::byte> series_with(const std::string& path, const std::vector<std::uint64_t>& rows,
                                   std::uint64_t count, std::uint64_t at_once) {
  constexpr std::uint64_t words = 16384;
  h5::File file = h5::File::create(path);
  h5::Series times = file.create_series("/epochs/time", h5::Scalar::i64, {}, 1024);
  h5::Series series = file.create_series("/stats/x", h5::Scalar::u64, {words}, 4);
  for (std::uint64_t first = 0; first < count; first += at_once) {
    const std::uint64_t some = std::min(at_once, count - first);
    std::vector<h5::Series::Word> kept;
    for (const std::uint64_t row : rows) {
      if (row < first || row >= first + some) continue;
      for (std::uint32_t word = 0; word < words; ++word)
        kept.push_back({static_cast<std::uint32_t>(row - first), word, row + 1});
    }
    series.append(some, kept);
    const std::vector<std::uint64_t> ends(some, 7);
    series.flush();
    times.append(ends.data(), some);
  }
  series = {};
  times = {};
  file.close();
  const h5::File written = h5::File::open_to_read(path);
  EXPECT_EQ(written.shape("/stats/x"), (h5::Shape{count, words}));
  return written.read("/stats/x", 0, std::min<std::uint64_t>(count, 64));
}

TEST(SeriesOfZeros, TakesNoSpaceHoweverLong) {
  const TemporaryFile file("zeros");
  series_with(file.path(), {}, 10'000, 1'000);  // 1.3 GB
  EXPECT_LT(std::filesystem::file_size(file.path()), 256u << 10);
}

TEST(SeriesOfZeros, HoldsTheFewRowsThatAreNot) {
  const TemporaryFile file("rows");
  const std::vector<std::byte> bytes = series_with(file.path(), {0, 9, 10, 63}, 64, 5);
  for (std::uint64_t row = 0; row < 64; ++row) {
    std::uint64_t first = 0;
    std::memcpy(&first, &bytes[row * 16384 * 8], sizeof first);
    const bool is_set = row == 0 || row == 9 || row == 10 || row == 63;
    EXPECT_EQ(first, is_set ? row + 1 : 0) << row;
  }
}

TEST(SeriesOfZeros, StoresTheSameChunksHoweverItWasAppended) {
  const auto chunks = [](std::uint64_t at_once) {
    const TemporaryFile file("chunks");
    series_with(file.path(), {0, 9, 10, 63}, 64, at_once);
    return python(file.path(), R"(
d = h5py.File(path, "r")["stats/x"].id
print([d.get_chunk_info(i).chunk_offset for i in range(d.get_num_chunks())])
)");
  };
  EXPECT_EQ(chunks(64), "[(0, 0), (8, 0), (60, 0)]\n");
  EXPECT_EQ(chunks(64), chunks(1));
  EXPECT_EQ(chunks(64), chunks(7));
}

/// Runs `action` in a child process; its wait status.
template <class Action>
int in_child(Action&& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    action();
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(OutputFile, KilledWriterLeavesAllFlushedEpochs) {
  const TemporaryFile file("killed");
  const int status = in_child([&] {
    SampleRun run(file.path());
    for (std::uint64_t n = 0; n < 40; ++n) run.epoch(n);
    run.recorder.flush();
    run.epoch(40);
    ::raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(python(file.path(), R"(
f = h5py.File(path, "r", libver="latest", swmr=True)
print(len(f["epochs/time"]), f["stats/sm/instructions"][39].tolist())
)"),
            "40 [390, 391, 392]\n");
  const h5::File again = h5::File::open_to_read(file.path());
  EXPECT_EQ(again.shape("/epochs/time"), h5::Shape{40});
}

TEST(OutputFile, KilledWriterLeavesAFileThatNobodyHasToRepair) {
  const TemporaryFile file("plain");
  for (const int epochs : {0, 1, 700}) {
    const int status = in_child([&] {
      SampleRun run(file.path());
      for (int n = 0; n < epochs; ++n) {
        run.epoch(std::uint64_t(n));
        run.recorder.flush();
      }
      ::raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(python(file.path(), R"(
f = h5py.File(path, "r")
n = len(f["epochs/time"])
print(n, sorted({len(d) for d in f["stats/sm"].values()}), f["stats/sm/instructions"][:].sum())
)"),
              fmt::format("{0} [{0}] {1}\n", epochs, 3 * 5 * epochs * (epochs - 1) + 3 * epochs));
  }
}

TEST(OutputFile, NobodyElseWritesARunningFile) {
  const TemporaryFile file("foreign");
  SampleRun run(file.path());
  EXPECT_THAT(python(file.path(), "h5py.File(path, \"r+\")\n"),
              testing::HasSubstr("unable to lock file"));
}

TEST(OutputFile, RemovedOrReplacedFileIsNoticedWithTheNextEpoch) {
  const TemporaryFile file("removed");
  SampleRun run(file.path());
  const auto next = [&] {
    run.epoch(1);
    run.recorder.flush();
  };
  std::filesystem::rename(file.path(), file.path() + ".old");
  EXPECT_EQ(message_of(next),
            file.path() +
                ": was removed during the run, or its folder - run again and leave "
                "the output in its place");
}

TEST(OutputFile, LastStageThatFailsLeavesTheEpochs) {
  const TemporaryFile file("last");
  try {
    SampleRun run(file.path());
    for (std::uint64_t n = 0; n < 5; ++n) run.epoch(n);
    run.recorder.finish();
    run.output.finish_epochs();
    run.recorder.write_totals();
    throw std::runtime_error("the disk is full");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(
      python(file.path(), "f = h5py.File(path, \"r\")\nprint(len(f[\"epochs/time\"]), list(f))\n"),
      "5 ['axes', 'config', 'epochs', 'run', 'stats']\n");
  EXPECT_FALSE(std::filesystem::exists(file.path() + ".finishing"));
}

TEST(OutputFile, RunThatFailsElsewhereKeepsItsLastEpoch) {
  const TemporaryFile file("failed");
  try {
    SampleRun run(file.path());
    for (std::uint64_t n = 0; n < 5; ++n) run.epoch(n);
    throw std::runtime_error("a component failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(python(file.path(), "print(len(h5py.File(path, \"r\")[\"epochs/time\"]))\n"), "5\n");
}

TEST(OutputFile, UnwritablePlaceIsOneLine) {
  EXPECT_EQ(
      message_of([] { RunOutput output("/nonexistent/folder/run.h5"); }),
      "/nonexistent/folder/run.h5: cannot create: No such file or directory - choose a writable "
      "place with --output");
}

TEST(OutputFile, FileOfAnotherKindIsOneLine) {
  EXPECT_EQ(message_of([] { h5::File::open_to_read("/proc/self/status"); }).substr(0, 32),
            "/proc/self/status: cannot read: ");
}

TEST(OutputFile, FullDiskIsOneLineAndLeavesCompleteEpochs) {
  const TemporaryFile file("full");
  const int status = in_child([&] {
    // A file size limit fails writes just as a full disk does, with another errno.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    SampleRun run(file.path());
    std::uint64_t state = 1;
    const std::string message = message_of([&] {
      for (std::uint64_t n = 0; n < 100'000; ++n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        run.epoch(state >> 20);
        if (n % 100 == 0) run.recorder.flush();
      }
      run.finish();
    });
    const bool right = message == file.path() +
                                      ": cannot write: File too large - raise the limit of a "
                                      "file's size (ulimit -f)";
    if (!right) std::fprintf(stderr, "%s\n", message.c_str());
    std::_Exit(right ? 7 : 8);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(python(file.path(), R"(
f = h5py.File(path, "r", libver="latest", swmr=True)
n = len(f["epochs/time"])
rows = [f[k][:n].shape[0] for k in ("stats/sm/instructions", "stats/partition/delay")]
print(n > 100, rows == [n, n], f["stats/sm/instructions"][n - 1].any())
)"),
            "True True True\n");
}

/// Objects of one group are made from the group, whatever comes between them.
TEST(OutputFile, ObjectsAreWhereTheyWerePut) {
  const TemporaryFile file("places");
  const std::vector<std::string> paths = {"/a/one", "/a/two", "/b/c/one", "/b/c/two", "/b/one",
                                          "/top",   "/a/b/1", "/a/b/2",   "/a/three", "/other",
                                          "/b/c/3", "/b/c/4", "/b/c/d/5", "/b/c/6",   "/a/four"};
  {
    h5::File written = h5::File::create(file.path());
    for (std::uint64_t i = 0; i < paths.size(); ++i) {
      written.write_array(paths[i], h5::Scalar::u64, {}, &i);
      written.set_attribute(paths[i], "number", i);
      if (i % 4 == 3) written.set_attribute(paths[i - 2], "of another", i);
    }
    written.start_swmr();  // nothing but the file may be open
    written.close();
  }
  const h5::File read = h5::File::open_to_read(file.path());
  for (std::uint64_t i = 0; i < paths.size(); ++i) EXPECT_EQ(read.word(paths[i]), i) << paths[i];
  std::size_t found = 0;
  for (const h5::Object& object : read.objects()) found += object.is_dataset ? 1 : 0;
  EXPECT_EQ(found, paths.size());
}

TEST(OutputFile, EmptyTableHasItsColumns) {
  const TemporaryFile file("empty");
  {
    RunOutput output(file.path());
    output.write_table<KernelRow>({});
    output.close();
  }
  EXPECT_EQ(python(file.path(),
                   "d = h5py.File(path, \"r\")[\"kernels\"]\nprint(d.shape, len(d.dtype))\n"),
            "(0,) 5\n");
}

TEST(OutputFile, TablesReadBackAsTheyWereWritten) {
  const TemporaryFile file("table");
  {
    RunOutput output(file.path());
    output.write_table<KernelRow>(
        {{"add", 1, Time{5}, 0.25, true}, {"", 2, Time::never(), 0, false}});
    output.close();
  }
  const auto rows = read_table<KernelRow>(h5::File::open_to_read(file.path()));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kernel, "add");
  EXPECT_EQ(rows[0].tenant, 1u);
  EXPECT_EQ(rows[0].start, Time{5});
  EXPECT_EQ(rows[0].ipc, 0.25);
  EXPECT_TRUE(rows[0].checked);
  EXPECT_EQ(rows[1].kernel, "");
  EXPECT_EQ(rows[1].start, Time::never());
}

struct OtherRow {
  std::uint64_t tenant = 0;
  static auto schema() {
    return table<OtherRow>("/kernels", "").column("tenant", &OtherRow::tenant, "index", "");
  }
};

TEST(OutputFile, TableThatIsMissingOrOfAnotherFormIsAnError) {
  const TemporaryFile file("other");
  RunOutput(file.path()).close();
  const auto read = [&] { read_table<OtherRow>(h5::File::open_to_read(file.path())); };
  EXPECT_EQ(message_of(read), file.path() + ": has no /kernels - its run has not finished");
  {
    RunOutput output(file.path());
    output.write_table<KernelRow>({});
    output.close();
  }
  EXPECT_EQ(message_of(read), file.path() +
                                  ": /kernels has no column tenant - write the file anew "
                                  "with this version");
}

TEST(OutputFile, HalfPrecisionBuffersReadAsHalves) {
  const TemporaryFile file("half");
  {
    RunOutput output(file.path());
    const std::array<std::uint16_t, 2> halves{0x3c00, 0xc000};  // 1, -2
    const auto bytes = std::as_bytes(std::span(halves));
    output.write_buffer("t", "half", h5::Scalar::f16, {2}, bytes);
    output.write_buffer("t", "brain", h5::Scalar::bf16, {2}, bytes);
    output.close();
  }
  EXPECT_EQ(python(file.path(), R"(
f = h5py.File(path, "r")
print(f["buffers/t/half"][:].tolist(), f["buffers/t/brain"].attrs["encoding"].decode())
)"),
            "[1.0, -2.0] bfloat16\n");
}

}  // namespace
}  // namespace lockstep::file_test
