# make test does all that a change must pass. It installs what the tests need and the machine lacks.

GO ?= go
FUZZTIME ?= 20s
ENGINE ?= docker
IMAGE ?= signpost

.PHONY: test lint bench benchstat baseline fuzz soak build release mutants licenses image screenshot setup programs load browser npm editor

# The files in deploy and the release have modules of their own. Their tests say at the end what they could not run
# here, which go test shows only where it is given no package. The release is built for Linux on this architecture
# there, twice, and taken apart.
test: setup programs load browser npm editor lint
	$(GO) test -race ./...
	cd deploy/test && $(GO) test
	cd tools/release && $(GO) test
	@test -d bin/npm/node_modules/typescript || printf '\n*** THE TYPES OF THE STUDIO PAGE AND ITS ACCESSIBILITY WERE NOT CHECKED: npm cannot be had here. ***\n'
	@$(find_browser) || printf '\n*** THE BROWSER TESTS DID NOT RUN: there is no Chromium here, and it could not be installed. ***\n'

lint:
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	$(GO) -C deploy/test vet ./...
	$(GO) -C deploy/test tool -modfile=../../tools/go.mod staticcheck ./...
	$(GO) -C tools/release vet ./...
	$(GO) -C tools/release tool -modfile=../go.mod staticcheck ./...

# The tables and plots of docs/performance.md and docs/operate.md. It takes about half an hour, on a quiet machine.
bench: programs load
	$(GO) run ./bench

# The benchmarks of single operations against those of another day.
benchstat:
	$(GO) run ./bench -count 10 -pages=false micro
	$(GO) tool -modfile=tools/go.mod benchstat bench/baseline.txt bin/bench/benchmarks.txt

baseline:
	$(GO) run ./bench -count 10 -pages=false micro
	cp bin/bench/benchmarks.txt bench/baseline.txt

# go test takes one fuzz target at a time.
fuzz:
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package || exit 1; \
		done; \
	done

# The attacks and reloads of make test in full, against a real process: a million made-up hosts, bursts of them, idle
# connections, 10,000 slow clients, and 1,000 reloads of one file among 2,000. Then every kind of hostile input, a megabyte
# of it, and random requests for an hour, whose responses must be those of net/http.
soak:
	SIGNPOST_SOAK_HOSTS=1000000 SIGNPOST_SOAK_CLIENTS=5000 SIGNPOST_SOAK_HTTP2_CLIENTS=2500 SIGNPOST_SOAK_IDLE=10050 \
	SIGNPOST_SOAK_SLOW=10000 SIGNPOST_SOAK_SERVICES=2000 SIGNPOST_SOAK_RELOADS=1000 \
		$(GO) test ./internal/daemon -run '^(TestMadeUpHosts|TestBurstOfHosts|TestClosedWindows|TestUnreadPings|TestLargeFrames|TestIdleConnections|TestManySlowClients|TestReloadOneOfMany)$$' \
		-count 1 -v -timeout 60m -parallel 1
	SIGNPOST_SOAK_INPUTS=1 $(GO) test ./internal/cli -run '^TestMemory$$' -count 1 -v -timeout 60m
	SIGNPOST_SOAK_SEQUENCES=1h $(GO) test ./server -run '^TestWireSequences$$' -count 1 -v -timeout 70m

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/signpost ./cmd/signpost

# Changes to a package that its own tests do not notice. It takes a while: SAMPLE=100 tries that many, chosen at random
# by SEED.
PACKAGE ?= definition
SAMPLE ?= 0
SEED ?= 1
mutants:
	$(GO) build -C tools -o ../bin/mutants ./mutants
	bin/mutants -sample $(SAMPLE) -seed $(SEED) ./$(PACKAGE)

# Archives, packages, image, checksums and SBOM for all platforms, into bin/release: make release VERSION=v1.0.0
release:
	@test -n "$(VERSION)" || { echo "say which version: make release VERSION=v1.0.0"; exit 2; }
	$(GO) -C tools/release run . -version "$(VERSION)" -docs "$(DOCS_URL)" -out "$(CURDIR)/bin/release/$(VERSION)"

# The licenses of what the binary contains, for packages, archives and the image. A test keeps the file up to date.
licenses:
	$(GO) test ./internal/cli -run '^TestLicenses$$' -count 1 -update

# Needs a container engine: make image IMAGE=name:tag ENGINE=podman
image:
	$(ENGINE) build -f deploy/Dockerfile -t $(IMAGE) .

# The picture of the studio page in README and docs, from the page itself.
screenshot: browser
	@pictures="$$(mktemp -d)" && $(GO) test ./studio -run '^TestScreenshot$$' -count 1 -screenshots "$$pictures" && \
		cp "$$pictures/studio.png" docs/studio.png && echo "docs/studio.png is made; light and dark, wide and narrow are in $$pictures"

# The race detector needs a C compiler; the transcripts in the docs use curl and git, the GitHub Action jq, and a test patch.
setup:
	@missing=""; \
	for need in gcc curl git jq patch; do command -v $$need >/dev/null || missing="$$missing $$need"; done; \
	test -z "$$missing" || { \
		echo "installing$$missing"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends $$missing libc6-dev ca-certificates; \
	}

# The servers and tools that the deploy files are for, and a registry for tests. They are unpacked and not installed,
# since an installed server starts and takes a port. Where one cannot be had, the tests say that they did not run.
programs:
	@for program in nginx/usr/sbin/nginx caddy/usr/bin/caddy prometheus/usr/bin/promtool docker-registry/usr/bin/docker-registry; do \
		package=$${program%%/*}; path=$${program#*/}; \
		test -x /$$path || test -x bin/programs/$$path || command -v $${path##*/} >/dev/null && continue; \
		echo "unpacking $$package into bin/programs"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		( mkdir -p bin/programs && cd bin/programs && \
			download="apt-get -qq -o APT::Sandbox::User=root download $$package" && \
			{ $$download 2>/dev/null || { $$sudo apt-get update -qq && $$download; }; } && \
			dpkg-deb -x $${package}_*.deb . && rm $${package}_*.deb \
		) || echo "$$package cannot be had here"; \
	done

# For the load of make bench, and for the test that tries it.
load:
	@command -v wrk >/dev/null || { \
		echo "installing wrk"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends wrk; \
	} || echo "wrk cannot be had here"

# The studio page is tested in a real browser: studio/browser_test.go looks for the same names.
find_browser = ( for name in chromium chromium-browser google-chrome-stable google-chrome chrome \
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do command -v "$$name" >/dev/null && exit 0; done; exit 1 )

browser:
	@$(find_browser) || { \
		echo "installing chromium"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends chromium fonts-liberation; \
	} || echo "chromium cannot be had here"

# For tests of the studio page alone: the TypeScript compiler checks the types of its scripts, axe-core its
# accessibility. Nothing of it is in the page or in the program.
npm_packages = typescript@5.9.3 axe-core@4.11.0

npm:
	@test -d bin/npm/node_modules/typescript && test -d bin/npm/node_modules/axe-core || { \
		command -v npm >/dev/null || { \
			echo "installing npm"; \
			if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
			$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends npm; \
		}; \
		mkdir -p bin/npm && npm install --prefix bin/npm --no-save --no-fund --no-audit --loglevel=error --ignore-scripts $(npm_packages); \
	} || echo "the npm packages cannot be had here"

# The language server is tested with a real editor.
editor:
	@command -v nvim >/dev/null || { \
		echo "installing neovim"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends neovim; \
	} || echo "neovim cannot be had here"
