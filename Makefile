# Targets are described behind "##"; "make" alone lists them.

.PHONY: help run test check long race fuzz staticcheck prove image stick netboot launcher release gdb bench replay web setup browser notices vet vet-usual \
	book slides lab grade grade-all hidden watch reset students bochs need-run need-gdb need-stick need-test need-browser need-bochs

GRADE = $(if $(TEST),-test $(TEST)) $(if $(HIDDEN),-hidden $(HIDDEN)) $(if $(CLASS),-class $(CLASS))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

run: need-run ## boot to a prompt (Ctrl-A X leaves); without a terminal, run examples/demo.sonde
	@if [ -t 0 ]; then go run ./qemu; \
	else go run ./qemu -c "$$(grep -v '^#' examples/demo.sonde)"; fi

test: need-test vet-usual ## run everything: vet, the tests on the host and in QEMU
	SONDE_BRIEF=1 go test -vet=off -parallel 4 -timeout 4h ./...

prove: need-test ## probe everything and compare (docs/proof.md); continues where it was stopped
	go run ./ktest/prove
	go run ./qemu/pictures -files

check: need-run vet-usual ## before a commit, two minutes: vet, the tests on the host, one boot with quick tests
	go test -vet=off -short -timeout 4h ./...

long: need-test need-bochs vet staticcheck race fuzz ## before a release, hours: staticcheck, race, fuzz, and every test on every machine
	SONDE_LONG=1 go test -vet=off -parallel 4 -timeout 24h ./...

bochs: need-bochs ## boot the stick in Bochs, on eight processors, and run the kernel's tests there: hours
	SONDE_LONG=1 go test -vet=off ./qemu -run TestBochs -v -timeout 24h

race: need-test ## run the tests of make check with Go's race detector
	CGO_ENABLED=1 go test -vet=off -short -race -timeout 4h ./...

fuzz: ## run each fuzz target for a minute (TIME=20s: for that long; ONLY=PATTERN: only these)
	./internal/fuzz.sh $(or $(TIME),1m) $(ONLY)

# staticcheck is in no module file, so that users of the kernel need not download it.
staticcheck: ## run this linter on what runs on the host and on the kernel
	GOBIN=$(CURDIR)/build go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	build/staticcheck ./...
	go run ./internal/lint build/staticcheck -tests=false

image: ## make build/sonde.elf, show its layout and what takes the room in it
	@go run ./qemu -build

stick: need-stick ## make build/sonde.iso, which boots a PC from CD or USB stick, by BIOS and UEFI
	@go run ./qemu -build -stick

netboot: need-stick ## make build/netboot, the files for a TFTP server from which PCs boot
	@go run ./qemu -build -stick -from net

launcher: ## make build/qemu, the launcher, which returns the exit status that "go run" hides
	go build -o build/qemu ./qemu

release: need-stick ## make build/release: kernel, media and launchers for machines without Go
	@go run ./internal/release

gdb: need-gdb ## wait for gdb, then boot to a prompt
	go run ./qemu -gdb

bench: need-run ## measure booting (ms), probes and system calls (ns); PEER=file.tsv compares with another kernel
	@go run ./qemu/bench $(if $(PEER),-peer $(PEER))

book: ## make build/book, the course's book as pages of HTML, and PDFs of it and of the reference card if there is Chromium (UPDATE=1: first write what its commands print into it)
	@$(if $(UPDATE),go test -vet=off ./course/book -run Outputs -update)
	@go run -C course/pages .

slides: ## make build/slides, a file for each lecture of the course
	@go run -C course/pages . -slides

web: need-run ## boot to a prompt, and print an address where a browser shows the kernel (docs/web.md)
	go run ./qemu -web

replay: ## write build/replay.html: one hit of each kind of probe, step by step, in a browser
	@go run ./qemu/web -replay build/replay.html

lab: ## begin a lab of the course: LAB=1
	@./course/lab.sh begin $(LAB)

grade: need-run ## build what is in lab/1, test it, print points: LAB=1 (TEST=name: one test; HIDDEN=folder: also run these tests)
	@go build -o build/grader ./course/grade && { build/grader -lab $(or $(LAB),0) $(GRADE) || [ $$? = 1 ]; } # 1: points are missing

watch: need-run ## grade LAB=1 at each save, one failure at a time, with hints
	@go build -o build/grader ./course/grade && { build/grader -lab $(or $(LAB),0) $(GRADE) -watch || [ $$? = 1 ]; }

reset: ## put the starter of LAB=1 back, and keep what was there (TEST=ask: only show the difference)
	@./course/lab.sh $(if $(filter ask,$(TEST)),ask,reset) $(LAB)

grade-all: need-run ## grade the labs of all students, which are in STUDENTS/NAME/N: STUDENTS=folder (LAB=1 HIDDEN=folder CLASS=name)
	@go run ./course/grade -all '$(or $(STUDENTS),$(error say where the students are: STUDENTS=folder))' $(if $(LAB),-lab $(LAB)) $(GRADE)

hidden: ## write the hidden tests of a class into a new folder, to be read and changed: DIR=../hidden CLASS=autumn
	@go run ./course/grade -settle '$(or $(DIR),$(error say where to: DIR=folder))' $(if $(CLASS),-class $(CLASS))

students: ## make the repository for a class, without solutions: DIR=../class CLASS=autumn
	@./course/students.sh '$(DIR)' '$(CLASS)'

setup: need-test ## install the Debian packages that are missing

browser: need-browser ## install Chromium, in which pages are tested

need-run need-gdb need-stick need-test need-browser need-bochs:
	@./internal/host-packages.sh $(@:need-%=%)

notices: ## check that NOTICES has the licences of everything in the image
	@go run ./internal/notices -check

vet: vet-usual ## run go vet on what runs on the host and on the kernel, and check gofmt
	go run ./qemu -nolinux -vet
	go run ./qemu -noprobe -vet

# The kernels without programs and without probes are left to make long: what is compiled anew for them takes a while.
vet-usual:
	@unformatted=$$(find . \( -name build -o -path ./lab \) -prune -o -name '*.go' -exec gofmt -l {} +) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run ./qemu -vet
