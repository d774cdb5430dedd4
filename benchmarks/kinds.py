#!/usr/bin/env python3
"""Makes matrices of kinds that `spmvpack generate` does not know, to see how `auto` chooses for what it has not met.

    benchmarks/kinds.py DIRECTORY [KIND ...]    # KIND-SIZE.npz and, transposed, KIND-SIZE-t.npz; all kinds without any
    spmvpack bench DIRECTORY/*.npz --json --kernels default --runs 11 > kinds.json

Each kind has four sizes, of some ten thousand to some ten million nonzeros. Needs NumPy alone; the same version makes the
same files.
"""

import pathlib
import sys

import numpy as np


def csr(i, j, v, shape):
    """The entries as (indptr, indices, data, shape); what is there twice is added up."""
    key, place = np.unique(i.astype(np.int64) * shape[1] + j, return_inverse=True)
    data = np.bincount(place.ravel(), np.broadcast_to(v, i.shape), len(key)).astype(float)
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(key // shape[1], minlength=shape[0]), out=indptr[1:])
    return indptr, (key % shape[1]).astype(np.int32), data, shape


def entries(a):
    indptr, indices, data, shape = a
    return np.repeat(np.arange(shape[0]), np.diff(indptr)), indices, data, shape


def transposed(a):
    i, j, v, shape = entries(a)
    return csr(j, i, v, shape[::-1])


def scaled(a, passes=10):
    """As first-order solvers scale a programme: Ruiz, then Pock and Chambolle."""
    i, j, v, (rows, cols) = entries(a)
    v = v.copy()
    for at in range(passes + 1):
        size = np.abs(v)
        r, c = np.zeros(rows), np.zeros(cols)
        if at < passes:
            np.maximum.at(r, i, size)
            np.maximum.at(c, j, size)
        else:
            r, c = np.bincount(i, size, rows), np.bincount(j, size, cols)
        r[r == 0] = c[c == 0] = 1
        v /= np.sqrt(r)[i] * np.sqrt(c)[j]
    return a[0], a[1], v, a[3]


def ones(a):
    return a[0], a[1], np.ones(len(a[1])), a[3]


def join(pieces, shape):
    i, j, v = (np.concatenate([np.broadcast_to(p[at], p[0].shape) for p in pieces]) for at in range(3))
    return csr(i, j, v, shape)


# --- linear programmes


def transport(g, m):
    """Transportation: m sources, m sinks, a variable for each pair."""
    c = np.arange(m * m)
    return join([(c // m, c, 1.0), (m + c % m, c, 1.0)], (2 * m, m * m))


def energy(g, hours, units=90):
    """Hours of dispatch: balance over all units, ramps, what each unit burns."""
    n = hours * units
    p = np.arange(n)
    t, u = p // units, p % units
    nx, k = p[t < hours - 1], np.arange(n - units)
    rows = hours
    pieces = [(t, p, 1.0)]
    for sign in (1.0, -1.0):
        pieces += [(rows + k, nx, -sign), (rows + k, nx + units, sign)]
        rows += len(k)
    cost = np.round(g.uniform(0.3, 0.6, units), 2)
    pieces += [(rows + p, p, 1 / cost[u]), (rows + p, n + p, -1.0)]
    return scaled(join(pieces, (rows + n, 2 * n)))


def cover(g, flights):
    """Crews: each pairing (column) covers a few flights of near days."""
    pairings = 25 * flights
    legs = g.integers(2, 13, pairings)
    j = np.repeat(np.arange(pairings), legs)
    i = (np.repeat(g.integers(0, flights, pairings), legs) + g.integers(0, 200, len(j))) % flights
    return ones(csr(i, j, 1.0, (flights, pairings)))


def multicommodity(g, nodes, goods=16):
    """Flows of several goods in one network, with capacities over all of them."""
    arcs = 4 * nodes
    a, b = g.integers(0, nodes, arcs), g.integers(0, nodes, arcs)
    pieces = []
    for k in range(goods):
        arc = np.arange(arcs)
        pieces += [(k * nodes + a, k * arcs + arc, 1.0), (k * nodes + b, k * arcs + arc, -1.0),
                   (goods * nodes + arc, k * arcs + arc, 1.0)]
    return scaled(join(pieces, (goods * nodes + arcs, goods * arcs)))


def lot_sizing(g, items, periods=52):
    """Items made in periods: stock, set-up, and one long capacity row for each period."""
    n = items * periods
    p = np.arange(n)
    t = p % periods
    need = np.round(g.gamma(2.0, 30.0, n))
    pieces = [(p, p, 1.0), (p, n + p, -1.0), (p[t > 0], n + p[t > 0] - 1, 1.0), (n + p, p, 1.0), (n + p, 2 * n + p, -need - 1),
              (2 * n + t, p, np.round(g.uniform(1, 3, items), 1)[p // periods])]
    return join(pieces, (2 * n + periods, 3 * n))


def scheduling(g, jobs, slots=96):
    """Jobs in time slots: each job once, and the machines that run in a slot, by jobs that last."""
    n = jobs * slots
    p = np.arange(n)
    job, t = p // slots, p % slots
    last = g.integers(1, 13, jobs)
    pieces = [(job, p, 1.0)]
    for d in range(12):
        on = (d < last[job]) & (t + d < slots)
        pieces.append((jobs + t[on] + d + slots * (job[on] % 8), p[on], 1.0))
    return join(pieces, (jobs + 8 * slots, n))


# --- networks, circuits, chains


def road(g, side):
    """Places on a plane, joined to few near ones, numbered by their squares."""
    n = side * side
    at = np.arange(n)
    x, y = at % side, at // side
    keep = g.random(n) < 0.55
    right, down = at[(x < side - 1) & (g.random(n) < 0.6)], at[(y < side - 1) & keep]
    i, j = np.concatenate([right, down]), np.concatenate([right + 1, down + side])
    order = np.empty(n, np.int64)
    tile = (y // 32) * (side // 32 + 1) + x // 32
    order[np.lexsort((g.random(n), tile))] = at
    i, j = order[i], order[j]
    return csr(np.concatenate([i, j]), np.concatenate([j, i]), np.tile(np.round(g.gamma(2.0, 40.0, len(i))) + 1, 2),
               (n, n))


def power_grid(g, side, layers=3):
    """Nodal analysis of supply wires of a chip: meshes in layers, vias, pads, and two rails that many cells hang on."""
    n = layers * side * side
    at = np.arange(n)
    x, y, z = at % side, at // side % side, at // (side * side)
    pairs = [(at[x < side - 1], 1), (at[y < side - 1], side)]
    via = at[(z < layers - 1) & ((x + y) % 4 == 0)]
    i = np.concatenate([p for p, _ in pairs] + [via])
    j = np.concatenate([p + d for p, d in pairs] + [via + side * side])
    wire = g.uniform(0.5, 2.0, len(i))
    cell = at[(z == 0) & (g.random(n) < 0.2)]
    i, j = np.concatenate([i, cell]), np.concatenate([j, n + cell % 2])
    wire = np.concatenate([wire, g.uniform(0.01, 0.02, len(cell))])
    return csr(np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j]), np.concatenate([-wire, -wire, wire, wire]),
               (n + 2, n + 2))


def queues(g, states):
    """A Markov chain: three queues in a row, of unequal rates."""
    shape = (states, states, states)
    at = np.arange(states ** 3).reshape(shape)
    rate = [0.8, 1.1, 1.3, 1.2]
    moves = [(at[:-1], at[1:], rate[0]), (at[1:, :-1], at[:-1, 1:], rate[1]), (at[:, 1:, :-1], at[:, :-1, 1:], rate[2]),
             (at[:, :, 1:], at[:, :, :-1], rate[3])]
    i, j, v = (np.concatenate([np.broadcast_to(m[k], m[0].shape).ravel() for m in moves]) for k in range(3))
    leave = np.bincount(i, v, at.size)
    every = np.arange(at.size)
    return csr(np.concatenate([i, every]), np.concatenate([j, every]), np.concatenate([v, -leave]), (at.size, at.size))


def citations(g, papers):
    """Each paper cites 1 to 60 earlier ones, recent and cited ones rather."""
    cites = np.minimum(1 + g.geometric(0.09, papers), 60)
    i = np.repeat(np.arange(papers), cites)
    recent = (i * (1 - g.beta(1, 6, len(i)))).astype(np.int64)
    known = (i * g.random(len(i)) ** 6).astype(np.int64)
    j = np.where(g.random(len(i)) < 0.6, recent, known)
    return csr(i[i > 0], np.minimum(j, i - 1)[i > 0], np.ones(len(i))[i > 0], (papers, papers))


# --- chemistry, economics, biology, meshes


def cutoff(g, side):
    """Atoms in boxes: pairs within a cut-off, in dense and in thin places, rows of a few to some hundred."""
    boxes = side ** 3
    dense = g.random(boxes) ** 2
    atoms = g.poisson(1 + 7 * dense)
    first = np.concatenate([[0], np.cumsum(atoms)])
    n = int(first[-1])
    b = np.arange(boxes)
    x, y, z = b % side, b // side % side, b // (side * side)
    i, j = [], []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            for dz in (-1, 0, 1):
                ok = (x + dx >= 0) & (x + dx < side) & (y + dy >= 0) & (y + dy < side) & (z + dz >= 0) & (z + dz < side)
                a, c = b[ok], (b + dx + side * dy + side * side * dz)[ok]
                pairs = atoms[a] * atoms[c]
                k = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs)
                wide = np.repeat(atoms[c], pairs)
                i.append(np.repeat(first[a], pairs) + k // np.maximum(wide, 1))
                j.append(np.repeat(first[c], pairs) + k % np.maximum(wide, 1))
    i, j = np.concatenate(i), np.concatenate(j)
    near = (i == j) | (g.random(len(i)) < 0.55)
    i, j = i[near], j[near]
    return csr(i, j, g.standard_normal(len(i)), (n, n))


def reactions(g, species):
    """A Jacobian of kinetics: each reaction couples three to six species, of which some are everywhere."""
    count = 3 * species
    parts = []
    for size in (3, 4, 5, 6):
        s = (species * g.random((count // 4, size)) ** 2.2).astype(np.int64)
        parts.append((np.repeat(s, size, axis=1).ravel(), np.tile(s, (1, size)).ravel()))
    i, j = (np.concatenate([p[k] for p in parts]) for k in range(2))
    return csr(i, j, g.standard_normal(len(i)), (species, species))


def input_output(g, regions, sectors=60):
    """Tables of an economy: dense blocks of sectors within a region, a few goods between regions."""
    n = regions * sectors
    r = np.arange(regions)
    a = np.repeat(np.arange(n), sectors)
    b = (a // sectors) * sectors + np.tile(np.arange(sectors), n)
    use = g.random(len(a)) < 0.8
    trade = 6 * n
    good = g.integers(0, 8, trade)
    i = g.integers(0, regions, trade) * sectors + good
    j = r[(regions * g.random(trade) ** 3).astype(np.int64)] * sectors + g.integers(0, sectors, trade)
    i, j = np.concatenate([a[use], i]), np.concatenate([b[use], j])
    return csr(i, j, np.round(g.gamma(0.5, 0.1, len(i)), 6), (n, n))


def genes(g, cells):
    """Counts of genes in cells: genes from everywhere to nowhere, small whole numbers."""
    count = 33_000
    level = np.exp(g.normal(-5.5, 2.2, count))
    depth = np.exp(g.normal(0, 0.35, cells))
    i, j = [], []
    for at in range(0, cells, 2000):
        lam = depth[at:at + 2000, None] * np.minimum(level, 8.0)[None, :]
        hit = np.nonzero(g.random(lam.shape) < -np.expm1(-lam))
        i.append(hit[0] + at)
        j.append(hit[1])
    i, j = np.concatenate(i), np.concatenate(j)
    return csr(j, i, np.minimum(g.geometric(0.6, len(i)), 200).astype(float), (count, cells))


def tetrahedra(g, side):
    """Linear elements on cubes of six tetrahedra, one unknown a node, nodes numbered in a Morton-like order with noise."""
    n = side ** 3
    at = np.arange(n)
    x, y, z = at % side, at // side % side, at // (side * side)
    steps = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
    i, j = [at], [at]
    for dx, dy, dz in steps:
        ok = (x + dx < side) & (y + dy < side) & (z + dz < side)
        i += [at[ok], (at + dx + side * dy + side * side * dz)[ok]]
        j += [i[-1], i[-2]]
    box = (z // 8) * side * side + (y // 8) * side + x // 8
    order = np.empty(n, np.int64)
    order[np.lexsort((g.random(n), box))] = at
    i, j = order[np.concatenate(i)], order[np.concatenate(j)]
    return csr(i, j, g.standard_normal(len(i)), (n, n))


def near_full(g, n):
    """Rows most of which are there: a triangle, blocks and a few columns that are empty."""
    keep = g.random((n, n)) < np.where(np.arange(n)[None, :] > np.arange(n)[:, None], 0.85, 0.25)
    keep[:, g.random(n) < 0.1] = False
    i, j = np.nonzero(keep)
    return csr(i, j, g.standard_normal(len(i)), (n, n))


def language(g, documents):
    """Words of documents: Zipf's law over the columns, lengths of all sizes."""
    words = 60_000
    length = np.minimum(np.exp(g.normal(4.2, 0.8, documents)).astype(np.int64) + 5, 3000)
    i = np.repeat(np.arange(documents), length)
    j = np.minimum((words ** g.random(len(i))).astype(np.int64) - 1, words - 1)
    return csr(i, j, np.ones(len(i)), (documents, words))


KINDS = {  # four sizes each
    "transport": (transport, (150, 500, 1000, 2100)),
    "energy": (energy, (250, 1500, 6000, 17520)),
    "cover": (cover, (400, 3000, 12000, 50000)),
    "power_grid": (power_grid, (40, 150, 500, 1000)),
    "road": (road, (120, 400, 1200, 2400)),
    "queues": (queues, (20, 45, 90, 150)),
    "input_output": (input_output, (6, 30, 120, 600)),
    "cutoff": (cutoff, (7, 14, 26, 40)),
    # Measured apart, after the first eight had joined what prices are fitted to.
    "multicommodity": (multicommodity, (500, 4000, 16000, 60000)),
    "lot_sizing": (lot_sizing, (150, 1500, 8000, 30000)),
    "scheduling": (scheduling, (60, 500, 3000, 9000)),
    "citations": (citations, (4000, 40000, 300000, 1200000)),
    "reactions": (reactions, (1500, 12000, 60000, 200000)),
    "genes": (genes, (300, 1500, 4000, 9000)),
    "tetrahedra": (tetrahedra, (16, 32, 60, 90)),
    "language": (language, (800, 5000, 30000, 110000)),
}


def main():
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(KINDS)
    for kind in wanted:
        make, sizes = KINDS[kind]
        for size in sizes:
            a = make(np.random.default_rng([list(KINDS).index(kind), size]), size)
            for name, m in ((f"{kind}-{size}", a), (f"{kind}-{size}-t", transposed(a))):
                indptr, indices, data, shape = m
                wide = np.int32 if indptr[-1] < 2 ** 31 else np.int64
                np.savez(folder / f"{name}.npz", format=b"csr", shape=np.array(shape), data=data, indices=indices,
                         indptr=indptr.astype(wide))


if __name__ == "__main__":
    main()
