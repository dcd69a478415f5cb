package retslot_test

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/retslot"
	"sonde/internal/image"
)

// refused are the functions of the kernel that use their own return address without asking the
// runtime for the real one: they switch stacks or contexts, belong to the probes themselves, or are
// not called here.
var refused = []string{
	"main.caught", "main.here", "runtime.debugCallV2", "runtime.mcall", "runtime.morestack",
	"runtime.sondeSyscall", "runtime.vgetrandom1", "sonde/arch/amd64/trap.entryBP", "sonde/arch/amd64/trap.entryDB",
	"sonde/arch/amd64/trap.entryDebug", "sonde/arch/amd64/trap.entryWatch", "sonde/arch/amd64/trap.entryWatchReal",
	"sonde/arch/amd64/trap.known", "sonde/arch/amd64/trap.save", "sonde/arch/amd64/user.fromTrap", "sonde/arch/amd64/user.known",
	"sonde/kprobes.note", "syscall.rawVforkSyscall",
}

// askers must be found, and must ask: the test notices if a change of the runtime, or of the
// overlay, reads the return address elsewhere.
var askers = []string{"runtime.gopanic", "runtime.panicBounds", "runtime.deferproc", "runtime.deferprocStack",
	"runtime.deferreturn", "runtime.entersyscall", "runtime.entersyscallblock", "runtime.callers", "runtime.newproc",
	"runtime.(*_panic).start"}

func TestWhoUsesItsReturnAddressInTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the kernel")
	}
	done, err := image.Build(image.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(done + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(syms, func(s elf.Symbol) bool { return s.Name == "runtime.sondeCallerPC" })
	if i < 0 {
		t.Fatal("no runtime.sondeCallerPC")
	}
	asks := syms[i].Value
	var have, asking []string
	for _, s := range syms {
		off := s.Value - text.Addr
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || off+s.Size > uint64(len(code)) {
			continue
		}
		name := strings.TrimSuffix(s.Name, ".abi0")
		use, err := retslot.Scan(s.Value, code[off:off+s.Size])
		switch {
		case err != nil: // it cannot be probed at all
		case use.Unasked(asks):
			have = append(have, name)
		case len(use.Slot) > 0:
			asking = append(asking, name)
		}
	}
	if slices.Sort(have); !slices.Equal(have, refused) {
		t.Errorf("refused are\n%q, want\n%q", have, refused)
	}
	for _, name := range askers {
		if !slices.Contains(asking, name) {
			t.Errorf("%s is not among those that ask: %q", name, asking)
		}
	}
}
