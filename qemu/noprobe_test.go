package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

// plainModule is a module that sets no probe.
const plainModule = `//go:build tamago

package plain

import (
	"sonde/kernel/module"
	"sonde/kernel/printk"
)

func init() {
	module.Register(&module.Module{Name: "plain", Doc: "say hello", New: func(string) *module.Instance {
		return &module.Instance{Init: func() error { printk.Info("plain: hello"); return nil }, Exit: func() { printk.Info("plain: bye") }}
	}})
}
`

// microkernel is the image of kernel/ alone, with a module.
func microkernel(t *testing.T) image.BuildOptions {
	dir := filepath.Join(t.TempDir(), "plain")
	write(t, filepath.Join(dir, "plain.go"), plainModule)
	return image.BuildOptions{NoProbe: true, With: []string{dir}}
}

// TestMicrokernel boots kernel/ alone: prompt, files, log and modules work, and nothing of probes and programs is in
// the image.
func TestMicrokernel(t *testing.T) {
	runsBeside(t)
	path := imagePath(t, func() (string, error) { return build(microkernel(t)) })
	alien := regexp.MustCompile(`^sonde/(probe|kprobes|optprobe|uprobes|kwatch|linux|trace|bpf|gotypes|examples)[./]`)
	for _, name := range symbolNames(t, path+".raw") {
		if alien.MatchString(name) {
			t.Errorf("in the image is %s", name)
		}
	}
	script := []struct{ command, says string }{
		{"uname", "(?m)^sonde$"},
		{"cat /proc/cmdline | wc -l", "(?m)^1$"},
		{"echo hello > /tmp/a; cat /tmp/a", "(?m)^hello$"},
		{"ls /sys/kernel/debug", "(?m)^boot$"},
		{"grep -c vfs.Read /proc/kallsyms", `(?m)^\d+$`},
		{"insmod plain; lsmod", "(?m)^plain "},
		{"rmmod plain; dmesg | grep plain:", "plain: hello\n.*plain: bye"},
		{"ps", "script"},
		{"free", "(?m)^Mem: "},
		{"lscpu", `(?m)^CPU\(s\): +2$`},
		{"for i in 1 2 3; do echo line $i; done | tail -1", "(?m)^line 3$"},
		{"sh -c 'exit 3' || echo failed with $?", "(?m)^failed with 3$"},
		{"kprobe", "kprobe: command not found"},
	}
	var all []string
	for _, c := range script {
		all = append(all, "echo == "+c.command[:2], c.command)
	}
	result := bootImage(t, path, machine.Config{SMP: 2, Script: strings.Join(all, "; ")})
	parts := regexp.MustCompile("(?m)^== .*\n").Split(string(result.Stdout), -1)[1:]
	if len(parts) != len(script) {
		t.Fatalf("%d of %d commands ran\n%s", len(parts), len(script), said(result))
	}
	for i, c := range script {
		if !regexp.MustCompile(c.says).MatchString(parts[i]) {
			t.Errorf("%s: %q, want %s", c.command, parts[i], c.says)
		}
	}
}

// TestMicrokernelsSize holds what README says about the microkernel, "(46,100 lines, 25,700 of them in kernel/": right to a tenth.
// The lines are those of the files of this module, of Go and assembly, that are compiled for it.
func TestMicrokernelsSize(t *testing.T) {
	cmd, err := image.BuildOptions{NoProbe: true}.Go("list", "-deps", "-f",
		`{{if .Module}}{{if eq .Module.Path "sonde"}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .SFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "sonde/boot")
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, kernel := 0, 0
	for _, path := range strings.Fields(string(out)) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(b, []byte{'\n'})
		lines += n
		if strings.Contains(filepath.ToSlash(path), "/kernel/") {
			kernel += n
		}
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`\(([\d,]+)\s+lines,\s+([\d,]+)\s+of\s+them\s+in\s+.kernel/`).FindSubmatch(readme)
	if m == nil {
		t.Fatalf("README does not say how many lines the microkernel has: %d, %d of them in kernel/", lines, kernel)
	}
	for i, is := range []int{lines, kernel} {
		says, err := strconv.Atoi(strings.ReplaceAll(string(m[i+1]), ",", ""))
		if err != nil || is < says*9/10 || is > says*11/10 {
			t.Error(fmt.Sprintf("the microkernel has %d lines, %d of them in kernel/; README says %s", lines, kernel, m[0]), err)
		}
	}
	t.Logf("%d lines, %d of them in kernel/", lines, kernel)
}
