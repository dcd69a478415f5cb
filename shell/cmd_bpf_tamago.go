//go:build tamago && !noprobe

package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/program"
)

var bpfCommand = &Command{
	Name:  "bpf",
	Usage: "prog|map|link [COMMAND...] | asm FILE PLACE... | run [-B PERCENT] FILE.o [COMMAND...] | rm PROG... | help",
	Help:  "load and attach eBPF programs, run what clang has compiled, list programs, maps and links, print instructions and the contents of maps",
	Run: func(c *Context, args []string) error {
		v, rest, err := bpfVerbOf(args)
		if err != nil {
			return err
		}
		return v.run(c, rest)
	},
}

// A bpfVerb is what bpf can do: its first words.
type bpfVerb struct {
	words, args, help string
	run               func(c *Context, args []string) error
}

// bpfVerbs are in the order in which help prints them.
var bpfVerbs []bpfVerb

func init() { // not where it is declared: help prints it
	bpfVerbs = []bpfVerb{
		{"prog", "", "list the programs; so does prog list", bpfProgs},
		{"prog list", "", "", bpfProgs},
		{"prog show", "PROG", "one program", bpfProgs},
		{"prog dump xlated", "PROG", "its instructions", bpfXlated},
		{"prog dump jited", "PROG", "its instructions, and the machine code of each beside it", bpfJited},
		{"prog pin", "PROG FILE", "keep it until FILE, in /sys/fs/bpf, is removed", bpfPin(bpfProgOf)},
		{"prog budget", "PROG PERCENT", "throttle it when it takes more of a CPU's time; 0: never", bpfBudget},
		{"map", "", "list the maps; so does map list", bpfMaps},
		{"map list", "", "", bpfMaps},
		{"map show", "MAP", "one map", bpfMaps},
		{"map dump", "MAP", "what is in it; from a ring the records are taken", onMap(bpfDumpMap)},
		{"map lookup", "MAP key DATA", "the value of a key", onMap(bpfLookup)},
		{"map update", "MAP key DATA value DATA [any|noexist|exist]", "set the value of a key, on all CPUs", onFreeMap(bpfUpdate)},
		{"map delete", "MAP key DATA", "remove a key", onFreeMap(bpfDelete)},
		{"map pin", "MAP FILE", "as prog pin", bpfPin(bpfMapOf)},
		{"link", "", "list where programs are attached; so does link list", bpfLinks},
		{"link list", "", "", bpfLinks},
		{"link show", "LINK", "all places of one", bpfLinks},
		{"link detach", "LINK", "remove it", bpfDetach},
		{"link pin", "LINK FILE", "as prog pin", bpfPin(bpfLinkOf)},
		{"asm", "FILE PLACE...", "load a text of instructions, and attach it", bpfAsm},
		{"run", "[-B PERCENT] FILE.o [COMMAND...]", "load what clang has compiled, attach it by the names of its sections, and print what it records, until ^C or while a command runs", bpfRun},
		{"rm", "PROG...", "detach and free programs", bpfRemove},
		{"help", "", "this", bpfHelp},
	}
}

// bpfVerbsOf is what can come after a verb that has nothing else.
func bpfVerbsOf(words string) (all []string) {
	for _, v := range bpfVerbs {
		if more, ok := strings.CutPrefix(v.words, words+" "); ok {
			all = append(all, more)
		}
	}
	if all == nil {
		return []string{"nothing more"}
	}
	return all
}

// bpfVerbOf finds the longest verb that args begin with.
func bpfVerbOf(args []string) (found *bpfVerb, rest []string, err error) {
	most := 0
	for i := range bpfVerbs {
		words := strings.Fields(bpfVerbs[i].words)
		if n := len(words); n > most && len(args) >= n && slices.Equal(args[:n], words) {
			found, most = &bpfVerbs[i], n
		}
	}
	rest = args[most:]
	if found == nil {
		if len(args) == 0 {
			return nil, nil, Usagef("give a command; bpf help lists them")
		}
		return nil, nil, Usagef("there is no command %s; bpf help lists them", args[0])
	}
	if found.args == "" && len(rest) > 0 {
		return nil, nil, Usagef("%s has no command %q: give one of %s", found.words, strings.Join(rest, " "), strings.Join(bpfVerbsOf(found.words), ", "))
	}
	return found, rest, nil
}

func bpfHelp(c *Context, _ []string) error {
	for _, v := range bpfVerbs {
		if v.help != "" {
			fmt.Fprintf(c.Out, "bpf %s\n        %s\n", strings.TrimSpace(v.words+" "+v.args), v.help)
		}
	}
	_, err := fmt.Fprint(c.Out, `
PROG is id NUMBER, name NAME, tag TAG or pinned FILE; a number alone is an id. So are MAP and LINK, without tag.
DATA is the bytes in order, as 1 0 0x2a 0 or, behind the word hex, 01 00 2a 00; or one number for all of up to 8 bytes.
`)
	return err
}

// bpfFind takes the object that args begin with off them. is tells whether an object is what a word,
// such as name, and its value say.
func bpfFind[T program.Object](what string, all []T, args []string, is func(o T, word, value string) bool) (T, []string, error) {
	var none T
	if len(args) == 0 {
		return none, nil, Usagef("which %s? Give id NUMBER, name NAME or pinned FILE", what)
	}
	word, value, rest := "id", args[0], args[1:]
	switch {
	case len(args) > 1 && args[0] == "pinned":
		o, err := program.Pinned(args[1])
		if err != nil {
			return none, nil, err
		}
		if found, ok := o.(T); ok {
			return found, args[2:], nil
		}
		return none, nil, refusal.New(syscall.EINVAL, "%s is %s, not a %s", args[1], o, what)
	case len(args) > 1 && slices.Contains([]string{"id", "name", "tag"}, args[0]):
		word, value, rest = args[0], args[1], args[2:]
	}
	found := slices.DeleteFunc(all, func(o T) bool { return !is(o, word, value) })
	switch len(found) {
	case 0:
		return none, nil, refusal.New(syscall.ENOENT, "there is no %s with %s %s", what, word, value)
	case 1:
		return found[0], rest, nil
	}
	return none, nil, refusal.New(syscall.EINVAL, "%d have the %s %s: %s, %s. Give id NUMBER", len(found), word, value, found[0], found[1])
}

func bpfProgOf(args []string) (*program.Prog, []string, error) {
	return bpfFind("program", program.Programs(), args, func(p *program.Prog, word, value string) bool {
		return value == map[string]string{"id": fmt.Sprint(p.ID), "name": p.Checked.Program.Name, "tag": p.Tag()}[word]
	})
}

func bpfMapOf(args []string) (*program.Map, []string, error) {
	return bpfFind("map", program.Maps(), args, func(m *program.Map, word, value string) bool {
		return value == map[string]string{"id": fmt.Sprint(m.ID), "name": m.Spec.Name}[word]
	})
}

func bpfLinkOf(args []string) (*program.Link, []string, error) {
	return bpfFind("link", program.Links(), args, func(l *program.Link, word, value string) bool {
		return word == "id" && value == fmt.Sprint(l.ID)
	})
}

// bpfEnd refuses what is left of the arguments.
func bpfEnd(rest []string, err error) error {
	if err == nil && len(rest) > 0 {
		return Usagef("%q is too much", strings.Join(rest, " "))
	}
	return err
}

// bpfNamed returns the object that args name, which of finds; all if there are no args.
func bpfNamed[T any](all []T, of func([]string) (T, []string, error), args []string) ([]T, error) {
	if len(args) == 0 {
		return all, nil
	}
	one, rest, err := of(args)
	return []T{one}, bpfEnd(rest, err)
}

// bpfPin is the command that makes the file which is named after an object that of finds.
func bpfPin[T program.Object](of func([]string) (T, []string, error)) func(*Context, []string) error {
	return func(_ *Context, args []string) error {
		o, rest, err := of(args)
		switch {
		case err != nil:
			return err
		case len(rest) != 1:
			return Usagef("give one file, as in %s/mine", program.PinDir)
		}
		return program.Pin(rest[0], o)
	}
}

// bpfUnpinned refuses what a file keeps.
func bpfUnpinned(o program.Object) error {
	if files := program.Pins(o); len(files) > 0 {
		return refusal.New(syscall.EBUSY, "%s is kept by %s: remove that first", o, strings.Join(files, ", "))
	}
	return nil
}

// maxProgram is how long the file of a program may be, in bytes.
const maxProgram = 1 << 20

// bpfRead reads the file of a program, and makes a name for it.
func bpfRead(file string) (name string, data []byte, err error) {
	data, err = readWhole(file, maxProgram)
	name = path.Base(file)
	return strings.TrimSuffix(name, path.Ext(name)), data, err
}
