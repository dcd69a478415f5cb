package tracefs

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
)

// quiet is a kind of probe that is always there, and never hit.
type quiet struct{}

func (quiet) Can(attach.Kind) attach.Ability { return attach.Returns }
func (quiet) Attach(*attach.Link, []attach.Site) (attach.Attachment, grace.Change, error) {
	return quiet{}, grace.Change{}, nil
}
func (quiet) Detach() grace.Change    { return grace.Change{} }
func (quiet) Enable(bool) error       { return nil }
func (quiet) Places() []attach.Placed { return nil }

// mounted is a tree with the files, of a kernel with some functions.
func mounted(t *testing.T) *vfs.FS {
	t.Helper()
	table, err := kallsyms.Load(kallsyms.Encode([]kallsyms.Symbol{
		{Name: "sonde/kernel/vfs.Read", Addr: 0x1000, Size: 64, Type: 'T'}, {Name: "sonde/kernel/vfs.Write", Addr: 0x1040, Size: 64, Type: 'T'},
		{Name: "sonde/linux/proc.(*Thread).Clone", Addr: 0x1080, Size: 64, Type: 'T'}, {Name: "runtime.data", Addr: 0x2000, Type: 'D'}}))
	if err != nil {
		t.Fatal(err)
	}
	kallsyms.SetKernel(table)
	for _, k := range []attach.Kind{attach.Kernel, attach.Event, attach.Program} {
		attach.Provide(k, quiet{})
	}
	top = newInstance("")
	made, known, more = nil, map[string]*event{}, nil
	t.Cleanup(func() {
		if err := top.close(); err != nil {
			t.Error(err)
		}
		kallsyms.SetKernel(nil)
	})
	tree := vfs.New()
	if err := Mount(tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

const dir = "/sys/kernel/tracing/"

func write(t *testing.T, tree *vfs.FS, name, text string, flag int) error {
	t.Helper()
	f, err := tree.OpenFile(dir+name, os.O_WRONLY|flag)
	if err != nil {
		return err
	}
	defer vfs.Close(f)
	_, err = vfs.Write(f, []byte(text), nil)
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, tree *vfs.FS, name string) string {
	t.Helper()
	b, err := tree.ReadFile(dir[1:] + name)
	must(t, err)
	return string(b)
}

// TestMistakes: each line is refused, with an error whose caret is where ^ stands.
func TestMistakes(t *testing.T) {
	tree := mounted(t)
	must(t, write(t, tree, "kprobe_events", "p:kprobes/have vfs_read abcd=\\1", os.O_TRUNC))
	long := strings.Repeat("n", 64)
	for _, c := range []struct{ file, line, why string }{
		{"kprobe_events", "p^9 vfs_read", "Maxactive is not for kprobe"},
		{"kprobe_events", "r^1x vfs_read", "Invalid maxactive number"},
		{"kprobe_events", "r^99999 vfs_read", "Maxactive is too big"},
		{"kprobe_events", "p ^nothing_here", "Invalid probed address or symbol"},
		{"kprobe_events", "p ^vfs_read+4-4", "Invalid probed address or symbol"},
		{"kprobe_events", "r ^vfs_read+4", "Retprobe address must be an function entry"},
		{"kprobe_events", "p vfs_read^%back", "Invalid probed address suffix"},
		{"kprobe_events", "p:^/e vfs_read", "Group name is not specified"},
		{"kprobe_events", "p:^" + long + "/e vfs_read", "Group name is too long"},
		{"kprobe_events", "p:^g.1/e vfs_read", "Group name must follow the same rules as C identifiers"},
		{"kprobe_events", "p:^ vfs_read", "Event name is not specified"},
		{"kprobe_events", "p:g/^" + long + " vfs_read", "Event name is too long"},
		{"kprobe_events", "p:g/^e.1 vfs_read", "Event name must follow the same rules as C identifiers"},
		{"kprobe_events", "p vfs_read ^$retval", "$retval is not available on probe"},
		{"kprobe_events", "p vfs_read ^$stack9999", "Invalid stack number"},
		{"kprobe_events", "p vfs_read ^$arg0", "Invalid argument number"},
		{"kprobe_events", "p vfs_read ^$unknown", "Invalid $-valiable specified"},
		{"kprobe_events", "p vfs_read ^%ex", "Invalid register name"},
		{"kprobe_events", "p vfs_read ^@12z", "Invalid memory address"},
		{"kprobe_events", "p vfs_read ^@+1", "File offset is not available with kprobe"},
		{"kprobe_events", `p vfs_read a=\^q`, "Invalid immediate value"},
		{"kprobe_events", `p vfs_read a=\"open^`, "String is not closed with '\"'"},
		{"kprobe_events", "p vfs_read ^+0@1)", "Dereference needs a brace"},
		{"kprobe_events", "p vfs_read ^+0x(@1)", "Invalid dereference offset"},
		{"kprobe_events", "p vfs_read +0(+0(%di^)", "Dereference brace is not closed"},
		{"kprobe_events", "p vfs_read +0(^$comm)", "$comm can not be dereferenced"},
		{"kprobe_events", "p vfs_read ^&x", "Invalid fetch argument"},
		{"kprobe_events", "p vfs_read +0(^" + strings.Repeat("+0(", 13) + "@0" + strings.Repeat(")", 14), "Dereference is too much nested"},
		{"kprobe_events", "p vfs_read +0(%di):u8[4^", "Array is not closed"},
		{"kprobe_events", "p vfs_read +0(%di):u8[4]^x", "Array has wrong suffix"},
		{"kprobe_events", "p vfs_read +0(%di):u8[^4x]", "Invalid array size"},
		{"kprobe_events", "p vfs_read +0(%di):u8[^65]", "Array number is too big"},
		{"kprobe_events", "p vfs_read %di:^float", "Unknown type is specified"},
		{"kprobe_events", "p vfs_read $stack0:^string", "String accepts only memory argument"},
		{"kprobe_events", "p vfs_read %di:^b9@z/16", "Invalid bitfield"},
		{"kprobe_events", "p vfs_read ^" + strings.Repeat("a", 33) + "=%di", "Argument name is too long"},
		{"kprobe_events", "p vfs_read ^=%di", "Argument name is not specified"},
		{"kprobe_events", "p vfs_read ^a.b=%di", "Argument name must follow the same rules as C identifiers"},
		{"kprobe_events", "p vfs_read a=%di ^a=%si", "This argument name is already used"},
		{"kprobe_events", "p vfs_read ^" + strings.Repeat("+123456(", 8) + "%di" + strings.Repeat(")", 8), "Argument expression is too long"},
		{"kprobe_events", "p vfs_read a=^", "No argument expression"},
		{"kprobe_events", "^r:kprobes/have vfs_read", "Probe type is different from existing probe"},
		{"kprobe_events", `p:kprobes/have vfs_write ^abc=\1`, "Probe argument type or name is different from existing probe"},
		{"kprobe_events", `p:kprobes/have vfs_write ^abcd=\1:u8`, "Probe argument type or name is different from existing probe"},
		{"kprobe_events", `^p:kprobes/have vfs_read abcd=\1`, "There is already the exact same probe event"},
		{"uprobe_events", "p ^/none:1", "Failed to find the given file"},
		{"dynamic_events", "e ^sched.", "This requires both group and event name to attach"},
		{"dynamic_events", "e ^sched.none", "Attached event does not exist"},
		{"dynamic_events", "e:a/b sched/sched_switch ^x=$none", "Attached event does not have this field"},
		{"events/sched/sched_switch/filter", "prev_pid > 1 && none ^== 1", "Field not found"},
		{"events/sched/sched_switch/filter", "prev_pid ^= 1", "Invalid operator"},
		{"events/sched/sched_switch/filter", "prev_comm ^> 1", "Illegal operation for field type"},
		{"events/sched/sched_switch/filter", "prev_pid == ^next_pid", "Invalid value (did you forget quotes)?"},
		{"events/sched/sched_switch/filter", "(prev_pid == 1^", "Too few ')'"},
		{"events/sched/sched_switch/filter", "prev_pid == 1^)", "Too many ')'"},
		{"events/sched/sched_switch/filter", "prev_pid == 1 &&^", "No filter found"},
	} {
		line := strings.Replace(c.line, "^", "", 1)
		before := read(t, tree, c.file)
		if err := write(t, tree, c.file, line, 0); err == nil {
			t.Errorf("%q is accepted", line)
			continue
		}
		log := strings.Split(strings.TrimSuffix(read(t, tree, "error_log"), "\n"), "\n")
		at := strings.IndexByte(c.line, '^')
		if got := log[max(0, len(log)-3):]; len(got) != 3 || !strings.HasSuffix(got[0], "error: "+c.why) || got[1] != "  Command: "+line || got[2] != strings.Repeat(" ", 11+at)+"^" {
			t.Errorf("%s:\n%s", c.line, strings.Join(got, "\n"))
		}
		if read(t, tree, c.file) != before {
			t.Errorf("%q has changed something", line)
		}
	}
}

// TestLines: what is written is listed, has a folder, and a program that the verifier accepts.
func TestLines(t *testing.T) {
	tree := mounted(t)
	for _, line := range []string{
		"p:kprobes/all vfs_read r=%di s=$stack w=$stack3 c=$comm m=+8(+u4(%si)):x16 n=-8($stack0):s8 a=$arg2 i=\\-5:s32 t=\\\"hello\" k=@_sdata:u8",
		"p:g/text vfs_write s=+0(%si):string u=+0(%si):ustring z=+0(%di):string[3] a=+0(%di):u16[4] b=%ax:b5@3/16 y=%ip:symbol",
		"r20:kprobes/back vfs_read ret=$retval:s64",
		"p:kprobes/p_0x1048 0x1048",
	} {
		must(t, write(t, tree, "kprobe_events", line, 0))
	}
	must(t, write(t, tree, "dynamic_events", "e:eprobes/sw sched.sched_switch next=$next_pid:s32 comm=$prev_comm", 0))
	if got := strings.Count(read(t, tree, "kprobe_events"), "\n"); got != 4 || strings.Count(read(t, tree, "dynamic_events"), "\n") != 5 {
		t.Error(read(t, tree, "dynamic_events"))
	}
	if err := write(t, tree, "kprobe_events", "p:kprobes/all vfs_read", 0); !errors.Is(err, syscall.EEXIST) {
		t.Error(err)
	}
	for _, e := range []string{"kprobes/all", "g/text", "kprobes/back", "kprobes/p_0x1048", "eprobes/sw", "sched/sched_switch"} {
		must(t, write(t, tree, "events/"+e+"/enable", "1", 0))
		if got := read(t, tree, "events/"+e+"/enable"); got != "1\n" {
			t.Errorf("%s: %q", e, got)
		}
	}
	if err := write(t, tree, "kprobe_events", "", os.O_TRUNC); !errors.Is(err, syscall.EBUSY) {
		t.Error(err)
	}
	for _, filter := range []string{"prev_pid > -1 && (next_pid != 0 || prev_comm == \"a\") && !(next_comm ~ \"*sh*\")", "next_comm ~ \"[a-z]?sh\" || CPU == 1 || common_pid & 4 || comm != idle"} {
		must(t, write(t, tree, "events/sched/sched_switch/filter", filter, 0))
		if got := read(t, tree, "events/sched/sched_switch/filter"); got != filter+"\n" {
			t.Errorf("%q", got)
		}
	}
	must(t, write(t, tree, "set_event_pid", "12 13", os.O_TRUNC))
	must(t, write(t, tree, "set_event_notrace_pid", "14", os.O_TRUNC))
	must(t, write(t, tree, "events/enable", "0", 0))
	must(t, write(t, tree, "kprobe_events", "", os.O_TRUNC))
	if _, err := tree.ReadFile(dir[1:] + "events/kprobes/all/id"); err == nil {
		t.Error("the folder of an event that was removed is there")
	}
}

func TestFormat(t *testing.T) {
	tree := mounted(t)
	must(t, write(t, tree, "kprobe_events", "p:myprobe vfs_read fd=%di path=+0(%si):string", 0))
	const want = `name: myprobe
ID: 4096
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;
	field:u64 fd;	offset:16;	size:8;	signed:0;
	field:__data_loc char[] path;	offset:24;	size:4;	signed:0;

print fmt: "(%lx) fd=0x%Lx path=\"%s\"", REC->__probe_ip, REC->fd, __get_str(path)
`
	if got := read(t, tree, "events/kprobes/myprobe/format"); got != want {
		t.Errorf("%s", got)
	}
	if got := read(t, tree, "events/sched/sched_switch/format"); !strings.Contains(got, "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:int prev_pid;\toffset:24;") {
		t.Error(got)
	}
}

// recorded puts a record into an instance's buffer: of a number of an event, and what its fields are.
func recorded(i *instance, cpu int, when int64, id uint16, fields ...byte) {
	data := append([]byte("cat\x00............"), byte(id), byte(id>>8), 0, 0, 12, 0, 0, 0)
	i.Lock()
	defer i.Unlock()
	i.add(record{when, cpu, append(data, fields...)})
}

// TestTrace: records are read by time, twice by trace and once by trace_pipe, and the oldest are dropped.
func TestTrace(t *testing.T) {
	tree := mounted(t)
	must(t, write(t, tree, "kprobe_events", "p:mine vfs_read fd=%di n=%si:s16 path=+0(%dx):string", 0))
	fields := []byte{0x04, 0x10, 0, 0, 0, 0, 0, 0, 0xff, 1, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0, 0, 32, 0, 3, 0}
	recorded(top, 1, 12_286_878_000, 4096, append(fields, "hi\x00"...)...)
	recorded(top, 0, 12_286_875_000, printID, append(make([]byte, 8), "a text\n\x00rest"...)...)
	const want = "             cat-12      [000] .....    12.286875: tracing_mark_write: a text\n" +
		"             cat-12      [001] .....    12.286878: mine: (vfs_read+0x4/0x40) fd=0x1ff n=-2 path=\"hi\"\n"
	for range 2 {
		if got := read(t, tree, "trace"); !strings.HasSuffix(got, want) || !strings.Contains(got, "written: 2/2   #P:2\n") {
			t.Error(got)
		}
	}
	f, err := tree.OpenFile(dir+"trace_pipe", os.O_RDONLY)
	must(t, err)
	defer vfs.Close(f)
	p := make([]byte, 1000)
	n, err := vfs.Read(f, p, nil)
	if err != nil || string(p[:n]) != want {
		t.Errorf("%q, %v", p[:n], err)
	}
	if got := read(t, tree, "trace"); strings.Contains(got, "mine") {
		t.Error(got)
	}
	must(t, write(t, tree, "buffer_size_kb", "1", 0))
	for k := range 100 {
		recorded(top, 0, int64(k), printID, append(make([]byte, 8), "x"...)...)
	}
	if got := read(t, tree, "per_cpu/cpu0/stats"); !strings.Contains(got, "entries: 39\noverrun: 61\n") {
		t.Error(got)
	}
	must(t, write(t, tree, "options/overwrite", "0", 0))
	recorded(top, 0, 1000, printID, append(make([]byte, 8), "y"...)...)
	if got := read(t, tree, "per_cpu/cpu0/stats"); !strings.Contains(got, "entries: 39\n") || !strings.Contains(got, "dropped events: 1\n") || strings.Contains(read(t, tree, "trace"), ": y\n") {
		t.Error(got)
	}
	must(t, write(t, tree, "options/stacktrace", "0", 0))
	if err := write(t, tree, "trace_options", "stacktrace", 0); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Error(err)
	}
	must(t, write(t, tree, "trace_options", "nomarkers", 0))
	if err := write(t, tree, "trace_marker", "three", 0); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
	must(t, write(t, tree, "tracing_on", "0", 0))
	must(t, write(t, tree, "trace_options", "markers", 0))
	if err := write(t, tree, "trace_marker", "four", 0); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
}

// TestInstance: it has events and records of its own.
func TestInstance(t *testing.T) {
	tree := mounted(t)
	must(t, tree.MkdirAt(tree.RootPlace(), dir+"instances/a", 0755))
	if err := tree.MkdirAt(tree.RootPlace(), dir+"instances/a", 0755); !errors.Is(err, syscall.EEXIST) {
		t.Error(err)
	}
	recorded(more[0], 0, 1, printID, append(make([]byte, 8), "inside"...)...)
	must(t, write(t, tree, "instances/a/events/sched/enable", "1", 0))
	if got := read(t, tree, "instances/a/trace"); !strings.Contains(got, "inside") {
		t.Error(got)
	}
	if got := read(t, tree, "trace"); strings.Contains(got, "inside") || read(t, tree, "events/sched/enable") != "0\n" || read(t, tree, "instances/a/events/sched/enable") != "1\n" {
		t.Error(got)
	}
	must(t, tree.RmdirAt(tree.RootPlace(), dir+"instances/a"))
	if _, err := tree.ReadFile(dir[1:] + "instances/a/trace"); err == nil {
		t.Error("the instance is there")
	}
}

// TestTriggers: the verifier accepts what each makes of a program, and each is listed and goes away.
func TestTriggers(t *testing.T) {
	tree := mounted(t)
	const sw = "events/sched/sched_switch/"
	for text, listed := range map[string]string{
		"traceoff if next_pid == 1":           "traceoff:unlimited if next_pid == 1",
		"traceon:3":                           "traceon:count=3",
		"snapshot:1":                          "snapshot:count=1",
		"stacktrace":                          "stacktrace:unlimited",
		"enable_event:sched:sched_wakeup:5":   "enable_event:sched:sched_wakeup:count=5",
		"disable_event:irq:irq_handler_entry": "disable_event:irq:irq_handler_entry:unlimited",
		"hist:keys=next_pid":                  "hist:keys=next_pid:vals=hitcount:sort=hitcount:size=2048 [active]",
		"hist:keys=next_comm,common_pid.execname,prev_state.log2:vals=prev_prio,next_prio:sort=next_comm.descending,hitcount:size=100:name=n if next_comm ~ \"a*\"": "hist:name=n:keys=next_comm,common_pid.execname,prev_state.log2:vals=hitcount,prev_prio,next_prio:sort=next_comm.descending,hitcount:size=128 if next_comm ~ \"a*\" [active]",
		"hist:keys=stacktrace,prev_goid.buckets=10:x=1+2*3": "hist:keys=stacktrace,prev_goid.buckets=10:vals=hitcount:x=7:sort=hitcount:size=2048 [active]",
	} {
		must(t, write(t, tree, sw+"trigger", text, 0))
		if got := read(t, tree, sw+"trigger"); got != listed+"\n" {
			t.Errorf("%q, want %q", got, listed)
		}
		if err := write(t, tree, sw+"trigger", text, 0); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("%s: again: %v", text, err)
		}
		if strings.HasPrefix(text, "hist") && !strings.Contains(read(t, tree, sw+"hist"), "# trigger info: "+listed+"\n") {
			t.Error(read(t, tree, sw+"hist"))
		}
		gone, _, _ := strings.Cut(listed, " [")
		must(t, write(t, tree, sw+"trigger", "!"+gone, 0))
		if got := read(t, tree, sw+"trigger"); got != triggerHelp {
			t.Errorf("%q", got)
		}
	}
	for _, text := range []string{"traceoff:x", "traceoff+1", "enable_event:no:event", "hist", "hist:keys=none", "hist:keys=next_pid:vals=next_comm", "nothing", "traceoff if x", "!traceoff"} {
		if err := write(t, tree, sw+"trigger", text, 0); err == nil || read(t, tree, sw+"trigger") != triggerHelp {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, s := range top.states {
		if s.slot != 0 || s.wanted != 0 {
			t.Errorf("%s has programs", s.event)
		}
	}
}
