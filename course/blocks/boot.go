package blocks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Boot is all commands that run on one machine, in order; or one command line of the launcher.
type Boot struct {
	Launch   bool
	Fresh    bool   // of one block, which is the first to run there
	SMP      int    // 0: it does not matter
	Memory   string // "": it does not matter
	Commands []Block
}

// maxScript is how many bytes of commands fit on the command line of a machine.
const maxScript = 4000

// Boots gathers the commands of blocks by machine: those of a page in one boot, with those of as many other pages as
// fit. If apart is set, blocks have nothing of those before. What is quoted is run where it is from.
func Boots(all []Block, apart bool) (boots []Boot) {
	for _, o := range byPage(all) {
		i := slices.IndexFunc(boots, func(p Boot) bool {
			p.Commands = slices.Concat(p.Commands, o.Commands)
			return p.shares(o) && len(p.Script(apart)) < maxScript
		})
		if i < 0 {
			boots = append(boots, o)
		} else {
			boots[i].Commands = append(boots[i].Commands, o.Commands...)
		}
	}
	return boots
}

// byPage gathers the commands by page and machine.
func byPage(all []Block) (boots []Boot) {
	for _, b := range all {
		if b.Kind() != "sonde" || b.Option("file") != "" {
			continue
		}
		smp, _ := strconv.Atoi(b.Option("smp"))
		o := Boot{Launch: b.Head[1] == "launch", Fresh: slices.Contains(b.Head, "fresh"), SMP: smp, Memory: b.Option("memory"), Commands: []Block{b}}
		i := slices.IndexFunc(boots, func(p Boot) bool { return p.shares(o) && p.Commands[0].Page == b.Page })
		if i < 0 {
			boots = append(boots, o)
		} else {
			boots[i].Commands = append(boots[i].Commands, b)
		}
	}
	return boots
}

// shares reports whether one boot can do for both.
func (o Boot) shares(p Boot) bool {
	return !o.Launch && !p.Launch && !o.Fresh && !p.Fresh && o.SMP == p.SMP && o.Memory == p.Memory
}

// mark begins the line that ends the output of a block. After it, and after the page, a block has nothing of those
// before: the log is empty, and no module is there.
const (
	mark  = "== the next block: "
	after = "\necho; echo '" + mark + "'$?; dmesg -C\n"
	reset = "lsmod | while read name rest; do rmmod $name; done > /dev/null 2>&1; dmesg -C\n"
)

// has reports whether the boot has commands of a page.
func (o Boot) has(page string) bool {
	return slices.ContainsFunc(o.Commands, func(b Block) bool { return b.Page == page })
}

// Script is what the machine runs. Modules stay for the next block of the page; if apart is set, they do not.
func (o Boot) Script(apart bool) string {
	var all strings.Builder
	page := ""
	for _, b := range o.Commands {
		if page != b.Page || apart {
			all.WriteString(reset)
		}
		page = b.Page
		all.WriteString(strings.Join(b.Text, "\n") + after)
	}
	return all.String()
}

// Split returns the lines that each block has printed, by its String, out of what the script has printed.
func (o Boot) Split(stdout string) (map[string][]string, error) {
	parts := strings.Split(stdout, "\n"+mark)
	if len(parts) != len(o.Commands)+1 {
		return nil, fmt.Errorf("%d of %d blocks have ended, the last is %v", len(parts)-1, len(o.Commands), o.Commands[max(0, min(len(parts)-2, len(o.Commands)-1))])
	}
	said := map[string][]string{}
	for i, b := range o.Commands {
		text := parts[i]
		if i > 0 {
			_, text, _ = strings.Cut(text, "\n") // the status of the one before
		}
		said[b.String()] = Lines(text)
	}
	return said, nil
}
