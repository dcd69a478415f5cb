package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// pages are the pages of the tree; that of boot/overlay names files of the Go library.
func pages(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "qemu/web/replay/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages at %s: %v", pattern, err)
		}
		all = append(all, found...)
	}
	return all
}

// tree is every file and folder of the tree, by path and by name alone.
type tree struct{ paths, names map[string]bool }

func readTree(t *testing.T) tree {
	t.Helper()
	all := tree{map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (name == "build" || name[0] == '.') {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		all.paths[filepath.ToSlash(rel)] = true
		all.names[d.Name()] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	span     = regexp.MustCompile("`([^`\n]+)`")
	fileName = regexp.MustCompile(`^[\w.]+\.(go|s|h|md|txt|story|sonde)$`)
	dotName  = regexp.MustCompile(`\.(\(|[A-Z]).*$`) // of kernel/vfs.Read, kernel/vfs.(*File).Read
	link     = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// missing returns the files and folders that a page names and that are not there.
// What a span names is a path if it begins with a folder at the top of the tree, or
// at the folder of its list item ("`explain/`" below "`optprobe/`"), and a file if
// it looks like one. Words in capitals (cmd_NAME.go) stand for any.
func (all tree) missing(page, text string) (missing []string) {
	item := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- `") {
			item = ""
		}
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			name := strings.TrimSuffix(dotName.ReplaceAllString(m[1], ""), "/")
			if strings.ContainsAny(name, " *{$(") || strings.Contains(name, "NAME") {
				continue
			}
			top, _, _ := strings.Cut(name, "/")
			switch isPath := strings.Contains(m[1], "/"); {
			case isPath && all.paths[name]:
				if item == "" {
					item = name
				}
			case isPath && item != "" && all.paths[item+"/"+name]:
			case isPath && all.paths[top] && !strings.Contains(name, "//"):
				missing = append(missing, m[1])
			case fileName.MatchString(name) && !all.names[name]:
				missing = append(missing, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			if to := filepath.ToSlash(filepath.Join(filepath.Dir(page), m[1])); !all.paths[to] {
				missing = append(missing, m[1])
			}
		}
	}
	return missing
}

// TestPagesNameWhatIsThere: a page that names a file which has moved sends its
// reader nowhere.
func TestPagesNameWhatIsThere(t *testing.T) {
	all := readTree(t)
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := filepath.Rel(root, path)
		for _, name := range all.missing(page, string(text)) {
			t.Errorf("%s names %s, which is not there", page, name)
		}
	}
}

func TestMissingIsFound(t *testing.T) {
	all := readTree(t)
	const text = "- `optprobe/`: jumps. `explain/` draws, `exclaim/` does not\n" +
		"`kprobes/no_such_file.go` and `kernel/no_such_folder/` and `no_such_file.s`, [page](none.md),\n" +
		"but `shell/cmd_NAME.go`, `kernel/vfs.(*File).Read`, `shell/cmd_ps.go`, `hit_trap.go`, `/proc/stat`, `go run ./qemu` and [a page](boot.md)\n"
	want := []string{"kprobes/no_such_file.go", "kernel/no_such_folder/", "no_such_file.s", "none.md"}
	if got := all.missing("docs/x.md", text); !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q", got, want)
	}
}

// TestTreePageNamesEveryFolder: docs/tree.md leaves no folder out.
func TestTreePageNamesEveryFolder(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "tree.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "arch/amd64", "boot", "kallsyms", "kernel", "kprobes", "ktest", "linux", "optprobe", "probe", "shell"} {
		folders, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range folders {
			name := filepath.ToSlash(filepath.Join(dir, r.Name())) + "/"
			hidden := r.Name()[0] == '.' || r.Name() == "testdata" || name == "build/" || name == "docs/"
			if r.IsDir() && !hidden && !strings.Contains(string(text), "`"+name) {
				t.Errorf("docs/tree.md does not mention %s", name)
			}
		}
	}
}
