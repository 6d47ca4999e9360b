"""BoTorch."""

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import qLogNoisyExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood

from players.peer import CubePeer


def tensor(rows):
    return torch.tensor(rows, dtype=torch.double)


class BoTorch(CubePeer):
    """BoTorch as in its tutorial on batches: SingleTaskGP, and noisy q-LogEI of a whole batch; Sobol points first.

    Integers and categories are relaxed, and the model sees the points that they are rounded to.
    """

    def __init__(self, problem):
        super().__init__(problem)
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self.sobol = torch.quasirandom.SobolEngine(self.dimension, scramble=True, seed=self.seed)
        self.design = max(5, 2 * len(self.free))

    def draw(self, count):
        return self.rounded(self.sobol.draw(count, dtype=torch.double))

    def rounded(self, points):
        return [self.encode(self.decode(point)) for point in points]

    def suggest(self, count):
        points, values = map(tensor, self.told())
        model = SingleTaskGP(points, -values[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        rule = qLogNoisyExpectedImprovement(
            model,
            X_baseline=points,
            X_pending=tensor(self.pending()) if self.pending() else None,
            sampler=SobolQMCNormalSampler(torch.Size([256])),
            prune_baseline=True,
        )
        found, _ = optimize_acqf(
            rule,
            tensor([[0.0] * self.dimension, [1.0] * self.dimension]),
            q=count,
            num_restarts=10,
            raw_samples=512,
            options={"batch_limit": 5, "maxiter": 200},
        )
        return self.rounded(found)
