"""HEBO."""

import numpy
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from players.peer import Peer, is_log, limits


class Hebo(Peer):
    """HEBO, which cannot be told what is pending."""

    def __init__(self, problem):
        super().__init__(problem)
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        numpy.random.seed(self.seed)
        space = DesignSpace().parse([self.parameter(p) for p in self.free])
        self.optimizer = HEBO(space, scramble_seed=self.seed)

    @staticmethod
    def parameter(p):
        if "choice" in p:
            return dict(name=p["name"], type="cat", categories=list(range(len(p["choice"]))))
        kinds = ("num", "pow") if "float" in p else ("int", "pow_int")
        low, high = limits(p)
        return dict(name=p["name"], type=kinds[is_log(p)], lb=low, ub=high)

    def suggest(self, count):
        suggested = self.optimizer.suggest(n_suggestions=count)
        return [suggested.iloc[[row]] for row in range(count)]

    def tell(self, trial, value):
        super().tell(trial, value)
        self.optimizer.observe(self.points[trial], numpy.array([[self.values[trial]]]))

    def decode(self, row):
        return super().decode([row[p["name"]].item() for p in self.free])
