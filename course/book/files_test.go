package book

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	listed = regexp.MustCompile("(?m)^\\d\\. `([^`]+)`((?:,?\\s+(?:and )?`[^`]+`)*):\\s")
	spans  = regexp.MustCompile("`([^`]+)`")
	label  = regexp.MustCompile(`(?m)^TEXT (?:·|runtime·)?(\w+)`)
	link   = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// maxNew is how many lines of source that are new to the reader a chapter may name.
const maxNew = 300

// TestFilesToRead: what a chapter says to read is there, and no more than a reader can.
func TestFilesToRead(t *testing.T) {
	known := map[string]bool{} // path:line
	for _, p := range chapters(t) {
		items := listed.FindAllStringSubmatch(p.section("Files"), -1)
		if want := len(item.FindAllString(p.section("Files"), -1)); len(items) != want || want == 0 {
			t.Errorf("%s: %d of %d files have the form: number, path, names, colon", p.name, len(items), want)
		}
		fresh := 0
		for _, m := range items {
			var of []string
			for _, n := range spans.FindAllStringSubmatch(m[2], -1) {
				of = append(of, n[1])
			}
			for _, lines := range linesOf(t, p.name, m[1], of) {
				for i := lines[0]; i <= lines[1]; i++ {
					if at := fmt.Sprint(m[1], ":", i); !known[at] {
						known[at], fresh = true, fresh+1
					}
				}
			}
		}
		if t.Logf("%s: %d new lines", p.name, fresh); fresh > maxNew {
			t.Errorf("%s: %d new lines, more than %d", p.name, fresh, maxNew)
		}
	}
}

// linesOf returns the first and the last lines of declarations in a file, of all of it if none are named.
func linesOf(t *testing.T, page, path string, names []string) (all [][2]int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Errorf("%s: %v", page, err)
		return nil
	}
	if len(names) == 0 {
		return [][2]int{{1, strings.Count(string(text), "\n")}}
	}
	declared := inGo(text)
	if filepath.Ext(path) == ".s" {
		declared = inAssembly(string(text))
	}
	for _, n := range names {
		lines, found := declared[n]
		if !found {
			t.Errorf("%s: %s declares no %s", page, path, n)
		}
		all = append(all, lines)
	}
	return all
}

// inGo returns the lines of what a file of Go declares, by name: "Read", "(*File).Read".
func inGo(text []byte) map[string][2]int {
	all, set := map[string][2]int{}, token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range f.Decls {
		from, lines := d.Pos(), func(from token.Pos) [2]int {
			return [2]int{set.Position(from).Line, set.Position(d.End()).Line}
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
			all[methodOf(d)+d.Name.Name] = lines(from)
		case *ast.GenDecl:
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					all[s.Name.Name] = lines(from)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						all[n.Name] = lines(from)
					}
				}
			}
		}
	}
	return all
}

// methodOf is "(*File)." for a method of that type, "" for a function.
func methodOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	switch of := d.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if id, ok := of.X.(*ast.Ident); ok {
			return "(*" + id.Name + ")."
		}
	case *ast.Ident:
		return of.Name + "."
	}
	return "?."
}

// inAssembly returns the lines of each TEXT, up to the next one.
func inAssembly(text string) map[string][2]int {
	all, at := map[string][2]int{}, label.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all[text[m[2]:m[3]]] = [2]int{strings.Count(text[:m[0]], "\n") + 1, strings.Count(text[:end], "\n")}
	}
	return all
}

// TestLinks: what pages link to is there.
func TestLinks(t *testing.T) {
	for _, p := range checked(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			if _, err := os.Stat(filepath.Join(p.dir, m[1])); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
		}
	}
}

func TestInGoAndAssembly(t *testing.T) {
	got := inGo([]byte("package p\n\n// F is\nfunc F() {\n}\n\nfunc (t *T) M() {}\n\ntype (\n\tT int\n)\n"))
	if got["F"] != [2]int{3, 5} || got["(*T).M"] != [2]int{7, 7} || got["T"] != [2]int{9, 11} {
		t.Errorf("%v", got)
	}
	if got := inAssembly("x\nTEXT ·a(SB)\n1\nTEXT ·b(SB)\n2\n"); got["a"] != [2]int{2, 3} || got["b"] != [2]int{4, 5} {
		t.Errorf("%v", got)
	}
}
