"""Ax."""

from ax.service.ax_client import AxClient, ObjectiveProperties


class Ax:
    """Ax through its service interface, five quasi-random points first."""

    def __init__(self, problem):
        # Not sequential: with results one by one, more quasi-random points until the first of them are evaluated.
        self.client = AxClient(
            random_seed=problem["seed"] % 2**31, verbose_logging=False, enforce_sequential_optimization=False
        )
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
