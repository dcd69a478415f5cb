package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sonde/internal/image"
)

// gdbScript writes the commands that gdb reads first: where the sources are whose names in the
// image have no folder, how a backtrace continues after a trap (gdb.py), Go's own commands, such
// as "info goroutines", and the port of the machine. It returns the path.
func gdbScript(port int, with []string) (string, error) {
	root, err := image.Root()
	if err != nil {
		return "", err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	library := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	var b strings.Builder
	fmt.Fprintf(&b, "set substitute-path sonde/ %s/\n", root)
	for _, folder := range with {
		for _, m := range modulesAt(folder) {
			fmt.Fprintf(&b, "set substitute-path %s/ %s/\n", m[0], m[1])
		}
	}
	fmt.Fprintf(&b, "directory %s\nset auto-load safe-path %s\n", library, library)
	fmt.Fprintf(&b, "source %s\nsource %s\n", filepath.Join(library, "runtime", "runtime-gdb.py"), filepath.Join(root, "qemu", "gdb.py"))
	fmt.Fprintf(&b, "set remotetimeout 300\ntarget remote 127.0.0.1:%d\n", port) // QEMU may take long to start
	path := filepath.Join(root, "build", fmt.Sprintf("gdbinit-%d", port))
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}

// modulesAt returns the names and folders of the modules with which a folder's packages are built.
func modulesAt(folder string) (list [][2]string) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	cmd.Dir = folder
	out, _ := cmd.Output() // without a module there is nothing to say
	for line := range strings.Lines(string(out)) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "sonde" {
			list = append(list, [2]string{name, dir})
		}
	}
	return list
}
