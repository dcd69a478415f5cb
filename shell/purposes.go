package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sonde/kernel/vfs"
)

// purposes has each command once. help shows them in this order.
var purposes = []struct{ name, commands string }{
	{"probe", "explain glass insmod rmmod lsmod modinfo kwatch bt bpf tracetop strace bench"},
	{"measure", "funccount funclatency stackcount argdist trace syscount syscallhist opensnoop execsnoop exitsnoop " +
		"sigsnoop writelat pagefaults runqlat offcputime mutexwait mallocstacks gcpauses hardirqs irqlat kwhere"},
	{"kernel", "dmesg sysctl ps kill free uptime uname date crash poweroff reboot"},
	{"board", "lscpu cpuid rdmsr wrmsr lspci inb outb peek poke dmidecode acpidump"},
	{"files", "ls cat less more head tail grep wc hexdump mkdir rm"},
	{"shell", "help clear echo time sleep repeat watch true false"},
	{ofPrompt, "history jobs fg bg wait exit"},
	{ofScripts, "sh . source eval exec command type cd pwd set unset shift read test [ printf trap break continue return :"},
	{others, ""},
}

// others is the purpose of all other commands: those of an image with tests.
const others = "others"

// The purposes of commands that are about the shell itself in which they are typed.
const ofPrompt, ofScripts = "prompt", "script"

// Handed are the commands that programs, too, can have run: all but those that are about the shell itself.
func (s *Shell) Handed() []string {
	own := append(s.commandsFor(ofPrompt), s.commandsFor(ofScripts)...)
	return slices.DeleteFunc(s.commandNames(), func(c string) bool { return slices.Contains(own, c) })
}

// commandsFor returns the commands of this shell for a purpose: a kernel without linux/ has fewer.
func (s *Shell) commandsFor(name string) []string {
	rest := s.commandNames()
	for _, p := range purposes {
		have := slices.DeleteFunc(strings.Fields(p.commands), func(c string) bool { return s.commands[c] == nil })
		rest = slices.DeleteFunc(rest, func(c string) bool { return slices.Contains(have, c) })
		if p.name == others {
			have = rest
		}
		if p.name == name {
			return have
		}
	}
	return nil
}

// programNames lists what is in /bin and is not a command of the shell, too.
func (s *Shell) programNames() (names []string) {
	if s.Machine.Programs == nil {
		return nil
	}
	entries, _ := vfs.ReadDir("/bin") // without it there are none
	for _, e := range entries {
		if s.commands[e.Name()] == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// The width of a screen, and of the column of purposes.
const (
	columns      = 80
	titleColumns = 8
)

// writeNames writes a title and names, if there are any, in as many lines as that takes.
func writeNames(w io.Writer, title string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var b strings.Builder
	line := fmt.Sprintf("%-*s", titleColumns, title)
	for _, name := range names {
		if len(line)+1+len(name) >= columns {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", titleColumns)
		}
		line += " " + name
	}
	b.WriteString(line + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}
