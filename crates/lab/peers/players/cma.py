"""CMA-ES of the package cma."""

import math

import cma
import numpy

from players.peer import CubePeer


class Cma(CubePeer):
    """CMA-ES from a random point, and again from another one when it has converged.

    A generation is as large as a batch at least. When more is asked before its results are out, the same distribution
    gives more points, and the results that are too many for the generation are told with the next. The package fails on
    one coordinate with bounds: a second one then counts for nothing.
    """

    def __init__(self, problem):
        super().__init__(problem)
        self.dimension = max(2, self.dimension)
        self.random = numpy.random.default_rng(self.seed)
        self.start()

    def start(self):
        population = max(4 + int(3 * math.log(self.dimension)), self.batch)
        options = {"bounds": [0, 1], "popsize": population, "seed": 1 + int(self.random.integers(2**31)), "verbose": -9}
        self.strategy = cma.CMAEvolutionStrategy(self.random.random(self.dimension), 0.3, options)
        self.drawn, self.results = [], []

    def suggest(self, count):
        size = self.strategy.popsize
        if len(self.results) >= size:
            self.strategy.tell(*zip(*self.results[:size]))
            self.drawn, self.results = [], self.results[size:]
        if self.strategy.stop():
            self.start()
        while len(self.drawn) < count:
            self.drawn += self.strategy.ask()
        points, self.drawn = self.drawn[:count], self.drawn[count:]
        return points

    def tell(self, trial, value):
        super().tell(trial, value)
        self.results.append((self.points[trial], self.values[trial]))
