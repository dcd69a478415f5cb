package shell

import (
	"strings"
	"syscall"
	"testing"
)

func TestLanguage(t *testing.T) {
	tests := []struct {
		name, script, out string
		status            int
	}{
		{"nothing", "", "", 0},
		{"words", "echo  a   b", "a b\n", 0},
		{"quotes", `echo 'a  b' "c  d" e'f'"g"`, "a  b c  d efg\n", 0},
		{"empty words", `echo '' "" x`, "  x\n", 0},
		{"backslash", `echo a\ b \; \\ "\"\\\$?\n"`, `a b ; \ "\$?\n` + "\n", 0},
		{"joined lines", "echo a\\\nb", "ab\n", 0},
		{"symbols need no quotes", "echo vfs.(*File).Read foo[go.shape.int] %ax {x}", "vfs.(*File).Read foo[go.shape.int] %ax {x}\n", 0},
		{"separators", "echo a; echo b\necho c\r\necho d;", "a\nb\nc\nd\n", 0},
		{"comments", "# one\necho a # two\necho b#c", "a\nb#c\n", 0},
		{"and, or", "true && echo a; false && echo b; false || echo c; true || echo d", "a\nc\n", 0},
		{"chains", "false && echo a || echo b", "b\n", 0},
		{"over lines", "true &&\n\necho a |\n cat", "a\n", 0},
		{"status", "false; echo $?; echo \"$?\" '$?'", "1\n0 $?\n", 0},
		{"last status", "true; false", "", 1},
		{"not found", "frobnicate", "frobnicate: command not found\n", 127},
		{"pipe", "echo 'a\nb\nab' | grep a | wc -l", "2\n", 0},
		{"status of a pipe", "echo a | grep b", "", 1},
		{"redirections", "echo a >/tmp/l1; echo b>> /tmp/l1; cat < /tmp/l1 | tail -1", "b\n", 0},
		{"redirection with status", "false; echo x > /tmp/l$?; cat /tmp/l1", "x\n", 0},
		{"redirected nowhere", "echo a > /no/where", "echo: /no/where: no such file or directory\n", 1},
		{"cannot open", "cat < /none && echo no", "cat: /none: no such file or directory\n", 1},
		{"open quote", "echo a\necho 'b", "sh: line 2: reached EOF without closing quote '\n", 2},
		{"no command", "echo a | | cat", "sh: line 1: | must be followed by a statement\n", 2},
		{"only an operator", "&& true", "sh: line 1: && can only immediately follow a statement\n", 2},
		{"open end", "true &&", "sh: line 1: && must be followed by a statement\n", 2},
		{"errors apart", "cat /none 2>/tmp/l1; head -1 < /tmp/l1", "cat: /none: no such file or directory\n", 0},
		{"errors too", "cat /none 2>&1 | wc -l; cat /none >/tmp/l1 2>&1; wc -l /tmp/l1", "1\n1 /tmp/l1\n", 0},
		{"a digit in a word", "echo a2> /tmp/l1; cat /tmp/l1", "a2\n", 0},
		{"only &", "& echo a", "sh: line 1: & can only immediately follow a statement\n", 2},
		{"& after &&", "true && & echo a", "sh: line 1: && must be followed by a statement\n", 2},
		{"script of bt without quotes", "true\nbt -e kprobe:vfs.Read { @ = count(); }", "sh: line 2: a command can only contain words and redirects; encountered (; " +
			"quotes around the script of bt may be missing: bt -e 'kprobe:vfs.Read { @ = count(); }'\n", 2},
		{"no file", "echo a >", "sh: line 1: > must be followed by a word\n", 2},
		{"file without command", "> /tmp/l1; wc -c /tmp/l1", "0 /tmp/l1\n", 0},
	}
	for _, tt := range tests {
		out, status := runScript(tt.script)
		if out != tt.out || status != tt.status {
			t.Errorf("%s: got %q, status %d; want %q, status %d", tt.name, out, status, tt.out, tt.status)
		}
	}
	runScript("rm /tmp/l1")
}

func TestPanicOfACommandIsItsError(t *testing.T) {
	var b strings.Builder
	s := New(fakeMachine(), &b)
	s.Register(&Command{Name: "bug", Run: func(c *Context, _ []string) error {
		var p *int
		*p = 1
		return nil
	}})
	if status := s.Run("bug; echo alive"); status != 0 {
		t.Errorf("status %d", status)
	}
	if got := b.String(); !strings.Contains(got, "bug: panic: runtime error: invalid memory address") || !strings.HasSuffix(got, "alive\n") {
		t.Errorf("got %q", got)
	}
}

func TestMissingMachineIsAnErrorOfTheCommand(t *testing.T) {
	for _, cmd := range []string{"uname", "uptime", "date", "lscpu", "free", "poweroff", "reboot"} {
		var b strings.Builder
		if status := New(&Machine{}, &b).Run(cmd); status != 1 || !strings.Contains(b.String(), syscall.ENOSYS.Error()) {
			t.Errorf("%s: status %d, %q", cmd, status, b.String())
		}
	}
}

func TestOutputToAControlFileIsOneWrite(t *testing.T) {
	out, status := runScript("dmesg -C; head -n 1 /proc/sys/debug/kprobes-optimization > /sys/kernel/debug/kprobes/enabled && dmesg")
	if want := "[    0.000000] enabled gets \"1\"\n"; out != want || status != 0 {
		t.Errorf("got %q, status %d", out, status)
	}
}

func TestEveryCommandHasHelpAndRefusesUnknownOptions(t *testing.T) {
	s := New(fakeMachine(), &strings.Builder{})
	for _, cmd := range s.Commands() {
		if cmd.Help == "" || cmd.Run == nil {
			t.Errorf("%s lacks help or function", cmd.Name)
		}
	}
	for _, cmd := range []string{"ls", "dmesg", "free", "sysctl", "lsmod", "uname", "grep", "head", "tail", "wc"} {
		out, status := runScript(cmd + " -Z")
		if status != 2 || !strings.Contains(out, "usage: "+cmd) {
			t.Errorf("%s -Z: status %d, %q", cmd, status, out)
		}
	}
}

// TestEveryCommandHasAPurpose: one, and no purpose is the name of a command.
func TestEveryCommandHasAPurpose(t *testing.T) {
	s := New(fakeMachine(), &strings.Builder{})
	found := map[string]int{}
	for _, p := range purposes {
		if s.commands[p.name] != nil {
			t.Errorf("%s is a purpose and a command", p.name)
		}
		for _, name := range strings.Fields(p.commands) {
			found[name]++
		}
	}
	for _, name := range s.commandNames() {
		if found[name] != 1 {
			t.Errorf("%s has %d purposes", name, found[name])
		}
	}
}

func FuzzScriptsDoNotBreakTheShell(f *testing.F) {
	for _, s := range []string{"echo 'a' > /tmp/f | cat", "a && b || c; $?", "\\", "<", "echo \"$?\\", "grep -c a /proc/version", "a & b 2>&1 $!&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		s, _, _ := parse(script)
		s.forget()
		if n := parsed.Load(); n != 0 {
			t.Errorf("%q: %d bytes are held", script, n)
		}
	})
}
