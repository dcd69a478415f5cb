package jumpers

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

const program = `package p

import "sonde/kprobes"

func target(a int, s string) error { return nil }

var _ = kprobes.NewJprobe(target, HANDLER)
`

func TestWrongSignatureDoesNotCompile(t *testing.T) {
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "source", nil)
	for _, c := range []struct{ handler, says string }{
		{"func(a int, s string) error { return nil }", ""},
		{"func(a int) error { return nil }", "does not match"},
		{"func(a int, s []byte) error { return nil }", "does not match"},
		{"func(a int, s string) int { return 0 }", "does not match"},
		{"5", "cannot use 5"},
	} {
		f, err := parser.ParseFile(fset, "p.go", strings.Replace(program, "HANDLER", c.handler, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		conf := types.Config{Importer: from}
		_, err = conf.Check("p", fset, []*ast.File{f}, nil)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.handler, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want an error that says %q", c.handler, err, c.says)
		}
	}
}
