package tracefs

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// TestPlacesInTheseFiles: a place in one of these files is refused, while the files are in use by the write.
func TestPlacesInTheseFiles(t *testing.T) {
	tree := mounted(t)
	old := vfs.Root
	vfs.Root = tree
	defer func() { vfs.Root = old }()
	for _, file := range []string{"uprobe_events", "dynamic_events"} {
		if err := write(t, tree, file, "p:x "+dir+"README:0", 0); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestEventWithoutFieldsInSyscalls: an event of a line is printed as such in any group.
func TestEventWithoutFieldsInSyscalls(t *testing.T) {
	tree := mounted(t)
	for _, name := range []string{"foo", "sys_exit_foo"} {
		must(t, write(t, tree, "dynamic_events", "e:syscalls/"+name+" sched/sched_switch", 0))
		recorded(top, 0, 1, uint16(find("syscalls", name).id))
		if got := read(t, tree, "trace"); !strings.Contains(got, " "+name+":") {
			t.Errorf("%s: %s", name, got)
		}
		must(t, write(t, tree, "dynamic_events", "-:syscalls/"+name, 0))
		must(t, write(t, tree, "trace", "", os.O_TRUNC))
	}
}

// TestMarksTakeWhatTheyAreCounted: what is kept of a mark is no longer than its text.
func TestMarksTakeWhatTheyAreCounted(t *testing.T) {
	mounted(t)
	recorded(top, 0, 1, printID, append(make([]byte, 8), "x\x00"+strings.Repeat("y", 1000)...)...)
	if kept := top.cpus[0].records[0].data; cap(kept) > 100 {
		t.Errorf("%d bytes for %q", cap(kept), kept)
	}
}

// TestRemovedEvent: the open file of an event that was removed does not enable it.
func TestRemovedEvent(t *testing.T) {
	tree := mounted(t)
	must(t, write(t, tree, "kprobe_events", "p:gone vfs_read", 0))
	f, err := tree.OpenFile(dir+"events/kprobes/gone/enable", os.O_WRONLY)
	must(t, err)
	defer vfs.Close(f)
	must(t, write(t, tree, "kprobe_events", "-:gone", os.O_APPEND))
	if _, err := f.Write([]byte("1")); !errors.Is(err, syscall.ENODEV) {
		t.Error(err)
	}
}

// TestInstanceGoesWithItsHistograms: also with those of marks.
func TestInstanceGoesWithItsHistograms(t *testing.T) {
	tree := mounted(t)
	before := len(program.Maps())
	must(t, tree.MkdirAt(tree.RootPlace(), dir+"instances/a", 0755))
	must(t, write(t, tree, "instances/a/events/ftrace/print/trigger", "hist:keys=common_pid", 0))
	must(t, tree.RmdirAt(tree.RootPlace(), dir+"instances/a"))
	if after := len(program.Maps()); after != before {
		t.Errorf("%d maps, %d before", after, before)
	}
}

// TestBounds: what is more than there is room for is refused.
func TestBounds(t *testing.T) {
	tree := mounted(t)
	args := ""
	for _, name := range "abcdefgh" {
		args += " " + string(name) + "=+0(%ax):u64[64]"
	}
	for file, c := range map[string]struct {
		text string
		want syscall.Errno
	}{
		"kprobe_events":  {"p:x vfs_read" + args + ` s=\"hi"`, syscall.E2BIG},
		"buffer_size_kb": {"65536", syscall.ENOMEM},
		"set_event_pid":  {pidsUpTo(mostPIDs + 1), syscall.ENOSPC},
	} {
		if err := write(t, tree, file, c.text, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", file, err, c.want)
		}
	}
	must(t, write(t, tree, "set_event_pid", "2 1 1 2", 0))
	if got := read(t, tree, "set_event_pid"); got != "1\n2\n" {
		t.Errorf("%q", got)
	}
	n := 0
	for ; n < 64; n++ {
		if err := tree.MkdirAt(tree.RootPlace(), dir+"instances/"+string(rune('a'+n)), 0755); err != nil {
			break
		}
	}
	if kept := (n + 1) * defaultSize * numCPU(); kept > mostKept || kept < mostKept/2 {
		t.Errorf("%d instances", n)
	}
	for n--; n >= 0; n-- {
		must(t, tree.RmdirAt(tree.RootPlace(), dir+"instances/"+string(rune('a'+n))))
	}
}

func pidsUpTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", i+1)
	}
	return b.String()
}

// TestLongCommands: what is too long is refused, and a refusal does not repeat what is long.
func TestLongCommands(t *testing.T) {
	tree := mounted(t)
	for _, file := range []string{"kprobe_events", "dynamic_events", "events/sched/sched_switch/filter", "events/sched/sched_switch/trigger"} {
		for _, n := range []int{4000, 70_000} {
			for _, text := range []string{strings.Repeat("x", n), "p " + strings.Repeat("y", n), "hist:keys=" + strings.Repeat("z", n), "-:" + strings.Repeat("v", n)} {
				if err := write(t, tree, file, text, 0); err == nil || len(err.Error()) > 1000 {
					t.Errorf("%s: %d bytes: %.100v", file, n, err)
				}
			}
		}
	}
}

// TestStoppedBeforeItBegins: a goroutine that begins only after it was stopped does not take the place of the next one.
func TestStoppedBeforeItBegins(t *testing.T) {
	mounted(t)
	must(t, top.prepare())
	top.word(taker, 7)
	stop := make(chan struct{})
	close(stop)
	top.run(stop)
	if got := top.get(taker); got != 7 {
		t.Errorf("the taker is %d", got)
	}
}
