package kprobes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestContractsAreWritten: go doc says of every exported function which errors it returns,
// and of every field what it is; of what trap code has, it says in which context it may be
// called. Everything else is for goroutines.
func TestContractsAreWritten(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkFunc(t, name, d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						checkType(t, name, s, s.Doc.Text()+d.Doc.Text())
					}
				}
			}
		}
	}
}

func checkFunc(t *testing.T, file string, d *ast.FuncDecl) {
	if !d.Name.IsExported() || d.Name.Name == "String" || d.Recv != nil && !ast.IsExported(receiver(d)) {
		return
	}
	doc := d.Doc.Text()
	if strings.HasSuffix(file, "_trap.go") && !strings.Contains(doc, "Context:") {
		t.Errorf("%s: %s does not say in which context it may be called", file, d.Name.Name)
	}
	if d.Type.Results == nil {
		return
	}
	for _, r := range d.Type.Results.List {
		if id, ok := r.Type.(*ast.Ident); ok && id.Name == "error" && !strings.Contains(doc, "Errors:") {
			t.Errorf("%s: %s does not say which errors it returns", file, d.Name.Name)
		}
	}
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func checkType(t *testing.T, file string, s *ast.TypeSpec, doc string) {
	var fields []*ast.Field
	switch typ := s.Type.(type) {
	case *ast.StructType:
		fields = typ.Fields.List
	case *ast.InterfaceType:
		fields = typ.Methods.List
	case *ast.FuncType:
		if !strings.Contains(doc, "Context:") {
			t.Errorf("%s: %s does not say in which context it is called", file, s.Name.Name)
		}
	}
	for _, f := range fields {
		if len(f.Names) > 0 && f.Names[0].IsExported() && f.Doc == nil && f.Comment == nil {
			t.Errorf("%s: %s.%s is not explained", file, s.Name.Name, f.Names[0].Name)
		}
	}
}
