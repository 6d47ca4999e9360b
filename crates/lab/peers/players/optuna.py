"""Optuna."""

import optuna

from players.peer import seed


class Optuna:
    """A sampler of Optuna, by ask and tell."""

    def __init__(self, problem):
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.parameters = problem["parameters"]
        self.study = optuna.create_study(direction=problem["direction"], sampler=self.sampler(problem))
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


class Gp(Optuna):
    """Its Gaussian process with log-EI."""

    @staticmethod
    def sampler(problem):
        return optuna.samplers.GPSampler(seed=seed(problem))


class Tpe(Optuna):
    """Its tree-structured Parzen estimators, of all parameters together, with a constant liar for pending trials."""

    @staticmethod
    def sampler(problem):
        return optuna.samplers.TPESampler(seed=seed(problem), constant_liar=True, multivariate=True)
