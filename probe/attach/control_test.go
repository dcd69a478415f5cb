package attach

import (
	"os"
	"strings"
	"testing"

	"sonde/kernel/vfs"
	"sonde/probe/ledger"
)

func TestKindsAsATable(t *testing.T) {
	provide(t)
	var b strings.Builder
	writeKinds(&b)
	want := `                     kernel     program
place                vfs.Read   sh:main
returns              yes        yes
entry handlers       yes        -
data per call        yes        -
handlers that block  -          yes
patterns             -          -
one process          -          yes
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}

func TestListOfLinks(t *testing.T) {
	provide(t)
	l, err := AttachTo(nil, &Options{Owner: "mod"}, "vfs.Read", "vfs.Write")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var b strings.Builder
	writeLinks(&b)
	if want := "     2          4          4          0           0  mod      vfs.Read: \n"; !strings.Contains(b.String()+"\n", strings.TrimRight(want, " \n")) {
		t.Errorf("%s", b.String())
	}
}

// TestColumnsNameAll: each kind has a column, and its example is a place of that kind.
func TestColumnsNameAll(t *testing.T) {
	for k, c := range columns {
		if s, err := ParseSite(c.example); err != nil || s.Kind != Kind(k) || c.name == "" {
			t.Errorf("%v: %+v, %v", Kind(k), s, err)
		}
	}
	if len(columns) != len(providers) {
		t.Errorf("%d columns, %d kinds", len(columns), len(providers))
	}
}

// TestFaceInFiles: a kind with a switch has its list and its ledgers in two files, one without in one.
func TestFaceInFiles(t *testing.T) {
	for _, switched := range []bool{true, false} {
		tree, on := vfs.New(), true
		f := Face{Name: "k", Head: "key", Counts: ledger.Columns{"entered"}, Last: "place", Rows: func() []Row {
			return []Row{{"line", "1  ", ledger.Ledger{Entered: 2}, "f+0x0"}}
		}}
		want := map[string]string{"/d/k/list": "key    entered  place\n1            2  f+0x0\n"}
		if switched {
			f.Enabled, f.SetEnabled = func() bool { return on }, func(o bool) { on = o }
			want = map[string]string{"/d/k/list": "line\n", "/d/k/stats": want["/d/k/list"], "/d/k/enabled": "1\n"}
		}
		if err := f.mount(tree, "/d"); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			h, err := tree.OpenFile(name, os.O_RDONLY)
			if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 100)
			n, _ := vfs.Read(h, b, nil)
			if vfs.Close(h); string(b[:n]) != text {
				t.Errorf("%s: %q, want %q", name, b[:n], text)
			}
		}
	}
}
