import os

from spack.package import *


class Spmvpack(CMakePackage, CudaPackage):
    """Compresses sparse matrices, losslessly, into layouts that multiplies on GPUs and CPUs read in place."""

    # The checkout that this file is in: spack repo add packaging/spack && spack install spmvpack
    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *(4 * [os.pardir])))

    license("Apache-2.0")

    version("main", branch="main")

    variant("shared", default=True, description="Build shared libraries")
    variant("metis", default=True, description="Cut packets, and matrices for ranks, with METIS")
    variant("petsc", default=False, description="Build the plug-in for PETSc")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74: +program_options")
    depends_on("fast-float")
    depends_on("fmt")
    depends_on("isa-l")
    depends_on("libarchive")
    depends_on("nlohmann-json@3:")
    depends_on("xxhash")
    depends_on("xz@5.2.7:")
    depends_on("zstd")
    depends_on("cuda@12:", when="+cuda")
    depends_on("metis@5:", when="+metis")
    depends_on("petsc", when="+petsc")

    conflicts("%gcc@:11", msg="spmvpack needs GCC 12 or Clang 14")
    conflicts("%clang@:13", msg="spmvpack needs GCC 12 or Clang 14")
    conflicts("platform=darwin")
    conflicts("platform=windows")
    for arch in CudaPackage.cuda_arch_values:
        if int("".join(c for c in arch if c.isdigit())) < 80:
            conflicts(f"cuda_arch={arch}", when="+cuda", msg="spmvpack needs GPUs of compute capability 8.0 or newer")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("SPMVPACK_CUDA", "cuda"),
            self.define_from_variant("SPMVPACK_METIS", "metis"),
            self.define_from_variant("SPMVPACK_PETSC", "petsc"),
            self.define("SPMVPACK_EXAMPLES", False),
            self.define("SPMVPACK_HYPRE", False),
            self.define("SPMVPACK_TESTS", False),
            self.define("SPMVPACK_TRILINOS", False),
        ]
        if self.spec.satisfies("+cuda"):
            chosen = self.spec.variants["cuda_arch"].value
            args.append(
                self.define("SPMVPACK_CUDA_ARCHITECTURES", "all")
                if "none" in chosen
                else self.define("CMAKE_CUDA_ARCHITECTURES", chosen)
            )
        return args
