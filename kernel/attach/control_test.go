package attach

import (
	"strings"
	"testing"
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
