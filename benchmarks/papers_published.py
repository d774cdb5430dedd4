"""What the five papers print, for benchmarks/papers.py, and the generated matrices that stand for theirs.

ALIAGA    Aliaga, Anzt, Quintana-Ortí, Tomás, Tsai: Balanced and Compressed Coordinate Layout for the Sparse Matrix-Vector
          Product on GPUs, Euro-Par 2020 Workshops
GAO       Gao, Qi, He: Efficient CSR-Based Sparse Matrix-Vector Multiplication on GPU, Mathematical Problems in Engineering
          2016
NAGASAKA  Nagasaka, Nukada, Matsuoka: A Memory Access Reduction Method for GPU Sparse Matrix-Vector Multiplication (in
          Japanese)
KREUTZER  Kreutzer, Hager, Wellein, Fehske, Basermann, Bishop: Sparse matrix-vector multiplication on GPGPU clusters, 2012
BELL      Bell, Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA, NVR-2008-004
"""

import dataclasses

import papers_gao


@dataclasses.dataclass(frozen=True)
class Stand:
    """A generated matrix and the paper's that it stands for; `like`: not of exactly its rows and nonzeros."""
    words: str
    names: tuple
    rows: int
    nonzeros: int
    like: bool = False


# Table 2.
ALIAGA = (
    Stand("convection-diffusion --grid 148x148x58", ("atmosmodd", "atmosmodj"), 1270432, 8814880),
    Stand("convection-diffusion --grid 198x198x38", ("atmosmodl", "atmosmodm"), 1489752, 10319760),
    Stand("laplace2d --grid 1000x1000", ("ecology1",), 1000000, 4996000),
    Stand("laplace2d --grid 1000x1000 --remove-one", ("ecology2",), 999999, 4995991),
    Stand("cage --monomers 14", ("cage14",), 1505785, 27130349),
    Stand("cage --monomers 15", ("cage15",), 5154859, 99199551),
    Stand("kkt --grid 80x80x80", ("nlpkkt80",), 1062400, 28192672),
    Stand("kkt --grid 120x120x120", ("nlpkkt120",), 3542400, 95117792),
    Stand("kkt --grid 160x160x160", ("nlpkkt160",), 8345600, 225422112),
    Stand("kkt --grid 200x200x200", ("nlpkkt200",), 16240000, 440225632),
    Stand("kkt --grid 240x240x240", ("nlpkkt240",), 27993600, 760648352),
)
ALIAGA_MATRICES = 60  # of table 2
# Median speed-ups, sections 3.2 and 3.3: V100, A100.
ALIAGA_SPMV = "1.4 (V100), 1.25 to 1.3 (A100)"
ALIAGA_BICGSTAB = "1.2"

# What stands for matrices of table 1 of GAO, with their speed-ups of IPCSR: papers_gao.py.
GAO = tuple((stand, {value_type: of[stand.names[0]] for value_type, of in papers_gao.SPEEDUPS.items()}) for stand in (
    Stand("full --rows 2000 --cols 2000", ("Dense",), 2000, 4000000),
    Stand("lattice-qcd --sites 8", ("QCD",), 49152, 1916928),
    Stand("epidemic --grid 1025x513", ("Epidemiology",), 525825, 2100225),
    Stand("lp --rows 4284 --cols 1092610 --per-row 2633", ("LP",), 4284, 11279748, like=True),
))
# Section 1 and figure 4: means over all matrices, on a C2050 and a K20c.
GAO_MEANS = {"f32": {"PCSR": (1.76, 1.79), "CUSPARSE": (2.76, 3.52), "CUSP": (1.43, 1.75)},
             "f64": {"PCSR": (1.53, 1.56), "CUSPARSE": (1.98, 2.52), "CUSP": (1.33, 1.62)}}
# Section 5.4 and figure 7: effective bandwidth on a C2050, f32, GB/s: means of all matrices, and the peak.
GAO_BANDWIDTH = {"csr/ipcsr": 119.22, "csr/pcsr": 73.19, "CUSPARSE": 61.64}
GAO_PEAK = 144

# Table 2, f32, MiB (the paper's MB): CSR, yaSpMV, AMB; the reduction rate is over the smaller of the first two.
NAGASAKA = (
    (Stand("laplace2d --grid 1000x1000 --remove-one", ("ecology2",), 999999, 4995991), (41.93, 50.65, 32.78, 21.83)),
    (Stand("convection-diffusion --grid 8x297x301", ("apache2",), 715176, 4817870), (39.49, 48.85, 30.68, 22.31)),
    (Stand("triangles --grid 1025x513", ("parabolic_fem",), 525825, 3674625), (30.04, 30.25, 30.56, -1.72)),
    (Stand("cubic --grid 128x128", ("Dubcova3",), 146689, 3636649), (28.31, 29.06, 22.44, 20.74)),
)
# Of which the paper takes the fastest: b, and threads of a block.
NAGASAKA_BLOCKS = range(1, 9)
NAGASAKA_KERNELS = ("amb/atomic", "amb/atomic32", "amb/atomic64", "amb/atomic128", "amb/atomic512")
NAGASAKA_MATRICES = 40  # by the abstract; its tables have 32 rows, two of which are of six and of four matrices
NAGASAKA_SPEEDUP = "1.77 mean, 2.81 at most"  # over the best of cuSPARSE's CSR, HYB and BSR, K20X, f32

# Section 1.3. Rows and nonzeros to the digits that are printed.
KREUTZER = (
    Stand("holstein-hubbard --sites 6 --electrons 6 --phonons 15", ("HMEp",), 6200000, 15 * 6200000, like=True),
    Stand("adaptive --grid 140x140x140", ("sAMG",), 3400000, 7 * 3400000, like=True),
    Stand("block-mesh --grid 36x36x36 --block 6 --radius 1.83", ("DLR1",), 278502, 144 * 278502, like=True),
    Stand("block-mesh --grid 48x48x47 --block 5 --radius 2.48", ("DLR2",), 541980, 315 * 541980, like=True),
    Stand("block-mesh --grid 100x100x90 --block 5 --radius 1.82", ("UHBR",), 4500000, 123 * 4500000, like=True),
)
# Section 2.2: nonzeros per row below which copies dominate (3), from which they are a tenth (4), by alpha and the ratio of
# the bandwidths.
KREUTZER_LIMITS = (("(3)", 1, "1/N_nzr", 20, 25), ("(3)", 1, 1, 10, 7), ("(4)", 10, 1, 10, 80),
                   ("(4)", 10, "1/N_nzr", 20, 266))
# Section 3, C2050 with ECC, f64: GF/s with the copies, and without them where the text has it.
KREUTZER_GFLOPS = {"HMEp": (3.7, None), "sAMG": (2.3, None), "DLR1": (10.9, 12.9)}
KREUTZER_REDUCTION = "up to 70 %"
KREUTZER_OVER_ELLPACK_R = "95 to 130 %"  # the abstract, of pJDS
KREUTZER_SCALING = ("DLR1-like", "UHBR-like")  # figure 5, in docs/bench/petsc_scaling_4_h200.json

# Structured grids; the sizes are ours, as the text here has none.
BELL = (
    Stand("laplace2d --grid 1000x1000", ("5 points",), 0, 0, like=True),
    Stand("convection-diffusion --grid 100x100x100", ("7 points",), 0, 0, like=True),
    Stand("hpcg --grid 100x100x100", ("27 points",), 0, 0, like=True),
)
BELL_GFLOPS = {"f32": "36 (structured grids)", "f64": "16 (structured grids)"}
BELL_BANDWIDTH = "about 90 GB/s, 63.5 % of the peak"  # of which kernel and matrices, the text here does not say

# GB/s of memory by the data sheets.
PEAKS = {"NVIDIA H200": 4800}

NOT_COMPARED = {
    "clSpMV": "no package of it",
    "yaSpMV": "no package of it",
    "CSR5": "no package of it",
    "CSR-Adaptive": "in ViennaCL, as `compressed_matrix_vec_mul_adaptive_kernel`; not tried",
    "CUSP": "no package of it; its six kernels are ours of the same names: coo, csr/scalar, csr/vector, dia, ell, hyb",
    "HYB of cuSPARSE": "no longer in cuSPARSE",
}
