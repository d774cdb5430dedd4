"""PageRank of a random graph by the power method; the vectors are made once.

usage: pagerank.py [PAGES]
"""

import sys

import numpy as np
from scipy import sparse

import spmvpack as sp


def main(pages: int) -> None:
    rng = np.random.default_rng(1)
    links = 8 * pages
    to = (pages * rng.random(links) ** 3).astype(np.int32)  # few pages have most of the links
    page = rng.integers(0, pages, links, np.int32)
    graph = sparse.csr_array((np.ones(links), (to, page)), shape=(pages, pages))
    graph.sum_duplicates()
    graph.data[:] = 1.0
    out = graph.sum(axis=0)
    p = sparse.csr_array(graph @ sparse.diags(1.0 / np.maximum(out, 1.0)))  # columns that add up to 1, or to 0

    m = sp.encode(p)
    print(m)
    damping, rank, following = 0.85, np.full(pages, 1.0 / pages), np.empty(pages)
    for step in range(1, 101):
        m.multiply(rank, following, alpha=damping)
        following += (1.0 - following.sum()) / pages  # what jumps, and what has nowhere to go
        change = float(np.abs(following - rank).sum())
        rank, following = following, rank
        if change < 1e-10:
            break
    best = np.argsort(rank)[::-1][:3]
    print(f"{step} steps; the first pages: " + ", ".join(f"{i} ({rank[i]:.2e})" for i in best))
    if change >= 1e-10 or abs(rank.sum() - 1.0) > 1e-9:
        sys.exit("not converged")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
