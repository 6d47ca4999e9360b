"""Other optimizers for `manyhands bench quality --against`: one line of JSON at a time.

    python3 -m venv peers && peers/bin/pip install optuna ax-platform torch scipy
    manyhands bench quality --against "optuna-gp=peers/bin/python crates/lab/peers/peers.py optuna-gp"

Each is used as its documentation says, with its defaults; results that are out are told to it where it can be told.
"""

import json
import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
# Answers have standard output to themselves, whatever a library prints.
answers, sys.stdout = sys.stdout, sys.stderr


class Optuna:
    """A sampler of Optuna, by ask and tell."""

    def __init__(self, problem, make_sampler):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.parameters = problem["parameters"]
        self.study = optuna.create_study(direction=problem["direction"], sampler=make_sampler(optuna, problem))
        self.trials = []

    def ask(self, count):
        asked = [self.study.ask() for _ in range(count)]
        self.trials += asked
        return [{p["name"]: self.suggest(trial, p) for p in self.parameters} for trial in asked]

    @staticmethod
    def suggest(trial, parameter):
        name, log = parameter["name"], parameter.get("scale") == "log"
        if "float" in parameter:
            return trial.suggest_float(name, *parameter["float"], log=log)
        if "int" in parameter:
            return trial.suggest_int(name, *parameter["int"], log=log)
        if "levels" in parameter:
            return parameter["levels"][trial.suggest_int(name, 0, len(parameter["levels"]) - 1)]
        if "choice" in parameter:
            return trial.suggest_categorical(name, parameter["choice"])
        return parameter["constant"]

    def tell(self, trial, value):
        self.study.tell(self.trials[trial], value)


class Ax:
    """Ax through its service interface, five quasi-random points first."""

    def __init__(self, problem):
        from ax.service.ax_client import AxClient, ObjectiveProperties

        self.client = AxClient(random_seed=problem["seed"] % 2**31, verbose_logging=False)
        self.client.create_experiment(
            name=problem["play"],
            parameters=[self.parameter(p) for p in problem["parameters"]],
            objectives={"value": ObjectiveProperties(minimize=problem["direction"] == "minimize")},
            choose_generation_strategy_kwargs={
                "num_initialization_trials": max(5, problem["batch"]),
                "max_parallelism_override": problem["batch"],
            },
        )
        self.indices = []

    @staticmethod
    def parameter(parameter):
        log = parameter.get("scale") == "log"
        for kind in ("float", "int"):
            if kind in parameter:
                bounds = [float(b) if kind == "float" else b for b in parameter[kind]]
                return dict(name=parameter["name"], type="range", bounds=bounds, value_type=kind, log_scale=log)
        if "constant" in parameter:
            return dict(name=parameter["name"], type="fixed", value=parameter["constant"])
        ordered, values = "levels" in parameter, parameter.get("levels") or parameter["choice"]
        return dict(name=parameter["name"], type="choice", values=values, is_ordered=ordered, sort_values=ordered)

    def ask(self, count):
        asked = [self.client.get_next_trial() for _ in range(count)]
        self.indices += [index for _, index in asked]
        return [point for point, _ in asked]

    def tell(self, trial, value):
        # No standard error: Ax learns the noise.
        self.client.complete_trial(self.indices[trial], raw_data={"value": (value, None)})


def seed(problem):
    return problem["seed"] % 2**32


OPTIMIZERS = {
    "optuna-gp": lambda problem: Optuna(problem, lambda optuna, p: optuna.samplers.GPSampler(seed=seed(p))),
    "optuna-tpe": lambda problem: Optuna(
        problem, lambda optuna, p: optuna.samplers.TPESampler(seed=seed(p), constant_liar=True, multivariate=True)
    ),
    "ax": Ax,
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in OPTIMIZERS:
        sys.exit(f"usage: peers.py {'|'.join(OPTIMIZERS)}")
    problem = json.loads(sys.stdin.readline())
    if problem["constraints"]:
        sys.exit(f"{sys.argv[1]} is not taught linear constraints here: leave {problem['play']} out")
    optimizer = OPTIMIZERS[sys.argv[1]](problem)
    for line in sys.stdin:
        said = json.loads(line)
        if "ask" in said:
            print(json.dumps({"points": optimizer.ask(said["ask"])}), file=answers, flush=True)
        else:
            optimizer.tell(said["tell"]["trial"], said["tell"]["value"])


main()
