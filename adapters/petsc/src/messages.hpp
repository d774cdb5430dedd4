#pragma once
// Elements of x from GPU to GPU, beside a multiply: the exchange of mode task. Knows MPI and CUDA, and nothing of
// PETSc.
//
// A kernel gathers what others need, on the stream on which x is. The rest is done beside what that stream does next,
// by a stream of its own, in one of three ways:
// - peer: copies into the others' memory, which they have opened to all processes of the host (CUDA's IPC). Messages
//   of MPI without contents say when it is there.
// - device: MPI sends from, and receives in, the memory of GPUs.
// - staged: MPI sends from, and receives in, memory of the host, and copies go to and fro.

// C's functions alone, as PETSc has it: those of C++ are a library of their own.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::petsc {

enum class Way { peer, device, staged };
constexpr const char* way_names[] = {"peer", "device", "staged"};

/// What one other rank sends, or is sent: so many elements.
struct Part {
  int rank = 0;
  std::size_t count = 0;
};

/// Their order is that of the parts, one after the other.
struct MessagePlan {
  std::vector<Part> sent, received;
  std::vector<int> indices;  ///< of this rank's x: what is sent
};

class Messages {
 public:
  /// Allocates. Errors: out_of_memory, no_device.
  explicit Messages(MessagePlan plan);
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  /// Waits for nobody. Memory that others may still write to is kept until they say that they do not.
  ~Messages();
  /// Takes a way, the same on all ranks: the last in the order of Way that one of them has `wanted`, or where a rank
  /// cannot reach another's memory, `otherwise`. `tag` is for this alone. To be called once, before all else.
  /// Collective.
  void connect(std::shared_ptr<const MPI_Comm> comm, int tag, Way wanted, Way otherwise);
  [[nodiscard]] Way way() const noexcept;

  /// Sends this rank's elements of x, which is on the device or not, without waiting. Others take it that the stream
  /// has read what came before the last time: with another stream than then, the caller waits for that first.
  void begin(const double* x, bool on_device, gpu_loader::Stream stream);
  /// Waits until all have come, and makes the stream wait. x may be changed from here on. Whoever has begun has to end,
  /// whether begin() has thrown or not: others wait for it. Returns which of two buffers has the elements now: what the
  /// stream does with it has to be given to it before the next begin().
  int end(gpu_loader::Stream stream);
  [[nodiscard]] const double* received(int which) const noexcept;

  /// Lets go of everything that is kept for others. To be called when MPI is about to end.
  static void release() noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> here_;
};

}  // namespace spmvpack::petsc
