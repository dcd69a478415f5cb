package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileMarks: the marks of file names mean what CONTRIBUTING.md says. A file with the mark _trap says
// "Trap context." in a comment and has no function for goroutines; one whose functions are all for trap
// context has the mark; one with the mark _tamago is compiled for the machine only.
func TestFileMarks(t *testing.T) {
	root := filepath.Join("..", "..")
	marked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "build" || name == "testdata" || name[0] == '.' || name == "overlay" || name == "lab"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		mark := func(m string) bool { return strings.Contains(strings.TrimSuffix(name, ".go")+"_", "_"+m+"_") }
		all := text(f)
		if mark("tamago") && !strings.Contains(all, "//go:build tamago") && !strings.Contains(all, "//go:build !") && !strings.Contains(all, " tamago") {
			t.Errorf("%s has the mark _tamago and no build line", path)
		}
		traps, goroutines, others := contexts(f)
		if !mark("trap") {
			if traps > 1 && goroutines == 0 && others == 0 {
				t.Errorf("%s: all of its %d functions are for trap context, and it lacks the mark _trap", path, traps)
			}
			return nil
		}
		marked++
		if !strings.Contains(strings.ToLower(all), "trap context") && !strings.Contains(all, "Context: trap") {
			t.Errorf("%s has the mark _trap and does not say \"Trap context.\"", path)
		}
		if goroutines > 0 {
			t.Errorf("%s has the mark _trap, and %d functions whose context is a goroutine", path, goroutines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if marked < 50 {
		t.Errorf("%d files have the mark _trap", marked)
	}
}

// text is all comments of a file.
func text(f *ast.File) string {
	var b strings.Builder
	for _, g := range f.Comments {
		for _, c := range g.List {
			b.WriteString(c.Text + "\n")
		}
	}
	return b.String()
}

// contexts counts the functions of a file by what "Context:" says of them: trap, goroutine, or else.
func contexts(f *ast.File) (traps, goroutines, others int) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		_, context, _ := strings.Cut(fn.Doc.Text(), "Context: ")
		switch context = strings.TrimSpace(context); {
		case strings.HasPrefix(context, "trap"):
			traps++
		case strings.HasPrefix(context, "goroutine"):
			goroutines++
		default:
			others++
		}
	}
	return traps, goroutines, others
}
