// What the command `bench` prints of results.

#include "commands/bench_output.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/summary.hpp"
#include "bench_results.hpp"
#include "catch.hpp"

namespace spmvpack::tools {
namespace {

using namespace bench;

TEST_CASE("types other than f64 are said, and several matrices get a line each") {
  BenchRun run;
  run.speeds.copy.median = 1;
  MatrixResult m = member("", 1, 1, 1, 1);
  m.name = "A.mtx";
  m.nnz = 12'345'678;
  CHECK(matrix_text(m, run).find("12,345,678 nonzeros\n") != std::string::npos);
  m.value_type = ValueType::f32;
  CHECK(matrix_text(m, run).find("nonzeros, f32, vectors f64\n") != std::string::npos);
  m.vector_type = ValueType::f32;
  CHECK(matrix_text(m, run).find("nonzeros, f32\n") != std::string::npos);

  CHECK(matrices_text(std::vector{m}).empty());
  MatrixResult other = m;
  other.name = "B.mtx";
  other.results.clear();
  const std::string text = matrices_text(std::vector{m, other});
  CHECK(text.find("A.mtx                  12.3 M  ccoo/ordered ") != std::string::npos);
  CHECK(text.find("csr-alg1") != std::string::npos);
  CHECK(text.find("B.mtx                  12.3 M  - ") != std::string::npos);
}

TEST_CASE("floors of x are printed where they are measured") {
  BenchRun run;
  run.speeds = known_speeds();
  MatrixResult m = member("", 16, 32, 32, 32);
  m.x_sectors = 1000;
  m.x_lines = 300;
  m.x_floors = x_floors(run.speeds, m.x_sectors, m.x_lines);
  for (Result& r : m.results) r.floor = 8;
  run.matrices = {m};
  CHECK(header_text(run).find("; second-level cache: 0 GB/s, read, 0 G scattered elements a second\n") !=
        std::string::npos);
  const std::string text = matrix_text(m, run);
  CHECK(text.find("  x, at least: 8000000.0 for 1,000 sectors as fast as reads, 6000000.0 for 300 lines as fast as "
                  "gathers\n") != std::string::npos);
  CHECK(text.find("      50   0.00  ") != std::string::npos);  // floor%
  CHECK(csv_lines(m, run).find(",1000,300,8000000,6000000,,1\n") != std::string::npos);
  nlohmann::json json = nlohmann::json::parse(to_json(run));
  CHECK(json["gathers"]["count"] == 500);
  CHECK(json["gathers"]["gelements_per_second"] == Approx(50e-9));
  CHECK(json["matrices"][0]["x_lines"] == 300);
  CHECK(json["matrices"][0]["l2_floor"] == Approx(8e6));
  CHECK(json["matrices"][0]["gather_floor"] == Approx(6e6));
  CHECK(json["matrices"][0]["results"][0]["share_of_floor"] == 0.5);

  run.speeds.l2_bytes = run.speeds.gathers = 0;
  CHECK(header_text(run).find("second-level") == std::string::npos);
  CHECK(matrix_text(m, run).find("at least") == std::string::npos);
  CHECK(csv_lines(m, run).find(",1000,300,,,,1\n") != std::string::npos);
  json = nlohmann::json::parse(to_json(run));
  CHECK(json["gathers"].is_null());
  CHECK(json["matrices"][0]["gather_floor"].is_null());
}

TEST_CASE("multiplies with x and y on the host stand beside what their copies predict") {
  BenchRun run;
  run.speeds = known_speeds();
  MatrixResult m = member("", 16, 32, 32, 32);
  m.rows = 25;
  m.cols = 100;
  m.nnz = 1'500'000'000;
  CHECK(matrix_text(m, run).find("on the host") == std::string::npos);
  m.results[0].host_vectors = {30, 29, 31};
  run.matrices = {m};
  // 16 s, 800 bytes of x at 400 a second and 200 of y at 100.
  CHECK(with_copies(m, m.results[0], run.speeds) == Approx(20));
  CHECK(header_text(run).find("\ncopies of pinned memory: 0.0 GB/s to the GPU, 0.0 GB/s back\n") != std::string::npos);
  CHECK(matrix_text(m, run).find("  ccoo/ordered          30000000.029000000.031000000.020000000.0     0.1\n") !=
        std::string::npos);
  const std::string lines = csv_lines(m, run);
  CHECK(lines.find(",30000000,1\n") < lines.find('\n'));
  const nlohmann::json json = nlohmann::json::parse(to_json(run)), &first = json["matrices"][0]["results"][0];
  CHECK(first["host_vectors"]["median"] == Approx(30e6));
  CHECK(first["host_vectors_predicted"] == Approx(20e6));
  CHECK_FALSE(json["matrices"][0]["results"][1].contains("host_vectors"));
  CHECK(json["link"]["to_device"]["gbytes_per_second"] == Approx(400e-9));
  CHECK(json["link"]["from_device"]["gbytes_per_second"] == Approx(100e-9));
}

TEST_CASE("several columns count as often in operations and copies, and have no floors of x") {
  BenchRun run;
  run.speeds = known_speeds();
  MatrixResult m = member("", 16, 32, 32, 32);
  m.rows = 25;
  m.cols = 100;
  m.nnz = 1'000'000'000;
  m.right_hand_sides = run.columns = 8;
  run.matrices = {m};
  CHECK(with_copies(m, m.results[0], run.speeds) == Approx(16 + 8 * 4));
  CHECK(matrix_text(m, run).find("at least") == std::string::npos);
  CHECK(csv_lines(m, run).find(",0,0,,,,8\n") != std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(to_json(run));
  CHECK(json["columns"] == 8);
  CHECK(json["matrices"][0]["l2_floor"].is_null());
  CHECK(json["matrices"][0]["gather_floor"].is_null());
  CHECK(json["matrices"][0]["results"][0]["gflops"] == Approx(1));
  run.columns = 1;
  CHECK_FALSE(nlohmann::json::parse(to_json(run)).contains("columns"));
}

TEST_CASE("a matrix is said to fit the cache of the machine that it ran on, and of no other") {
  BenchRun run;
  run.speeds.copy.median = 1;
  MatrixResult m = member("", 1, 1, 1, 1);
  m.csr_bytes = 35'000'000;
  CHECK(matrix_text(m, run).find("fits") == std::string::npos);
  run.machine.cache = "L2";
  run.machine.cache_bytes = 1'000'000;
  CHECK(matrix_text(m, run).find("fits") == std::string::npos);
  run.machine.cache_bytes = 52'428'800;
  CHECK(matrix_text(m, run).find("nonzeros, fits L2\n") != std::string::npos);
  CHECK(m.l2_resident());  // the suite's groups are the same everywhere
}

}  // namespace
}  // namespace spmvpack::tools
