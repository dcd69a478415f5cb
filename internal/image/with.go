package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrModule says that packages from outside cannot be linked into the kernel.
var ErrModule = errors.New("not a package for the kernel")

// with is what it takes to link packages from other folders into the kernel: a
// workspace of their modules and this one, and a file that makes the kernel import them.
//
// The file is not written into boot: it is in the overlay, so that nothing in
// the tree changes, and two builds with other packages do not meet.
type with struct {
	dir     string // below build: for all files that are made
	work    string // the workspace
	overlay map[string]string
	imports []string
}

// noModule is the go.mod of a folder that has none and lies in no module.
const noModule = "module %s\n\ngo %s\n"

// foldersOf returns the paths of BuildOptions.With from the root.
//
// Errors: ErrModule if one is a file; those of stat.
func foldersOf(with []string) (folders []string, err error) {
	for _, f := range with {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%s: %w: it is a file; give the folder", f, ErrModule)
		}
		folders = append(folders, abs)
	}
	return folders, nil
}

// withName names the images with the packages in these folders.
func withName(folders []string) string {
	hash := fnv.New32a()
	for _, f := range folders {
		fmt.Fprintln(hash, f)
	}
	return fmt.Sprintf("with-%08x", hash.Sum32())
}

// withPackages looks for the packages in the folders, each with all below it.
//
// Errors: ErrModule, wrapped with the folder and what is wrong with it; those of go list.
func withPackages(tool toolchain, root, build string, folders []string) (*with, error) {
	w := &with{overlay: map[string]string{}}
	w.dir = filepath.Join(build, "_"+withName(folders))
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return nil, err
	}
	if err := w.workspace(tool, root, folders); err != nil {
		return nil, err
	}
	for _, f := range folders {
		if err := w.find(tool, f); err != nil {
			return nil, err
		}
	}
	return w, w.write(tool, root)
}

// outside lists what the packages in these folders were made of: the folders with all below them, what
// says which module they are in, and the folders of what they import from outside the tree.
//
// Errors: those of go list.
func (o BuildOptions) outside(b builder, root string, folders []string) (paths []string, err error) {
	if len(folders) == 0 {
		return nil, nil
	}
	for _, f := range folders {
		err := filepath.WalkDir(f, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		for above := ""; above != f; {
			above, f = f, filepath.Dir(f)
			paths = append(paths, filepath.Join(above, "go.mod"), filepath.Join(above, "go.sum"), filepath.Join(above, "go.work"))
		}
	}
	const form = "{{if not .Standard}}{{$d := .Dir}}{{$d}}{{range .EmbedFiles}}\n{{$d}}/{{.}}{{end}}{{end}}"
	args := append([]string{"list", "-deps", "-overlay=" + b.overlay(), "-tags", o.tags(), "-f", form}, b.more.imports...)
	out, err := Output(b.command(root, args...))
	for path := range strings.Lines(out) {
		path = strings.TrimSuffix(path, "\n")
		if path != "" && !strings.HasPrefix(path, root+string(filepath.Separator)) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// workspace writes the go.work of this module and those that the folders lie in.
func (w *with) workspace(tool toolchain, root string, folders []string) error {
	use := []string{root}
	version := strings.TrimPrefix(strings.Fields(tool.version)[0], "go")
	for _, f := range folders {
		mods, err := modules(tool, f)
		if err != nil {
			return err
		}
		if len(mods) == 0 {
			mods = []string{f}
			name := filepath.Base(f)
			mod := filepath.Join(w.dir, name+".mod")
			if err := os.WriteFile(mod, fmt.Appendf(nil, noModule, name, version), 0o644); err != nil {
				return err
			}
			w.overlay[filepath.Join(f, "go.mod")] = mod
		}
		for _, m := range mods {
			if !slices.Contains(use, m) {
				use = append(use, m)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "go %s\n\n", version)
	for _, u := range use {
		fmt.Fprintf(&b, "use %q\n", u)
	}
	w.work = filepath.Join(w.dir, "go.work")
	return os.WriteFile(w.work, []byte(b.String()), 0o644)
}

// modules returns the folders of the modules that a folder's packages are built in: one, or
// those of its workspace; none if it lies in no module.
func modules(tool toolchain, folder string) ([]string, error) {
	mod, err := tool.ask(folder, nil, "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	if base := filepath.Base(strings.TrimSpace(mod)); base != "go.mod" {
		return nil, nil
	}
	out, err := tool.ask(folder, nil, "list", "-m", "-f", "{{.Dir}}")
	return strings.Fields(out), err
}

// find adds the packages in a folder to the imports.
func (w *with) find(tool toolchain, folder string) error {
	overlay, err := w.writeOverlay(tool)
	if err != nil {
		return err
	}
	const form = "{{.ImportPath}}\t{{.Name}}\t{{len .GoFiles}}\t{{.Dir}}\t{{with .Error}}{{.}}{{end}}"
	out, err := tool.ask(folder, []string{"GOWORK=" + w.work}, "list", "-e", "-overlay="+overlay, "-tags", machineTags, "-f", form, "./...")
	if err != nil {
		return fmt.Errorf("%s: %w: %w", folder, ErrModule, err)
	}
	n := 0
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5)
		if len(f) < 5 {
			continue // an error of several lines, which the build will show
		}
		path, name, files, dir := f[0], f[1], f[2], f[3]
		switch {
		case name == "main" && dir == folder:
			return fmt.Errorf("%s: %w: it is package main, which is a program; a module is a package with another name", folder, ErrModule)
		case name == "main", files == "0" && f[4] == "", strings.Contains(path+"/", "/internal/"):
			continue
		}
		if n++; !slices.Contains(w.imports, path) {
			w.imports = append(w.imports, path)
		}
	}
	if n == 0 {
		return fmt.Errorf("%s: %w: no Go files in it or below", folder, ErrModule)
	}
	return nil
}

// write writes the file that imports the packages, and the overlay.
func (w *with) write(tool toolchain, root string) error {
	var b strings.Builder
	b.WriteString("//go:build tamago\n\npackage main\n\nimport (\n")
	for _, path := range w.imports {
		fmt.Fprintf(&b, "\t_ %q\n", path)
	}
	b.WriteString(")\n")
	file := filepath.Join(w.dir, "with_tamago.go")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		return err
	}
	w.overlay[filepath.Join(root, "boot", "with_tamago.go")] = file
	_, err := w.writeOverlay(tool)
	return err
}

// writeOverlay writes the toolchain's overlay and ours into one file.
func (w *with) writeOverlay(tool toolchain) (path string, err error) {
	path = filepath.Join(w.dir, "overlay.json")
	return path, mergeOverlay(tool.overlay, w.overlay, path)
}

// mergeOverlay writes an overlay with more files in it.
func mergeOverlay(path string, more map[string]string, merged string) error {
	all, err := readOverlay(path)
	if err != nil {
		return err
	}
	maps.Copy(all, more)
	text, err := json.Marshal(map[string]any{"Replace": all})
	if err != nil {
		return err
	}
	return os.WriteFile(merged, text, 0o644)
}

// readOverlay returns what takes the place of which files.
func readOverlay(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var overlay struct{ Replace map[string]string }
	err = json.Unmarshal(text, &overlay)
	return overlay.Replace, err
}

// ask runs the go command in a folder and returns what it prints.
func (t toolchain) ask(folder string, env []string, args ...string) (string, error) {
	cmd := exec.Command(t.goCmd, args...)
	cmd.Dir = folder
	cmd.Env = slices.Concat(os.Environ(), t.env, env)
	return Output(cmd)
}

// Output runs a command and returns what it prints.
//
// Errors: that of the command, with what it has said.
func Output(cmd *exec.Cmd) (string, error) {
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said.String())
	}
	return string(out), nil
}
