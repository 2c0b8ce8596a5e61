.PHONY: release e2e chaos bench-peers help build test race check fuzz bench gen css tidy

# The product's packages, and those of its tools, which are modules of their own.
ALL = ./... ./bench/... ./conformance/... ./e2e/... ./release/...

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## the binary ./countersign
	CGO_ENABLED=0 go build -trimpath -o countersign ./cmd/countersign

release: ## what users install, in dist: archives, .deb, .rpm, a container image, check sums (RELEASE="-only linux/amd64": flags of release)
	rm -rf dist
	go run ./release $(RELEASE)

test: ## all tests, also those of the tools
	go test $(ALL)

race: ## all tests with the race detector (needs a C compiler)
	GOFLAGS='-race -gcflags=modernc.org/...=-race=false' go test $(ALL)

check: ## before a commit: formatting, vet, staticcheck, and the short tests of what changed
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet $(ALL)
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 $(ALL)
	go test -short -vet=off $(ALL)

fuzz: ## every fuzz target for a short while (FUZZCOUNT=20000)
	./.ci/fuzz

bench: ## the store against a bare server, SQLite, 1,000,000 purchases (BENCH=full: the rest; BENCH="--baseline PATH": against another build; BENCH="flags of bench")
	go run ./bench $(BENCH)

chaos: ## the store while its PostgreSQL fails (CHAOS="flags of chaos", see docs/chaos.md)
	go run ./bench/chaos $(CHAOS)

tidy: ## go.mod and go.sum of all modules, after a change of a dependency
	for module in . bench conformance e2e release; do (cd $$module && GOWORK=off go mod tidy) || exit; done

gen: ## the Go of the pages, from their templates
	go generate ./...

css: ## the style sheet of the pages, and what it vendors (needs Node)
	cd internal/frame/web && npm ci && npm run css && npm run vendor

e2e: ## each page and journey once in a browser (needs Node 20 and Chromium; SWEEP=full: in both themes and all widths, with pictures in e2e/out)
	npm ci --prefix e2e
	SWEEP=$(or $(SWEEP),ci) go test -v -timeout 6h ./e2e

bench-peers: ## the store against PocketBase and against PHP-FPM with nginx (BENCH="flags of bench")
	go run ./bench --peer bench/peers/pocketbase/start $(BENCH)
	go run ./bench --peer bench/peers/php/start $(BENCH)
