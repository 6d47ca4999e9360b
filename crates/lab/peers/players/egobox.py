"""Egor of egobox."""

import math

import numpy
from egobox import Egor, Gpx, QEiConfig, XSpec, XType, lhs

from players.peer import Peer, is_log, limits


class Egobox(Peer):
    """Egor of egobox: a Latin hypercube first, then its suggestions.

    A suggestion cannot be told what is pending: pending points have the model's mean, as in its own batches.
    """

    def __init__(self, problem):
        super().__init__(problem)
        self.space = [self.spec(p) for p in self.free]
        self.design = max(5, len(self.free) + 1)
        self.hypercube = []

    @staticmethod
    def spec(p):
        if "choice" in p:
            return XSpec(XType.ENUM, [len(p["choice"])])
        if "float" in p:
            return XSpec(XType.FLOAT, [math.log(bound) if is_log(p) else bound for bound in limits(p)])
        return XSpec(XType.INT, limits(p))

    def draw(self, count):
        if len(self.hypercube) < count:
            size = max(self.design, self.batch)
            self.hypercube += lhs(self.space, size, seed=self.seed + len(self.points)).tolist()
        points, self.hypercube = self.hypercube[:count], self.hypercube[count:]
        return points

    def unfolded(self, points):
        """A column for each number, and one for each category: the model by itself takes no categories."""
        sizes = [len(p.get("choice", ())) for p in self.free]
        rows = [[numpy.eye(size)[round(x)] if size else [x] for size, x in zip(sizes, point)] for point in points]
        return numpy.array([numpy.concatenate(row) for row in rows])

    def suggest(self, count):
        points, values = (numpy.array(told) for told in self.told())
        if pending := self.pending():
            model = Gpx.builder(seed=self.seed).fit(self.unfolded(points), values)
            values = numpy.append(values, model.predict(self.unfolded(pending)))
            points = numpy.vstack([points, pending])
        egor = Egor(self.space, qei_config=QEiConfig(batch=count))
        return egor.suggest(points, values[:, None], seed=self.seed + len(self.points)).tolist()

    def decode(self, numbers):
        return super().decode([math.exp(x) if "float" in p and is_log(p) else x for p, x in zip(self.free, numbers)])
