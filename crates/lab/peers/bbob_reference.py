"""Values of COCO's noise-free functions, which the test `bbob` compares with ours.

    python3 -m venv coco && coco/bin/pip install coco-experiment==2.8.2
    coco/bin/python crates/lab/peers/bbob_reference.py > crates/lab/tests/data/bbob.csv

A row is one instance: function, dimension, instance, f_opt, the best point in thousandths, rounded; then the values at that
rounded point and at three points of the box, which `point` and the test build by the same exact arithmetic.
"""

import os
import tempfile

import cocoex

DIMENSIONS, INSTANCES = (2, 3, 5, 10, 20, 40), (1, 2, 7, 123)


def point(number, dimension):
    """Coordinates in hundredths from -500 to 500."""
    return [((j + 1) * (j + 2 * number + 3) * 7919 % 1001 - 500) / 100 for j in range(dimension)]


def best_point(problem):
    """COCO writes it to a file in the working folder."""
    problem._best_parameter("print")
    with open("._bbob_problem_best_parameter.txt") as file:
        return [float(x) for x in file.read().split()]


def row(problem, function, dimension, instance):
    best = best_point(problem)
    rounded = [round(1000 * x) for x in best]
    points = [[x / 1000 for x in rounded]] + [point(number, dimension) for number in range(3)]
    # An optimal value has two decimals.
    cells = [function, dimension, instance, round(float(problem(best)), 2), " ".join(map(str, rounded))]
    return ",".join(map(str, cells + [float(problem(x)) for x in points]))


def main():
    os.chdir(tempfile.mkdtemp())
    suite = cocoex.Suite("bbob", "instances:" + ",".join(map(str, INSTANCES)), "")
    print(f"# values of coco-experiment {cocoex.__version__}, by crates/lab/peers/bbob_reference.py")
    for function in range(1, 25):
        for dimension in DIMENSIONS:
            for instance in INSTANCES:
                problem = suite.get_problem_by_function_dimension_instance(function, dimension, instance)
                print(row(problem, function, dimension, instance))
                problem.free()


if __name__ == "__main__":
    main()
