package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sonde/internal/image"
)

// TestGoCompiles compiles the Go on the pages as the kernel is compiled: blocks as they are, and
// the right side of the table in docs/modules.md, each piece in a function.
func TestGoCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel's packages")
	}
	n := 0
	for _, b := range pageBlocks(t) {
		if b.kind == "go" {
			n++
			compile(t, b.String(), b.text)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	pieces := rightColumn(string(page))
	if n == 0 || len(pieces) < 15 {
		t.Errorf("%d blocks, %d pieces", n, len(pieces))
	}
	compile(t, "docs/modules.md: the table", wrapped(t, pieces))
}

// compile has the go command compile a file, and tells what it says.
func compile(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.go")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, err := image.Go("build", path)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s does not compile: %v\n%s\n%s", name, err, out, text)
	}
}

// rightColumn returns the code in the right column of the page's tables.
func rightColumn(page string) (pieces []string) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "|") || len(cells) != 2 {
			continue
		}
		for _, m := range span.FindAllStringSubmatch(cells[1], -1) {
			if strings.Contains(m[1], ".") {
				pieces = append(pieces, m[1])
			}
		}
	}
	return pieces
}

// values are what pieces of code take for granted.
const values = `import (
	"io"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/linux/proc"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
	"sonde/kwatch"
	"sonde/uprobes"
)

var (
	kp     *kprobes.Kprobe
	ri     *kprobes.KretprobeInstance
	regs   *amd64.Regs
	n      int
	params module.Params
	show   func(io.Writer)
	uprobe uprobes.Uprobe
)

func start() error { return nil }

func stop() {}

func handler(*uprobes.Uprobe, *amd64.Regs) {}

func returned(*uprobes.UretprobeInstance, *amd64.Regs) {}

func written(*kwatch.Hit, *amd64.Regs) {}
`

// wrapped makes a file of pieces: functions without a body, statements, expressions and types.
func wrapped(t *testing.T, pieces []string) string {
	var b strings.Builder
	b.WriteString("package page\n\n" + values)
	for i, p := range pieces {
		e, err := parser.ParseExpr(p)
		_, call := e.(*ast.CallExpr)
		sel, _ := e.(*ast.SelectorExpr)
		switch {
		case strings.HasPrefix(p, "func "):
			fmt.Fprintf(&b, "\n%s { return 0 }\n", p)
		case err != nil:
			name, _, _ := strings.Cut(p, " := ")
			fmt.Fprintf(&b, "\nfunc _() {\n\t%s\n\t_ = %s\n}\n", p, name)
		case call:
			fmt.Fprintf(&b, "\nfunc _() {\n\t%s\n}\n", p)
		case sel != nil && regexp.MustCompile(`^(kp|ri|regs)\.`).MatchString(p):
			fmt.Fprintf(&b, "\nvar _ = %s\n", p)
		case sel != nil:
			fmt.Fprintf(&b, "\ntype t%d = %s\n", i, p)
		default:
			fmt.Fprintf(&b, "\nvar _ = %s\n", p)
		}
	}
	return b.String()
}

// declared returns the names that packages of the tree declare, by "package.Name"; packages of
// one name are taken together.
func declared(t *testing.T) (names, packages map[string]bool) {
	t.Helper()
	names, packages = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (d.Name() == "build" || d.Name() == "testdata" || d.Name()[0] == '.' || d.Name()[0] == '_') {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := strings.TrimSuffix(tree.Name.Name, "_test")
		if pkg == "main" {
			pkg = filepath.Base(filepath.Dir(path))
		}
		packages[pkg] = pkg != "syscall" // that is Go's, too
		for _, decl := range tree.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				names[pkg+"."+decl.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[pkg+"."+spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							names[pkg+"."+id.Name] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, packages
}

var qualified = regexp.MustCompile(`(?:^|[^\w/.])([a-z]\w*)\.([A-Z]\w*)`)

// TestGoNamesExist: what a page calls package.Name, in code, is declared there.
func TestGoNamesExist(t *testing.T) {
	names, packages := declared(t)
	n := 0
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range span.FindAllStringSubmatch(string(text), -1) {
			for _, m := range qualified.FindAllStringSubmatch(s[1], -1) {
				if n++; packages[m[1]] && !names[m[1]+"."+m[2]] {
					t.Errorf("%s: `%s`: package %s declares no %s", path, s[1], m[1], m[2])
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d names were read", n)
	}
}
