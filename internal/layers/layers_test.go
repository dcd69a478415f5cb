package layers

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goFiles are the paths of all Go files of the module, whatever their build tags.
func goFiles(t *testing.T) (paths []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "build" || path == filepath.Join(root, "lab") || name == "testdata" || name[0] == '_' || name[0] == '.' && path != root) {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".go" {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// allFiles reads the imports of every Go file of the module.
func allFiles(t *testing.T) (files []file) {
	t.Helper()
	for _, path := range goFiles(t) {
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(filepath.Join("..", ".."), path)
		if err != nil {
			t.Fatal(err)
		}
		f := fileAt(filepath.ToSlash(rel))
		for _, i := range tree.Imports {
			imp, _ := strconv.Unquote(i.Path.Value)
			f.imports = append(f.imports, imp)
		}
		if usesOverlay(tree) {
			f.imports = append(f.imports, "runtime.Sonde")
		}
		for _, g := range tree.Comments {
			for _, c := range g.List {
				if strings.HasPrefix(c.Text, "//go:linkname ") {
					f.imports = append(f.imports, "go:linkname")
				}
			}
		}
		files = append(files, f)
	}
	return files
}

// usesOverlay reports whether a file names something that the overlay adds to
// package runtime.
func usesOverlay(tree *ast.File) (uses bool) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, _ := s.X.(*ast.Ident)
			uses = uses || x != nil && x.Name == "runtime" && strings.HasPrefix(s.Sel.Name, "Sonde")
		}
		return !uses
	})
	return uses
}

func TestImportsGoOneWayOnly(t *testing.T) {
	r := parse(t, rulesText)
	for _, f := range allFiles(t) {
		for _, wrong := range r.check(f) {
			t.Error(wrong)
		}
	}
}

// TestEveryRuleIsInUse: a rule that no file needs any more must leave the table.
func TestEveryRuleIsInUse(t *testing.T) {
	for _, rule := range parse(t, rulesText).unused(allFiles(t)) {
		t.Errorf("layers.txt: nothing fits %q", rule)
	}
}

// TestNewPackageIsReported: a package that has no layer yet must be reported with
// its name, whatever it imports and whatever imports it. This used
// to panic.
func TestNewPackageIsReported(t *testing.T) {
	r, files := parse(t, rulesText), allFiles(t)
	want := r.unused(files)
	for _, c := range []struct{ path, imp, says string }{
		{"newcomer/a.go", "unsafe", "newcomer/a.go: package newcomer is in no layer"},
		{"newcomer/a.go", "sonde/sysctl", "newcomer/a.go: package newcomer is in no layer"},
		{"newcomer/a_test.go", "os/exec", "newcomer/a_test.go: package newcomer is in no layer"},
		{"kprobes/newcomer/a_trap.go", "go:linkname", "kprobes/newcomer/a_trap.go: package kprobes/newcomer is in no layer"},
		{"a.go", "fmt", "a.go: package . is in no layer"},
		{"shell/a.go", "sonde/newcomer", "shell/a.go: imports newcomer, which is in no layer"},
	} {
		f := fileAt(c.path, c.imp)
		if got := r.check(f); !slices.Equal(got, []string{c.says}) {
			t.Errorf("%s importing %s: %q, want %q", c.path, c.imp, got, c.says)
		}
		if got := r.unused(append([]file{f}, files...)); !slices.Equal(got, want) {
			t.Errorf("%s importing %s changes which rules are in use: %q", c.path, c.imp, got)
		}
	}
}

// TestUserProbesNeverImportKernelProbes: the layers of user probes and of watchpoints
// keep them apart from kprobes and optprobe.
func TestUserProbesNeverImportKernelProbes(t *testing.T) {
	_, line, _ := strings.Cut(rulesText, "# When it comes: ")
	line, _, _ = strings.Cut(line, "\n")
	r := parse(t, rulesText+line+"\n")
	for _, pkg := range []string{"uprobes", "kwatch"} {
		for _, name := range []string{"/a.go", "/a_test.go", "/a_tamago.go"} {
			for imp, says := range map[string]string{
				"kernel/text": "", "arch/amd64/insn": "", "kallsyms/entries": "",
				"kprobes": " may not import kprobes", "optprobe": " may not import optprobe",
				"optprobe/explain": " may not import optprobe/explain", "shell": " may not import shell",
			} {
				if says != "" {
					says = "layer " + pkg + says
				}
				got := strings.Join(r.check(fileAt(pkg+name, module+imp)), "; ")
				if (got == "") != (says == "") || !strings.HasSuffix(got, says) {
					t.Errorf("%s%s importing %s: %q, want %q", pkg, name, imp, got, says)
				}
			}
		}
	}
}

func TestRulesRefuse(t *testing.T) {
	r := parse(t, rulesText)
	for _, c := range []struct {
		path, imp string
		says      string // "" if allowed
	}{
		{"kernel/vfs/file.go", "sonde/kernel/mm", ""},
		{"kernel/vfs/file.go", "sonde/shell", "layer kernel.files may not import shell"},
		{"kernel/vfs/file.go", "sonde/kprobes", "layer kernel.files may not import kprobes"},
		{"kernel/vfs/file.go", "sonde/linux/proc", "layer kernel.files may not import linux/proc"},
		{"kernel/vfs/file.go", "sonde/boot/pvh", "layer kernel.files may not import boot/pvh"},
		{"kernel/vfs/file_test.go", "sonde/shell", "layer kernel.files may not import shell"},
		{"kernel/printk/a.go", "sonde/kernel/cpu", "layer kernel.base may not import kernel/cpu"},
		{"kernel/cpu/a.go", "sonde/kernel/printk", ""},
		{"kernel/mm/backing/a.go", "sonde/kernel/vfs", "layer kernel.cpu may not import kernel/vfs"},
		{"kernel/die/a.go", "sonde/kernel/vfs/ctl", "layer kernel.core may not import kernel/vfs/ctl"},
		{"kernel/vfs/a.go", "sonde/kernel/module", "layer kernel.files may not import kernel/module"},
		{"kernel/vfs/a.go", "sonde/kernel/procfs", "layer kernel.files may not import kernel/procfs"},
		{"kernel/newcomer/a.go", "sonde/kernel/vfs/ctl", ""},
		{"kernel/newcomer/a.go", "sonde/linux/desc", "layer kernel.faces may not import linux/desc"},
		{"kernel/text/a.go", "sonde/probe/glass", "layer kernel.cpu may not import probe/glass"},
		{"kernel/procfs/a.go", "sonde/probe/program", "layer kernel.faces may not import probe/program"},
		{"probe/event/a.go", "sonde/linux/proc", "layer probe may not import linux/proc"},
		{"linux/space/a.go", "sonde/linux/proc", "layer linux.base may not import linux/proc"},
		{"linux/syscall/a.go", "sonde/linux/space", ""},
		{"linux/space/a.go", "sonde/kernel/vfs", ""},
		{"kernel/vfs/file.go", "os/exec", "os/exec is only for host tests"},
		{"kernel/vfs/file_test.go", "os/exec", ""},
		{"arch/amd64/regs.go", "sonde/kernel/mm", "layer arch may not import kernel/mm"},
		{"arch/amd64/insn/a_test.go", "golang.org/x/arch/x86/x86asm", ""},
		{"arch/amd64/insn/a.go", "golang.org/x/arch/x86/x86asm", "only for arch/amd64/insn:test"},
		{"kallsyms/table.go", "sonde/arch/amd64", "layer pure may not import arch/amd64"},
		{"kernel/vfs/a.go", "github.com/usbarmory/tamago/amd64", "only for"},
		{"kernel/vfs/a.go", "go:linkname", "only for"},
		{"kprobes/a_trap.go", "sonde/kernel/screen", "kernel/screen is only for boot"},
		{"uprobes/link/a.go", "sonde/kernel/screen", "only for"},
		{"kwatch/a_test.go", "sonde/kernel/screen", "only for"},
		{"kernel/die/a.go", "sonde/kernel/screen", ""},
		{"kernel/irq/a.go", "runtime.Sonde", "only for kernel/goruntime"},
		{"shell/a.go", "unsafe", "only for"},
		{"kernel/vfs/a.go", "example.org/x", "nobody may import"},
		{"kernel/printk/a_trap.go", "fmt", "in trap context"},
		{"kernel/printk/a_trap_amd64.go", "fmt", "in trap context"},
		{"kernel/printk/a.go", "fmt", ""},
		{"qemu/main.go", "sonde/kernel/mm", "layer host may not import kernel/mm"},
		{"newcomer/a.go", "fmt", "in no layer"},
		{"shell/a.go", "sonde/ktest/suites", "layer shell may not import ktest/suites"},
		{"ktest/a.go", "sonde/ktest/suites", ""},
		{"ktest/suites/sched/a.go", "sonde/shell", "layer trials may not import shell"},
	} {
		wrong := strings.Join(r.check(fileAt(c.path, c.imp)), "; ")
		if (wrong == "") != (c.says == "") || !strings.Contains(wrong, c.says) {
			t.Errorf("%s importing %s: %q, want %q", c.path, c.imp, wrong, c.says)
		}
	}
}

// TestMarksAndBuildLinesAgree: _tamago files compile for the machine only, and
// _host files for the host only.
func TestMarksAndBuildLinesAgree(t *testing.T) {
	for _, f := range allFiles(t) {
		name := strings.TrimSuffix(filepath.Base(f.path), ".go")
		machine := strings.Contains(name+"_", "_tamago_")
		host := strings.Contains(name+"_", "_host_")
		if machine && compiles(t, f.path, false) {
			t.Errorf("%s compiles without the tag tamago", f.path)
		}
		if host && compiles(t, f.path, true) {
			t.Errorf("%s compiles with the tag tamago", f.path)
		}
	}
}

// compiles reports whether the build line of a file allows tamago to be or not
// to be set, all other tags being set.
func compiles(t *testing.T, path string, tamago bool) bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", path), nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range tree.Comments {
		for _, c := range g.List {
			if expr, err := constraint.Parse(c.Text); err == nil {
				return expr.Eval(func(tag string) bool { return tag != "tamago" || tamago })
			}
		}
	}
	return true
}
