package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// A declaration is a function, variable, constant or type of a package; in assembly, a TEXT or a macro.
type declaration struct {
	name       string // Load, (*Link).Close, T.String
	file       string // its path from the root of the tree
	text       string // of the whole file
	begin, end int    // in text
}

// own is the text of the declaration.
func (d declaration) own() string { return d.text[d.begin:d.end] }

// apart splits what Mutant.In says: probe/attach.(*Link).Close is (*Link).Close in the folder probe/attach.
func apart(in string) (folder, name string) {
	path := strings.LastIndexByte(in[:max(0, strings.IndexAny(in+"(", "("))], '/') + 1
	folder, name, _ = strings.Cut(in[path:], ".")
	return in[:path] + folder, name
}

// declarations returns those of a folder, but for tests.
//
// Errors: a file cannot be read, or is not Go.
func declarations(root, folder string) (list []declaration, err error) {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		of := labelled
		switch ext := filepath.Ext(file); {
		case ext == ".go" && !strings.HasSuffix(file, "_test.go"):
			of = declared
		case ext != ".s" && ext != ".h":
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		some, err := of(file, string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// declared returns the declarations of a file of Go.
func declared(file, text string) (list []declaration, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(name string, n ast.Node) {
		list = append(list, declaration{name, file, text, fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(method(d)+d.Name.Name, d)
		case *ast.GenDecl:
			for i, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name, s)
				case *ast.ValueSpec:
					add(s.Names[0].Name, s)
					if i == 0 && s.Type != nil && len(d.Specs) > 1 {
						add(fmt.Sprint(s.Type), d) // constants in their order go by the name of the type
					}
				}
			}
		}
	}
	return list, nil
}

// method returns (*T). or T. for a method, without T's parameters.
func method(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of, star := d.Recv.List[0].Type, false
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of, star = x.X, true
			continue
		case *ast.IndexExpr:
			of = x.X
			continue
		case *ast.IndexListExpr:
			of = x.X
			continue
		}
		break
	}
	if name := fmt.Sprint(of); star {
		return "(*" + name + ")."
	} else {
		return name + "."
	}
}

// labelled returns the functions and macros of a file of assembly. Each lasts until the next begins.
func labelled(file, text string) (list []declaration, err error) {
	at := 0
	for line := range strings.Lines(text) {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n(<", r) })
		if len(words) > 1 && (words[0] == "TEXT" || words[0] == "#define") {
			if n := len(list); n > 0 {
				list[n-1].end = at
			}
			name := words[1][strings.LastIndex(words[1], "·")+len("·"):]
			if !strings.Contains(words[1], "·") {
				name = words[1]
			}
			list = append(list, declaration{name, file, text, at, len(text)})
		}
		at += len(line)
	}
	return list, nil
}
