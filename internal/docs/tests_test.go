package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tests is every test there is: "suite/case", "file/name_of_story" and
// "package.TestName".
type tests struct{ cases, stories, hosts map[string]bool }

// suites lists the first halves of the cases.
func (k tests) suites() (all []string) {
	for name := range k.cases {
		suite, _, _ := strings.Cut(name, "/")
		all = append(all, suite)
	}
	return all
}

// unknown returns what of e is no test.
func (k tests) unknown(e evidence) (all []string) {
	for _, one := range []struct {
		names []string
		known map[string]bool
	}{{e.cases, k.cases}, {e.stories, k.stories}, {e.hosts, k.hosts}} {
		for _, name := range one.names {
			if !one.known[name] {
				all = append(all, name)
			}
		}
	}
	return all
}

func readTests(t *testing.T) tests {
	t.Helper()
	k := tests{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "build" || d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir():
			k.readPackage(t, path)
		case filepath.Ext(path) == ".story" && strings.Contains(filepath.ToSlash(path), "/qemu/testdata/"):
			k.readStories(t, path)
		}
		return nil
	})
	if err != nil || len(k.cases) < 100 || len(k.stories) < 50 || len(k.hosts) < 100 {
		t.Fatalf("%d cases, %d stories, %d host tests: %v", len(k.cases), len(k.stories), len(k.hosts), err)
	}
	return k
}

// readStories takes the NAMEs of a file of stories, written as the testing package
// writes names of subtests.
func (k tests) readStories(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := strings.TrimSuffix(filepath.Base(path), ".story")
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "NAME "); ok {
			k.stories[file+"/"+strings.ReplaceAll(name, " ", "_")] = true
		}
	}
}

// readPackage takes the Go tests of a folder, and the cases it adds to a suite:
//
//	suites.Add("suite/case", f)
//	for _, m := range TABLE { suites.Add("suite/"+m.name, …) }
//
// where a table is a variable of the package whose elements begin with a name.
func (k tests) readPackage(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]string{}
	var trees []*ast.File
	for _, path := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(path, "_test.go") && f.Recv == nil {
				k.hosts[filepath.Base(dir)+"."+f.Name.Name] = true
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool { readTable(n, tables); return true })
	}
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool { k.readAdds(n, tables); return true })
	}
}

// readTable notes the first strings of the elements of a variable.
func readTable(n ast.Node, tables map[string][]string) {
	v, ok := n.(*ast.ValueSpec)
	if !ok || len(v.Values) != 1 {
		return
	}
	list, ok := v.Values[0].(*ast.CompositeLit)
	if !ok {
		return
	}
	for _, e := range list.Elts {
		if one, ok := e.(*ast.CompositeLit); ok && len(one.Elts) > 0 {
			first := one.Elts[0]
			if kv, ok := first.(*ast.KeyValueExpr); ok {
				first = kv.Value
			}
			if s, ok := text(first); ok {
				tables[v.Names[0].Name] = append(tables[v.Names[0].Name], s)
			}
		}
	}
}

func (k tests) readAdds(n ast.Node, tables map[string][]string) {
	if loop, ok := n.(*ast.RangeStmt); ok {
		if table, ok := loop.X.(*ast.Ident); ok {
			ast.Inspect(loop.Body, func(n ast.Node) bool {
				if sum, ok := added(n).(*ast.BinaryExpr); ok {
					prefix, _ := text(sum.X)
					for _, name := range tables[table.Name] {
						k.cases[prefix+name] = true
					}
				}
				return true
			})
		}
	}
	if name, ok := text(added(n)); ok {
		k.cases[name] = true
	}
}

// added returns the name in suites.Add(name, f), or both(name, f) of suite uprobes; nil if n is
// something else.
func added(n ast.Node) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "suites" && f.Sel.Name == "Add" {
			return call.Args[0]
		}
	case *ast.Ident:
		if f.Name == "both" {
			return call.Args[0]
		}
	}
	return nil
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
