package layers

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sonde/internal/image"
)

// A pair of files is tied if one uses what the other declares: a function, a
// method, a type, a field, a variable or a constant. Tied files must be
// understood together.
type pair [2]string

// ties returns the tied pairs among the files of a package as the machine
// compiles it, and how many files it has.
func ties(t *testing.T, pkg string) (tied map[pair][]string, files int) {
	t.Helper()
	fset := token.NewFileSet()
	export, names := listed(t, pkg)
	var trees []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, f)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(export[path]) }
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	self, err := config.Check(pkg, fset, trees, info)
	if err != nil {
		t.Fatal(err)
	}
	base := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
	tied = map[pair][]string{}
	for id, obj := range info.Uses {
		if obj.Pkg() != self || !shared(self, obj) {
			continue
		}
		if a, b := base(id.Pos()), base(obj.Pos()); a != b {
			p := pair{min(a, b), max(a, b)}
			if s := obj.Name(); !slices.Contains(tied[p], s) {
				tied[p] = append(tied[p], s)
			}
		}
	}
	return tied, len(names)
}

// shared reports whether obj is declared for all of the package: not inside a
// function.
func shared(self *types.Package, obj types.Object) bool {
	switch obj := obj.(type) {
	case *types.Var:
		return obj.IsField() || obj.Parent() == self.Scope()
	case *types.Func:
		return true
	}
	return obj.Parent() == self.Scope()
}

// listed asks the go command for the files of a package and for the compiled
// packages that it needs.
func listed(t *testing.T, pkg string) (export map[string]string, files []string) {
	t.Helper()
	cmd, err := image.Go("list", "-export", "-deps", "-f",
		`{{.ImportPath}} {{.Export}}{{if eq .ImportPath "`+pkg+`"}}{{range .GoFiles}} {{$.Dir}}/{{.}}{{end}}{{end}}`, pkg)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	export = map[string]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) > 1 {
			export[words[0]] = words[1]
		}
		if words[0] == pkg {
			files = words[2:]
		}
	}
	return export, files
}

// bounds says how many pairs of files may be tied; the numbers may only go down. That of
// kprobes was 153 of 561 when everything that probes need was in one package, and 46 before cameras, which
// go through all that a hit does. That of uprobes was 117
// before hits were handled in trap context, which what they do in the goroutine is tied to, and 180
// with the data of calls before what knows the machine and programs' files was moved out; it was 145 before
// its cameras, and 142 of 406 when types stood in the files that use them most. linux/proc was 175 before bpf's programs saw tasks and sent signals,
// and 182 before core files.
var bounds = map[string]int{"kprobes": 80, "uprobes": 116, "linux/proc": 185, "kernel/vfs": 155}

func TestNoTangle(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel's packages")
	}
	for pkg, most := range bounds {
		t.Run(pkg, func(t *testing.T) { bounded(t, pkg, most) })
	}
}

func bounded(t *testing.T, pkg string, most int) {
	tied, n := ties(t, "sonde/"+pkg)
	t.Logf("%d of %d pairs of files are tied", len(tied), n*(n-1)/2)
	if len(tied) <= most && !testing.Verbose() {
		return
	}
	var lines []string
	for p, names := range tied {
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("%s %s: %s", p[0], p[1], strings.Join(names, " ")))
	}
	slices.Sort(lines)
	t.Log(strings.Join(lines, "\n"))
	if len(tied) > most {
		t.Errorf("%d pairs of files are tied, more than %d", len(tied), most)
	}
}
