package syscall

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/system-calls.md anew")

const page = "../../docs/system-calls.md"

const head = `# System calls

Linux's system calls for x86-64, and which of them sonde has. A remark after "partly" says what is
missing or different. Calls that are not there return ENOSYS: the log names each once per program,
and ` + "`/proc/unknown_syscalls`" + ` counts it.

` + "`go test ./linux/syscall -update`" + ` makes this page from the table in
` + "`linux/syscall/table.go`" + `; a test compares the two.

| number | call | state |
|---:|---|---|
`

// document is the text that docs/system-calls.md must have.
func document() string {
	var b strings.Builder
	b.WriteString(head)
	for n := range Numbers {
		name := Name(n)
		if name == "" {
			continue
		}
		state := "not there"
		if c, ok := Lookup(n); ok {
			name = fmt.Sprintf("%s(%s)", c.Name, c.Params)
			state = "done"
			if c.Missing != "" {
				state = "partly: " + c.Missing
			}
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", n, name, state)
	}
	return b.String()
}

func TestTableIsDocumented(t *testing.T) {
	want := document()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/system-calls.md is not what the table says; go test ./linux/syscall -update")
	}
}

// TestNamesStandOnce: a call has its name in table or in absent.
func TestNamesStandOnce(t *testing.T) {
	for n, c := range table {
		if (c.Name == "") != (c.Func == nil) || c.Name != "" && absent[n] != "" {
			t.Errorf("%d is %q in table and %q in absent", n, c.Name, absent[n])
		}
	}
}

// TestNamesAreLinuxs compares with the host's header, if there is one.
func TestNamesAreLinuxs(t *testing.T) {
	f, err := os.Open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
	if err != nil {
		t.Skip("this host has no header with the numbers")
	}
	defer f.Close()
	line := regexp.MustCompile(`^#define __NR_(\w+) (\d+)$`)
	for s := bufio.NewScanner(f); s.Scan(); {
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		if n, _ := strconv.Atoi(m[2]); Name(uint64(n)) != m[1] {
			t.Errorf("%d is %s in Linux", n, m[1])
		}
	}
}
