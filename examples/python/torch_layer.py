"""A sparse matrix in a model of PyTorch: a signal is found from what a blurring matrix makes of it, by gradients that
flow through the encoded matrix. Exit code 77: no PyTorch.

usage: torch_layer.py [SIZE]
"""

import sys

import numpy as np
from scipy import sparse

import spmvpack as sp

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


class Blur(torch.nn.Module):  # type: ignore[misc]
    """A x for a batch of vectors; A is constant."""

    def __init__(self, matrix: sp.Matrix | sp.DeviceMatrix) -> None:
        super().__init__()
        self.matrix = matrix

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sp.torch.matvec(self.matrix, x.T).T  # its vectors are columns


def main(size: int) -> None:
    device = "cuda:0" if torch.cuda.is_available() and sp.built_with_cuda() else "cpu"
    rng = np.random.default_rng(1)
    weights = rng.random((size, 5)) + [0, 0, 3, 0, 0]  # of 5 neighbours, different everywhere
    blur = sparse.csr_array(sparse.diags([weights[: size - abs(k), k + 2] for k in range(-2, 3)], range(-2, 3)))

    encoded = sp.encode(blur, transpose=True)  # with A^T, which is what the gradient is multiplied by
    print(encoded)
    matrix = encoded if device == "cpu" else encoded.to(device)
    layer = Blur(matrix)
    signals = torch.from_numpy(rng.standard_normal((4, size))).to(device)
    seen = layer(signals)

    guess = torch.zeros_like(signals, requires_grad=True)
    optimizer = torch.optim.LBFGS([guess], max_iter=200, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        difference = (layer(guess) - seen).square().sum()
        difference.backward()
        return difference

    optimizer.step(loss)
    error = float((guess.detach() - signals).norm() / signals.norm())
    print(f"on {device}: {optimizer.state[guess]['n_iter']} iterations, relative error {error:.1e}")
    if error > 1e-6:
        sys.exit("not found")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
