// Files as they are written: whole or not at all, under any name, and stopped at any time.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "container/files.hpp"
#include "containers.hpp"

namespace {
int failure_of_directories = 0;  ///< errno of flushing one; 0: it goes well
}
/// In place of the C library's, which tests cannot make fail.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int fsync(int fd) {
  struct stat info {};
  if (failure_of_directories != 0 && ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = failure_of_directories;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace spmvpack::test {

TEST_CASE("an output appears whole or not at all") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out");
  const auto text = [](const char* s) { return std::as_bytes(std::span(s, std::strlen(s))); };
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      all.push_back(entry.path().filename());
    return all;
  };
  {
    OutputFile file(path, false);
    file.write(text("abandoned"));
  }
  CHECK(names().empty());
  {
    OutputFile first(path, false), second(path, false);  // both start while there is no file
    first.write(text("first"));
    second.write(text("second"));
    first.commit();
    try {
      second.commit();
      FAIL("the second commit replaced the first");
    } catch (const Error& e) {
      CHECK(e.code() == errc::exists);
    }
  }
  CHECK(names() == std::vector<std::string>{"out"});
  CHECK(read_file(path).size() == 5);
  CHECK_THROWS_AS(OutputFile(path, false), Error);
  {
    OutputFile file(path, true);
    file.write(text("forced!"));
    CHECK(read_file(path).size() == 5);
    file.commit();
  }
  CHECK(read_file(path).size() == 7);
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((info.st_mode & 0777U) == (0666U & ~mask));
  // What -f replaces keeps its permissions; a link keeps leading there.
  REQUIRE(::chmod(path.c_str(), 0604) == 0);
  const std::string link = directory.file("link"), nowhere = directory.file("nowhere"), fifo = directory.file("fifo");
  std::filesystem::create_symlink("out", link);
  {
    OutputFile file(link, true);
    CHECK(unfinished_outputs() == 1);
    file.write(text("by the link"));
    file.commit();
  }
  CHECK(unfinished_outputs() == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_file(path).size() == 11);
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0604);
  std::filesystem::create_symlink("missing", nowhere);
  CHECK_THROWS_WITH(OutputFile(nowhere, true), Catch::Contains("cannot follow the link"));
  // Only regular files are replaced, also where something else has come since.
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(OutputFile(fifo, true), Catch::Contains("not a regular file"));
  {
    OutputFile file(path, true);
    std::filesystem::rename(fifo, path);
    CHECK_THROWS_WITH(file.commit(), Catch::Contains("not a regular file"));
  }
  CHECK(std::filesystem::is_fifo(path));
  CHECK(names().size() == 3);
  CHECK(unfinished_outputs() == 0);
  CHECK_THROWS_AS(OutputFile(directory.file("no/such/directory"), false), Error);
  CHECK_THROWS_AS(OutputFile(directory.path().string(), true), Error);
}

TEST_CASE("a directory that cannot be flushed is an error, though its file is there") {
  const TemporaryDirectory directory;
  const auto message = [](int failure, auto&& work) {
    failure_of_directories = failure;
    std::string what;
    try {
      work();
    } catch (const Error& e) {
      what = fmt::format("{} {}", e.code() == errc::io ? "io" : "other", e.what());
    }
    failure_of_directories = 0;
    return what;
  };
  const std::string container = directory.file("A"), text = directory.file("t");
  const auto require_told = [](const std::string& found) {
    CHECK_THAT(found, Catch::StartsWith("io ") && Catch::Contains("cannot flush its directory: Input/output error") &&
                          Catch::Contains("complete and has its name, but may not survive a power cut"));
  };
  require_told(message(EIO, [&] { encoder::encode(small_matrix().view(), {.strategy = "csr"}, container); }));
  CHECK(verdict(read_file(container)) == errc{});
  require_told(message(EIO, [&] {
    TextOutput out(text, false);
    out.write("whole");
    out.commit();
  }));
  CHECK(read_file(text).size() == 5);
  std::vector<std::unique_ptr<OutputFile>> files;
  for (const char* const name : {"0", "1"}) files.push_back(std::make_unique<OutputFile>(directory.file(name), false));
  const std::string of_all = message(EIO, [&] { commit_all(files); });
  require_told(of_all);
  CHECK_THAT(of_all, Catch::StartsWith("io " + directory.file("0")));
  CHECK(std::filesystem::exists(directory.file("0")));
  CHECK(std::filesystem::exists(directory.file("1")));
  // A file system that cannot, as some of networks.
  for (const int failure : {EINVAL, ENOTSUP})
    CHECK(message(failure, [&] { OutputFile(directory.file("n" + std::to_string(failure)), false).commit(); }).empty());
}

TEST_CASE("text goes straight into devices and pipes, and into files as a whole") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out"), fifo = directory.file("fifo"), link = directory.file("link");
  {
    TextOutput out("/dev/null", false);  // which is there, but nothing is replaced
    CHECK(unfinished_outputs() == 0);
    out.write("nothing");
    out.commit();
  }
  CHECK(std::filesystem::is_character_file("/dev/null"));
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::filesystem::create_symlink("fifo", link);
  const std::string text(200'000, 'x');  // more than a pipe holds
  std::string arrived;
  std::thread reader([&] {
    std::ifstream in(fifo, std::ios::binary);
    arrived.assign(std::istreambuf_iterator<char>(in), {});
  });
  {
    TextOutput out(link, false);
    out.write(text);
    out.commit();
  }
  reader.join();
  CHECK(arrived == text);
  CHECK(std::filesystem::is_fifo(fifo));
  { TextOutput(path, false).write("abandoned"); }
  CHECK_FALSE(std::filesystem::exists(path));
  {
    TextOutput out(path, false);
    out.write("whole");
    CHECK_FALSE(std::filesystem::exists(path));
    out.commit();
  }
  CHECK(read_file(path).size() == 5);
  CHECK_THROWS_WITH(TextOutput(path, false), Catch::Contains("already exists"));
}

TEST_CASE("an output has any name that a file may have, and removes what killed processes left of it") {
  const TemporaryDirectory directory;
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto write = [&](const std::string& name) {
    OutputFile file(directory.file(name), false);
    file.commit();
  };
  const int before = finished_outputs();
  const std::string longest(255, 'a');
  std::string wide;
  for (int i = 0; i < 127; ++i) wide += "\xC3\xBC";
  write(longest);
  write(wide);
  CHECK(names() == std::vector<std::string>{longest, wide});
  CHECK(finished_outputs() == before + 2);
  CHECK_THROWS_WITH(write(std::string(256, 'a')), Catch::Contains("cannot create"));
  CHECK(finished_outputs() == before + 2);
  std::filesystem::remove(directory.file(longest));
  std::filesystem::remove(directory.file(wide));

  // Not locked: left behind. Locked, of another name, or not quite of this form: not.
  for (const char* const name : {"out.01234567.tmp", "out.89abcdef.tmp", "out.0123456.tmp", "out.0123456g.tmp",
                                 "other.01234567.tmp", "out.01234567.tmp2"})
    std::ofstream(directory.file(name)).put(0);
  std::filesystem::create_directory(directory.file("out.aaaaaaaa.tmp"));
  const int used = ::open(directory.file("out.89abcdef.tmp").c_str(), O_RDONLY);
  REQUIRE(used >= 0);
  REQUIRE(::flock(used, LOCK_EX) == 0);
  {
    OutputFile first(directory.file("out"), false), second(directory.file("out"), false);
    CHECK(names().size() == 8);  // all but one, and those of the two
    first.commit();
  }
  CHECK(names() == std::vector<std::string>{"other.01234567.tmp", "out", "out.0123456.tmp", "out.01234567.tmp2",
                                            "out.0123456g.tmp", "out.89abcdef.tmp", "out.aaaaaaaa.tmp"});
  ::close(used);
}

TEST_CASE("stopping a write leaves nothing") {
  const TemporaryDirectory directory;
  SourceMatrix source = source_of(small_matrix());
  const encoder::Plan plan = encoder::find_strategy("csr").plan(source.matrix, {});
  const ContainerSource contents = encoder::container_source(encoder::facts_of(source), {}, {source.matrix, plan}, {});
  WriteOptions options;
  options.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  try {
    write_container(directory.file("a.spmvc"), contents, options);
    FAIL("the write went on");
  } catch (const Error& e) {
    CHECK(e.code() == errc::interrupted);
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a write is stopped between two blocks, also while the filter is chosen") {
  const TemporaryDirectory directory;
  const SourceMatrix source = source_of(small_matrix());
  const encoder::Plan plan = encoder::find_strategy("csr").plan(source.matrix, {});
  ContainerSource contents = encoder::container_source(encoder::facts_of(source), {}, {source.matrix, plan}, {});
  constexpr std::uint64_t blocks = 24;  // in one batch
  std::atomic<std::uint64_t> filled{0};
  SectionSource large = provenance_section({});
  large.name = "large";
  large.count = blocks * format::block_bytes;
  large.fill = [&](std::uint64_t begin, std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), static_cast<std::byte>(begin >> 20));
    ++filled;
  };
  contents.file_sections.push_back(large);
  const std::thread::id caller = std::this_thread::get_id();
  for (const format::Codec codec : {format::Codec::none, format::Codec::zstd})
    for (const int threads : {1, 2, 5}) {
      WriteOptions options;
      options.codec = codec;
      options.threads = threads;
      std::uint64_t reports = 0, last = 0, stop_at = 0, total = 0;
      bool elsewhere = false, backwards = false;
      options.progress = [&](std::string_view, std::uint64_t done, std::uint64_t all) {
        elsewhere |= std::this_thread::get_id() != caller;
        backwards |= done < last;
        last = done;
        total = all;
        return ++reports != stop_at;
      };
      filled = 0;
      write_container(directory.file("whole.spmvc"), contents, options);
      std::filesystem::remove(directory.file("whole.spmvc"));
      CHECK((!elsewhere && !backwards && last == total));
      const std::uint64_t all_reports = reports, all_filled = filled;
      if (threads == 1) CHECK(all_reports > blocks);
      for (stop_at = 1; stop_at <= all_reports; stop_at += 3) {
        INFO("threads " << threads << ", report " << stop_at);
        reports = last = filled = 0;
        try {
          write_container(directory.file("a.spmvc"), contents, options);
          // How many blocks fall to the calling thread is not fixed.
          if (threads == 1 || reports >= stop_at) FAIL("the write went on");
          std::filesystem::remove(directory.file("a.spmvc"));
        } catch (const Error& e) {
          CHECK(e.code() == errc::interrupted);
        }
        CHECK(reports <= stop_at);
        if (threads == 1 && stop_at < blocks) CHECK(filled < all_filled);
        CHECK(std::filesystem::is_empty(directory.path()));
      }
      CHECK((!elsewhere && !backwards));
    }
}

}  // namespace spmvpack::test
