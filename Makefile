# Targets are described behind "##"; "make" alone lists them.

.PHONY: help run test check long race fuzz staticcheck prove image stick netboot launcher gdb bench setup notices vet need-run need-gdb need-stick need-test

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

run: need-run ## boot to a prompt (Ctrl-A X leaves); without a terminal, run examples/demo.sonde
	@if [ -t 0 ]; then go run ./qemu; \
	else go run ./qemu -c "$$(grep -v '^#' examples/demo.sonde)"; fi

test: need-test vet ## everything: vet, the tests on the host and in QEMU
	go test -vet=off -parallel 3 -timeout 60m ./...

prove: need-test ## probe everything and compare: the proof run of docs/proof.md, which goes on where it was stopped
	go run ./qemu/prove

check: need-run vet ## in two minutes, before a commit: vet, the tests on the host, and one boot with the quick ones of the kernel's
	go test -vet=off -short ./...

long: need-test vet staticcheck race fuzz ## in hours, before a release: all that is below, and every test on every machine
	SONDE_LONG=1 go test -vet=off -parallel 3 -timeout 6h ./...

race: need-test ## the tests of make check with Go's race detector
	CGO_ENABLED=1 go test -vet=off -short -race -timeout 30m ./...

fuzz: ## each fuzz target for a minute (TIME=20s: for that long; ONLY=PATTERN: those that fit)
	./internal/fuzz.sh $(or $(TIME),1m) $(ONLY)

# In no module file: what it needs is nothing that the kernel's users should load.
staticcheck: ## what the linter of that name finds in the code that the host compiles
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

image: ## build build/sonde.elf and show its layout
	@go run ./qemu -build

stick: need-stick ## build build/sonde.iso: boots a PC from CD or USB stick, by BIOS and UEFI
	@go run ./qemu -build -stick

netboot: need-stick ## fill build/netboot with what a TFTP server offers PCs that boot by network
	@go run ./qemu -build -stick -from net

launcher: ## build build/qemu, which passes on the exit status that "go run" hides
	go build -o build/qemu ./qemu

gdb: need-gdb ## boot to a prompt, but wait for gdb first
	go run ./qemu -gdb

bench: need-run ## boot time in ms, cost of probes and of system calls in ns; PEER=file.tsv adds another kernel's and the ratio
	@go run ./qemu/bench $(if $(PEER),-peer $(PEER))

setup: need-test ## install the Debian packages that are missing

need-run need-gdb need-stick need-test:
	@./internal/host-packages.sh $(@:need-%=%)

notices: ## check that NOTICES has the licences of all that is in the image
	@go run ./internal/notices -check

vet: ## go vet on what runs on the host and on the kernel, and gofmt
	go vet ./...
	go run ./qemu -vet
	@unformatted=$$(find . -name build -prune -o -name '*.go' -exec gofmt -l {} +) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
