# make demo    the main job on the demo web: no Docker, no network
# make quick   unit tests: no browser, no engine, no network; CRATE=one of them
# make test    every test, with its own set-up
# make check   formatting, lints, docs, dependency policy: what a change must pass
# The rest is listed by `make help`. A target with parts is a script, `run` in its folder, which says
# what each part does and which variables it reads.

CARGO   ?= cargo
TOOLS   := $(CURDIR)/target/tools
SANDBOX := target/release/sandbox
# The suites here are our own: no command that a target starts asks whether they may do what they do.
export SANDBOX_TRUST := 1
# The tests that `cargo test` and `--all-targets` leave out: they need files from elsewhere, or time.
OTHER_TESTS = $(shell $(CARGO) metadata --no-deps --format-version 1 | python3 -B tests/targets.py left-out)

.PHONY: help setup build demo quick test check images dist docs schema clean
.PHONY: bench still fidelity interop workarena places hostile fuzz conformance test-podman test-docs

help: ## this list
	@awk -F ':.*## ' '/^##/ { print "\n" substr($$0, 4) } /^[a-z-]+:.*## / { printf "  %-13s%s\n", $$1, $$2 }' Makefile
	@printf '\n%s\n' '[parts]: ONLY=help lists them, ONLY=PART runs one'

## Every day
setup: ## install Chromium and its driver
	@./setup.sh

build: ## the program, at target/release/sandbox
	$(CARGO) build --release --bin sandbox

demo: ## the demo suite, played and compared [parts]
	@./tests/demo/run $(ONLY)

quick: ## unit tests of all crates, or of CRATE
	$(CARGO) test --quiet $(if $(CRATE),--package $(CRATE),--workspace) --lib

test: ## every test [parts]
	@./tests/run $(ONLY)

check: ## formatting, style, lints, docs, dependencies
	@./tests/tool.sh cargo-deny 0.20.2
	$(CARGO) fmt --all --check
	python3 -B tests/style.py
	python3 -B tests/bench/test_measured.py
	python3 -B docs/figures.py --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --workspace $(OTHER_TESTS) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny check bans licenses sources

## What is made
images: ## the container images of the sites [parts]
	./images/run $(ONLY)

dist: ## what is shipped, in target/packages [parts]
	./packaging/run $(ONLY)

docs: ## the documentation, in target/docs [parts]
	./docs/run $(ONLY)

schema: build ## JSON schemas and reference of the formats
	$(SANDBOX) tasks schema task > tasks/schema/task.json
	$(SANDBOX) tasks schema suite > tasks/schema/suite.json
	$(SANDBOX) tasks schema site > sites/schema/site.json
	$(SANDBOX) tasks schema site-reference > sites/REFERENCE.md
	$(SANDBOX) agents schema > orchestrator/agents/schema/protocol.json

clean: ## remove target/, and what is installed there
	$(CARGO) clean

## What takes long, or needs more
bench: ## speed and cost beside other programs [parts]
	./tests/bench/run $(ONLY)

still: ## the same again has one fingerprint [parts]
	./tests/still/run $(ONLY)

fidelity: ## recordings beside the live web [parts]
	./tests/fidelity/run $(ONLY)

interop: ## others' readers, clients, benchmarks [parts]
	./tests/interop/run $(ONLY)

workarena: ## the desk beside WorkArena's package [parts]
	./tests/workarena/run $(ONLY)

places: ## other users, engines and clusters [parts]
	./tests/places/run $(ONLY)

hostile: ## attackers, and everything killed [parts]
	./tests/hostile/run $(ONLY)

fuzz: ## broken input for readers; FUZZ_SECONDS=60 each
	@./tests/tool.sh cargo-fuzz 0.13.2
	./tests/fuzz.sh "$(TOOLS)/bin" $(or $(FUZZ_SECONDS),60)

## Short for
conformance: ## make interop ONLY=conformance
	./tests/interop/run conformance

test-podman: ## make places ONLY=podman; here ONLY=MODULE::
	./tests/places/run podman $(ONLY)

test-docs: ## make docs ONLY=test
	./docs/run test

# The old names, for one release: each says its new name, and runs it.
new_test-engine := test ONLY=engine
new_images-fresh := images ONLY=fresh
new_test-dist := dist ONLY=test
new_record-demo := demo ONLY=record
new_still-libraries := still ONLY=libraries
new_load := bench ONLY=load
new_bench-front := bench ONLY=balance
$(foreach part,scale reset observe search objects episodes scores workers,$(eval new_bench-$(part) := bench ONLY=$(part)))
$(foreach part,determinism monkey town,$(eval new_$(part) := still ONLY=$(part)))
$(foreach part,states internet recaptures,$(eval new_$(part) := fidelity ONLY=$(part)))
$(foreach part,parity clients real-model miniwob warcbench infinity,$(eval new_$(part) := interop ONLY=$(part)))
$(foreach part,slurm kubernetes,$(eval new_$(part) := places ONLY=$(part)))
$(foreach part,trust kills,$(eval new_$(part) := hostile ONLY=$(part)))
OLD := $(patsubst new_%,%,$(filter new_%,$(.VARIABLES)))

.PHONY: $(OLD)
$(OLD):
	@echo "make $@ is now make $(new_$@)" >&2
	@$(MAKE) --no-print-directory $(new_$@)
