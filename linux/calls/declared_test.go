package calls

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	linux "sonde/linux/syscall"
	"sonde/probe/event"
)

// later are calls that came after Linux 6.1.
var later = map[string]string{
	"sys_enter_fchmodat2": "int __syscall_nr 8+4 signed\nint dfd 16+8\nconst char * filename 24+8\numode_t mode 32+8\nunsigned int flags 40+8\n",
}

// fieldLine is a field in the file format.
var fieldLine = regexp.MustCompile(`(?m)^\tfield:(.*);\toffset:(\d+);\tsize:(\d+);\tsigned:(\d);\n`)

// fieldsOf are the fields of a format but for those that all events have, as the files in testdata have them.
func fieldsOf(format string) string {
	_, own, _ := strings.Cut(format, "\n\n")
	own, _, _ = strings.Cut(own, "\nprint fmt: ")
	return strings.ReplaceAll(strings.ReplaceAll(fieldLine.ReplaceAllString(own, "$1 $2+$3 $4\n"), " 0\n", "\n"), " 1\n", " signed\n")
}

func format(t Tracepoint) string { return event.Format("", 0, t.fields(), t.printed()) }

// TestFormats: the fields of each system call's tracepoints have the names, types, offsets and sizes of Linux 6.1.
func TestFormats(t *testing.T) {
	text, err := os.ReadFile("testdata/formats.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]string{}
	event := ""
	for line := range strings.Lines(string(text)) {
		if field, ok := strings.CutPrefix(line, "\t"); ok {
			theirs[event] += field
		} else {
			event = strings.TrimSpace(line)
		}
	}
	for _, name := range listed() {
		system, event, _ := strings.Cut(name, ":")
		point, ok := ByName(system, event)
		if !ok {
			t.Fatalf("there is no tracepoint %s", name)
		}
		want := theirs[event] + later[event]
		if strings.HasPrefix(event, "sys_exit_") {
			want = theirs["sys_exit_*"]
		}
		if got := fieldsOf(format(point)); got != want || want == "" {
			t.Errorf("%s has the fields\n%s\nand has in Linux\n%s", event, got, want)
		}
		delete(theirs, event)
	}
	delete(theirs, "sys_exit_*")
	if len(theirs) != 0 {
		t.Errorf("these are missing: %v", theirs)
	}
}

// TestPrinted: the last line of a format says how its fields are printed.
func TestPrinted(t *testing.T) {
	for name, want := range map[string]string{
		"syscalls:sys_enter_getpid":   `""`,
		"syscalls:sys_enter_shutdown": `"fd: 0x%08lx, how: 0x%08lx", ((unsigned long)(REC->fd)), ((unsigned long)(REC->how))`,
		"syscalls:sys_exit_shutdown":  `"0x%lx", REC->ret`,
		"raw_syscalls:sys_exit":       `"NR %ld = %ld", REC->id, REC->ret`,
	} {
		system, event, _ := strings.Cut(name, ":")
		point, _ := ByName(system, event)
		if _, got, _ := strings.Cut(format(point), "\nprint fmt: "); got != want+"\n" {
			t.Errorf("%s is printed by %q, want %q", name, got, want)
		}
	}
}

// TestOtherNames: each parameter has the manual's name, too, and no name stands for two.
func TestOtherNames(t *testing.T) {
	for n := range linux.Numbers {
		c, ok := linux.Lookup(n)
		if !ok {
			continue
		}
		params, _ := Parameters(c.Name)
		known := map[string]bool{}
		for i, p := range params {
			names := append([]string{p.Name}, p.Also...)
			for _, name := range names {
				if known[name] {
					t.Errorf("%s has two parameters %s", c.Name, name)
				}
				known[name] = true
			}
			if manual := c.Names(); i < len(manual) && !slices.Contains(names, manual[i]) {
				t.Errorf("parameter %d of %s is not known as %s, but as %v", i, c.Name, manual[i], names)
			}
		}
	}
	got, _ := Parameters("mkdir")
	if want := "[{const char * pathname [filename]} {umode_t mode []}]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if _, ok := Parameters("mount"); ok {
		t.Error("a call that is not there has parameters")
	}
}
