package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestRecordedLines: what is recorded of vfs.Read is about lines that are that function's today, so that the marks of the
// page are beside code.
func TestRecordedLines(t *testing.T) {
	var marks struct {
		First, Last int
		Lines       []struct{ Line int }
	}
	if err := json.Unmarshal([]byte(explained), &marks); err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "../../kernel/vfs/io.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	code, first, last := map[int]bool{}, 0, 0
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "Read" || fn.Recv != nil {
			continue
		}
		first, last = files.Position(fn.Pos()).Line, files.Position(fn.End()).Line
		ast.Inspect(fn, func(n ast.Node) bool {
			if n != nil {
				code[files.Position(n.Pos()).Line] = true
			}
			return true
		})
	}
	if marks.First != first || marks.Last > last || len(marks.Lines) == 0 {
		t.Errorf("lines %d to %d are recorded, vfs.Read has %d to %d", marks.First, marks.Last, first, last)
	}
	for _, m := range marks.Lines {
		if !code[m.Line] {
			t.Errorf("a mark is beside line %d, where nothing is", m.Line)
		}
	}
}
