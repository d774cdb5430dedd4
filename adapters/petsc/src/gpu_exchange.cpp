// The exchange of mode task between GPUs: the messages of a PetscSF, sent by Messages beside what PETSc's stream does.

#include <cuda_runtime_api.h>
#include <petscdevice.h>

#include <algorithm>

#include "errors.hpp"
#include "exchange.hpp"
#include "messages.hpp"
#include "modes.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

PetscErrorCode plan_of(PetscSF sf, MessagePlan* plan) {
  PetscMPIInt others = 0;
  const PetscMPIInt* ranks = nullptr;
  const PetscInt *offsets = nullptr, *own = nullptr, *theirs = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscSFGetLeafRanks(sf, &others, &ranks, &offsets, &own));
  PetscCall(guarded([&] {
    for (PetscMPIInt k = 0; k < others; ++k)
      if (offsets[k + 1] > offsets[k])
        plan->sent.push_back({static_cast<int>(ranks[k]), static_cast<std::size_t>(offsets[k + 1] - offsets[k])});
    if (others > 0) plan->indices.assign(own, own + offsets[others]);
  }));
  PetscCall(PetscSFGetRootRanks(sf, &others, &ranks, &offsets, &own, &theirs));
  // Columns of the off-diagonal block ascend, and so do those that a rank has.
  std::vector<std::pair<PetscInt, Part>> received;
  for (PetscMPIInt k = 0; k < others; ++k) {
    const PetscInt count = offsets[k + 1] - offsets[k];
    for (PetscInt i = 1; i < count; ++i)
      PetscCheck(own[offsets[k] + i] == own[offsets[k]] + i, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "spmvpack: elements of rank %d do not follow one another", static_cast<int>(ranks[k]));
    if (count == 0) continue;
    PetscCall(guarded([&] {
      received.push_back({own[offsets[k]], {static_cast<int>(ranks[k]), static_cast<std::size_t>(count)}});
    }));
  }
  std::sort(received.begin(), received.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  PetscCall(guarded([&] {
    for (const auto& [first, part] : received) plan->received.push_back(part);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class OnGpu : public GpuExchange {
 public:
  OnGpu() = default;
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() override {
    for (Vec& v : received_) (void)VecDestroy(&v);
  }
  /// What may fail on one rank alone.
  PetscErrorCode prepare(PetscSF sf, PetscInt ghosts) {
    MessagePlan plan;
    PetscFunctionBegin;
    PetscCall(plan_of(sf, &plan));
    PetscCall(guarded([&] { messages_.emplace(std::move(plan)); }));
    for (int k = 0; k < 2; ++k)
      PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, ghosts, messages_->received(k), &received_[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// With PETSc's communicator, which all matrices share, and a tag of its own.
  PetscErrorCode connect(Mat a, Way wanted, Way otherwise) {
    MPI_Comm comm = MPI_COMM_NULL;
    PetscMPIInt tag = 0;
    PetscFunctionBegin;
    PetscCall(PetscCommDuplicate(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &comm, &tag));
    PetscCall(guarded([&] {
      const auto destroy = [](MPI_Comm* c) {
        (void)PetscCommDestroy(c);
        delete c;  // NOLINT(cppcoreguidelines-owning-memory)
      };
      messages_->connect(std::shared_ptr<MPI_Comm>(new MPI_Comm(comm), destroy), tag, wanted, otherwise);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode begin(Vec x) override {
    const PetscScalar* from = nullptr;
    PetscMemType place = PETSC_MEMTYPE_HOST;
    gpu_loader::Stream stream = nullptr;
    PetscFunctionBegin;
    PetscCall(current_stream(&stream));
    PetscCall(VecGetArrayReadAndMemType(x, &from, &place));
    PetscCall(guarded([&] { messages_->begin(from, PetscMemTypeDevice(place), stream); }));
    PetscCall(VecRestoreArrayReadAndMemType(x, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode end(Vec* received) override {
    gpu_loader::Stream stream = nullptr;
    PetscFunctionBegin;
    const PetscErrorCode error = current_stream(&stream);
    int which = 0;
    PetscCall(guarded([&] { which = messages_->end(stream); }));
    PetscCall(error);
    // The vector does not see what others write, and may have a copy on the host.
    PetscScalar* array = nullptr;
    PetscMemType place = PETSC_MEMTYPE_HOST;
    PetscCall(VecGetArrayWriteAndMemType(received_[which], &array, &place));
    PetscCall(VecRestoreArrayWriteAndMemType(received_[which], &array));
    *received = received_[which];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  [[nodiscard]] const char* way() const noexcept override { return way_names[static_cast<int>(messages_->way())]; }

 private:
  std::optional<Messages> messages_;
  Vec received_[2] = {};
};

/// The option -mat_spmvpack_way, and what is taken where others' memory cannot be reached: what PETSc does.
PetscErrorCode read_way(Mat a, Way* way, Way* otherwise) {
  PetscBool aware = PETSC_TRUE;
  PetscInt wanted = 0;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-use_gpu_aware_mpi", &aware, nullptr));
  PetscObjectOptionsBegin(reinterpret_cast<PetscObject>(a));
  PetscCall(PetscOptionsEList("-mat_spmvpack_way", "How elements go from GPU to GPU in mode task", "", way_names, 3,
                              way_names[0], &wanted, nullptr));
  PetscOptionsEnd();
  *way = static_cast<Way>(wanted);
  *otherwise = aware != PETSC_FALSE ? Way::device : Way::staged;
  if (*way == Way::device) *way = *otherwise;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode wait_for_gpu() {
  PetscFunctionBegin;
  const cudaError_t status = cudaDeviceSynchronize();
  PetscCheck(status == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "spmvpack: waiting for the GPU: %s",
             cudaGetErrorString(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode begin_on_stream(Streams* streams, bool keeps_first) {
  gpu_loader::Stream now = nullptr;
  PetscFunctionBegin;
  PetscCall(current_stream(&now));
  if (!streams->used || !keeps_first) streams->first = now;
  const bool same = !streams->used || (streams->last == now && streams->first == now);
  streams->used = true;
  streams->last = now;
  if (!same) PetscCall(wait_for_gpu());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode end_on_stream(const Streams& streams) {
  PetscFunctionBegin;
  if (streams.last != streams.first) PetscCall(wait_for_gpu());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode release_gpu_exchanges() {
  PetscFunctionBegin;
  Messages::release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_gpu_exchange(Mat a, PetscSF sf, std::unique_ptr<GpuExchange>* exchange) {
  PetscBool is_aijcusparse = PETSC_FALSE;
  PetscInt ghosts = 0;
  Way way = Way::peer, otherwise = Way::staged;
  std::unique_ptr<OnGpu> made;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(a), MATMPIAIJCUSPARSE, &is_aijcusparse));
  if (is_aijcusparse == PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFGetGraph(sf, nullptr, &ghosts, nullptr, nullptr));
  PetscCall(guarded([&] { made = std::make_unique<OnGpu>(); }));
  PetscCall(agree(a, made->prepare(sf, ghosts)));
  PetscCall(agree(a, read_way(a, &way, &otherwise)));
  PetscCall(agree(a, made->connect(a, way, otherwise)));
  *exchange = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
