#!/usr/bin/env python3
"""The generated matrices have the properties of what they stand for, judged by NumPy and SciPy. Their bits are frozen in
tests/generators/generator_digests_test.cpp; that text, containers and memory agree is seen in generators_test.cpp."""

import collections
import functools
import gzip
import io
import itertools
import json
import math
import os
import pathlib
import tempfile
import unittest

import test_support
from test_support import layouts_for, needs_command, spmvpack

import numpy as np
import scipy.io
import scipy.sparse as sp

def grid(*sides):
    return "x".join(map(str, sides))


def generate(*words, banner="real general"):
    text = spmvpack("generate", *words, "-o", "-")
    lines = text[:200].decode().splitlines()
    assert lines[0] == "%%MatrixMarket matrix coordinate " + banner, lines[0]
    assert lines[1] == "% spmvpack generate " + " ".join(map(str, words)), lines[1]
    return scipy.io.mmread(io.BytesIO(text)).tocsr()


def distinct(a, lower=True):
    """The share of different values among the entries (on and below the diagonal)."""
    data = (sp.tril(a) if lower else a).tocoo().data
    return len(np.unique(data)) / len(data)


def same_pattern(a, b):
    a, b = a.tocsr().copy(), b.tocsr().copy()
    a.sort_indices(), b.sort_indices()
    return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def smallest_eigenvalue(a):
    return np.linalg.eigvalsh(a.toarray())[0]


def three_wide(n):
    return sp.diags([np.ones(n - 1), np.ones(n), np.ones(n - 1)], [-1, 0, 1]) if n > 1 else sp.eye(1)


def box27(nx, ny, nz):
    return (27 * sp.eye(nx * ny * nz) - sp.kron(three_wide(nz), sp.kron(three_wide(ny), three_wide(nx)))).tocsr()


class Laplace(unittest.TestCase):
    @needs_command
    def test_coefficients(self):
        for words in (["--coefficients", "random", "--seed", 5], ["--coefficients", "blocks:3"]):
            a = generate("laplace2d", "--grid", "13x9", *words)
            self.assertTrue(same_pattern(a, generate("laplace2d", "--grid", "13x9")))
            self.assertEqual((a != a.T).nnz, 0)
            self.assertGreater(smallest_eigenvalue(a), 0)
            inner = np.zeros((9, 13), bool)
            inner[1:-1, 1:-1] = True
            self.assertLess(abs(a.sum(axis=1).A1[inner.ravel()]).max(), 1e-14)
        self.assertGreater(distinct(generate("laplace2d", "--grid", "60x50", "--coefficients", "random")), 0.99)
        # Within a block all is equal; elsewhere it differs.
        a = generate("laplace2d", "--grid", "30x30", "--coefficients", "blocks:10").toarray()
        self.assertEqual(a[124, 124], a[155, 155])
        self.assertEqual(a[124, 125], a[155, 154])
        self.assertEqual(len({a[k, k] for k in (155, 165, 175, 455, 465, 475)}), 6)

    @needs_command
    def test_random_convection_diffusion_has_all_values_different(self):
        for sides in ((16, 12, 10), (60, 50, 1)):
            a = generate("convection-diffusion", "--grid", grid(*sides), "--variable")
            b = generate("convection-diffusion", "--grid", grid(*sides), "--coefficients", "random")
            self.assertEqual((a != b).nnz, 0)
            self.assertGreater(distinct(a, lower=False), 0.99)
        local = generate("convection-diffusion", "--grid", "32x32x32", "--coefficients", "blocks:8")
        self.assertLess(distinct(local, lower=False), 0.05)
        self.assertGreater(len(np.unique(local.data)), 64 * 7)


class Box(unittest.TestCase):
    @needs_command
    def test_hpcg(self):
        for sides in ((1, 1, 1), (1, 4, 1), (3, 3, 3), (7, 2, 5)):
            a = generate("hpcg", "--grid", grid(*sides), banner="real symmetric")
            self.assertEqual(abs(a - box27(*sides)).max(), 0)
            self.assertEqual(a.nnz, np.prod([3 * n - 2 for n in sides]))

    @needs_command
    def test_hpcg_with_coefficients(self):
        for coefficients in ("random", "blocks:2"):
            a = generate("hpcg", "--grid", "6x5x7", "--coefficients", coefficients, banner="real symmetric")
            self.assertTrue(same_pattern(a, box27(6, 5, 7)))
            self.assertEqual((a != a.T).nnz, 0)
            self.assertGreater(smallest_eigenvalue(a), 0)
            sums = a.sum(axis=1).A1.reshape(7, 5, 6)
            self.assertLess(abs(sums[1:-1, 1:-1, 1:-1]).max(), 1e-12)
            self.assertGreater(sums[0].min(), 1)
        a = generate("hpcg", "--grid", "12x12x12", "--coefficients", "random", banner="real symmetric")
        self.assertGreater(distinct(a), 0.99)

    @needs_command
    def test_kkt(self):
        for sides in ((1, 1, 1), (2, 3, 1), (4, 3, 5), (5, 5, 5)):
            for coefficients in ([], ["--coefficients", "random", "--seed", 9], ["--coefficients", "blocks:2"]):
                self.check_kkt(sides, coefficients)
        a = generate("kkt", "--grid", "8x9x10", "--coefficients", "random", banner="real symmetric")
        self.assertGreater(distinct(a), 0.99)

    def check_kkt(self, sides, coefficients):
        a = generate("kkt", "--grid", grid(*sides), *coefficients, banner="real symmetric")
        self.assertEqual((a != a.T).nnz, 0)
        nx, ny, nz = sides
        n, m = nx * ny * nz, 2 * (nx * ny + ny * nz + nz * nx)
        self.assertEqual(a.shape[0], 2 * n + m)
        faces = 2 * sum((3 * p - 2) * (3 * q - 2) for p, q in itertools.combinations(sides, 2))
        self.assertEqual(a.nnz, 2 * np.prod([3 * s - 2 for s in sides]) + 2 * faces + n + m)
        states, controls, multipliers = np.split(np.arange(2 * n + m), [n, n + m])
        block = lambda rows, columns: a[rows][:, columns]
        for rows, columns in ((states, controls), (multipliers, multipliers)):
            self.assertEqual(block(rows, columns).nnz, 0)
        for diagonal in (block(states, states), block(controls, controls)):
            self.assertTrue(same_pattern(diagonal, sp.eye(diagonal.shape[0])))
            self.assertGreater(diagonal.data.min(), 0)
        # A and B are what the operator on a box with one more layer all around has in the rows of the inner cells.
        large = box27(nx + 2, ny + 2, nz + 2)
        number = np.arange((nx + 2) * (ny + 2) * (nz + 2)).reshape(nz + 2, ny + 2, nx + 2)
        inside = number[1:-1, 1:-1, 1:-1].ravel()
        ghosts = np.concatenate([face.ravel() for face in (
            number[1:-1, 1:-1, 0], number[1:-1, 1:-1, -1], number[1:-1, 0, 1:-1], number[1:-1, -1, 1:-1],
            number[0, 1:-1, 1:-1], number[-1, 1:-1, 1:-1])])
        operator, control = block(multipliers, states), block(multipliers, controls)
        if not coefficients:
            self.assertEqual(abs(operator - large[inside][:, inside]).max(), 0)
            self.assertEqual(abs(control - large[inside][:, ghosts]).max(), 0)
        self.assertTrue(same_pattern(operator, large[inside][:, inside]))
        self.assertTrue(same_pattern(control, large[inside][:, ghosts]))
        # Transport keeps what it moves: columns of inner cells add up to 0. The values outside act on nothing inside.
        sums = operator.sum(axis=0).A1.reshape(nz, ny, nx)
        if min(sides) > 2:
            self.assertLess(abs(sums[1:-1, 1:-1, 1:-1]).max(), 1e-12)
        eigenvalues = np.linalg.eigvalsh(a.toarray())
        self.assertEqual(((eigenvalues > 1e-9).sum(), (eigenvalues < -1e-9).sum()), (n + m, n))


class Elasticity(unittest.TestCase):
    @needs_command
    def test_shape(self):
        for sides in ((1, 2, 2), (3, 4, 2)):
            for words in ([], ["--materials", "random", "--mesh", "jittered", "--seed", 4], ["--materials", "blocks:2"]):
                a = generate("elasticity", "--grid", grid(*sides), *words, banner="real symmetric")
                self.assertEqual(a.shape[0], 3 * np.prod(sides))
                self.assertEqual(a.nnz, 9 * np.prod([3 * n - 2 for n in sides]))
                self.assertEqual((a != a.T).nnz, 0)
                self.assertGreater(smallest_eigenvalue(a), 1e-4)

    @needs_command
    def test_stretched_body_pulls_as_hooke_says(self):
        """The strain (1, 0, 0) has the stress (c11, c12, c12), whatever the mesh: no force inside, and on a face its area
        times its stress."""
        nx, ny, nz = 4, 3, 5
        a = generate("elasticity", "--grid", grid(nx, ny, nz), banner="real symmetric")
        x = np.tile(np.arange(1, nx + 1), ny * nz)  # nodes at x = 0 are clamped, and not in the matrix
        forces = (a @ np.stack([x, 0 * x, 0 * x], axis=1).ravel()).reshape(nz, ny, nx, 3)
        poisson = 0.3
        c11, c12 = np.array([1 - poisson, poisson]) / ((1 + poisson) * (1 - 2 * poisson))
        self.assertLess(abs(forces[1:-1, 1:-1, :-1]).max(), 1e-13)
        self.assertLess(abs(forces[:, :, :-1, 0]).max(), 1e-13)
        self.assertAlmostEqual(forces[:, :, -1, 0].sum(), c11 * (ny - 1) * (nz - 1), 12)
        # Of the side faces, the strip of half an element beside the clamp belongs to the clamped nodes.
        self.assertAlmostEqual(forces[:, -1, :, 1].sum(), c12 * (nx - 0.5) * (nz - 1), 12)
        self.assertAlmostEqual(forces[-1, :, :, 2].sum(), c12 * (nx - 0.5) * (ny - 1), 12)

    @needs_command
    def test_moved_nodes_feel_no_force_when_all_move_alike(self):
        a = generate("elasticity", "--grid", "5x4x4", "--materials", "random", "--mesh", "jittered", banner="real symmetric")
        away_from_the_clamp = np.tile(np.repeat(np.arange(5) >= 1, 3), 16)
        for axis in range(3):
            self.assertLess(abs(a @ np.tile(np.eye(3)[axis], 80))[away_from_the_clamp].max(), 1e-13)

    @needs_command
    def test_rigid_bodies_feel_no_force(self):
        a = generate("elasticity", "--grid", "6x5x4", "--materials", "random", banner="real symmetric")
        z, y, x = (c.ravel() for c in np.meshgrid(np.arange(4), np.arange(5), np.arange(6), indexing="ij"))
        zero, one = np.zeros(120), np.ones(120)
        modes = [(one, zero, zero), (zero, one, zero), (zero, zero, one), (-y, x, zero), (zero, -z, y), (z, zero, -x)]
        away_from_the_clamp = np.repeat(x >= 1, 3)
        for mode in modes:
            forces = a @ np.stack(mode, axis=1).ravel()
            self.assertLess(abs(forces[away_from_the_clamp]).max(), 1e-13)
            self.assertGreater(abs(forces[~away_from_the_clamp]).max(), 1e-3)

    @needs_command
    def test_values(self):
        words = ["elasticity", "--grid", "8x8x8"]
        constant = generate(*words, banner="real symmetric")
        self.assertLess(len(np.unique(constant.data)), 150)
        jittered = generate(*words, "--materials", "random", "--mesh", "jittered", banner="real symmetric")
        self.assertGreater(distinct(jittered), 0.99)
        self.assertEqual((jittered.data == 0).sum(), 0)
        local = generate(*words, "--materials", "blocks:4", banner="real symmetric")
        self.assertLess(len(np.unique(local.data)), 0.2 * local.nnz)
        self.assertGreater(len(np.unique(local.data)), 8 * len(np.unique(constant.data)))


class Triangles(unittest.TestCase):
    @needs_command
    def test_shape(self):
        for nx, ny in ((1, 1), (5, 1), (7, 6)):
            for words in (["--mesh", "uniform"], ["--seed", 3], ["--coefficients", "random"]):
                a = generate("triangles", "--grid", grid(nx, ny), *words, banner="real symmetric")
                self.assertEqual(a.nnz, nx * ny + 2 * ((nx - 1) * ny + nx * (ny - 1) + (nx - 1) * (ny - 1)))
                self.assertEqual((a != a.T).nnz, 0)
                self.assertGreater(smallest_eigenvalue(a), 0.01)

    @needs_command
    def test_flux(self):
        """A constant has no flux, and on a uniform mesh nor has the divergence of a slope, but beside the boundary, whose
        nodes are not in the matrix. Equilateral triangles have -1 / tan(60 degrees) on each edge between two of them."""
        nx, ny = 9, 8
        y, x = np.mgrid[:ny, :nx]
        inner = np.zeros((ny, nx), bool)
        inner[1:-1, 1:-1] = True
        inner = inner.ravel()
        uniform = generate("triangles", "--grid", grid(nx, ny), "--mesh", "uniform", banner="real symmetric")
        for slope in (x + 0.5 * y, 0.75**0.5 * y):
            self.assertLess(abs(uniform @ slope.ravel())[inner].max(), 1e-13)
        edges = -(3**-0.5)
        self.assertLess(abs(uniform.diagonal() + 6 * edges).max(), 1e-14)
        off_diagonal = uniform.tocoo()
        off_diagonal = off_diagonal.data[off_diagonal.row != off_diagonal.col]
        self.assertLess(abs(off_diagonal - edges).max(), 1e-14)
        for words in ([], ["--coefficients", "random"], ["--coefficients", "blocks:3", "--mesh", "uniform"]):
            a = generate("triangles", "--grid", grid(nx, ny), *words, banner="real symmetric")
            self.assertLess(abs(a.sum(axis=1).A1[inner]).max(), 1e-13)

    @needs_command
    def test_values(self):
        uniform = generate("triangles", "--grid", "9x9", "--mesh", "uniform", banner="real symmetric")
        self.assertEqual(len(np.unique(uniform.data)), 2)
        self.assertGreater(distinct(generate("triangles", "--grid", "50x40", banner="real symmetric")), 0.99)
        local = generate("triangles", "--grid", "64x64", "--coefficients", "blocks:8", "--mesh", "uniform",
                         banner="real symmetric")
        self.assertLess(len(np.unique(local.data)), 0.1 * local.nnz)
        self.assertGreater(len(np.unique(local.data)), 64)

    @needs_command
    def test_numberings(self):
        nx, ny = 40, 30
        natural = generate("triangles", "--grid", "40x30", banner="real symmetric").tocoo()
        bandwidth = {}
        for numbering in ("random", "shuffled:64", "rcm"):
            a = generate("triangles", "--grid", "40x30", "--numbering", numbering, banner="real symmetric").tocoo()
            # The same matrix but for the order: diagonals are all different, which gives the order away.
            place = {value: row for row, value in enumerate(a.diagonal())}
            self.assertEqual(len(place), nx * ny)
            order = np.array([place.get(v, -1) for v in sp.csr_matrix(natural).diagonal()])
            missing = order < 0  # sums in another order may differ in the last bit
            self.assertLess(missing.sum(), nx * ny // 2)
            known = ~missing
            b = a.tocsr()[order[known]][:, order[known]]
            self.assertLess(abs(b - natural.tocsr()[known][:, known]).max(), 1e-13)
            self.assertTrue(np.array_equal(np.sort(np.diff(a.tocsr().indptr)), np.sort(np.diff(natural.tocsr().indptr))))
            bandwidth[numbering] = abs(a.row - a.col).max()
            if numbering.startswith("shuffled"):
                self.assertTrue((order[known] // 64 == np.flatnonzero(known) // 64).all())
                self.assertGreater((order != np.arange(nx * ny)).mean(), 0.9)
        self.assertGreater(bandwidth["random"], 0.9 * nx * ny)
        self.assertLessEqual(bandwidth["shuffled:64"], 41 + 2 * 64)
        self.assertLessEqual(bandwidth["rcm"], 70)


class Graphs(unittest.TestCase):
    @needs_command
    def test_circuit(self):
        for words in ([], ["--coefficients", "constant"], ["--coefficients", "blocks:64"], ["--seed", 77]):
            for rows in (2, 40, 3000):
                a = generate("circuit", "--rows", rows, *words)
                self.assertTrue(same_pattern(a, a.T))
                self.assertLess(abs(a.sum(axis=0).A1 - 2.0**-10).max(), 1e-11 * abs(a).max())
                self.assertGreater(a.diagonal().min(), 0)
                self.assertLess((a - sp.diags(a.diagonal())).max(), 1e-300)
                if words == ["--coefficients", "constant"]:
                    self.assertEqual((a != a.T).nnz, 0)
                else:
                    self.assertGreater((a != a.T).nnz, 0)
                self.assertEqual(np.linalg.matrix_rank(a.toarray()) if rows < 100 else rows, rows)

    @needs_command
    def test_circuit_rows(self):
        rows = 200000
        a = generate("circuit", "--rows", rows)
        lengths = np.diff(a.indptr)
        self.assertTrue(5 < lengths.mean() < 6.2, lengths.mean())
        self.assertTrue(18000 < lengths.max() < 20000, lengths.max())
        self.assertEqual((lengths > 2500).sum(), 1)
        self.assertLess(np.median(lengths), 6)
        # A power law: the share of longer rows falls by 10^(4/3) = 22 from 20 to 200 and by as much to 1,000 / 5.
        for k in (20, 100):
            ratio = (lengths > k).sum() / (lengths > 4 * k).sum()
            self.assertTrue(4 < ratio < 12, (k, ratio))  # 4^(4/3) = 6.3
        self.assertGreater(distinct(a, lower=False), 0.99)
        distances = abs(a.tocoo().row - a.tocoo().col)
        self.assertTrue(0.2 < (distances < 400).mean() < 0.8)
        local = generate("circuit", "--rows", 20000, "--coefficients", "blocks:1000")
        self.assertLess(len(np.unique(local.data)), 0.3 * local.nnz)
        off_diagonal = local - sp.diags(local.diagonal())
        off_diagonal.eliminate_zeros()
        self.assertLessEqual(len(np.unique(off_diagonal.data)), 20 * 8 * 2)

    @needs_command
    def test_rmat(self):
        scale, factor = 14, 12
        words = ["rmat", "--scale", scale, "--edge-factor", factor]
        random = generate(*words, banner="pattern general")
        natural = generate(*words, "--numbering", "natural", banner="pattern general")
        n = 2**scale
        for a in (random, natural):
            self.assertEqual(a.shape, (n, n))
            self.assertTrue((a.data == 1).all())
            self.assertEqual(a.diagonal().sum(), 0)
            self.assertTrue(0.6 * factor * n < a.nnz < factor * n)
            lengths = np.sort(np.diff(a.indptr))[::-1]
            self.assertGreater(lengths[0], 30 * lengths.mean())  # heavy-tailed
            self.assertGreater(lengths[: n // 100].sum(), 0.15 * a.nnz)
            self.assertGreater((lengths == 0).mean(), 0.1)
        # Only the numbers differ.
        self.assertTrue(np.array_equal(np.sort(np.diff(random.indptr)), np.sort(np.diff(natural.indptr))))
        self.assertTrue(np.array_equal(np.sort(random.sum(axis=0).A1), np.sort(natural.sum(axis=0).A1)))
        quadrants = lambda a: [a[i:i + n // 2, j:j + n // 2].nnz / a.nnz for i in (0, n // 2) for j in (0, n // 2)]
        for share, expected in zip(quadrants(random), [0.25] * 4):
            self.assertLess(abs(share - expected), 0.03)
        # Repeated edges, which count once, are most frequent in the dense quadrant.
        for share, expected in zip(quadrants(natural), (0.57, 0.19, 0.19, 0.05)):
            self.assertLess(abs(share - expected), 0.06)
        self.assertEqual(generate("rmat", "--scale", 5, banner="pattern general").shape, (32, 32))

    @needs_command
    def test_logdist(self):
        for rows, per_row in ((2, 17), (100, 5), (3000, 17), (4096, 40)):
            a = generate("logdist", "--rows", rows, "--per-row", per_row)
            self.assertTrue(same_pattern(a, a.T))
            self.assertTrue((a.sum(axis=0).A1 == 1).all())
            self.assertGreaterEqual(a.diagonal().min(), 0.5)
            self.assertGreater(a.data.min(), 0)
        rows = 1 << 17
        a = generate("logdist", "--rows", rows)
        self.assertTrue(15 < a.nnz / rows < 17.5, a.nnz / rows)
        self.assertGreater((a != a.T).nnz, a.nnz / 2)
        coo = a.tocoo()
        self.assertEqual(len(np.unique(coo.data[coo.row != coo.col])), 8)
        self.assertLess(len(np.unique(coo.data)), 256)
        distances = abs(coo.row - coo.col)
        octaves = np.histogram(np.log2(distances[distances > 0]), bins=np.arange(18))[0][1:14]
        self.assertLess(octaves.max() / octaves.min(), 1.3, octaves)
        self.assertGreater(len(np.unique(distances)), rows / 8)
        self.assertGreater(np.diff(a.indptr).std(), 0.5)


class Papers(unittest.TestCase):
    """The kinds that stand for matrices of the papers."""

    @needs_command
    def test_holstein_hubbard(self):
        """H assembled by Kronecker products over the full Fock space of sites, with phonons on the sites themselves, and
        then looked at in the subspace: another basis, another order, the same eigenvalues."""
        for sites, electrons, phonons in ((2, 2, 3), (3, 2, 3), (4, 3, 2), (3, 5, 2), (2, 1, 6)):
            a = generate("holstein-hubbard", "--sites", sites, "--electrons", electrons, "--phonons", phonons,
                         banner="real symmetric")
            self.assertEqual((a != a.T).nnz, 0)
            up, down = (electrons + 1) // 2, electrons // 2
            self.assertEqual(a.shape[0], math.comb(sites, up) * math.comb(sites, down) *
                             math.comb(phonons + sites - 1, phonons))
            expected = self.holstein_hubbard(sites, up, down, phonons)
            self.assertEqual(expected.shape, a.shape)
            self.assertLess(abs(np.linalg.eigvalsh(a.toarray()) - np.linalg.eigvalsh(expected)).max(), 1e-11)
            # All of the diagonal is stored, and nothing else that is zero.
            self.assertEqual(a.nnz - np.count_nonzero(a.data), np.sum(a.diagonal() == 0))

    @staticmethod
    def holstein_hubbard(sites, up, down, phonons):
        """The Hamiltonian by Jordan and Wigner's strings and truncated oscillators. The modes orthogonal to the uniform
        one are taken by QR, in which the number of phonons is bounded as in any other orthogonal basis."""
        kron = lambda factors: functools.reduce(np.kron, factors)
        eye, z, lower = np.eye(2), np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [0.0, 0.0]])
        n_orbitals = 2 * sites
        c = [kron([z] * k + [lower] + [eye] * (n_orbitals - k - 1)) for k in range(n_orbitals)]
        n = [op.T @ op for op in c]
        keep = [i for i in range(2**n_orbitals)
                if sum(m[i, i] for m in n[:sites]) == up and sum(m[i, i] for m in n[sites:]) == down]
        cut = lambda m: m[np.ix_(keep, keep)]
        h_electrons = np.zeros((len(keep), len(keep)))
        for spin in (0, sites):
            for i in range(1 if sites == 2 else sites):
                hop = c[spin + (i + 1) % sites].T @ c[spin + i]
                h_electrons -= cut(hop + hop.T)
        h_electrons += 4 * sum(cut(n[i] @ n[sites + i]) for i in range(sites))
        # Modes: an orthogonal matrix whose first column is uniform.
        q = np.linalg.qr(np.column_stack([np.ones(sites), np.eye(sites)[:, 1:] + 0.1 * np.arange(sites)[:, None]]))[0]
        levels = phonons + 1
        b = np.diag(np.sqrt(np.arange(1.0, levels)), 1)
        one = np.eye(levels)
        at = lambda op, k: kron([one] * k + [op] + [one] * (sites - 2 - k))
        total = sum(np.diag(at(np.diag(np.arange(float(levels))), k)) for k in range(sites - 1))
        few = np.flatnonzero(total <= phonons)
        h = np.kron(h_electrons, np.eye(len(few))) + np.kron(np.eye(len(keep)), np.diag(total[few]))
        for k in range(sites - 1):
            shift = sum(q[i, k + 1] * cut(n[i] + n[sites + i]) for i in range(sites))
            h -= np.kron(shift, at(b + b.T, k)[np.ix_(few, few)])
        return h

    @needs_command
    def test_holstein_hubbard_structure(self):
        """Hops are contiguous diagonals as long as there are phonon states; the sizes of HMEp follow by the formulas."""
        a = generate("holstein-hubbard", "--sites", 6, "--electrons", 6, "--phonons", 3, banner="real symmetric").tocoo()
        states = math.comb(3 + 5, 5)
        self.assertEqual(a.shape[0], 400 * states)
        hops = a.row // states != a.col // states
        self.assertTrue((a.row[hops] % states == a.col[hops] % states).all())
        # A ring of six with three electrons of a spin: 3.6 bonds of six have one end occupied; two spins.
        self.assertEqual(hops.sum(), 400 * states * 7.2)
        self.assertEqual(set(abs(a.data[hops])), {1})
        # At 15 phonons: the diagonal, the hops, and for each mode a pair of states for each with at most 14 phonons.
        moving = len(set(zip(a.row[~hops] // states, self.modes_changed(a.row[~hops] % states, a.col[~hops] % states,
                                                                       states))) - {(e, -1) for e in range(400)})
        self.assertEqual(400 * math.comb(20, 5), 6201600)
        per_row = 1 + 7.2 + moving * 2 * math.comb(19, 5) / (400 * math.comb(20, 5))
        self.assertEqual(round(per_row), 15)

    @staticmethod
    def modes_changed(rows, cols, states):
        """Which of five modes differs between two of the lexicographic states of at most three phonons; -1: none."""
        all_states = np.array([s for s in itertools.product(range(4), repeat=5) if sum(s) <= 3])
        assert len(all_states) == states
        differ = all_states[rows] != all_states[cols]
        assert (differ.sum(axis=1) <= 1).all()
        return np.where(differ.any(axis=1), differ.argmax(axis=1), -1)

    @needs_command
    def test_lattice_qcd(self):
        n = 4
        a = generate("lattice-qcd", "--sites", n, "--seed", 5)
        self.assertEqual(a.shape, (12 * n**4,) * 2)
        self.assertTrue((np.diff(a.indptr) == 39).all())
        gamma_5 = sp.kron(sp.eye(n**4), sp.kron([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]], sp.eye(3)))
        self.assertLess(abs(gamma_5 @ a @ gamma_5 - a.T).max(), 1e-15)
        # A link's real and imaginary part are in the blocks of one axis each: the matrix 1 - gamma_m times U.
        x = 1 + n * (2 + n * (3 + n * 0))
        block = lambda y: a[12 * x:12 * x + 12, 12 * y:12 * y + 12].toarray().reshape(4, 3, 4, 3)
        ahead = block(2 + n * (2 + n * (3 + n * 0)))
        u = ahead[0, :, 0] + 1j * ahead[0, :, 3] * -1  # -(-i U) has the real part -Im U
        for spin in range(4):
            self.assertTrue((ahead[spin, :, spin] == u.real).all())
        self.assertLess(abs(u @ u.conj().T - np.eye(3)).max(), 1e-15)
        self.assertLess(abs(np.linalg.det(u) - 1), 1e-15)
        # Along the last axis: twice the real part in the lower spins ahead, in the upper ones behind.
        for y, spins in ((x + n**3, (2, 3)), (x + 3 * n**3, (0, 1))):
            time = block(y)
            self.assertTrue((time[spins[0], :, spins[0]] == time[spins[1], :, spins[1]]).all())
            time[spins[0], :, spins[0]] = time[spins[1], :, spins[1]] = 0
            self.assertEqual(abs(time).max(), 0)
        self.assertEqual(12 * 8**4, 49152)

    @needs_command
    def test_cage(self):
        """All polymers as words over six directions, moved as the model says, and then put together to states."""
        for monomers in (3, 4, 5, 6):
            a = generate("cage", "--monomers", monomers)
            states, q = self.cage_chain(monomers)
            self.assertEqual(a.shape, (len(states),) * 2)
            self.assertTrue(same_pattern(a, a.T))
            # The chain's states in the order of the generator.
            order = sorted(range(len(states)), key=lambda k: self.cage_key(states[k]))
            self.assertLess(abs(a.toarray() - q[order][:, order]).max(), 1e-15)
            self.assertEqual(a.nnz, np.count_nonzero(q))
        sizes = {7: (340, 3084), 8: (1015, 11003), 9: (3534, 41594), 10: (11397, 150645)}  # SuiteSparse's cage7 ... cage10
        for monomers, (rows, nonzeros) in sizes.items():
            a = generate("cage", "--monomers", monomers)
            self.assertEqual((a.shape[0], a.nnz), (rows, nonzeros))
            self.assertLess(abs(a.sum(axis=0) - 1).max(), 1e-14)

    @needs_command
    def test_cage10(self):
        """SuiteSparse's cage10, if it is there: the same matrix, but that its values are rounded to three digits."""
        path = pathlib.Path(os.environ.get("SPMVPACK_TEST_MATRICES", ""), "cage10.mtx.gz")
        if not path.is_file():
            self.skipTest("no cage10.mtx.gz in SPMVPACK_TEST_MATRICES")
        theirs = scipy.io.mmread(gzip.open(path)).tocsr()
        ours = generate("cage", "--monomers", 10)
        self.assertTrue(same_pattern(ours, theirs))
        ours.sort_indices(), theirs.sort_indices()
        half_a_digit = 0.5 * 10.0**(np.floor(np.log10(ours.data)) - 2)
        self.assertLess((abs(ours.data - theirs.data) / half_a_digit).max(), 1.0001)

    @staticmethod
    def cage_state(word):
        """Vertices by their first monomer, as reduced words of the free group tell them apart, and which bonds point up;
        of both directions the lower in the generator's order."""
        def one(word):
            reduced, names, path = (), {(): 0}, [0]
            for step in word:
                reduced = reduced[:-1] if reduced and reduced[-1] == -step else reduced + (step,)
                path.append(names.setdefault(reduced, len(names)))
            return tuple(path), tuple(step > 0 for step in word)
        return min(one(word), one([-step for step in reversed(word)]), key=Papers.cage_key)

    @staticmethod
    def cage_key(state):
        path, ups = state
        n = len(path)
        meetings = [sum(2**m for m in range(n - apart) if path[m] == path[m + apart]) for apart in range(2, n, 2)]
        return meetings[::-1], sum(2**k for k, up in enumerate(ups) if up)

    @staticmethod
    def cage_chain(monomers):
        directions = (1, 2, 3, -1, -2, -3)  # up and down the field along three axes
        states, columns = [], []
        for word in itertools.product(directions, repeat=monomers - 1):
            state = Papers.cage_state(word)
            column = collections.Counter()
            for m in range(monomers):
                for d in directions:
                    new = list(word)
                    if m == 0:  # from its neighbour in direction d; the bond points back
                        new[0] = -d
                    elif m == monomers - 1:
                        new[-1] = d
                    elif word[m - 1] == -word[m]:
                        new[m - 1:m + 1] = d, -d
                    column[Papers.cage_state(new)] += (1.1 if d > 0 else 0.9) / (6 * monomers)
            if state not in states:
                states.append(state)
                columns.append(column)
            else:  # a state's future depends on nothing else
                known = columns[states.index(state)]
                assert known.keys() == column.keys() and all(abs(known[s] - column[s]) < 1e-15 for s in known)
        return states, np.array([[column[s] for column in columns] for s in states])

    @needs_command
    def test_epidemic(self):
        a = generate("epidemic", "--grid", "9x6")
        self.assertEqual(a.shape, (54, 54))
        self.assertEqual(a.nnz, 4 * 54 - 2 * (9 + 6) + 1)
        self.assertLess(abs(a.sum(axis=1).A1 - 1).max(), 1e-15)
        path = lambda k: sp.diags([np.ones(k - 1)] * 2, [-1, 1])
        pattern = (sp.kron(path(6), sp.eye(9)) + sp.kron(sp.eye(6), path(9))).tolil()
        pattern[0, 0] = 1
        self.assertTrue(same_pattern(a, pattern.tocsr()))
        self.assertGreater(a.data.min(), 0)
        s, i = 4, 2
        rates = {(s + 1, i): 8 - 4, (s - 1, i): 4 * (1 + 2 / 5), (s, i + 1): 3 * 5 / 9, (s, i - 1): 2}
        for (t, j), rate in rates.items():
            self.assertAlmostEqual(a[s + 9 * i, t + 9 * j], rate / sum(rates.values()), 15)
        self.assertEqual(4 * 1025 * 513 - 2 * (1025 + 513) + 1, 2100225)

    @needs_command
    def test_cubic(self):
        # Lagrange's basis as polynomials; a line of elements is assembled, and a square is a product of lines.
        nodes = np.arange(4) / 3
        basis = [np.polynomial.Polynomial.fromroots(np.delete(nodes, k)) for k in range(4)]
        basis = [p / p(nodes[k]) for k, p in enumerate(basis)]
        over = lambda p: p.integ()(1) - p.integ()(0)
        element = lambda of: np.array([[over(of(p) * of(q)) for q in basis] for p in basis])

        def line(n, of):
            a = np.zeros((3 * n + 1, 3 * n + 1))
            for k in range(n):
                a[3 * k:3 * k + 4, 3 * k:3 * k + 4] += element(of)
            return a[1:-1, 1:-1]

        stiff, mass = (lambda p: p.deriv()), (lambda p: p)
        for nx, ny in ((2, 2), (4, 3), (2, 5)):
            a = generate("cubic", "--grid", grid(nx, ny), banner="real symmetric")
            expected = np.kron(line(ny, mass), line(nx, stiff)) + np.kron(line(ny, stiff), line(nx, mass))
            self.assertEqual(a.shape, expected.shape)
            self.assertEqual(a.nnz, (15 * nx - 13) * (15 * ny - 13))
            self.assertLess(abs(a.toarray() - expected).max(), 1e-12)
            self.assertTrue(same_pattern(a, sp.csr_matrix(abs(expected) > 1e-9)))
            self.assertGreater(np.linalg.eigvalsh(a.toarray()).min(), 0)
        self.assertEqual(((3 * 128 - 1) ** 2, (15 * 128 - 13) ** 2), (146689, 3636649))

    @needs_command
    def test_block_mesh(self):
        nx, ny, nz = 6, 5, 4
        for b in (1, 5, 6):
            uniform = generate("block-mesh", "--grid", grid(nx, ny, nz), "--block", b, "--radius", 1.8,
                               "--coefficients", "constant", "--mesh", "uniform")
            self.assertEqual(uniform.shape, (b * nx * ny * nz,) * 2)
            # Within 1.8 are all 27 points of a cube, the corners at 1.73.
            self.assertTrue(same_pattern(uniform, sp.kron(box27(nx, ny, nz), np.ones((b, b)))))
            shape = 1 / (1 + abs(np.arange(b)[:, None] - np.arange(b)))
            box = box27(nx, ny, nz)  # 26 and -1
            laplacian = box + sp.diags(box.getnnz(axis=1) - 27)  # one for each neighbour that is there
            self.assertLess(abs(uniform - sp.kron(laplacian, shape) - sp.eye(b * nx * ny * nz)).max(), 1e-13)
            a = generate("block-mesh", "--grid", grid(nx, ny, nz), "--block", b, "--radius", 1.8, "--seed", 3)
            points = sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape)[::b][:, ::b]
            self.assertTrue(same_pattern(points, points.T))
            self.assertTrue(same_pattern(a, sp.kron(points, np.ones((b, b)))))
            self.assertGreater(len(set(np.diff(points.indptr))), 5)
            self.assertGreater((a != a.T).nnz, a.nnz // 2)
            for d in range(b):  # ones in one unknown of all points
                unit = np.tile(np.eye(b)[d], nx * ny * nz)
                self.assertLess(abs(a @ unit - unit).max(), 1e-13)
        self.assertGreater(distinct(a, lower=False), 0.99)
        local = generate("block-mesh", "--grid", "12x12x12", "--block", 3, "--radius", 1.5, "--coefficients",
                         "blocks:6")
        self.assertLess(distinct(local, lower=False), 0.2)

    @needs_command
    def test_block_mesh_sizes(self):
        """Rows like those of DLR1 and DLR2: about 144 and 315 entries."""
        for unknowns, radius, expected, sides in ((6, 1.83, 144, (36, 36, 36)), (5, 2.48, 315, (48, 48, 47))):
            one = generate("block-mesh", "--grid", grid(*sides), "--block", 1, "--radius", radius, "--coefficients",
                           "constant")
            self.assertLess(abs(unknowns * one.nnz / one.shape[0] / expected - 1), 0.01)

    @needs_command
    def test_adaptive(self):
        """Every pair of cells by the face that they share, on a small grid."""
        sides = (6, 5, 7)
        cells = self.refined_cells(sides)
        n = len(cells)
        expected = np.zeros((n, n))
        low = np.array([c[0] for c in cells], float)
        size = np.array([c[1] for c in cells], float)
        for p in range(n):
            for axis in range(3):
                for place in (low[p][axis], low[p][axis] + size[p]):
                    if place in (0, sides[axis]):
                        expected[p, p] += size[p]**2 / (size[p] / 2)
            for q in range(n):
                shared = [min(low[p][k] + size[p], low[q][k] + size[q]) - max(low[p][k], low[q][k]) for k in range(3)]
                if sorted(shared)[0] == 0 and sorted(shared)[1] > 0:
                    link = shared[0] * shared[1] if shared[2] == 0 else (
                        shared[0] * shared[2] if shared[1] == 0 else shared[1] * shared[2])
                    expected[p, q] = -link / ((size[p] + size[q]) / 2)
                    expected[p, p] -= expected[p, q]
        a = generate("adaptive", "--grid", grid(*sides), banner="real symmetric")
        self.assertEqual(a.shape, (n, n))
        self.assertLess(abs(a.toarray() - expected).max(), 1e-12)
        self.assertEqual(a.nnz, np.count_nonzero(expected))

    @staticmethod
    def refined_cells(sides, seed=0):
        """Lower corner and size of every cell, by the rule of generators/adaptive.hpp; random numbers by SplitMix64."""
        def mix(x):
            x = (x + 0x9E3779B97F4A7C15) % 2**64
            x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
            return x ^ x >> 31
        skin = mix(seed * 0xD1342543DE82EF95 % 2**64)
        nx, ny, nz = sides
        def near(x, y, z):
            if not (0 <= x < nx and 0 <= y < ny and 0 <= z < nz):
                return False
            squares = sum(((c + 0.5 - n / 2) / (0.3 * n))**2 for c, n in zip((x, y, z), sides))
            return abs(squares - 1) < 0.07 + 0.06 * (mix((skin + x + nx * (y + ny * z)) % 2**64) >> 11) * 2.0**-53
        cells = []
        for z, y, x in itertools.product(range(nz), range(ny), range(nx)):
            around = [(x - 1, y, z), (x + 1, y, z), (x, y - 1, z), (x, y + 1, z), (x, y, z - 1), (x, y, z + 1)]
            if near(x, y, z) or all(near(*c) for c in around):
                cells += [((x + i / 2, y + j / 2, z + k / 2), 0.5)
                          for k, j, i in itertools.product((0, 1), repeat=3)]
            else:
                cells.append(((x, y, z), 1))
        assert nx * ny * nz < len(cells) < 8 * nx * ny * nz
        return cells

    @needs_command
    def test_adaptive_rows(self):
        for words in (["--coefficients", "random", "--seed", 4], ["--coefficients", "blocks:3"]):
            a = generate("adaptive", "--grid", "12x11x10", *words, banner="real symmetric")
            self.assertEqual((a != a.T).nnz, 0)
            self.assertGreater(smallest_eigenvalue(a), 0.01)
            self.assertGreater(a.sum(axis=1).min(), -1e-12)  # what faces on the boundary add
        a = generate("adaptive", "--grid", "12x11x10", "--coefficients", "random", banner="real symmetric")
        self.assertGreater(distinct(a), 0.99)
        lengths = np.diff(generate("adaptive", "--grid", "60x60x60", banner="real symmetric").indptr)
        self.assertTrue(lengths.min() == 4 and 16 <= lengths.max() <= 22, (lengths.min(), lengths.max()))
        self.assertTrue(6.8 < lengths.mean() < 7.4, lengths.mean())
        self.assertGreater((lengths <= 7).mean(), 0.85)


class RandomColumns(unittest.TestCase):
    @needs_command
    def test_lp(self):
        a = generate("lp", "--rows", 40, "--cols", 30000, "--per-row", 2000, banner="integer general")
        self.assertEqual(a.shape, (40, 30000))
        self.assertTrue((np.diff(a.indptr) == 2000).all())
        self.assertEqual(set(a.data), {1, -1})
        self.assertLess(abs(a.data.mean()), 0.02)
        ones = generate("lp", "--rows", 40, "--cols", 30000, "--per-row", 2000, "--coefficients", "constant",
                        banner="integer general")
        self.assertEqual(abs(abs(a) - ones).max(), 0)

    @needs_command
    def test_random(self):
        a = generate("random", "--rows", 5000, "--per-row", 16)
        self.assertEqual(a.shape, (5000, 5000))
        self.assertTrue((np.diff(a.indptr) == 16).all())
        self.assertGreater(distinct(a, lower=False), 0.99)
        self.assertTrue(-1 <= a.data.min() < -0.999 and 0.999 < a.data.max() < 1)
        self.assertLess(abs(a.indices.mean() / 2499.5 - 1), 0.02)
        self.assertLess((a.data[:-1] * a.data[1:]).mean(), 0.01)
        a = generate("random", "--rows", 60, "--cols", 900, "--per-row", 5, "--coefficients", "blocks:20")
        self.assertEqual(a.shape, (60, 900))
        self.assertEqual(len(np.unique(a.data)), 3 * 5)
        self.assertEqual(set(generate("random", "--rows", 9, "--per-row", 9, "--coefficients", "constant").data), {1})


class Command(unittest.TestCase):
    @needs_command
    def test_containers_are_those_of_the_text(self):
        with tempfile.TemporaryDirectory() as directory:
            text, straight, encoded = (os.path.join(directory, name) for name in ("A.mtx", "A.spmvc", "B.spmvc"))
            kinds = (["kkt", "--grid", "5x6x7", "--coefficients", "random"], ["rmat", "--scale", 9],
                     ["elasticity", "--grid", "4x4x4"], ["lp", "--rows", 9, "--cols", 5000, "--per-row", 300])
            for turn, words in enumerate(kinds):
                spmvpack("generate", *words, "-o", text, "-f")
                layout = layouts_for(text)[turn]
                for options in ([], ["--layout", layout, "--force-size", "--codec", "zstd:9"]):
                    spmvpack("encode", text, "-o", encoded, "-f", *options)
                    spmvpack("generate", *words, "-o", straight, "-f", *options)
                    spmvpack("verify", straight, "--against", text)
                    one, other = (json.loads(spmvpack("inspect", "--json", path)) for path in (straight, encoded))
                    self.assertEqual(one["provenance"].pop("source"),
                                     "spmvpack generate " + " ".join(map(str, words)))
                    other["provenance"].pop("source")
                    self.assertEqual(one["provenance"], other["provenance"])
                    self.assertEqual(one["matrix"], other["matrix"])
                    # What the sections hold, byte for byte; only the last one, the provenance, has another length.
                    places = [[s for s in facts["sections"] if s["name"] != "provenance"] for facts in (one, other)]
                    self.assertEqual(len(places[0]), len(one["sections"]) - 1)
                    for a, b in zip(*places):
                        with open(straight, "rb") as f, open(encoded, "rb") as g:
                            f.seek(a["offset"]), g.seek(b["offset"])
                            self.assertEqual(f.read(a["stored_bytes"]), g.read(b["stored_bytes"]))

    @needs_command
    def test_wrong_options(self):
        for words, message in (
                (["hpcg", "--rows", 5, "-o", "-"], "--rows is not for hpcg"),
                (["circuit", "-o", "-"], "--rows is missing"),
                (["circuit", "--rows", "x", "-o", "-"], "--rows is 'x'"),
                (["elasticity", "--grid", "3x3x3", "--mesh", "fine", "-o", "-"], "--mesh is 'fine'"),
                (["hpcg", "--grid", "3x3x3", "--coefficients", "blocks:0", "-o", "-"], "--coefficients blocks is '0'"),
                (["triangles", "--grid", "3x3", "--numbering", "amd", "-o", "-"], "--numbering is 'amd'"),
                (["hpcg", "--grid", "3x3x3", "--seed", "-1", "-o", "-"], "--seed is '-1'"),
                (["hpcg", "--grid", "3x3x3", "--layout", "csr", "-o", "A.mtx"], "--layout is for containers"),
                (["convection-diffusion", "--grid", "3x3x3", "--variable", "--coefficients", "random", "-o", "-"],
                 "--variable and --coefficients")):
            self.assertIn(message, spmvpack("generate", *words, expect=2))


class Shapes(unittest.TestCase):
    def pattern(self, expected, *words):
        a = generate(*words)
        self.assertEqual(a.shape, expected.shape)
        self.assertEqual((a.astype(bool) != sp.csr_matrix(expected).astype(bool)).nnz, 0)
        self.assertEqual(a.nnz, np.count_nonzero(expected))
        self.assertTrue(np.all((a.data >= -1) & (a.data < 1)))
        return a

    def test_runs(self):
        self.pattern(np.ones((3, 50)), "full", "--rows", 3, "--cols", 50)
        band = np.tri(12, 12, 2) - np.tri(12, 12, -4)
        self.pattern(band, "band", "--rows", 12, "--below", 3, "--above", 2)
        band[2::3] = 0
        self.pattern(band, "band", "--rows", 12, "--below", 3, "--above", 2, "--empty-every", 3)
        self.pattern(np.tri(12), "band", "--rows", 12, "--below", 11)
        blocks = np.kron(np.eye(4), np.ones((5, 5)))[:17, :17]
        self.pattern(blocks, "blocks", "--rows", 17, "--block", 5)
        arrow = np.eye(9)
        arrow[0] = arrow[:, 0] = 1
        self.pattern(arrow, "arrow", "--rows", 9)
        ones = generate("full", "--rows", 2, "--cols", 4, "--coefficients", "constant")
        self.assertTrue(np.all(ones.toarray() == 1))

    def test_random(self):
        for exponent in (1.6, 2.5):
            a = generate("powerlaw", "--rows", 4000, "--cols", 300, "--exponent", exponent, "--longest", 200)
            lengths = np.diff(a.indptr)
            self.assertEqual(lengths.min(), 1)
            self.assertLessEqual(lengths.max(), 200)
            for k in (1, 4, 20):  # the share of longer rows, within four standard deviations
                share = (k + 1.0) ** (1 - exponent)
                self.assertLess(abs(np.mean(lengths > k) - share), 4 * np.sqrt(share / 4000) + 1e-3)
        a = generate("scattered", "--rows", 500, "--cols", 70, "--entries", 3000)
        self.assertEqual((a.shape, a.nnz), ((500, 70), 3000))
        self.assertLess(abs(np.mean(a.tocoo().col) - 34.5), 2)
        self.assertLess(abs(np.mean(a.tocoo().row) - 249.5), 15)


if __name__ == "__main__":
    test_support.main()
