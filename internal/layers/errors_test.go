package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named is a format in which an errno stands after the name of what it is about, as in
// "open %s: %w": there its words are the cause.
var named = regexp.MustCompile(`%[#+0-9.]*[a-vx-z]: %w$|^%w: %w$`)

// confusing returns the formats with which a file has fmt.Errorf put the words of an errno
// after words of its own, where they confuse: "matches 7231 functions: argument list too long".
func confusing(tree *ast.File) (formats []string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isSelector(call.Fun, "fmt", regexp.MustCompile(`^Errorf$`)) {
			return true
		}
		for i, arg := range call.Args {
			format, ok := call.Args[0].(*ast.BasicLit)
			if ok && isSelector(arg, "syscall sys abi", regexp.MustCompile(`^E[A-Z0-9]{2,}$`)) &&
				!(i == len(call.Args)-1 && named.MatchString(strings.Trim(format.Value, "\"`"))) {
				formats = append(formats, format.Value)
			}
		}
		return true
	})
	return formats
}

// isSelector reports whether e is PKG.NAME; pkgs may be several words.
func isSelector(e ast.Expr, pkgs string, name *regexp.Regexp) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || !name.MatchString(sel.Sel.Name) {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains(strings.Fields(pkgs), id.Name)
}

// TestErrorsDoNotEndInConfusingWords: an error that says its cause carries its errno by
// refusal.New, which does not print it.
func TestErrorsDoNotEndInConfusingWords(t *testing.T) {
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range confusing(tree) {
			t.Errorf("%s: fmt.Errorf(%s, …) prints the words of an errno behind the cause: use refusal.New", path, format)
		}
	}
}

func TestConfusingIsFound(t *testing.T) {
	for text, wrong := range map[string]bool{
		`fmt.Errorf("more than %d functions: %w", n, syscall.E2BIG)`: true,
		`fmt.Errorf("poke %#x: %w: not text", addr, syscall.EFAULT)`: true,
		`fmt.Errorf("%s: %w: write 0 or 1", text, syscall.EINVAL)`:   true,
		`fmt.Errorf("no such module: %w", syscall.ENOENT)`:           true,
		`fmt.Errorf("sysctl: %s: %w", name, syscall.ENOENT)`:         false,
		`fmt.Errorf("%w: %w", fs.ErrClosed, syscall.EBADF)`:          false,
		`fmt.Errorf("more than %d functions: %w", n, err)`:           false,
		`refusal.New(syscall.E2BIG, "more than %d", n)`:              false,
	} {
		tree, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(confusing(tree)) > 0; got != wrong {
			t.Errorf("%s: %v", text, got)
		}
	}
}
