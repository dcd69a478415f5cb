package replay

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/internal/image"
	"sonde/internal/schema"
	"sonde/qemu/machine"
)

var update = flag.Bool("update", false, "record everything anew")

// TestRecordingsAreOfThisKernel makes all recordings anew, or -update writes them. Two runs differ in addresses, in
// times, and in what other CPUs do meanwhile; the transitions, and the words at them, must be the same.
func TestRecordingsAreOfThisKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	made := record(t)
	for i, k := range Kinds {
		if *update {
			if err := os.WriteFile("recordings/"+k.Name+".json", made[i], 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if was, is := shape(t, k.JSON()), shape(t, made[i]); !slices.Equal(was, is) {
			t.Errorf("%s is not what the kernel records now; if that is meant: go test ./qemu/web/replay -run Kernel -update\nthe file:\n  %s\nnow:\n  %s",
				k.Name, strings.Join(was, "\n  "), strings.Join(is, "\n  "))
		}
	}
}

// record returns what the kernel prints, by Kinds.
func record(t *testing.T) [][]byte {
	t.Helper()
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		t.Fatal(err)
	}
	scripts := []string{"dmesg -n 1"}
	for _, k := range Kinds {
		scripts = append(scripts, k.Script)
	}
	c := machine.Config{Image: path, SMP: 2, Script: strings.Join(scripts, "; "), Timeout: machine.Patience(10 * time.Minute)}
	r, err := machine.Run(context.Background(), c)
	if err != nil {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	var made [][]byte
	for line := range bytes.Lines(r.Stdout) {
		if bytes.HasPrefix(line, []byte("{")) {
			made = append(made, line)
		}
	}
	if len(made) != len(Kinds) {
		t.Fatalf("%d recordings of %d:\n%s", len(made), len(Kinds), r.Stdout)
	}
	return made
}

// TestRecordingsFitTheSchemas: they are what the kernel's documentation of its JSON says.
func TestRecordingsFitTheSchemas(t *testing.T) {
	for _, k := range Kinds {
		file := "schema.json"
		if k.Name == "way" {
			file = "way-schema.json"
		}
		s, err := schema.Read("../../../shell/replay/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if why := s.Fits(k.JSON()); why != "" {
			t.Errorf("%s: %s", k.Name, why)
		}
	}
}

var number = regexp.MustCompile(`0x[0-9a-f]+|\.go:\d+|\.s:\d+|\b\d+ us`)

// masked leaves out what differs between two builds or runs.
func masked(s text) string { return number.ReplaceAllString(string(s), "N") }

// others are steps of CPUs that do not change code: they depend on what these were doing.
var others = []text{"serialized", "passed", "held", "let-go"}

// shape is what two recordings of the same kind have in common, by frames or steps. A hit whose stack has to grow
// begins again, which depends on what ran before.
func shape(t *testing.T, b []byte) []string {
	t.Helper()
	rec, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{masked(rec.Place) + ", " + string(rec.Tier)}
	text, first := hexes(nil), true
	for i := range rec.Frames {
		f := &rec.Frames[i]
		if f.Text != nil {
			text = f.Text
		}
		if f.Stage == "grows" {
			all, first = all[:1], true
			continue
		}
		line := fmt.Sprintf("%s: %s", f.Stage, masked(f.Says))
		if f.IP != nil {
			line += fmt.Sprintf(", IP %s %s", masked(f.IP.Is), masked(f.IP.Asm))
		}
		if text != nil && (first || f.Text != nil) {
			line += ", text " + text[0]
		}
		if !first && f.Stage != "trampoline" { // where it leads, the function has run
			for _, name := range regNames {
				if f.Stage == "decided" && name == "FLAGS" { // as SP and the stack's limit, from boot to boot
					continue
				}
				if _, changed := f.Regs[name]; changed {
					line += ", " + name
				}
			}
		}
		all, first = append(all, line), false
	}
	for _, s := range rec.Steps {
		if !slices.Contains(others, s.Step) {
			all = append(all, fmt.Sprintf("%s: %s", s.Step, strings.Join(s.Text[:min(1, len(s.Text))], "")))
		}
	}
	return all
}

// TestShapeWithoutGrowth: a hit that has begun again has the shape of one that has not.
func TestShapeWithoutGrowth(t *testing.T) {
	const again = `{"stage":"trap","text":"cc 01","ip":{"addr":"0x9"}},{"stage":"grows","ip":{"addr":"0x9"}},{"stage":"trap","regs":{"SP":"0x1"},"ip":{"addr":"0x8"}}`
	const once = `{"stage":"trap","text":"cc 02","ip":{"addr":"0x7"}}`
	of := func(frames string) []string {
		return shape(t, []byte(`{"version":1,"frames":[`+frames+`,{"stage":"to-slot","regs":{"IP":"0x1"}}]}`))
	}
	if a, b := of(again), of(once); !slices.Equal(a, b) || len(a) != 3 {
		t.Errorf("%q, %q", a, b)
	}
}
