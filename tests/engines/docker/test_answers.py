"""Answers to what a program asks of outside reach it in its container: typed, on its command line, in its environment,
in its settings."""

from __future__ import annotations

import pytest
from conftest import PACKAGES, notebook_of

from jupyter_paddle_gpu.notebook.answers import for_job
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

ARGUMENTS = """import argparse, getopt, optparse
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
print("argparse", parser.parse_args([]).width * 2)
found, _ = getopt.getopt([], "d:", ["depth="])
print("getopt", int(dict(found)["--depth"]) * 2)
options = optparse.OptionParser()
options.add_option("--heads", type="int")
print("optparse", options.parse_args([])[0].heads * 2)"""
TYPED = """print("typed", int(input("how many? ")) * 2)"""
VARIABLES = """import os
print("environ", int(os.environ["EPOCHS"]) * 2, os.getenv("RATE"))"""
SCRIPT = """import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
print("script", parser.parse_args().width * 2, os.environ["EPOCHS"])"""
STARTED = """import subprocess, sys
print(subprocess.run([sys.executable, "train.py"], capture_output=True, text=True))
!python train.py"""
SETTINGS = """from pydantic_settings import BaseSettings
class Settings(BaseSettings):
    hidden: int
print("pydantic", Settings().hidden * 2)"""
DOTENV = """import os
from dotenv import load_dotenv
load_dotenv()
print("dotenv", int(os.environ["LAYERS"]) * 2)"""
OPEN_SETTINGS = """from omegaconf import OmegaConf
settings = OmegaConf.create({"model": {"size": "???"}})
print("hydra", settings.model.size * 2)"""
ANSWERS = {"width": 12, "depth": 3, "heads": 8, "input": "7", "EPOCHS": "5", "RATE": "0.1"}


def answered(bench, answers, *cells):
    """A job with these answers, divided as they are when one is submitted."""
    notebook = parse_notebook(notebook_of(*cells), bench.work / "asks.ipynb")
    given = for_job(inspect_notebook(notebook), answers)
    return bench.job(*cells, sets=given.sets, environment=given.environment)


def test_answers_reach_what_python_reads_by_itself(bench):
    (bench.work / "train.py").write_text(SCRIPT)
    made, folder = answered(bench, ANSWERS, ARGUMENTS, TYPED, VARIABLES, STARTED)
    assert bench.run(made, folder).exit_code == 0, bench.explain(made, folder)
    text = bench.text(folder)
    for said in ("argparse 24", "getopt 6", "optparse 16", "typed 14", "environ 10 0.1"):
        assert said in text
    assert text.count("script 24 5") == 2


@pytest.mark.paddle
def test_answers_reach_libraries_of_settings(make_bench):
    bench = make_bench(data_folders=(PACKAGES,))
    answers = {"HIDDEN": "32", "LAYERS": "6", "model_size": 64}
    made, folder = answered(bench, answers, SETTINGS, DOTENV, OPEN_SETTINGS)
    assert bench.run(made, folder).exit_code == 0, bench.explain(made, folder)
    text = bench.text(folder)
    for said in ("pydantic 64", "dotenv 12", "hydra 128"):
        assert said in text
