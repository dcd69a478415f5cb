//go:build tamago

// Package symbols tests what the kernel knows about itself: names, files, modules.
package symbols

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/mm"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("symbols/names_agree_with_the_runtime", namesAgree)
	suites.Add("symbols/every_function_is_found_by_name", foundByName)
	suites.Add("symbols/text_is_covered", textIsCovered)
	suites.Add("symbols/data_symbol_is_found", dataSymbol)
	suites.Add("symbols/proc_kallsyms_is_sorted", procKallsyms)
	suites.Add("symbols/an_address_has_name_and_offset", symbolize)
}

// bare is a function's name without what the runtime or the linker leaves out: calling conventions, and
// all from the first bracket to the last. The runtime writes [...] there, since Go 1.27 more than once.
func bare(name string) string {
	for _, abi := range []string{".abi0", ".abiinternal"} {
		name = strings.TrimSuffix(name, abi)
	}
	open := strings.IndexByte(name, '[')
	end := strings.LastIndexByte(name, ']')
	if open >= 0 && end > open {
		name = name[:open] + "[...]" + name[end+1:]
	}
	return name
}

// namesAgree compares the linker's symbol table with the tables that Go's
// tracebacks use, function by function.
func namesAgree(t *suites.T) {
	checked := 0
	for s := range kallsyms.Kernel().Text {
		f := runtime.FuncForPC(uintptr(s.Addr))
		if f == nil || f.Entry() != uintptr(s.Addr) || s.Size == 0 || f.Name() == "" {
			continue // a marker, assembly that is not Go's, or the first function of all, which the runtime has no name for
		}
		checked++
		name, cut := strings.ReplaceAll(f.Name(), "·", "."), strings.IndexByte(s.Name, '~')
		if len(name) > 200 && cut > 0 { // the linker has spelt it otherwise before it was cut: kallsyms.Cut
			name, s.Name = name[:min(cut, len(name))], s.Name[:cut]
		}
		if bare(name) != bare(s.Name) {
			t.Errorf("%#x is %s, the runtime says %s", s.Addr, s.Name, f.Name())
		}
		if last := runtime.FuncForPC(uintptr(s.End() - 1)); last == nil || last.Entry() != f.Entry() {
			t.Errorf("%s is too long: at its last byte, %#x, is another function", s.Name, s.End()-1)
		}
	}
	t.Logf("%d functions", checked)
	if checked < 3000 {
		t.Errorf("only %d functions were compared", checked)
	}
}

// foundByName resolves the name of each function. Since Go 1.27, the copies of a closure that is
// inlined with its function have one name; such a name is refused, and the error has the addresses.
func foundByName(t *suites.T) {
	table := kallsyms.Kernel()
	n, copies := 0, 0
	at := map[string]uint64{}
	several := map[string]bool{}
	for s := range table.Text {
		if other, ok := at[s.Name]; ok && other != s.Addr {
			several[s.Name] = true
		}
		at[s.Name] = s.Addr
	}
	for s := range table.Text {
		n++
		got, err := table.Resolve(s.Name)
		if several[s.Name] {
			copies++
			if !errors.Is(err, kallsyms.ErrAmbiguous) {
				t.Errorf("%s, which several functions are called: found %#x, %v", s.Name, got.Addr, err)
			}
		} else if err != nil || got.Addr != s.Addr {
			t.Errorf("%s: found %s at %#x, %v; want %#x", s.Name, got.Name, got.Addr, err, s.Addr)
		}
	}
	t.Logf("%d functions, %d share their name", n, copies)
	if n < 3000 || copies > n/100 {
		t.Errorf("%d functions, %d share their name", n, copies)
	}
}

// textIsCovered: a trap anywhere in code can be named; between functions there
// is only padding.
func textIsCovered(t *suites.T) {
	var covered, end uint64
	for s := range kallsyms.Kernel().Text {
		if s.Addr < uint64(mm.Text.Start) || s.End() > uint64(mm.Text.End) {
			t.Errorf("%s lies outside text", s.Name)
		}
		if s.End() > end {
			covered += s.End() - max(s.Addr, end)
			end = s.End()
		}
	}
	if all := uint64(mm.Text.End - mm.Text.Start); covered < all*8/10 {
		t.Errorf("functions cover %d of %d bytes of text", covered, all)
	}
}

var known = 0x1234

func dataSymbol(t *suites.T) {
	s := t.Function("symbols.known")
	// Safe because: the symbol is this variable.
	if s.IsText() || s.Size != 8 || !mm.Data.Contains(uintptr(s.Addr)) {
		t.Errorf("%+v, want 8 bytes of data", s)
	}
	if at, off, _, ok := kallsyms.Lookup(s.Addr + 3); !ok || at != s.Name || off != 3 {
		t.Errorf("%#x is %s+%d, %v", s.Addr+3, at, off, ok)
	}
	known++
}

func procKallsyms(t *suites.T) {
	t.OneProcessor()
	f, err := vfs.Root.OpenFile("/proc/kallsyms", os.O_RDONLY)
	t.Must(err)
	defer f.Close()
	var last, addr uint64
	var kind rune
	var name string
	lines, aliases := 0, 0
	for sc := bufio.NewScanner(f); sc.Scan(); lines++ {
		fields := strings.SplitN(sc.Text(), " ", 3)
		if len(fields) != 3 || len(fields[0]) != 16 {
			t.Fatalf("line %d: %q", lines, sc.Text())
		}
		fmt.Sscanf(fields[0], "%x", &addr)
		switch alias := strings.HasSuffix(fields[2], "\t[alias]"); {
		case !alias && aliases > 0:
			t.Fatalf("line %d: %q comes after aliases", lines, sc.Text())
		case alias:
			aliases++
			last = 0 // they are in the order of their names
		}
		if addr < last {
			t.Fatalf("line %d: %q comes after %#x", lines, sc.Text(), last)
		}
		last, kind, name = addr, rune(fields[1][0]), fields[2]
		if name == "" || len(strings.TrimSuffix(name, "\t[alias]")) > kallsyms.MaxName || !strings.ContainsRune("TtRrDdBb", kind) {
			t.Fatalf("line %d: %q", lines, sc.Text())
		}
	}
	if lines-aliases != kallsyms.Kernel().Len() || aliases == 0 {
		t.Errorf("%d lines, %d of them aliases, for %d symbols", lines, aliases, kallsyms.Kernel().Len())
	}
}

func symbolize(t *suites.T) {
	s := targets.Int3 // CC C3
	const name = "sonde/ktest/suites/targets.int3.abi0"
	if got, off, size, ok := kallsyms.Lookup(uint64(s.Entry) + 1); !ok || got != name || off != 1 || size != 2 {
		t.Errorf("%#x is %s+%d/%d, %v; want %s+1/2", s.Entry+1, got, off, size, ok, name)
	}
	got := string(kallsyms.Symbolize(make([]byte, 0, 200), uint64(s.Entry)+1))
	if want := name + "+0x1/0x2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	small := string(kallsyms.Symbolize(make([]byte, 0, 10), uint64(s.Entry)))
	if small != name[:10] {
		t.Errorf("in 10 bytes: %q", small)
	}
}
