package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// servesCalls are the folders whose code runs in system calls. A panic there ends the
// program only, so it must leave no lock taken: whoever takes one says in the next
// statement, by defer, that it is given back.
var servesCalls = []string{"kernel/poll", "kernel/vfs", "kernel/tty", "kernel/mm", "kernel/procfs", "linux"}

// takesLocks are functions that take locks for others; each has no statement that can
// panic before its caller has deferred the opposite.
var takesLocks = []string{"lockBoth"}

func TestPanicsLeaveNoLock(t *testing.T) {
	found := 0
	for _, folder := range servesCalls {
		root := filepath.Join("..", "..", filepath.FromSlash(folder))
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "proctest") {
				return err
			}
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			for _, decl := range tree.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && !slices.Contains(takesLocks, f.Name.Name) {
					taken, kept := locksOf(f)
					found += taken
					for _, at := range kept {
						t.Errorf("%s: %s takes a lock, and no defer follows", set.Position(at), f.Name.Name)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 100 {
		t.Errorf("only %d locks were found: the test does not see them", found)
	}
}

// locksOf counts the statements of f that take a lock, and returns the places of those
// that a panic would leave taken.
func locksOf(f *ast.FuncDecl) (taken int, kept []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for i, s := range list {
			e, ok := s.(*ast.ExprStmt)
			if !ok {
				continue
			}
			lock, takes := strings.CutSuffix(method(e.X), "Lock")
			if !takes || strings.HasSuffix(lock, "Un") {
				continue
			}
			taken++
			var next *ast.DeferStmt
			if i+1 < len(list) {
				next, _ = list[i+1].(*ast.DeferStmt)
			}
			if next == nil || method(next.Call) != opposite(lock) {
				kept = append(kept, s.Pos())
			}
		}
		return true
	})
	return taken, kept
}

// opposite of "x.mu.", and of "x.mu.R" for readers.
func opposite(lock string) string {
	if x, ok := strings.CutSuffix(lock, ".R"); ok {
		return x + ".RUnlock"
	}
	return lock + "Unlock"
}

// method is what an expression calls without arguments: "x.mu.Lock".
func method(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return ""
	}
	return types.ExprString(call.Fun)
}
