package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"sonde/qemu/initrd"
)

// programs are the programs for ring 3 that a lab brings: one in labs/N/NAME, and the same without symbols,
// under another name.
type programs struct {
	archive string           // what the kernel unpacks
	symbols map[string]int64 // functions of package main, by name: where they are in both files
}

// buildPrograms builds the programs of a lab, for Linux on x86-64, into a folder.
func (l *Lab) buildPrograms(root, dir string) (p programs, err error) {
	if len(l.Programs) == 0 {
		return p, nil
	}
	var archive initrd.Archive
	for i, name := range l.Programs {
		path := filepath.Join(dir, name)
		flags := []string{"", "-s -w"}[i]
		cmd := exec.Command("go", "build", "-ldflags="+flags, "-o", path, "./course/labs/"+strconv.Itoa(l.N)+"/"+l.Programs[0])
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("%w: %s: %s", ErrLab, name, said)
		}
		if err := archive.Add(path + ":/bin/" + name); err != nil {
			return p, err
		}
	}
	if p.symbols, err = offsets(filepath.Join(dir, l.Programs[0])); err != nil {
		return p, err
	}
	p.archive = filepath.Join(dir, "programs.cpio")
	out, err := os.Create(p.archive)
	if err != nil {
		return p, err
	}
	defer out.Close()
	_, err = archive.WriteTo(out)
	return p, err
}

// offsets returns where in a file the functions of package main are.
func offsets(path string) (map[string]int64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	text := f.Section(".text")
	at := map[string]int64{}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Name, "main."); ok && s.Value >= text.Addr && s.Value < text.Addr+text.Size {
			at[name] = int64(s.Value-text.Addr) + int64(text.Offset)
		}
	}
	return at, nil
}

var askedOffset = regexp.MustCompile(`\{offset\.(\w+)\}`)

// place puts the offsets of functions where a script asks for them.
func (p *programs) place(script string) string {
	return askedOffset.ReplaceAllStringFunc(script, func(asked string) string {
		return fmt.Sprintf("%#x", p.symbols[askedOffset.FindStringSubmatch(asked)[1]])
	})
}
