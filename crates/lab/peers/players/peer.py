"""What players share: points and values, and parameters as numbers or as coordinates of the unit cube."""

import math


def seed(problem):
    return problem["seed"] % 2**32


class Peer:
    """What has been asked and told: points in the optimizer's own coordinates, values to be minimized.

    The first `design` points are drawn, and more until half as many have values; the others are suggested.
    """

    design = 0

    def __init__(self, problem):
        self.parameters = problem["parameters"]
        self.free = [p for p in self.parameters if "constant" not in p]
        self.batch = problem["batch"]
        self.seed = seed(problem)
        self.sign = 1 if problem["direction"] == "minimize" else -1
        self.points = []
        self.values = {}

    def ask(self, count):
        asked = len(self.points)
        drawn = max(0, self.design - asked) if 2 * len(self.values) >= self.design else count
        if drawn:
            self.points += self.draw(min(drawn, count))
        if drawn < count:
            self.points += self.suggest(count - drawn)
        return [self.decode(point) for point in self.points[asked:]]

    def tell(self, trial, value):
        self.values[trial] = self.sign * value

    def told(self):
        """The points with values, and the values."""
        return [self.points[trial] for trial in self.values], list(self.values.values())

    def pending(self):
        return [point for trial, point in enumerate(self.points) if trial not in self.values]

    def decode(self, numbers):
        """The point of one number for each parameter that is not constant."""
        point = {p["name"]: p["constant"] for p in self.parameters if "constant" in p}
        return point | {p["name"]: from_number(p, number) for p, number in zip(self.free, numbers)}


def limits(parameter):
    """The least and the greatest number of a parameter: its values, or the indices of its levels or categories."""
    values = parameter.get("levels") or parameter.get("choice")
    return (0, len(values) - 1) if values else (parameter.get("float") or parameter["int"])


def is_log(parameter):
    return parameter.get("scale") == "log"


def from_number(parameter, number):
    low, high = limits(parameter)
    number = min(max(float(number), low), high)
    if "float" in parameter:
        return number
    values = parameter.get("levels") or parameter.get("choice")
    return values[round(number)] if values else round(number)


class CubePeer(Peer):
    """An optimizer of the unit cube: a coordinate for each number, and for each category, the largest of which wins."""

    def __init__(self, problem):
        super().__init__(problem)
        self.dimension = sum(map(self.width, self.free))

    @staticmethod
    def width(parameter):
        return len(parameter.get("choice", [0]))

    @staticmethod
    def edges(parameter):
        """The numbers at coordinates 0 and 1: integers have equal shares of the axis."""
        low, high = limits(parameter)
        return (low, high) if "float" in parameter else (low - 0.5, high + 0.5)

    def decode(self, point):
        numbers, point = [], [float(x) for x in point]
        for p in self.free:
            own, point = point[: self.width(p)], point[self.width(p) :]
            low, high = self.edges(p)
            number = low * (high / low) ** own[0] if is_log(p) else low + (high - low) * own[0]
            numbers.append(own.index(max(own)) if "choice" in p else number)
        return super().decode(numbers)

    def encode(self, values):
        point = []
        for p in self.free:
            value, (low, high) = values[p["name"]], self.edges(p)
            number = p["levels"].index(value) if "levels" in p else value
            if "choice" in p:
                point += [float(value == category) for category in p["choice"]]
            else:
                point.append(math.log(number / low, high / low) if is_log(p) else (number - low) / (high - low))
        return point
