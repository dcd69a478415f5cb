package strace

import (
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/syscall"
)

// table are the calls that are there.
func table() (all []syscall.Call) {
	for n := range syscall.Numbers {
		if c, ok := syscall.Lookup(n); ok {
			all = append(all, c)
		}
	}
	return all
}

// TestEveryParameterIsShown: each parameter of a call needs a line in kinds.
func TestEveryParameterIsShown(t *testing.T) {
	for _, c := range table() {
		for _, p := range c.Names() {
			if _, ok := wayOf(c.Name, p); !ok {
				t.Errorf("%s: parameter %s is not in kinds (show_kinds.go)", c.Name, p)
			}
		}
	}
}

// TestKindsAreUsed: a line whose call has no such parameter is a mistake.
func TestKindsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, c := range table() {
		for _, p := range c.Names() {
			used[p], used[c.Name+"."+p] = true, true
		}
	}
	for _, p := range []string{"a", "b", "c", "d", "e", "f"} { // of calls that do not exist
		used[p] = true
	}
	for name := range kinds() {
		if !used[name] {
			t.Errorf("kinds has %s, which no call has", name)
		}
	}
}

// TestFlagsOfOpen: those of several bits are one name.
func TestFlagsOfOpen(t *testing.T) {
	for flags, want := range map[uint64]string{
		abi.O_RDWR | abi.O_TMPFILE | abi.O_EXCL:                "O_RDWR|O_EXCL|O_TMPFILE",
		abi.O_WRONLY | abi.O_CREAT | abi.O_DSYNC | 04000000:    "O_WRONLY|O_CREAT|O_SYNC",
		abi.O_RDONLY | abi.O_DIRECTORY | abi.O_CLOEXEC | 1<<30: "O_RDONLY|O_CLOEXEC|O_DIRECTORY|0x40000000",
		abi.O_RDONLY | abi.O_DSYNC:                             "O_RDONLY|O_DSYNC",
	} {
		if got := openFlags(nil, flags); got != want {
			t.Errorf("%#x: %s, want %s", flags, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"a\"b\\\n\t":      `"a\"b\\\n\t"`,
		"\x7fELF\x02\x00": `"\177ELF\2\0"`,
		"\x001\x009":      `"\0001\09"`,
	} {
		if got := quoted([]byte(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestBPFCommandsAreNamed: also those that are not there.
func TestBPFCommandsAreNamed(t *testing.T) {
	for n, want := range map[uint64]string{0: "BPF_MAP_CREATE", 5: "BPF_PROG_LOAD", 16: "BPF_PROG_QUERY", 99: "0x63", 1<<32 - 1: "0xffffffff"} {
		if got := bpfCommand(nil, n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
