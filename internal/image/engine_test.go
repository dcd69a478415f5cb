package image

import (
	"regexp"
	"strings"
	"testing"
)

// engines are the parts of the engine of programs: of what each consists in the image.
var engines = []struct {
	name string
	code *regexp.Regexp
}{
	{"bpf/btf", regexp.MustCompile(`^sonde/bpf/btf\.`)},
	{"bpf/object", regexp.MustCompile(`^sonde/bpf/object\.`)},
	{"bpf, probe/program, probe/ring", regexp.MustCompile(`^sonde/(bpf|probe/(program|ring))[./]`)},
	{"gotypes, probe/types, probe/attach/places", regexp.MustCompile(`^sonde/(gotypes|probe/types|probe/attach/places)[./]`)},
	{"commands bpf, tracetop", regexp.MustCompile(`^sonde/shell\.(bpf|\(\*Context\)\.bpf|runTracetop|\(\*tracetop)`)},
}

// TestTheEngineFits holds how much the engine adds to the image: code, data that is not 0 at boot, what the
// runtime has of its functions, and the table of types. Of what several functions share in the runtime's
// tables, the first one in the image has all.
func TestTheEngineFits(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the image")
	}
	f := linked(t, BuildOptions{})
	_, types := f.table(t)
	total := types
	uses, err := f.uses(partOf)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range engines {
		u := uses[e.name]
		if u == nil || u.Code == 0 || u.Tables == 0 {
			t.Errorf("%s: nothing is in the image", e.name)
			continue
		}
		t.Logf("%s: code %d, data %d, runtime's tables %d", e.name, u.Code, u.Data, u.Tables)
		total += u.Sum()
	}
	t.Logf("types: %d\nall: %d", types, total)
	if most := 1_000_000; total > most {
		t.Errorf("the engine takes %d bytes, more than %d", total, most)
	}
}

func partOf(symbol string) string {
	name, _, _ := strings.Cut(symbol, "[") // type arguments may name the engine's types, too
	for _, e := range engines {
		if e.code.MatchString(name) {
			return e.name
		}
	}
	return ""
}
