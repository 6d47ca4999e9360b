"""Trains networks of one hidden layer on two interleaving half-moons and prints their mean loss on held-out points.

The parameters arrive as JSON in MANYHANDS_PARAMS; the last line that is printed is the result. Standard library only.
"""

import json
import math
import os
import random

HIDDEN = 6
EPOCHS = 25
STARTS = 4


def moons(count, rng):
    """Points of two half-moons with some noise, each with its class."""
    points = []
    for i in range(count):
        kind, angle = i % 2, math.pi * rng.random()
        x, y = math.cos(angle), math.sin(angle)
        if kind == 1:
            x, y = 1 - x, 0.5 - y
        points.append((x + rng.gauss(0, 0.2), y + rng.gauss(0, 0.2), kind))
    return points


def probability(weights, x, y, act):
    """The hidden layer's output, and how likely the point is of the second class."""
    inner, outer = weights[: 3 * HIDDEN], weights[3 * HIDDEN :]
    hidden = [act(inner[3 * j] * x + inner[3 * j + 1] * y + inner[3 * j + 2]) for j in range(HIDDEN)]
    score = outer[HIDDEN] + sum(w * h for w, h in zip(outer, hidden))
    score = max(-30.0, min(30.0, score)) if score == score else 0.0
    return hidden, 1 / (1 + math.exp(-score))


def gradient_of(weights, batch, act, slope):
    """The gradient of the mean loss over a batch, no longer than 1 so that no step throws the weights far away."""
    gradient = [0.0] * len(weights)
    for x, y, kind in batch:
        hidden, p = probability(weights, x, y, act)
        error = (p - kind) / len(batch)
        for j, h in enumerate(hidden):
            gradient[3 * HIDDEN + j] += error * h
            back = error * weights[3 * HIDDEN + j] * slope(h)
            gradient[3 * j] += back * x
            gradient[3 * j + 1] += back * y
            gradient[3 * j + 2] += back
        gradient[4 * HIDDEN] += error
    length = math.hypot(*gradient)
    return [g / max(length, 1.0) for g in gradient]


def train(params, seed):
    """Stochastic gradient descent with momentum; loss and accuracy on points that were not trained on."""
    tanh = params["activation"] == "tanh"
    act = math.tanh if tanh else lambda z: max(z, 0.0)
    slope = (lambda h: 1 - h * h) if tanh else (lambda h: 1.0 if h > 0 else 0.0)
    rng = random.Random(seed)
    data, held_out = moons(120, rng), moons(300, rng)
    weights = [rng.gauss(0, 0.7) for _ in range(4 * HIDDEN + 1)]
    velocity = [0.0] * len(weights)
    for _ in range(EPOCHS):
        rng.shuffle(data)
        for start in range(0, len(data), params["batch"]):
            gradient = gradient_of(weights, data[start : start + params["batch"]], act, slope)
            velocity = [params["momentum"] * v - params["learning_rate"] * g for v, g in zip(velocity, gradient)]
            weights = [w + v for w, v in zip(weights, velocity)]
    loss, right = 0.0, 0
    for x, y, kind in held_out:
        p = probability(weights, x, y, act)[1]
        p = min(max(p, 1e-3), 1 - 1e-3)
        loss -= math.log(p if kind == 1 else 1 - p) / len(held_out)
        right += (p > 0.5) == (kind == 1)
    return loss, right / len(held_out)


if __name__ == "__main__":
    params = json.loads(os.environ["MANYHANDS_PARAMS"])
    # The mean over a few starts says more of the parameters, and less of one start's luck.
    losses, accuracies = zip(*(train(params, seed) for seed in range(STARTS)))
    print(json.dumps({"value": sum(losses) / STARTS, "accuracy": sum(accuracies) / STARTS}))
