package image

import (
	"os"
	"strings"
	"testing"
)

func TestPackageOf(t *testing.T) {
	for symbol, want := range map[string]string{
		"sonde/kernel/vfs.(*File).Read": "sonde/kernel/vfs", "main.symtab": "main", "runtime.memmove": "runtime",
		"mvdan.cc/sh/v3/syntax.(*Parser).next": "mvdan.cc/sh/v3/syntax", "gopkg.in/yaml%2ev3.F": "gopkg.in/yaml%2ev3",
		"slices.SortFunc[go.shape.[]sonde/kernel/vfs.Entry,go.shape.int]": "slices",
		"sonde/bpf.(*Map[sonde/kernel/abi.Errno]).Add":                    "sonde/bpf",
		"sonde/shell.init.func1.(*x/y.T).F":                               "sonde/shell",
		"go:string.*":                                                     "", "type:.eq.sonde/kernel/vfs.File": "", "$f64.3d53de6af278ece6": "", "_rt0_amd64": "", "pvhentry": "",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
}

// TestUsesAreTheWholeFile: each row has its room, and the rest is small enough to be what its name says.
func TestUsesAreTheWholeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the image")
	}
	path, err := Build(BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Uses(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	sum, seen := 0, map[string]int{}
	for _, u := range list {
		sum += u.Sum()
		seen[u.Part] = u.Sum()
		if strings.HasPrefix(u.Part, "the rest") && (u.Sum() < 0 || int64(u.Sum()) > info.Size()/8) {
			t.Errorf("%d of %d bytes are nobody's", u.Sum(), info.Size())
		}
	}
	if int64(sum) != info.Size() {
		t.Errorf("%d bytes of %d", sum, info.Size())
	}
	for _, part := range []string{"runtime", "sonde/kernel/vfs", "sonde/kprobes", "programs in the archive", "types of arguments", "entries into functions", "what debuggers read"} {
		if seen[part] == 0 {
			t.Errorf("%s takes nothing: %v", part, seen)
		}
	}
}
