package layers

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// apart is a line "apart PACKAGES: FACES": what imports two of the packages is one of the faces.
type apart struct{ packages, faces []string }

// mixed returns what imports two that are to stay apart. A face PACKAGE:file may do so in different
// files, but none of its files may, and PACKAGE:test in tests.
func (a apart) mixed(files []file) (wrong []string) {
	imports := map[string]map[string]bool{}
	for _, f := range files {
		if f.isOne(a.faces, "") {
			continue
		}
		who := f.pkg
		if slices.Contains(a.faces, f.pkg+":file") {
			who = f.path
		}
		for _, imp := range f.imports {
			for _, pattern := range a.packages {
				if match(module+pattern, imp) {
					if imports[who] == nil {
						imports[who] = map[string]bool{}
					}
					imports[who][strings.TrimSuffix(pattern, "/...")] = true
				}
			}
		}
	}
	for who, set := range imports {
		if len(set) > 1 {
			wrong = append(wrong, who+" imports "+strings.Join(slices.Sorted(maps.Keys(set)), " and "))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// unused returns the faces that need not be.
func (a apart) unused(files []file) (faces []string) {
	for i, face := range a.faces {
		others := apart{a.packages, slices.Delete(slices.Clone(a.faces), i, i+1)}
		if slices.Equal(others.mixed(files), a.mixed(files)) {
			faces = append(faces, face)
		}
	}
	return faces
}

// TestKindsOfProbesStayApart: code that wants several kinds of probes goes by probe/attach.
func TestKindsOfProbesStayApart(t *testing.T) {
	a, files := parse(t, rulesText).apart, allFiles(t)
	if len(a.packages) != 3 {
		t.Errorf("%q are to stay apart", a.packages)
	}
	for _, wrong := range a.mixed(files) {
		t.Errorf("%s: use probe/attach, or layers.txt must name it, with the reason", wrong)
	}
	for _, face := range a.unused(files) {
		t.Errorf("layers.txt: %s need not be a face", face)
	}
}

func TestMixedIsFound(t *testing.T) {
	a := apart{[]string{"kprobes/...", "uprobes/...", "kwatch"}, []string{"boot", "examples:file", "docs:test"}}
	one, two := []string{"sonde/kprobes/link", "sonde/kprobes", "fmt"}, []string{"sonde/kwatch", "sonde/uprobes/link"}
	for want, files := range map[string][]file{
		"":                              {fileAt("a/a.go", one...), fileAt("b/a.go", "sonde/kwatch"), fileAt("c/a.go", "sonde/kprobesx", "sonde/kwatch/x", "sonde/kwatch")},
		"a imports kprobes and uprobes": {fileAt("a/a.go", one...), fileAt("a/b_tamago.go", "sonde/uprobes")},
		"a imports kwatch and uprobes":  {fileAt("a/a_test.go", two...), fileAt("boot/a.go", two...), fileAt("examples/a.go", one...), fileAt("examples/b.go", "sonde/kwatch")},
		"examples/a.go imports kwatch and uprobes": {fileAt("examples/a.go", two...), fileAt("docs/a_test.go", two...)},
		"docs imports kwatch and uprobes":          {fileAt("docs/a.go", two...)},
	} {
		if got := strings.Join(a.mixed(files), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := a.unused([]file{fileAt("boot/a.go", two...), fileAt("examples/b.go", "sonde/kwatch")}); !slices.Equal(got, []string{"examples:file", "docs:test"}) {
		t.Errorf("unused: %q", got)
	}
}
