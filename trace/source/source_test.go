package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/trace/lang"
)

// newSource is a kernel of a few functions and system calls.
func newSource(t *testing.T) *Source {
	t.Helper()
	var syms []kallsyms.Symbol
	for i, name := range []string{"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).ReadWait", "sonde/kernel/vfs.Write", "main.main", "a/x.Same", "b/x.Same", "sonde/linux/syscall.openFile", "sonde/arch/amd64/fpu.add.abi0"} {
		syms = append(syms, kallsyms.Symbol{Addr: 0x1000 + uint64(i)*0x100, Size: 0x80, Type: 'T', Name: name})
	}
	table, err := kallsyms.Load(kallsyms.Encode(syms))
	if err != nil {
		t.Fatal(err)
	}
	p := func(typ, name string, also ...string) event.Param {
		return event.Param{Type: typ, Name: name, Also: also}
	}
	calls := map[string][]event.Param{"openat": {p("int", "dfd", "dirfd"), p("const char *", "filename", "pathname"), p("int", "flags"), p("umode_t", "mode")}, "getpid": nil,
		"nanosleep": {p("struct __kernel_timespec *", "rqtp"), p("unsigned int", "n"), p("struct stat *", "st"), p("pid_t", "pid"), p("const char *const *", "argv")}}
	return &Source{Symbols: table, Programs: Programs{
		Params: func(call string) ([]event.Param, bool) { p, ok := calls[call]; return p, ok },
		Calls:  func(yield func(string) bool) { _ = yield("getpid") && yield("openat") }}}
}

// pointOf reads an attach point.
func pointOf(t *testing.T, text string) *lang.Point {
	t.Helper()
	s, err := lang.Parse("test", text+" { }")
	if err != nil {
		t.Fatal(err)
	}
	return s.Probes[0].Points[0]
}

// functions are those of programs, by file.
func functions(of map[string][]string) func(file, pattern string, probed bool) []string {
	return func(file, pattern string, probed bool) (all []string) {
		for _, name := range of[file] {
			if kallsyms.Fits(pattern, name) && !slices.Contains(all, name) && !(probed && name == "chosen") {
				all = append(all, name)
			}
		}
		return all
	}
}

func TestPlaces(t *testing.T) {
	if err := errors.Join(vfs.Root.MkdirAll("/usr/lib", 0755), vfs.WriteFile("/usr/lib/libtest.so.6", []byte("ELF"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		point, want string
		pid         int
	}{
		{"kprobe:vfs.Read", "vfs.Read", 0},
		{"kprobe:vfs.Read+0x10", "vfs.Read+0x10", 7},
		{"kretprobe:kernel/vfs.(*File).ReadWait", "ret:kernel/vfs.(*File).ReadWait", 0},
		{"kprobe:vfs_File_ReadWait", "sonde/kernel/vfs.(*File).ReadWait", 0},
		{"kprobe:vfs_read+4", "sonde/kernel/vfs.Read+0x4", 0},
		{"fexit:vfs_write", "ret:sonde/kernel/vfs.Write", 0},
		{"kprobe:vfs.*", "vfs.*", 0},
		{"kprobe:vfs_*", "vfs_*", 0},
		{"kprobe:0x1000", "0x1000", 0},
		{"uprobe:/bin/sh:main+4", "/bin/sh:main+0x4", 0},
		{"uretprobe:sh:main", "7:ret:sh:main", 7},
		{"uprobe:./t1:work", "/tmp/t1:work", 0}, {"uretprobe:a/t1:work", "ret:/tmp/a/t1:work", 0},
		{`uprobe:"/tmp/co:lon/t1":work`, `"/tmp/co:lon/t1":work`, 0}, {`uprobe:"./co:lon":work+4`, `"/tmp/co:lon":work+0x4`, 0},
		{`uprobe:"/tmp/at@x/t1":"f[go.shape.struct { A int }]"`, "/tmp/at@x/t1:f[go.shape.struct { A int }]", 0},
		{`uprobe:"/tmp/dol$1/t1":"a$1b"`, "/tmp/dol$1/t1:a$1b", 0}, {"uprobe:sh:type:.eq.x", "sh:type:.eq.x", 0},
		{"t:syscalls:sys_enter_openat", "sys:openat", 0},
		{"t:syscalls:sys_exit_open*", "7:ret:sys:openat", 7}, {"t:syscalls:sys_enter_*", "sys:getpid sys:openat", 0},
		{"t:raw_syscalls:sys_enter", "sys:*", 0},
		{"t:raw_syscalls:sys_exit", "ret:sys:*", 0},
		{"t:sched:sched_switch", "event:sched:sched_switch", 0}, {"t:go:gc_*", "event:go:gc_start event:go:gc_mark_done event:go:gc_end", 0},
		{"rt:sys_exit", "ret:sys:*", 0}, {"rawtracepoint:vmlinu*:sys_enter", "sys:*", 0}, {"rt:irq_handler_entry", "event:irq:irq_handler_entry", 0},
		{"w:printk.consoleLevel:4:rw", "rw@printk.consoleLevel:4", 0},
		{"w:0x1000", "w@0x1000", 0},
		{"line:vfs/io.go:76", "vfs/io.go:76", 0},
		{"inline:vfs.join", "inline:vfs.join", 0},
		{"s:page-faults:1", "sonde/linux/proc.(*Thread).pageFault", 0}, {"s:cpu-clock:10000000", "tick:100hz", 0}, {"s:cpu", "tick:1000hz", 0}, {"s:cs", "runtime.execute", 0},
		{"uretprobe:/usr/li*/libt*:f*", "ret:/usr/lib/libtest.so.6:f*", 0},
		{"uprobe:libtest:f", "/usr/lib/libtest.so.6:f", 0}, {"uprobe:libnone:f", "libnone:f", 0},
		{"i:s:5", "every:5s", 0}, {"i:ms:100", "every:100ms", 0}, {"i:us:5000", "every:5ms", 0}, {"i:hz:4", "every:250ms", 0}, {"i:2s", "every:2s", 0},
		{"p:hz:99", "tick:99hz", 0}, {"p:ms:10", "tick:100hz", 0}, {"p:s:1", "tick:1hz", 0},
	} {
		s := newSource(t)
		s.PID = c.pid
		s.Functions = functions(map[string][]string{"/usr/lib/libtest.so.6": {"f"}})
		s.Dir = "/tmp"
		sites, err := s.Places(pointOf(t, c.point))
		got := fmt.Sprint(sites)
		if err != nil || got != "["+c.want+"]" {
			t.Errorf("%s: %v, %v; want %s", c.point, got, err, c.want)
			continue
		}
		if _, err := s.Target(pointOf(t, c.point)); err != nil {
			t.Errorf("%s: %v", c.point, err)
		}
	}
}

func TestPlacesRefused(t *testing.T) {
	for _, c := range []struct{ point, want, hint string }{
		{"kprobe:vfs.Reed", "there is no function vfs.Reed in the kernel", "did you mean vfs.Read?"},
		{"kprobe:vfs/io.go:33", "there is no function vfs/io.go:33 in the kernel", "a line of source is line:vfs/io.go:33"},
		{"kprobe:nothing_like_it", "there is no function nothing_like_it in the kernel", ""},
		{"kprobe:x.Same", "ambiguous symbol", ""},
		{"kprobe:net.*", "no function fits net.*", ""},
		{"t:syscalls:sys_enter_opennat", "there is no system call opennat", "did you mean openat?"},
		{"t:syscalls:openat", "there is no tracepoint openat: give sys_enter_CALL", ""},
		{"t:sched:sched_swich", "there is no tracepoint sched:sched_swich", "did you mean sched:sched_switch?"},
		{"t:net:*", "there is no tracepoint net:*", ""},
		{"w:a:x", "\"x\" is not a number of bytes", ""},
		{"w:a:4:q", "\"q\" says not how it is accessed", ""},
		{"i:hz:0", "\"0\" is not a frequency: give a number of times in a second, from 1", ""},
		{"i:s:x", "\"s:x\" is not a time: give hz, s, ms or us, and a number from 1", ""},
		{"s:page-fault:1", "there is no software event page-fault", "did you mean page-faults?"}, {"s:cs:0", "\"0\" is not a number of events", ""},
	} {
		_, err := newSource(t).Target(pointOf(t, c.point))
		var h *lang.Hinted
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &h) && h.Hint != c.hint || h == nil && c.hint != "" {
			t.Errorf("%s: %v %+v; want %s, %s", c.point, err, h, c.want, c.hint)
		}
	}
	s := newSource(t)
	s.Params, s.Calls = nil, nil
	if _, err := s.Target(pointOf(t, "t:raw_syscalls:sys_enter")); err == nil || !strings.Contains(err.Error(), "this kernel runs no programs") {
		t.Error(err)
	}
}

// TestTarget: registers are Go's in the kernel, in programs those that the file says, whatever the name is, and
// a system call has its own.
func TestTarget(t *testing.T) {
	s := newSource(t)
	known := map[string]goabi.Convention{"/bin/sh:main.main": goabi.Regs, "/bin/sh:main.asm": goabi.Stack, "/bin/sh:asm": goabi.Asm, "/bin/sh:*": goabi.Mixed}
	s.Conventions = func(file string) func(attach.Site) goabi.Convention {
		return func(at attach.Site) goabi.Convention { return known[file+":"+at.Symbol] }
	}
	target := func(point string) *lang.Target {
		t.Helper()
		got, err := s.Target(pointOf(t, point))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for point, args := range map[string][]int{"kprobe:vfs.Read": goArgs, "kprobe:do_sys_open": goArgs[1:], "kprobe:fpu.add": stackArgs, "uprobe:sh:main": cArgs, "uprobe:sh:main.main": goArgs, "uprobe:sh:main._omp_fn.0": cArgs, "uprobe:sh:main.asm": stackArgs, "uprobe:sh:asm": goArgs,
		"t:syscalls:sys_enter_openat": callArgs, "kretprobe:vfs.Read": nil, "t:syscalls:sys_exit_openat": nil} {
		if got := target(point); !slices.Equal(got.Args, args) || (got.Result != nil) != (args == nil) || got.User != !strings.HasPrefix(point, "k") {
			t.Errorf("%s: %+v", point, got)
		}
	}
	for point, hidden := range map[string]bool{"uprobe:sh:main.main": false, "uprobe:sh:main.asm": false, "uretprobe:sh:main.asm": true, "uprobe:sh:asm": true, "uretprobe:sh:asm": true, "uretprobe:sh:main.main": false, "uprobe:sh:*": true,
		"kprobe:fpu.add": false, "kprobe:sonde/arch/amd64/fpu.add.abi0": false, "kretprobe:fpu.add": true, "kprobe:fpu.*": false} {
		if got := target(point); (got.Hidden != "") != hidden || got.OnStack != (strings.HasSuffix(point, ".asm") || strings.Contains(point, "fpu.add")) {
			t.Errorf("%s: %q, on the stack: %v", point, got.Hidden, got.OnStack)
		}
	}
	if !target("kprobe:vfs.*").Pattern || target("kprobe:vfs.Read").Pattern {
		t.Error("what is a pattern is not known")
	}
}

// TestCallFields: a system call has its parameters by Linux's names and by the manual's, and lists have the former
// alone; they are of the types that Linux declares.
func TestCallFields(t *testing.T) {
	s := newSource(t)
	s.Calls = func(yield func(string) bool) { _ = yield("openat") && yield("nanosleep") }
	for call, want := range map[string]string{
		"openat": "int __syscall_nr 8 true 80, int dfd 8 true 112, (int dirfd 8 true 112), const char * filename pointer 104, (const char * pathname pointer 104), int flags 8 true 96, " +
			"umode_t mode 2 false 56",
		"nanosleep": "int __syscall_nr 8 true 80, struct __kernel_timespec * rqtp pointer __kernel_timespec 112, unsigned int n 8 false 104, struct stat * st pointer stat 96, " +
			"pid_t pid 4 true 56, const char *const * argv pointer 72",
	} {
		target, err := s.Target(pointOf(t, "t:syscalls:sys_enter_"+call))
		if err != nil {
			t.Fatal(err)
		}
		var got, listed, firsts []string
		for _, f := range target.Fields {
			text := f.Text + " " + f.Name
			if f.Type.Kind == lang.Int {
				text += fmt.Sprint(" ", f.Type.Bytes, " ", f.Type.Signed)
			} else {
				text += " " + f.Type.Kind.String()
			}
			if f.Type.To != nil {
				text += " " + f.Type.To.Name
			}
			if text += fmt.Sprint(" ", f.Offset); f.Alias {
				text = "(" + text + ")"
			} else {
				firsts = append(firsts, f.Name)
			}
			got = append(got, text)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s has\n%s, want\n%s", call, got, want)
		}
		for _, f := range target.Arguments() {
			listed = append(listed, f.Name)
		}
		if !slices.Equal(listed, firsts) {
			t.Errorf("%s: %v are listed, want %v", call, listed, firsts)
		}
	}
}

func TestList(t *testing.T) {
	s := newSource(t)
	s.Functions = functions(map[string][]string{"/bin/sh": {"main.main", "main.one", "other", "main.one", "chosen"}, "/tmp/co:lon": {"work", "f[go.shape.struct { A \"x\" }]"}})
	for pattern, want := range map[string][]string{
		"kprobe:vfs.*":             {"kprobe:sonde/kernel/vfs.Read", "kprobe:sonde/kernel/vfs.(*File).ReadWait", "kprobe:sonde/kernel/vfs.Write"},
		"kr:*.Wri*":                {"kretprobe:sonde/kernel/vfs.Write"},
		"kprobe:vmlinux:vfs.Read":  {"kprobe:vmlinux:vfs.Read"},
		"kprobe:vfs.Reed":          nil,
		"t:syscalls:*getpid":       {"tracepoint:syscalls:sys_enter_getpid", "tracepoint:syscalls:sys_exit_getpid"},
		"tracepoint:raw_*":         {"tracepoint:raw_syscalls:sys_enter", "tracepoint:raw_syscalls:sys_exit"},
		"*vfs.Wri*":                {"kprobe:sonde/kernel/vfs.Write"},
		"uprobe:sh:cho*":           nil,
		"uprobe:sh:main.*":         {"uprobe:sh:main.main", "uprobe:sh:main.one"},
		"uretprobe:/bin/sh:other":  {"uretprobe:/bin/sh:other"},
		"uprobe:/bin/none:*":       nil,
		`uprobe:"/tmp/co:lon":*`:   {`uprobe:"/tmp/co:lon":work`, `uprobe:"/tmp/co:lon":"f[go.shape.struct { A \"x\" }]"`},
		`kprobe:"vfs.Wri*"`:        {"kprobe:sonde/kernel/vfs.Write"},
		"nothing of this is right": nil,
	} {
		var all []string
		s.List(pattern, func(p string) bool {
			all = append(all, p)
			return true
		})
		if !slices.Equal(all, want) {
			t.Errorf("%s: got %v, want %v", pattern, all, want)
		}
	}
	n := 0
	s.List("*", func(string) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d were listed after the end was asked for", n)
	}
}

// TestExpand: a pattern in a program is points that know their function; one of too many functions is not.
func TestExpand(t *testing.T) {
	s := newSource(t)
	many := []string{"main.main", "main.one", "other"}
	s.Functions = func(_, pattern string, _ bool) []string {
		return functions(map[string][]string{"": many})("", pattern, false)
	}
	points := s.Expand(pointOf(t, "uprobe:sh:main.*"))
	if len(points) != 2 || points[1].Text != "uprobe:sh:main.one" || !points[1].Loose {
		t.Fatalf("%+v", points)
	}
	if got, err := s.Target(points[1]); err != nil || got.Func != "main.one" {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range mostExpanded {
		many = append(many, fmt.Sprint("main.f", i))
	}
	for _, p := range []string{"uprobe:sh:main.*", "uprobe:sh:other", "kprobe:vfs.*"} {
		if got := s.Expand(pointOf(t, p)); got != nil {
			t.Errorf("%s: %v", p, got)
		}
	}
}

// TestExpandFiles: stars in a program's file stand for files that have the function, each once.
func TestExpandFiles(t *testing.T) {
	s := newSource(t)
	s.Functions = functions(map[string][]string{"/opt/a/one": {"main", "maine"}, "/opt/a/two": {"other"}, "/opt/b/three": {"main"}})
	for _, f := range []string{"/opt/a/one", "/opt/a/two", "/opt/b/three"} {
		if err := errors.Join(vfs.Root.MkdirAll(f[:6], 0755), vfs.WriteFile(f, []byte("ELF"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.Root.SymlinkAt("one", vfs.Root.RootPlace(), "/opt/a/alias"); err != nil {
		t.Fatal(err)
	}
	defer vfs.Remove("/opt/a/alias")
	for point, want := range map[string]string{
		"uprobe:/opt/*/*:main":       "/opt/a/one:main /opt/b/three:main",
		"uretprobe:/opt/a/*:mai*":    "/opt/a/one:main /opt/a/one:maine",
		"uprobe:/opt/*/t*:main+0x10": "/opt/b/three:main+0x10",
		"uprobe:/opt/a/*:none":       "", "uprobe:/opt/none/*:main": "", "uprobe:/opt/a/*@x.c:3": "", "uprobe:/opt/a/one:main": "",
	} {
		var got []string
		for _, p := range s.Expand(pointOf(t, point)) {
			got = append(got, strings.Join(p.Options, ":"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", point, got)
		}
	}
	if _, err := s.Target(pointOf(t, "uprobe:/opt/a/*:none")); err == nil || err.Error() != "no program that fits /opt/a/* has a function none" {
		t.Error(err)
	}
	var listed []string
	s.List("uprobe:/opt/*/*:main", func(p string) bool { listed = append(listed, p); return true })
	if want := []string{"uprobe:/opt/a/one:main", "uprobe:/opt/b/three:main"}; !slices.Equal(listed, want) {
		t.Errorf("%q", listed)
	}
}

// TestExpandCalls: a pattern of system calls is a point for each of them, with its arguments; of many, a point for
// each side; and what else it fits stays one.
func TestExpandCalls(t *testing.T) {
	s := newSource(t)
	texts := func(point string) string {
		var all []string
		for _, p := range s.Expand(pointOf(t, point)) {
			if got, err := s.Target(p); err != nil {
				t.Errorf("%s: %v", p.Text, err)
			} else {
				all = append(all, fmt.Sprintf("%s %d %d", strings.TrimPrefix(p.Text, "tracepoint:"), len(got.Fields), len(got.Names)))
			}
		}
		return strings.Join(all, ", ")
	}
	for point, want := range map[string]string{
		"t:syscalls:sys_*_openat":     "syscalls:sys_enter_openat 7 0, syscalls:sys_exit_openat 2 0",
		"t:sys*:sys_*_get*":           "syscalls:sys_enter_getpid 1 0, syscalls:sys_exit_getpid 2 0",
		"t:raw_syscalls:sys_*":        "raw_syscalls:sys_enter 9 0, raw_syscalls:sys_exit 3 0",
		"t:syscalls:sys_enter_openat": "",
		"t:syscalls:sys_enter_none*":  "",
		"t:sched:*":                   "",
		"t:*:*s*exit*getpid":          "syscalls:sys_exit_getpid 2 0",
		"t:*:*exit":                   "raw_syscalls:sys_exit 3 0, *:*exit 0 3",
		"t:*:sys_exit":                "raw_syscalls:sys_exit 3 0",
	} {
		if got := texts(point); got != want {
			t.Errorf("%s: %s, want %s", point, got, want)
		}
	}
	s.Calls = func(yield func(string) bool) {
		for i := range mostExpanded {
			if !yield(fmt.Sprint("call", i)) {
				return
			}
		}
	}
	for point, want := range map[string]string{
		"t:syscalls:*":            "syscalls:* (sys_enter) 0 64, syscalls:* (sys_exit) 2 64",
		"t:syscalls:sys_e*_call*": "syscalls:sys_e*_call* (sys_enter) 0 64, syscalls:sys_e*_call* (sys_exit) 2 64",
		"t:*l*:*":                 "*l*:* (sys_enter) 0 65, *l*:* (sys_exit) 3 65, *l*:* 0 2",
	} {
		if got := texts(point); got != want {
			t.Errorf("%s: %s, want %s", point, got, want)
		}
	}
}

// TestSoftware: what happens as often as it is said is a hit, and has no arguments.
func TestSoftware(t *testing.T) {
	for point, every := range map[string]uint64{"s:faults:7": 7, "s:cs": 1000, "s:cpu-clock:1000": 1} {
		got, err := newSource(t).Target(pointOf(t, point))
		if err != nil || got.Every != every || got.Args != nil || got.Fill != nil {
			t.Errorf("%s: %+v, %v", point, got, err)
		}
	}
}

// TestRaw: a rawtracepoint is the tracepoint without what Linux has not there.
func TestRaw(t *testing.T) {
	s := newSource(t)
	for point, record := range map[string]bool{"rt:sys_exit": false, "rt:sched_switch": true} {
		got, err := s.Target(pointOf(t, point))
		if err != nil || got.Record != record || got.Args != nil || got.Fields != nil || got.Result != nil {
			t.Errorf("%s: %+v, %v", point, got, err)
		}
	}
	for point, want := range map[string]string{"rt:none:sys_exit": "there is no module none with tracepoints", "rt:nonsense": "there is no tracepoint *:nonsense"} {
		if _, err := s.Target(pointOf(t, point)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", point, err)
		}
	}
}
