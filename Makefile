# make test does all that a change must pass. It installs what the tests need and the machine lacks.

GO ?= go
FUZZTIME ?= 20s

.PHONY: test lint bench fuzz build setup

test: setup lint
	$(GO) test -race ./...

lint:
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# go test takes one fuzz target at a time.
fuzz:
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

build:
	$(GO) build -trimpath -o bin/signpost ./cmd/signpost

# The race detector needs a C compiler; the transcripts in the docs use curl and git.
setup:
	@missing=""; \
	for need in gcc curl git; do command -v $$need >/dev/null || missing="$$missing $$need"; done; \
	test -z "$$missing" || { \
		echo "installing$$missing"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends $$missing libc6-dev ca-certificates; \
	}
