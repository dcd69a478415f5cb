package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// portingPackages are those whose names porting.md may have; of the first three it has all.
var portingPackages = map[string]string{
	"kprobes": "kprobes", "uprobes": "uprobes", "kwatch": "kwatch",
	"amd64": "arch/amd64", "module": "kernel/module", "printk": "kernel/printk", "die": "kernel/die", "cpu": "kernel/cpu", "vfs": "kernel/vfs",
}

var goName = regexp.MustCompile("`(kprobes|uprobes|kwatch|amd64|module|printk|die|cpu|vfs)\\.([A-Z]\\w*(?:\\.[A-Z]\\w*)?)`")

// TestPortingTable: the Go names of porting.md exist, and no exported name of the probes' packages is
// missing.
func TestPortingTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(rootOf(t), "course", "porting.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	known := map[string]map[string]bool{}
	for pkg, dir := range portingPackages {
		known[pkg] = exported(t, filepath.Join(rootOf(t), dir))
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		found := goName.FindAllStringSubmatch(line, -1)
		for _, m := range found {
			if named[m[1]+"."+m[2]] = true; !known[m[1]][m[2]] {
				t.Errorf("there is no %s.%s", m[1], m[2])
			}
		}
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.Contains(cells[1], "`") {
			if rows++; len(goName.FindAllString(cells[2], -1)) == 0 && strings.TrimSpace(cells[3]) == "" {
				t.Errorf("no Go name, and no reason: %s", line)
			}
		}
	}
	if rows < 100 {
		t.Errorf("%d rows", rows)
	}
	for _, pkg := range []string{"kprobes", "uprobes", "kwatch"} {
		for name := range known[pkg] {
			if !strings.Contains(name, ".") && !named[pkg+"."+name] {
				t.Errorf("%s.%s is not on the page", pkg, name)
			}
		}
	}
}

// exported returns the exported names of a package as the kernel has it; fields and methods after the
// name of their type.
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	names := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_host.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					specNames(s, names)
				}
			}
		}
	}
	for name := range names {
		for part := range strings.SplitSeq(name, ".") {
			if !ast.IsExported(part) {
				delete(names, name)
			}
		}
	}
	return names
}

// receiver returns the type that a method has, with a dot.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "."
	}
	return "?."
}

func specNames(s ast.Spec, names map[string]bool) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[s.Name.Name] = true
		if fields, ok := s.Type.(*ast.StructType); ok {
			for _, f := range fields.Fields.List {
				for _, n := range f.Names {
					names[s.Name.Name+"."+n.Name] = true
				}
			}
		}
	}
}
