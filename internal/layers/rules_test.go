package layers

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed layers.txt
var rulesText string

const module = "sonde/"

// layer is a line "NAME: packages < layers".
type layer struct {
	name          string
	packages, may []string
}

// rules is layers.txt.
type rules struct {
	layers []layer
	tests  []string            // layers
	only   map[string][]string // by what
	noTrap []string
	apart  apart
}

func parse(t *testing.T, text string) *rules {
	t.Helper()
	r := &rules{only: map[string][]string{}}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if line == "" {
			continue
		}
		name, rest, ok := strings.Cut(line+" ", ": ")
		if !ok {
			t.Fatalf("layers.txt: %q", line)
		}
		if what, ok := strings.CutPrefix(name, "only "); ok {
			r.only[what] = strings.Fields(rest)
			continue
		}
		if what, ok := strings.CutPrefix(name, "apart "); ok {
			r.apart = apart{strings.Fields(what), strings.Fields(rest)}
			continue
		}
		packages, may, _ := strings.Cut(rest, "<")
		switch name {
		case "tests":
			r.tests = strings.Fields(packages)
		case "not in _trap":
			r.noTrap = strings.Fields(packages)
		default:
			r.layers = append(r.layers, layer{name, strings.Fields(packages), strings.Fields(may)})
		}
	}
	return r
}

// match reports whether pkg is pattern or, if that ends in "/...", below it.
func match(pattern, pkg string) bool {
	root, tree := strings.CutSuffix(pattern, "/...")
	return pkg == root || tree && strings.HasPrefix(pkg, root+"/")
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, pkg) })
}

func (r *rules) layerOf(pkg string) *layer {
	for i := range r.layers {
		if matchAny(r.layers[i].packages, pkg) {
			return &r.layers[i]
		}
	}
	return nil
}

// mayImport reports whether from names to, or the folder that its name begins with.
func (from *layer) mayImport(to *layer) bool {
	folder, _, _ := strings.Cut(to.name, ".")
	return slices.Contains(from.may, to.name) || slices.Contains(from.may, folder)
}

// A file is what the rules want to know of a Go file.
type file struct {
	path, pkg string
	test      bool
	imports   []string // and "go:linkname", "runtime.Sonde"
}

// fileAt is a file at path, of the package that its folder says.
func fileAt(path string, imports ...string) file {
	return file{path, filepath.ToSlash(filepath.Dir(path)), strings.HasSuffix(path, "_test.go"), imports}
}

// check returns what is wrong with the imports of f.
func (r *rules) check(f file) (wrong []string) {
	say := func(format string, args ...any) {
		wrong = append(wrong, f.path+": "+fmt.Sprintf(format, args...))
	}
	from := r.layerOf(f.pkg)
	if from == nil {
		say("package %s is in no layer", f.pkg)
		return wrong
	}
	for _, imp := range f.imports {
		pkg, ours := strings.CutPrefix(imp, module)
		what, who := r.restricted(pkg)
		if ours {
			switch to := r.layerOf(pkg); {
			case to == nil:
				say("imports %s, which is in no layer", pkg)
			case to != from && !from.mayImport(to) && !(f.test && slices.Contains(r.tests, to.name)):
				say("layer %s may not import %s", from.name, pkg)
			}
		}
		if what != "" && !f.isOne(who, from.name) {
			say("%s is only for %s", pkg, strings.Join(who, " "))
		} else if what == "" && !ours && strings.Contains(imp, ".") {
			say("%s: a module that nobody may import", imp)
		}
		if isTrap(f.path) && slices.Contains(r.noTrap, imp) {
			say("%s in trap context", imp)
		}
	}
	return wrong
}

// restricted returns the "only" line that is about imp.
func (r *rules) restricted(imp string) (what string, who []string) {
	for what, who := range r.only {
		if match(what, imp) {
			return what, who
		}
	}
	return "", nil
}

// isOne reports whether f, in layer, is among who: packages, layers, "tests",
// or PACKAGE:test for the tests of one package.
func (f *file) isOne(who []string, layer string) bool {
	return matchAny(who, f.pkg) || slices.Contains(who, layer) ||
		f.test && (slices.Contains(who, "tests") || slices.Contains(who, f.pkg+":test"))
}

func isTrap(path string) bool {
	return strings.Contains(filepath.Base(path), "_trap.") || strings.Contains(filepath.Base(path), "_trap_")
}

// unused returns the patterns of r that fit none of files. Files in no layer do
// not count: check reports them.
func (r *rules) unused(files []file) (rules []string) {
	need := func(rule string, fits func(f file, layer string) bool) {
		if !slices.ContainsFunc(files, func(f file) bool {
			l := r.layerOf(f.pkg)
			return l != nil && fits(f, l.name)
		}) {
			rules = append(rules, rule)
		}
	}
	for _, l := range r.layers {
		for _, pattern := range l.packages {
			need(l.name+": "+pattern, func(f file, _ string) bool { return match(pattern, f.pkg) })
		}
	}
	for what, who := range r.only {
		for _, one := range who {
			need("only "+what+": "+one, func(f file, layer string) bool {
				does := slices.ContainsFunc(f.imports, func(imp string) bool { return match(what, strings.TrimPrefix(imp, module)) })
				return does && f.isOne([]string{one}, layer)
			})
		}
	}
	slices.Sort(rules)
	return rules
}
