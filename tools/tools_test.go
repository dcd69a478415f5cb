package tools

import (
	"slices"
	"strings"
	"testing"

	"sonde/trace/lang"
)

// TestToolsAreScripts: each file says what it is, and is a script, at intervals too.
func TestToolsAreScripts(t *testing.T) {
	want := strings.Fields("argdist execsnoop exitsnoop funccount funclatency gcpauses hardirqs irqlat kwhere mallocstacks mutexwait offcputime opensnoop pagefaults " +
		"runqlat sigsnoop stackcount syscallhist syscount trace writelat")
	var names []string
	for _, tool := range All() {
		names = append(names, tool.Name)
		var args []string
		for _, p := range tool.params {
			if !p.optional {
				args = append(args, "vfs.Read")
			}
		}
		if tool.Help == "" || strings.HasSuffix(tool.Help, ".") {
			t.Errorf("%s: help %q", tool.Name, tool.Help)
		}
		for _, seconds := range []int{0, 1} {
			text, err := tool.Script(args, "", seconds)
			if seconds > 0 && len(tool.prints) == 0 {
				if err == nil || !strings.Contains(err.Error(), "as they happen") {
					t.Errorf("%s: %v", tool.Name, err)
				}
				continue
			}
			if err != nil || strings.ContainsAny(strings.ReplaceAll(text, "$d", ""), "$") || strings.Count(text, "print(")+strings.Count(text, "percentiles(") != (1+seconds)*len(tool.prints) {
				t.Errorf("%s: %v\n%s", tool.Name, err, text)
			}
			if _, err := lang.Parse(tool.Name, text); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
			for _, call := range tool.prints {
				m := call[strings.Index(call, "(")+1 : len(call)-1]
				if !strings.Contains(text, m+" = ") && !strings.Contains(text, m+"[") {
					t.Errorf("%s: there is no map %s", tool.Name, m)
				}
			}
		}
		if _, err := tool.Script(slices.Repeat([]string{"x"}, len(tool.params)+1), "", 0); err == nil {
			t.Errorf("%s takes any number of parameters", tool.Name)
		}
		if len(args) > 0 {
			if _, err := tool.Script(nil, "", 0); err == nil || !strings.Contains(err.Error(), "is missing: "+tool.Name) {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestParametersAreReplaced(t *testing.T) {
	tool := parse("// f A [B=arg0]\n// help\n// ends with print(@)\nkprobe:$1 { @ = hist($2); }\n")
	for args, want := range map[string]string{"vfs.Read": "kprobe:vfs.Read { @ = hist(arg0); }\n", "x len(args.p)": "kprobe:x { @ = hist(len(args.p)); }\n"} {
		got, err := tool.Script(strings.Fields(args), "", 0)
		if err != nil || got != config+want+"END { print(@); }\n" {
			t.Errorf("%s: %q, %v", args, got, err)
		}
	}
	got, err := tool.Script([]string{"x"}, "", 2)
	if want := "interval:s:2 { time(\"%H:%M:%S\\n\"); print(@); clear(@); }\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFilters: every tool takes a filter, and is a script with it and without.
func TestFilters(t *testing.T) {
	for _, tool := range All() {
		if !strings.Contains(tool.text, "$filter") {
			t.Errorf("%s has no place for a filter", tool.Name)
		}
		var args []string
		for range tool.params {
			args = append(args, "10")
		}
		text, err := tool.Script(args, `comm == "x" || pid == 7`, 0)
		if err != nil || !strings.Contains(text, `(comm == "x" || pid == 7)`) || strings.Contains(text, "$filter") {
			t.Errorf("%s: %v\n%s", tool.Name, err, text)
		}
		if _, err := lang.Parse(tool.Name, text); err != nil {
			t.Errorf("%s: %v\n%s", tool.Name, err, text)
		}
	}
}

// TestPlacesOfPrograms: the places of tools are of the kernel or of programs, in the words of attach points and of
// bpftrace. Lines and inlined copies do not return.
func TestPlacesOfPrograms(t *testing.T) {
	tool := parse("// f PLACES [FRAMES=3]\n// help\n// ends with print(@)\nkprobe:$1 /$filter/ { @[$stack($2)] = count(); } kretprobe:$1 { @ = 1; }\n")
	const kernel, program = "kprobe:P { @[kstack(3)] = count(); } kretprobe:P { @ = 1; }\n", "uprobe:P { @[ustack(3)] = count(); } uretprobe:P { @ = 1; }\n"
	for place, want := range map[string]string{"vfs.*": kernel, "kprobe:vfs.*": kernel, "k:vfs.Read": kernel, "type:.eq.x": kernel, "/bin/myprog:main.*": program,
		"uprobe:libc:mall*": program, "u:libc:malloc": program, "myprog:main.main": program, `"/a:b/c":main`: program} {
		bare := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(place, "kprobe:"), "k:"), "uprobe:"), "u:")
		got, err := tool.Script([]string{place}, "", 0)
		if want = config + strings.ReplaceAll(want, "P", bare) + "END { print(@); }\n"; err != nil || got != want {
			t.Errorf("%s: %v\ngot  %swant %s", place, err, got, want)
		}
	}
	tool = parse("// f PLACES [FRAMES=3]\n// help\n// ends with print(@)\nkprobe:$1 { @[$stack($2)] = count(); }\n")
	for place, want := range map[string]string{"vfs/io.go:33": "line:vfs/io.go:33", "inline:sync.(*Mutex).Lock": "inline:sync.(*Mutex).Lock"} {
		got, err := tool.Script([]string{place}, "", 0)
		if want = config + want + " { @[kstack(3)] = count(); }\nEND { print(@); }\n"; err != nil || got != want {
			t.Errorf("%s: %v\ngot  %swant %s", place, err, got, want)
		}
	}
	tool = parse("// f PLACE\n// help\n// ends with print(@)\nkprobe:$1 { @ = 1; } kretprobe:$1 { @ = 1; }\n")
	for _, place := range []string{"vfs/io.go:33", "inline:vfs.join", "sys:openat", "tick:99hz", "w@vfs.x", ""} {
		if text, err := tool.Script([]string{place}, "", 0); err == nil {
			t.Errorf("%q became %s", place, text)
		}
	}
}
