package initrd

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// libraryFolders is where the dynamic linker of Debian looks by default.
var libraryFolders = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}

// guestFolder is the folder in the guest for libraries from such a folder of the host, or from one
// in the host's configuration: the guest has no configuration.
const guestFolder = "/lib/x86_64-linux-gnu"

// errInterpreter marks the error of a script whose interpreter is missing: a folder of scripts is
// useful without some of them.
var errInterpreter = errors.New("")

// addDeps adds what the program or library at host needs: its dynamic linker and libraries, and
// what these need; for a script, its interpreter.
//
// Errors: ErrFile, for a file that is not found.
func (a *Archive) addDeps(host string, data []byte) error {
	if line, ok := bytes.CutPrefix(data, []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		words := strings.Fields(string(line))
		if len(words) == 0 {
			return nil
		}
		if err := a.need(host, words[0], words[0]); err != nil {
			return fmt.Errorf("%w%w", err, errInterpreter)
		}
		return nil
	}
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w: %w", host, ErrFile, err)
	}
	if interp := interpreter(f); interp != "" {
		if err := a.need(host, interp, interp); err != nil {
			return err
		}
	}
	libs, err := f.DynString(elf.DT_NEEDED)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", host, ErrFile, err)
	}
	for _, name := range libs {
		lib, guest := findLibrary(name, host, f)
		if err := a.need(host, lib, guest); err != nil {
			return err
		}
	}
	if lib, guest := findLibrary(unwinder, host, f); endsThreads(f) && lib != unwinder {
		return a.need(host, lib, guest)
	}
	return nil
}

// unwinder is the library that glibc opens by itself, and aborts without, when a thread
// ends before its function returns.
const unwinder = "libgcc_s.so.1"

// endsThreads reports whether f calls what makes glibc open the unwinder.
func endsThreads(f *elf.File) bool {
	names, _ := f.ImportedSymbols() // without any, it calls nothing
	return slices.ContainsFunc(names, func(s elf.ImportedSymbol) bool {
		return s.Name == "pthread_exit" || s.Name == "pthread_cancel" || s.Name == "thrd_exit"
	})
}

// need adds a file without which who cannot run.
func (a *Archive) need(who, host, guest string) error {
	if a.has(guest) {
		return nil
	}
	info, err := os.Stat(host)
	if err != nil {
		return fmt.Errorf("%s: %w: it needs %s: %w", who, ErrFile, host, err)
	}
	return a.add(host, guest, info)
}

// interpreter returns the path of the program's dynamic linker, or "".
func interpreter(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b := make([]byte, min(p.Filesz, 4096))
			n, _ := p.ReadAt(b, 0)
			return strings.TrimRight(string(b[:n]), "\x00")
		}
	}
	return ""
}

// findLibrary returns the path of a library on the host, and its path in the guest. One that is not
// found keeps its name, for the error.
func findLibrary(name, host string, f *elf.File) (lib, guest string) {
	if strings.Contains(name, "/") {
		return name, path.Clean("/" + name)
	}
	for _, dir := range runPaths(host, f) {
		if p := filepath.Join(dir, name); isLibrary(p) {
			return p, p
		}
	}
	for _, dir := range append(configured(), libraryFolders...) {
		if p := filepath.Join(dir, name); isLibrary(p) {
			return p, path.Join(guestFolder, name)
		}
	}
	return name, name
}

// runPaths are the folders that the program itself names.
func runPaths(host string, f *elf.File) (dirs []string) {
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		list, _ := f.DynString(tag)
		for _, s := range list {
			for dir := range strings.SplitSeq(s, ":") {
				origin := strings.NewReplacer("$ORIGIN", filepath.Dir(host), "${ORIGIN}", filepath.Dir(host))
				if dir = origin.Replace(dir); filepath.IsAbs(dir) {
					dirs = append(dirs, filepath.Clean(dir))
				}
			}
		}
	}
	return dirs
}

// configured are the folders of the host's /etc/ld.so.conf.d.
func configured() (dirs []string) {
	files, _ := filepath.Glob("/etc/ld.so.conf.d/*.conf")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); filepath.IsAbs(line) {
				dirs = append(dirs, line)
			}
		}
	}
	return dirs
}

// isLibrary reports whether path is a 64-bit library of this processor.
func isLibrary(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Class == elf.ELFCLASS64 && f.Machine == elf.EM_X86_64
}
