// What compressed files inflate to, whole and damaged; batches of lines.
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <random>
#include <string>

#include "catch.hpp"
#include "memory_stream.hpp"
#include "source/inflate.hpp"
#include "text/text_batches.hpp"

using namespace spmvpack;
using namespace spmvpack::sources;
using namespace spmvpack::test;

namespace {

std::shared_ptr<ByteStream> open_bytes(const std::string& bytes) {
  return inflate(std::make_shared<MemoryStream>("file", bytes));
}

/// The whole text, asked for `step` bytes at a time.
std::string text_of(ByteStream& source, std::size_t step) {
  std::string text, buffer(step, '\0');
  while (const std::size_t n = source.read(buffer)) text.append(buffer, 0, n);
  return text;
}
std::string text_of(const std::string& bytes, std::size_t step) { return text_of(*open_bytes(bytes), step); }

/// What comes before the damage, and the error.
std::pair<std::string, Error> damage_of(const std::string& bytes, std::size_t step) {
  std::shared_ptr<ByteStream> source;
  std::string text, buffer(step, '\0');
  try {
    source = open_bytes(bytes);
    while (const std::size_t n = source->read(buffer)) text.append(buffer, 0, n);
  } catch (const Error& e) {
    if (source) CHECK_THROWS_AS(source->read(buffer), Error);  // and it stays an error
    return {text, e};
  }
  FAIL("no damage was found");
  return {text, Error(errc::internal, "")};
}

std::string gzip(const std::string& text) {
  std::string out(text.size() + text.size() / 8 + 1000, '\0');
  isal_zstream stream{};
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  std::string in = text;
  stream.next_in = reinterpret_cast<std::uint8_t*>(in.data());
  stream.avail_in = static_cast<std::uint32_t>(in.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  REQUIRE(isal_deflate(&stream) == COMP_OK);
  REQUIRE(stream.avail_in == 0);
  out.resize(stream.total_out);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string lines(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{} {} {}\n", i, random() % 1000, random());
  return text;
}

/// `printf '1 2 3\n' | gzip -n`, by gzip 1.12.
const std::string by_gzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33\x54\x30\x52\x30\xe6\x02\x00\x4b\xa0\xf4\xc9\x06\x00\x00\x00", 26);

}  // namespace

TEST_CASE("compression is told by content and inflated") {
  const std::string text = lines(200000, 1);
  for (const std::size_t step : {std::size_t{1000}, std::size_t{65536}, text.size() * 2}) {
    CHECK(text_of(text, step) == text);
    CHECK(text_of(gzip(text), step) == text);
    CHECK(text_of(zstd(text), step) == text);
  }
  CHECK(text_of(by_gzip, 100) == "1 2 3\n");
  for (const char* plain : {"", "a", "\x1f", "(", "%%MatrixMarket"}) CHECK(text_of(plain, 7) == plain);
  for (const std::string& small : {std::string(), std::string("x"), lines(10, 2)}) {
    CHECK(text_of(gzip(small), 1) == small);
    CHECK(text_of(zstd(small), 1) == small);
  }
}

TEST_CASE("gzip members and zstd frames follow one another") {
  const std::string a = lines(1000, 3), b = lines(30000, 4);
  const std::string text = a + b, text_of_members = a + "1 2 3\n" + b, members = gzip(a) + by_gzip + gzip("") + gzip(b),
                    frames = zstd(a) + zstd("") + zstd(b);
  // A skippable frame of three bytes.
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11), surrounded = skippable + frames + skippable;
  for (const std::size_t step : {std::size_t{1}, std::size_t{4096}, std::size_t{10000000}}) {
    CHECK(text_of(members, step) == text_of_members);
    CHECK(text_of(frames, step) == text);
    CHECK(text_of(surrounded, step) == text);
  }
}

TEST_CASE("truncated compressed files are refused at every length") {
  const std::string text = lines(40, 5);
  for (const std::string& whole : {gzip(text), zstd(text), gzip(text) + gzip(text), zstd(text) + zstd(text)}) {
    for (std::size_t length = 4; length < whole.size(); ++length) {
      if (2 * length == whole.size()) continue;  // one whole member of two
      const auto [before, error] = damage_of(whole.substr(0, length), 100);
      REQUIRE(error.code() == errc::bad_input);
      REQUIRE_THAT(error.what(), Catch::Contains("truncated"));
      REQUIRE(error.where() == fmt::format("file: byte {} of the compressed file", length));
      REQUIRE((text + text).starts_with(before));
    }
  }
}

TEST_CASE("damaged compressed files are refused") {
  const std::string text = lines(2000, 6);
  std::string bytes = gzip(text);
  for (const std::size_t trailer : {1U, 4U, 5U, 8U}) {  // length and CRC
    std::string damaged = bytes;
    damaged[damaged.size() - trailer] = static_cast<char>(damaged[damaged.size() - trailer] ^ 1);
    const auto [before, error] = damage_of(damaged, 4096);
    CHECK(error.code() == errc::bad_input);
    CHECK_THAT(error.what(), Catch::Contains("checksum"));
    CHECK(before == text);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    const std::size_t at = 10 + random() % (bytes.size() - 10);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    const auto [before, error] = damage_of(damaged, 1000000);
    REQUIRE(error.code() == errc::bad_input);
    for (const std::size_t step : {1U, 4096U, 50000U}) REQUIRE(damage_of(damaged, step).first == before);
  }
  CHECK_THAT(damage_of(bytes + "junk", 4096).second.what(), Catch::Contains("no gzip header"));
  std::string frame = zstd(text);
  frame[frame.size() / 2] = static_cast<char>(~frame[frame.size() / 2]);
  frame[5] = static_cast<char>(~frame[5]);
  CHECK(damage_of(frame, 4096).second.code() == errc::bad_input);
  CHECK(damage_of(zstd(text) + "junk", 4096).second.code() == errc::bad_input);
}

TEST_CASE("batches hold whole lines, whatever their size") {
  std::string text = lines(300, 8) + std::string(1000, 'x') + "\n\n\n" + lines(20, 9);
  for (const bool newline : {true, false}) {
    if (!newline) text.pop_back();
    for (const std::size_t size : {1U, 2U, 3U, 16U, 100U, 999U, 1000000U}) {
      TextBatches batches(open_bytes(text), size, 0);
      std::string all;
      for (bool ahead = false; !batches.text().empty(); ahead = !ahead) {
        const std::string batch(batches.text());
        REQUIRE(batch.back() == '\n');
        if (ahead) batches.read_ahead();
        REQUIRE(batches.text() == batch);
        all += batch;
        batches.advance(static_cast<std::uint64_t>(std::count(batch.begin(), batch.end(), '\n')));
      }
      CHECK(all == text + (newline ? "" : "\n"));
      CHECK_THROWS_WITH(batches.fail(errc::bad_input, "end", ""), Catch::StartsWith("file:324:1: end"));
    }
  }
}

TEST_CASE("a place is counted over batches") {
  for (const std::size_t size : {1U, 5U, 100U}) {
    TextBatches batches(open_bytes("one\ntwo\nthree four\nfive"), size, 0);
    batches.skip_line();
    CHECK(batches.text().starts_with("two\n"));
    batches.skip_line();
    CHECK_THROWS_WITH(batches.fail({batches.text().data() + 6, errc::bad_input, "what", "remedy"}),
                      "file:3:7: what; remedy");
    batches.skip_line();
    CHECK(batches.text() == "five\n");
    batches.skip_line();
    CHECK(batches.text().empty());
  }
}

TEST_CASE("text before damage is delivered, and a line may not outgrow the memory limit") {
  const std::string text = lines(3000, 10), bytes = gzip(text);
  TextBatches batches(open_bytes(bytes.substr(0, bytes.size() / 2)), 500, 0);
  std::string all;
  const auto read_all = [&] {
    while (!batches.text().empty()) {
      all += batches.text();
      batches.read_ahead();
      batches.advance(0);
    }
  };
  CHECK_THROWS_WITH(read_all(), Catch::Contains("truncated"));
  CHECK(all.size() > 1000);
  CHECK(text.starts_with(all));

  try {
    const TextBatches one_line(open_bytes(std::string(100000, 'x')), 100, 5000);
    FAIL("no limit");
  } catch (const Error& e) {
    CHECK(e.code() == errc::out_of_memory);
  }
}
