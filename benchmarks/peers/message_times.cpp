// What messages between two processes take: half of a round trip, by MPI, for sizes on both sides of the eager limit.
// The numbers behind `report --ranks --link --latency` (docs/PETSC.md, "Many ranks").
//
//     mpiexec -n 2 message_times
//
// Prints a line for each size: bytes, microseconds (the median of 9 runs, of as many messages as take some
// milliseconds), and 10^9 bytes a second.

// Not the C++ bindings, which need a library of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace {

constexpr int runs = 9, tag = 7;

/// Seconds of half a round trip.
double half_round_trip(std::vector<char>& buffer, int bytes, int messages, int rank) {
  const int other = 1 - rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < messages; ++i) {
    if (rank == 0) MPI_Send(buffer.data(), bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer.data(), bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / (2.0 * messages);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    if (rank == 0) std::fprintf(stderr, "message_times: run it on 2 ranks: mpiexec -n 2 message_times\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  constexpr int largest = 1 << 24, small = 1 << 16, many = 2000, few = 20;
  std::vector<char> buffer(largest, 1);
  if (rank == 0) std::printf("%10s %12s %10s\n", "bytes", "us", "GB/s");
  for (const int bytes : {8, 64, 512, 2048, 4096, 8192, 32768, 65536, 262144, 1048576, 4194304, largest}) {
    const int messages = bytes <= small ? many : few;
    half_round_trip(buffer, bytes, messages, rank);  // warm
    std::array<double, runs> seconds{};
    for (double& s : seconds) s = half_round_trip(buffer, bytes, messages, rank);
    std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
    const double median = seconds[runs / 2];
    if (rank == 0) std::printf("%10d %12.3f %10.3f\n", bytes, 1e6 * median, 1e-9 * bytes / median);
  }
  MPI_Finalize();
  return 0;
}
