#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/output/hdf5.hpp"
#include "tests/unit/workload/content/content_bytes.hpp"

namespace lockstep::files_test {
namespace {

using isa::Type;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class FileContent : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("lockstep_content_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Buffer buffer(Type type, std::uint64_t count, const std::string& file,
                const std::string& data_set = "") const {
    Buffer result = sample::buffer(type, count, Initializer::Kind::file);
    result.initial.file = path(file);
    result.initial.data_set = data_set;
    return result;
  }
  void write_raw(const std::string& name, const std::vector<std::uint16_t>& numbers) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::streamsize>(numbers.size() * 2));
  }

  std::filesystem::path folder_;
};

TEST_F(FileContent, RawBytesAreTheElements) {
  write_raw("in.bin", {7, 8, 65535});
  EXPECT_THAT(sample::values_of(buffer(Type::u16, 3, "in.bin")), ElementsAre(7, 8, 65535));
}

TEST_F(FileContent, RawPieceIsReadFromItsPlace) {
  write_raw("in.bin", {7, 8, 9, 10});
  std::vector<std::uint16_t> piece(2);
  make_content(buffer(Type::u16, 4, "in.bin"))->read(4, std::as_writable_bytes(std::span(piece)));
  EXPECT_THAT(piece, ElementsAre(9, 10));
}

TEST_F(FileContent, LongerRawFileIsCut) {
  write_raw("in.bin", {7, 8, 9});
  EXPECT_THAT(sample::values_of(buffer(Type::u16, 2, "in.bin")), ElementsAre(7, 8));
}

TEST_F(FileContent, ShortRawFileIsAnError) {
  write_raw("in.bin", {7, 8});
  EXPECT_THAT(sample::content_error(buffer(Type::u16, 3, "in.bin")),
              AllOf(StartsWith("w.yaml:4:40: cannot read " + path("in.bin")),
                    HasSubstr("it has 4 bytes, buffer b needs 6")));
}

TEST_F(FileContent, MissingRawFileIsAnError) {
  EXPECT_THAT(sample::content_error(buffer(Type::u16, 3, "none.bin")),
              AllOf(StartsWith("w.yaml:4:40: "), HasSubstr("No such file")));
}

TEST_F(FileContent, FolderIsNoFile) {
  EXPECT_THAT(sample::content_error(buffer(Type::u16, 3, ".")), HasSubstr("no regular file"));
}

TEST_F(FileContent, DataSetIsReadInItsOwnOrder) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  h5::File file = h5::File::create(path("in.h5"));
  file.write_array("/group/x", h5::Scalar::f32, {2, 3}, numbers.data());
  file.close();
  EXPECT_THAT(sample::values_of(buffer(Type::f32, 6, "in.h5", "/group/x")),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(FileContent, DataSetIsConvertedToTheBuffersType) {
  const std::vector<double> numbers{1.0 + 0x1p-30, 2.75};
  h5::File file = h5::File::create(path("in.h5"));
  file.write_array("/x", h5::Scalar::f64, {2}, numbers.data());
  file.close();
  EXPECT_THAT(sample::values_of(buffer(Type::f32, 2, "in.h5", "/x")), ElementsAre(1, 2.75));
  EXPECT_THAT(sample::values_of(buffer(Type::s32, 2, "in.h5", "/x")), ElementsAre(1, 2));
}

TEST_F(FileContent, DataSetNumberThatTheTypeCannotHoldIsAnError) {
  const std::vector<double> numbers{300};
  h5::File file = h5::File::create(path("in.h5"));
  file.write_array("/x", h5::Scalar::f64, {1}, numbers.data());
  file.close();
  EXPECT_THAT(sample::content_error(buffer(Type::u8, 1, "in.h5", "/x")),
              HasSubstr("cannot hold 300"));
}

TEST_F(FileContent, ShortDataSetIsAnError) {
  const std::vector<float> numbers{1, 2};
  h5::File file = h5::File::create(path("in.h5"));
  file.write_array("/x", h5::Scalar::f32, {2}, numbers.data());
  file.close();
  EXPECT_THAT(sample::content_error(buffer(Type::f32, 3, "in.h5", "/x")),
              AllOf(StartsWith("w.yaml:4:40: "), HasSubstr("has 2 numbers, buffer b needs 3")));
}

TEST_F(FileContent, MissingDataSetIsAnError) {
  h5::File file = h5::File::create(path("in.h5"));
  file.close();
  EXPECT_THAT(sample::content_error(buffer(Type::f32, 3, "in.h5", "/y")),
              AllOf(StartsWith("w.yaml:4:40: "), HasSubstr("/y: there is no such data set")));
}

TEST_F(FileContent, MissingHdf5FileIsAnError) {
  EXPECT_THAT(sample::content_error(buffer(Type::f32, 3, "none.h5", "/y")), HasSubstr("none.h5"));
}

}  // namespace
}  // namespace lockstep::files_test
