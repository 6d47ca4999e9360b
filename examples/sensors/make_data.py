"""Makes sensors.csv, cov.csv and today.csv: a hall with forty thermometers, a year of readings, and today.

Five machines warm the hall, each as much as it runs that day. The covariance of the sensors is that of the year's readings,
which is all that a study needs to know of them. Standard library only; the same data every time.
"""

import math
import random

SENSORS, DAYS, NOISE, IDLE = 40, 365, 0.2, 17.0
MACHINES = [(2.0, 3.0, 2.5), (8.0, 2.0, 2.0), (5.0, 7.0, 2.5), (9.0, 9.0, 1.8), (1.0, 9.0, 2.0)]
rng = random.Random(14)


def day():
    """How much each machine runs."""
    return [rng.uniform(0.0, 6.0) for _ in MACHINES]


def temperature(place, running):
    """What there is to measure at a place."""
    near = lambda x, y, reach: math.exp(-math.dist(place, (x, y)) ** 2 / (2 * reach**2))
    return IDLE + sum(heat * near(*machine) for heat, machine in zip(running, MACHINES))


def norm(field, covariance):
    """The norm of a field in the space of the covariance, which `norm_bound` must not be below: sqrt(f' C^-1 f)."""
    rows = [row + [value] for row, value in zip(covariance, field)]
    square = 0.0
    for i, pivot in enumerate(rows):
        square += pivot[-1] ** 2 / pivot[i]
        for row in rows[i + 1 :]:
            factor = row[i] / pivot[i]
            row[i:] = [a - factor * b for a, b in zip(row[i:], pivot[i:])]
    return math.sqrt(square)


def write(file, header, rows):
    with open(file, "w", encoding="ascii") as out:
        out.write("".join(",".join(row) + "\n" for row in [header, *rows]))


places = [(rng.uniform(0, 10), rng.uniform(0, 10)) for _ in range(SENSORS)]
names = [f"s{i:02d}" for i in range(SENSORS)]
year = []
for _ in range(DAYS):
    running = day()
    year.append([temperature(place, running) + rng.gauss(0, NOISE) for place in places])
means = [sum(readings) / DAYS for readings in zip(*year)]
centred = [[reading - mean for reading, mean in zip(readings, means)] for readings in year]
covariance = [[sum(d[i] * d[j] for d in centred) / (DAYS - 1) for j in range(SENSORS)] for i in range(SENSORS)]
running = day()
today = [temperature(place, running) for place in places]

write("sensors.csv", ["name", "x", "y"], [[n, f"{x:.2f}", f"{y:.2f}"] for n, (x, y) in zip(names, places)])
write("cov.csv", names, [[f"{c:.6f}" for c in row] for row in covariance])
write("today.csv", ["name", "temperature"], [[n, f"{t:.4f}"] for n, t in zip(names, today)])
hottest = max(range(SENSORS), key=lambda i: today[i])
print(f"hottest: {names[hottest]}, {today[hottest]:.2f}")
print(f"norm of today above the idle hall: {norm([t - IDLE for t in today], covariance):.2f}")
