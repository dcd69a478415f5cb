// Package object reads programs and maps from object files that clang -target bpf has made.
//
//	SEC("kprobe/vfs.Read")     a program, and what it is attached to (Place)
//	SEC(".maps"), SEC("maps")  maps: described by BTF, and as they were before
//	.data, .rodata, .bss       variables: each section is an array with one value
//	.text                      functions that programs call: each program gets a copy of what it needs
//	.BTF, .BTF.ext             types, source lines, and relocations by types (CO-RE)
//	license                    whether it is compatible with the GPL
//
// Read links all this: instructions refer to maps by their number (bpf.MapIdx), calls are relative. It does
// not judge programs: the verifier does.
//
// # Relocations by types
//
// An instruction that depends on where a field is, how large it is or whether it exists names the field by
// its type and its members. Read looks for types of the same name in the kernel's BTF (what follows ___ in
// a name is not part of it), follows the members by name, and changes the instruction. What the kernel does
// not have makes an instruction that the verifier refuses if it can be reached; Program.Missing says why.
//
// # What is refused
//
// Variables and functions of the kernel (.ksyms), its configuration (.kconfig), maps with maps in them
// from the beginning, and maps that are to be pinned by name.
//
// Source: Linux, Documentation/bpf/libbpf/program_types.rst; Documentation/bpf/llvm_reloc.rst;
// Documentation/bpf/btf.rst, "ELF File Format Interface".
package object

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"sonde/bpf"
	"sonde/bpf/btf"
)

// Object is what a file has.
type Object struct {
	License  string
	Maps     []*Map
	Programs []*Func
	Types    *btf.Table // nil: none
}

// Map is a map of the object.
type Map struct {
	bpf.MapSpec
	Value []byte // of element 0, from the beginning; nil: zeroes
}

// Func is a program of the object.
type Func struct {
	bpf.Program
	Section string
	Uses    []*Map         // by the index that instructions have
	Missing map[int]string // by PC: what the kernel has not that the instruction needs
}

// Read reads an object file. kernel returns the types of the kernel that it is for; it is called if a
// program has relocations by types.
//
// Errors: ENOEXEC what is wrong with the file; those of btf.ReadObject and Table.ReadExt, and of kernel.
func Read(data []byte, kernel func() (*btf.Table, error)) (*Object, error) {
	f, err := readFile(data)
	if err != nil {
		return nil, err
	}
	l := &linker{file: f, kernel: kernel, o: &Object{License: f.license()}, mapAt: map[place]*Map{}}
	if err := l.readTypes(); err != nil {
		return nil, err
	}
	if err := l.readMaps(); err != nil {
		return nil, err
	}
	if err := l.readPrograms(); err != nil {
		return nil, err
	}
	if len(l.o.Programs) == 0 {
		return nil, bad("there is no program: expected a function in a section such as kprobe/vfs.Read")
	}
	return l.o, nil
}

// A linker puts an object together.
type linker struct {
	*file
	o      *Object
	ext    *btf.Ext
	kernel func() (*btf.Table, error)
	funcs  []symbol       // in the order of their places
	mapAt  map[place]*Map // the value of a section of variables is at offset 0
	core   *core          // made when it is first needed

	insns, copies int // of all programs so far
}

// A place is an offset in a section.
type place struct {
	section int
	offset  uint64
}

func (f *file) license() string {
	return string(bytes.TrimRight(f.sections[f.find("license")].data, "\x00"))
}

// isGPL tells whether Linux takes a licence for one of GPL's.
func isGPL(license string) bool {
	return slices.Contains([]string{"GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"}, license)
}

// readTypes reads .BTF and .BTF.ext, if there are any.
func (l *linker) readTypes() (err error) {
	i := l.find(".BTF")
	if i == 0 {
		return nil
	}
	if l.o.Types, err = btf.ReadObject(l.sections[i].data); err != nil {
		return err
	}
	if i = l.find(".BTF.ext"); i != 0 {
		l.ext, err = l.o.Types.ReadExt(l.sections[i].data)
	}
	return err
}

// readPrograms makes a program of each function that is in a section of its own kind. Those in .text are
// what programs call.
func (l *linker) readPrograms() error {
	l.funcs = l.functions()
	for _, y := range l.funcs {
		s := &l.sections[y.section]
		if s.name == codeSection {
			continue
		}
		typ, _, err := Place(s.name)
		if err != nil {
			return fmt.Errorf("program %s: %w", y.name, err)
		}
		p := &Func{Section: s.name, Missing: map[int]string{}}
		p.Name, p.Type, p.GPL = y.name, typ, isGPL(l.o.License)
		if err := l.link(p, y); err != nil {
			return fmt.Errorf("program %s: %w", y.name, err)
		}
		l.o.Programs = append(l.o.Programs, p)
	}
	return nil
}

// functions are the symbols of functions, in the order of sections and places.
func (l *linker) functions() (all []symbol) {
	for _, y := range l.symbols {
		if y.kind == kindFunction && y.section > 0 && l.sections[y.section].isCode() {
			all = append(all, y)
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return a.section < b.section || a.section == b.section && a.value < b.value
	})
	return all
}

// codeSection has the functions that programs call.
const codeSection = ".text"

// Place returns what the programs in a section are, and the place that they are attached to, in the grammar
// of probe/attach.
//
// Errors: ENOEXEC nothing is known that the section's name begins with, or the place is missing.
func Place(section string) (bpf.Type, string, error) {
	kind, at, _ := strings.Cut(section, "/")
	if one, many := strings.CutSuffix(kind, ".multi"); many && strings.HasSuffix(one, "probe") {
		kind = one // each place may be a pattern
	}
	form := map[string]string{
		"kprobe": "%s", "kretprobe": "ret:%s", "ksyscall": "sys:%s", "kretsyscall": "ret:sys:%s",
		"uprobe": "%s", "uretprobe": "ret:%s", "tick": "tick:%s", "every": "every:%s", "tracepoint": "event:%s", "tp": "event:%s",
	}[kind]
	switch why := instead(kind, at); {
	case why != "":
		return 0, "", bad("section %q: %s", section, why)
	case form == "":
		return 0, "", bad("section %q: expected kprobe/, kretprobe/, ksyscall/, kretsyscall/, uprobe/, uretprobe/, tracepoint/, tick/ or every/ at its beginning", section)
	case at == "":
		return 0, "", bad("section %q: expected a place behind %s/, as in kprobe/vfs.Read, ksyscall/openat, uprobe//bin/sh:main, tracepoint/sched/sched_switch, tick/99hz or every/1s", section, kind)
	}
	if strings.HasPrefix(form, "event:") {
		return bpf.Tracepoint, fmt.Sprintf(form, strings.Replace(at, "/", ":", 1)), nil
	}
	return bpf.Kprobe, fmt.Sprintf(form, at), nil
}

// instead says why there is no place for a section of Linux's, and what to write; "" for what is none of
// Linux's that trace.
func instead(kind, at string) string {
	switch kind {
	case "tracepoint", "tp":
		for prefix, form := range map[string]string{"syscalls/sys_enter_": "ksyscall/", "syscalls/sys_exit_": "kretsyscall/"} {
			if name, ok := strings.CutPrefix(at, prefix); ok {
				return fmt.Sprintf("there are no records of system calls: give %s%s, and a struct pt_regs", form, name)
			}
		}
	case "raw_tp", "raw_tracepoint", "tp_btf", "raw_tp.w", "raw_tracepoint.w":
		return "tracepoints have records only: give tracepoint/ with the system and the name"
	case "fentry", "fexit", "fmod_ret", "lsm":
		return "arguments by type are not there: give kprobe/ or kretprobe/, and a struct pt_regs"
	case "perf_event":
		return "give tick/99hz for a time on each CPU"
	case "usdt":
		return "give uprobe/ and the function"
	}
	if strings.HasSuffix(kind, ".s") {
		return "no program may sleep: leave out .s"
	}
	return ""
}
