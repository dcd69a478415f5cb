package kprobes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// signatures returns the exported functions of the files with a mark, without
// their bodies.
func signatures(t *testing.T, marks ...string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range files {
		if !slices.ContainsFunc(marks, func(m string) bool { return strings.HasSuffix(name, m+".go") }) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() {
				found[fn.Name.Name] = types.ExprString(fn.Type)
			}
		}
	}
	return found
}

// TestHostHasTheSignaturesOfTheMachine: documentation that differs misleads.
func TestHostHasTheSignaturesOfTheMachine(t *testing.T) {
	machine := signatures(t, "_tamago", "_trap")
	host := signatures(t, "_host")
	for name, have := range host {
		if want := machine[name]; have != want {
			t.Errorf("%s is %s on the host, %q on the machine", name, have, want)
		}
	}
	for name := range machine {
		if strings.HasSuffix(name, "probe") || strings.HasSuffix(name, "probes") {
			if host[name] == "" {
				t.Errorf("%s is missing on the host", name)
			}
		}
	}
}
