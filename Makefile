# make test does all that a change must pass. It installs what the tests need and the machine lacks.

GO ?= go
FUZZTIME ?= 20s
ENGINE ?= docker
IMAGE ?= signpost

.PHONY: test lint lint-main lint-modules programs modules setup bench fuzz soak build release mutants licenses image screenshot

# The tests run programs that are built before them, so that no test waits for a compiler. What could not be tested here
# is repeated at the end. The files in deploy and the release have modules of their own, which are tested at the same time.
# On a new machine most of the time is compilation. So all is built in two ways only: for the race detector, and as STATIC
# says. lint has vetted what is tested. Packages that start no goroutine do without the race detector, with which their
# random tests take ten times as long.
ALONE = ./definition ./diff ./host ./match ./openapi ./internal/adopt ./internal/draft ./internal/escape \
	./internal/fields ./internal/foreign ./internal/httpurl ./internal/readfile ./internal/routes ./internal/spell \
	./internal/suffix ./internal/tree ./internal/warnings

# What takes longest comes first, and three packages run at a time, since a browser or a program is often waited for: so no
# processor is idle.
FIRST = ./studio ./internal/cli
test: export TESTKIT_PROGRAMS = $(CURDIR)/bin/test
test: export TESTKIT_NOT_TESTED = $(CURDIR)/bin/not-tested
test:
	@$(MAKE) --no-print-directory --jobs 4 setup modules lint
	@rm -f bin/not-tested
	@failed=; \
	$(STATIC) $(GO) test -vet off -shuffle on -timeout 20m $(ALONE) >bin/alone.txt 2>&1 & alone=$$!; \
	(cd deploy/test && $(STATIC) $(GO) test -vet off -shuffle on -timeout 20m) >bin/deploy.txt 2>&1 & deploy=$$!; \
	(cd tools/release && $(STATIC) $(GO) test -vet off -shuffle on -timeout 20m) >bin/release.txt 2>&1 & release=$$!; \
	$(GO) test $(RACE) -p 3 -vet off -shuffle on -timeout 20m $$($(GO) list $(FIRST) ./... | grep -vxF "$$($(GO) list $(ALONE))") || failed=yes; \
	wait $$alone || failed=yes; wait $$deploy || failed=yes; wait $$release || failed=yes; \
	cat bin/alone.txt bin/deploy.txt bin/release.txt; \
	test ! -s bin/not-tested || { printf '\n*** NOT TESTED HERE ***\n'; sort -u bin/not-tested; }; \
	test -z "$$failed"

setup:
	@tools/setup

# Compilers and linters take a tenth less time if they collect their garbage less often.
programs lint-main lint-modules: export GOGC = 400

STATIC = CGO_ENABLED=0 GOFLAGS=-trimpath
# The race detector without what only a debugger needs, which takes a tenth of the time.
RACE = -race -gcflags=all=-dwarf=false

programs:
	$(STATIC) $(GO) build -o bin/test/ ./cmd/signpost ./examples/...
	$(STATIC) $(GO) -C tools build -o ../bin/test/ github.com/rhysd/actionlint/cmd/actionlint honnef.co/go/tools/cmd/staticcheck
	$(STATIC) $(GO) -C tools/pebble build -o ../../bin/test/ github.com/letsencrypt/pebble/v2/cmd/pebble github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv

# On a new machine, what modules need is downloaded while programs are compiled and installed.
modules:
	@for module in . deploy/test tools/release; do $(GO) -C $$module list -deps -test ./... >/dev/null || exit 1; done

lint: lint-main lint-modules

# go mod tidy also downloads what the tests of dependencies import: a page of the docs runs it where there is no network.
lint-main: programs
	$(GO) mod tidy -diff
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet $(RACE) ./...
	GOFLAGS='$(RACE)' bin/test/staticcheck ./...

lint-modules: programs
	cd deploy/test && export $(STATIC) && $(GO) vet ./... && ../../bin/test/staticcheck ./...
	cd tools/release && export $(STATIC) && $(GO) vet ./... && ../../bin/test/staticcheck ./...

# The tables of docs/performance.md. It takes about half an hour, on a quiet machine.
bench: setup
	@command -v wrk >/dev/null || { echo "install wrk first (Debian: apt-get install wrk)"; exit 2; }
	$(GO) run ./bench

# go test takes one fuzz target at a time.
fuzz:
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package || exit 1; \
		done; \
	done

# The attacks and reloads of make test in full, against a real process: a million made-up hosts, bursts of them, idle
# connections, 5,000 silent ones a second, 10,000 slow clients, and 1,000 reloads of one file among 2,000. Then every kind of hostile input, a megabyte
# of it, random requests for ten minutes, whose responses must be those of net/http, and a release that is built twice. It
# prints what it measured as one table.
soak: export TESTKIT_PROGRAMS = $(CURDIR)/bin/test
soak: export SIGNPOST_SOAK_HOSTS = 1000000
soak: export SIGNPOST_SOAK_CLIENTS = 5000
soak: export SIGNPOST_SOAK_HTTP2_CLIENTS = 2500
soak: export SIGNPOST_SOAK_IDLE = 10050
soak: export SIGNPOST_SOAK_SILENT = 5000
soak: export SIGNPOST_SOAK_SLOW = 10000
soak: export SIGNPOST_SOAK_SERVICES = 2000
soak: export SIGNPOST_SOAK_RELOADS = 1000
soak: export SIGNPOST_SOAK_EDITS = 1500
soak: export SIGNPOST_SOAK_INPUTS = 1
soak: export SIGNPOST_SOAK_SEQUENCES = 10m
soak: export SIGNPOST_SOAK_RELEASE = 1
soak: programs
	@rm -f bin/soak.txt
	@run() { $(GO) test -run "^($$2)$$" -count 1 -v -timeout 90m -parallel 1 $$1 >>bin/soak.txt 2>&1 || { cat bin/soak.txt; exit 1; }; }; \
	run ./internal/daemon 'TestMadeUpHosts|TestBurstOfHosts|TestClosedWindows|TestUnreadPings|TestLargeFrames|TestIdleConnections|TestSilentConnections|TestManySlowClients|TestReloadOneOfMany'; \
	run ./internal/cli TestHostileInput; \
	run ./internal/lsp TestSameAsLint; \
	run ./internal/wire TestWireSequences; \
	cd tools/release && $(GO) test -run '^TestReproducible$$' -count 1 -timeout 60m
	@awk '/^=== (RUN|CONT)/ { test = $$3; sub("/.*", "", test) } /soak: / { sub(/.*soak: /, ""); printf "%-24s %s\n", test, $$0 }' bin/soak.txt

build:
	$(STATIC) $(GO) build -o bin/signpost ./cmd/signpost

# Changes to a package that its own tests do not notice: make mutants PACKAGE=host. It takes minutes to hours.
PACKAGE ?= host
mutants:
	$(GO) run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash ./$(PACKAGE) --timeout-coefficient 20 \
		--invert-assignments --invert-logical --invert-loopctrl --remove-self-assignments --output-statuses lct

# Archives, packages, image, checksums and SBOM, into bin/release. docs/install.md explains the variables:
#   make release VERSION=v1.0.0 MAINTAINER='Name <address>' HOMEPAGE=URL [PLATFORMS=linux/amd64] [SOURCE=URL] [LICENSE=ID] [DOCS_URL=URL] [NPM_NAME=@scope/name]
release:
	@test -n "$(VERSION)" && test -n "$(MAINTAINER)" && test -n "$(HOMEPAGE)" || { \
		echo "make release VERSION=v1.0.0 MAINTAINER='Name <address>' HOMEPAGE=URL"; exit 2; }
	$(GO) -C tools/release run . -version "$(VERSION)" -maintainer "$(MAINTAINER)" -homepage "$(HOMEPAGE)" -source "$(SOURCE)" \
		-license "$(LICENSE)" -docs "$(DOCS_URL)" $(if $(PLATFORMS),-platforms "$(PLATFORMS)") $(if $(NPM_NAME),-npm-name "$(NPM_NAME)") -out "$(CURDIR)/bin/release/$(VERSION)"

# The licenses of what the binary contains, for packages, archives and the image. A test keeps the file up to date.
licenses:
	$(GO) test ./internal/cli -run '^TestLicenses$$' -count 1 -update

# Needs a container engine: make image IMAGE=name:tag ENGINE=podman
image:
	$(ENGINE) build -f deploy/Dockerfile -t $(IMAGE) .

# The picture of the studio page in README and docs, from the page itself.
screenshot: setup
	@pictures="$$(mktemp -d)" && $(GO) test ./studio -run '^TestScreenshot$$' -count 1 -screenshots "$$pictures" && \
		cp "$$pictures/studio.png" docs/studio.png && echo "docs/studio.png is made; light and dark, wide and narrow are in $$pictures"
