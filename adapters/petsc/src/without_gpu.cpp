// The names of the types on a GPU, where they cannot be had.

#include "exchange.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

#if !defined(PETSC_HAVE_CUDA)
constexpr const char* reason = "this PETSc is built without CUDA; build PETSc with CUDA, and the plug-in for it";
#elif !PETSC_VERSION_GE(3, 26, 0)
constexpr const char* reason = "they need PETSc 3.26 or newer; build the plug-in for that";
#else
constexpr const char* reason = "this plug-in is built without CUDA; build it with CUDA";
#endif

PetscErrorCode refuse(Mat /*a*/) {
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "spmvpack: there are no matrices on a GPU, as %s, or use %s", reason,
          root_type);
}

}  // namespace

PetscErrorCode register_gpu_types() {
  PetscBool every = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatRegister(gpu_seq_type, refuse));
  PetscCall(MatRegister(gpu_mpi_type, refuse));
  PetscCall(MatRegisterRootName(gpu_root_type, gpu_seq_type, gpu_mpi_type));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-mat_spmvpack_aijcusparse", &every, nullptr));
  if (every != PETSC_FALSE) PetscCall(refuse(nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode begin_on_stream(Streams* /*streams*/, bool /*keeps_first*/) { return PETSC_SUCCESS; }
PetscErrorCode end_on_stream(const Streams& /*streams*/) { return PETSC_SUCCESS; }

PetscErrorCode make_gpu_exchange(Mat /*a*/, PetscSF /*sf*/, std::unique_ptr<GpuExchange>* exchange) {
  PetscFunctionBegin;
  exchange->reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
