// What compressed files inflate to, whole and damaged; batches of lines.
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <zstd.h>

#include <array>
#include <random>
#include <string>

#include "catch.hpp"
#include "memory_stream.hpp"
#include "sanitized.hpp"
#include "source/inflate.hpp"
#include "spmvpack/container/base/memory.hpp"
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

std::string xz(const std::string& text, std::uint32_t preset = 6, lzma_check check = LZMA_CHECK_CRC64) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  lzma_stream stream = LZMA_STREAM_INIT;
  REQUIRE(lzma_easy_encoder(&stream, preset, check) == LZMA_OK);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = out.size();
  REQUIRE(lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END);
  out.resize(stream.total_out);
  lzma_end(&stream);
  return out;
}

/// Changes a byte of what xz() has made, in one of its headers, whose checksum follows at `end`.
std::string with_header(std::string bytes, std::size_t begin, std::size_t end, std::size_t at, char byte) {
  const auto checksum = [&] {
    return lzma_crc32(reinterpret_cast<const std::uint8_t*>(bytes.data()) + begin, end - begin, 0);
  };
  const auto stored = [&](std::size_t i) { return static_cast<char>(checksum() >> (8 * i)); };
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(bytes.at(end + i) == stored(i));
  bytes[at] = byte;
  for (std::size_t i = 0; i < 4; ++i) bytes[end + i] = stored(i);
  return bytes;
}
/// A dictionary of 2 to the power of `log` bytes, in the header of the first block: its flags, LZMA2, size, padding.
std::string with_dictionary(const std::string& bytes, int log) {
  return with_header(bytes, 12, 20, 16, static_cast<char>(2 * (log - 12)));
}

std::string lines(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{} {} {}\n", i, random() % 1000, random());
  return text;
}

/// Any bit of a compressed file from byte `begin` on is missed, at a place, after the same text at any step.
void check_flipped_bits(const std::string& bytes, std::size_t begin) {
  std::mt19937_64 random(7);
  for (int i = 0; i < test::trials(300); ++i) {
    std::string damaged = bytes;
    const std::size_t at = begin + random() % (bytes.size() - begin);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    const auto [before, error] = damage_of(damaged, 1000000);
    REQUIRE(error.code() == errc::bad_input);
    REQUIRE_THAT(error.where(), Catch::StartsWith("file: byte "));
    for (const std::size_t step : {1U, 4096U, 50000U}) REQUIRE(damage_of(damaged, step).first == before);
  }
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
    CHECK(text_of(xz(text, 1), step) == text);
  }
  CHECK(text_of(by_gzip, 100) == "1 2 3\n");
  for (const char* plain : {"", "a", "\x1f", "(", "%%MatrixMarket"}) CHECK(text_of(plain, 7) == plain);
  for (const std::string& small : {std::string(), std::string("x"), lines(10, 2)}) {
    CHECK(text_of(gzip(small), 1) == small);
    CHECK(text_of(zstd(small), 1) == small);
    CHECK(text_of(xz(small), 1) == small);
  }
}

TEST_CASE("gzip members, zstd frames and xz streams follow one another") {
  const std::string a = lines(1000, 3), b = lines(30000, 4);
  const std::string text = a + b, text_of_members = a + "1 2 3\n" + b, members = gzip(a) + by_gzip + gzip("") + gzip(b),
                    frames = zstd(a) + zstd("") + zstd(b);
  // Zeros between members and at the end, beyond a buffer of input, as tapes have them: gzip and Python take them.
  const std::string padded = gzip(a) + '\0' + gzip("") + std::string(600000, '\0') + gzip(b) + std::string(512, '\0');
  // A skippable frame of three bytes.
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11), surrounded = skippable + frames + skippable;
  // Of different dictionaries and checksums, with padding between them and at the end, beyond a buffer of input.
  const std::string padding(4, '\0'),
      streams =
          xz(a) + padding + xz("", 9) + std::string(600000, '\0') + xz(b, 0, LZMA_CHECK_SHA256) + padding + padding,
      unchecked = xz(a, 9, LZMA_CHECK_NONE) + xz(b, 9, LZMA_CHECK_CRC32);
  for (const std::size_t step : {std::size_t{1}, std::size_t{4096}, std::size_t{10000000}}) {
    CHECK(text_of(members, step) == text_of_members);
    CHECK(text_of(padded, step) == a + b);
    CHECK(text_of(frames, step) == text);
    CHECK(text_of(surrounded, step) == text);
    CHECK(text_of(streams, step) == text);
    CHECK(text_of(unchecked, step) == text);
  }
}

TEST_CASE("truncated compressed files are refused at every length") {
  const std::string text = lines(40, 5);
  for (const std::string& whole :
       {gzip(text), zstd(text), xz(text), gzip(text) + gzip(text), zstd(text) + zstd(text), xz(text) + xz(text)}) {
    for (std::size_t length = 6; length < whole.size(); length += test::sanitized ? 3 : 1) {
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
  check_flipped_bits(bytes, 10);
  for (const std::string& junk : {std::string("junk"), std::string("\0\0junk", 6), std::string(600000, '\0') + "\1"}) {
    const auto [before, error] = damage_of(bytes + junk, 4096);
    CHECK_THAT(error.what(), Catch::Contains("no gzip header"));
    CHECK(error.where() ==
          fmt::format("file: byte {} of the compressed file", bytes.size() + junk.find_first_not_of('\0')));
    CHECK(before == text);
  }
  CHECK_THAT(damage_of(std::string("\x1f\x8b\0\0", 4) + std::string(20, '\0'), 4096).second.what(),
             Catch::Contains("gzip"));  // zeros are none of a member's
  std::string frame = zstd(text);
  frame[frame.size() / 2] = static_cast<char>(~frame[frame.size() / 2]);
  frame[5] = static_cast<char>(~frame[5]);
  CHECK(damage_of(frame, 4096).second.code() == errc::bad_input);
  CHECK(damage_of(zstd(text) + "junk", 4096).second.code() == errc::bad_input);
}

TEST_CASE("damaged xz files are refused, at a byte") {
  const std::string text = lines(2000, 6), bytes = xz(text);
  check_flipped_bits(bytes, 6);
  // The checksum of the text is before the index, which has 8 bytes here, and the footer of 12.
  for (const auto& [check, size] :
       {std::pair{LZMA_CHECK_CRC32, 4U}, {LZMA_CHECK_CRC64, 8U}, {LZMA_CHECK_SHA256, 32U}}) {
    std::string damaged = xz("text", 6, check);
    const std::size_t last = damaged.size() - 12 - 8 - 1;
    for (const std::size_t at : {last, last + 1 - size}) {
      std::string wrong = damaged;
      wrong[at] = static_cast<char>(wrong[at] ^ 1);
      const auto [before, error] = damage_of(wrong, 4096);
      CHECK(before == "text");
      CHECK(error.message() == "the xz data is damaged, or its checksum is wrong");
    }
  }
  const auto error_of = [&](const std::string& wrong, const std::string& message, std::size_t byte) {
    for (const std::size_t step : {1U, 100000U}) {
      const auto [before, error] = damage_of(wrong, step);
      CHECK((before == text));
      CHECK(error.message() == message);
      CHECK(error.where() == fmt::format("file: byte {} of the compressed file", byte));
    }
  };
  const std::size_t size = bytes.size();
  for (const std::string& junk : {std::string("j"), "junk" + std::string(2000, ' '), gzip("text")})
    error_of(bytes + junk, "no xz header where one is expected", size);
  error_of(bytes + std::string(4, '\0') + "junk", "no xz header where one is expected", size + 4);
  error_of(bytes + std::string(3, '\0') + bytes, "no xz header where one is expected", size + 3);
  error_of(bytes + "\xFDjunk junk junk", "no xz header where one is expected", size + 12);
  error_of(bytes + std::string(3, '\0'), "the xz data is truncated", size + 3);
  error_of(bytes + bytes.substr(0, 7), "the xz data is truncated", size + 7);
  const auto names = [&](const std::string& wrong) { return damage_of(wrong, 4096).second.message(); };
  CHECK(names(with_header(bytes, 6, 8, 7, 2)) == "the xz header names an unknown checksum");
  CHECK(names(with_header(bytes, 12, 20, 14, 0x22)) == "the xz header names unknown filters or options");
}

TEST_CASE("large dictionaries of xz are counted") {
  const std::string text = lines(2000, 11), small = xz(text);
  constexpr std::uint64_t mib = 1 << 20;
  const auto error_of = [&](const std::string& bytes, const std::string& before = {}) {
    const auto [text_before, error] = damage_of(bytes, 4096);
    CHECK((text_before == before));
    return error;
  };
  CHECK(with_dictionary(small, 23) == small);  // as it was
  {
    const MemoryScope memory(mib, "reading");
    CHECK(text_of(small, 4096) == text);  // a buffer like others
    CHECK(current_budget()->left() == mib);
    for (const int log : {24, 26, 27}) {
      const Error error = error_of(with_dictionary(small, log));
      CHECK(error.code() == errc::out_of_memory);
      CHECK(error.where() == "file");
      CHECK_THAT(error.message(),
                 Catch::StartsWith(fmt::format("the xz data's dictionary of {} MiB needs ", 1 << (log - 20))) &&
                     Catch::EndsWith("of the 1048576 that are allowed are left"));
      CHECK(error.remedy() == "raise the memory limit, or compress the file again with a lower preset");
    }
    CHECK(error_of(small + xz(text, 9), text).code() == errc::out_of_memory);  // that of a later stream
    CHECK(current_budget()->left() == mib);
  }
  {
    const MemoryScope memory(100 * mib, "reading");
    const std::string streams = xz(text, 7) + small + xz(text, 9);
    const auto stream = open_bytes(streams);
    CHECK(text_of(*stream, 4096) == text + text + text);
    CHECK(current_budget()->left() < 36 * mib);  // the largest, once
    CHECK(current_budget()->left() > 35 * mib);
    CHECK(text_of(xz(text), 4096) == text);
    CHECK(error_of(streams, text + text).code() == errc::out_of_memory);
  }
  for (const std::uint64_t limit : {std::uint64_t{0}, 200 * mib}) {
    const MemoryScope memory(limit, "reading");
    CHECK(text_of(with_dictionary(small, 27), 4096) == text);
    for (const int log : {28, 30, 31}) {
      const Error error = error_of(with_dictionary(small, log));
      CHECK(error.code() == errc::unsupported);
      CHECK(error.where() == "file");
      CHECK(error.message() ==
            fmt::format("the xz data needs a dictionary of {} MiB, which is more than 128 MiB", 1 << (log - 20)));
    }
  }
  CHECK(text_of(with_dictionary(small, 27), 4096) == text);  // without a budget
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
