//go:build tamago && !nolinux

package bpf

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/names_of_linux", linuxNames)
	suites.Add("bpf/names_of_linux_beside_ours", mixedNames)
	suites.Add("bpf/tail_calls_of_linux", tailsOfLinux)
}

// arguments is a program that counts its hits, and keeps the arguments of the last one where C has them. If
// a word of its map is not 0, only hits with this first argument count.
const arguments = `
	map seen array 4 56 1
	r6 = map[idx:0][0]+0
	r2 = *(u64 *)(r1 + 112)
	r3 = *(u64 *)(r6 + 40)
	if r3 == 0 goto any
	if r2 != r3 goto out
any:	*(u64 *)(r6 + 8) = r2
	r2 = *(u64 *)(r1 + 104)
	*(u64 *)(r6 + 16) = r2
	r2 = *(u64 *)(r1 + 96)
	*(u64 *)(r6 + 24) = r2
	r2 = *(u64 *)(r1 + 88)
	*(u64 *)(r6 + 32) = r2
	r2 = *(u64 *)(r6 + 0)
	r2 += 1
	*(u64 *)(r6 + 0) = r2
out:	r0 = 0
	exit`

// happens has how a function comes to be called, and what its arguments are then; nil: Linux's arguments are
// not there.
var happens = map[string]struct {
	first uint64 // if not 0, the first argument that is meant
	do    func(t *suites.T) (args []uint64)
}{
	"vfs_read":        {do: reading},
	"vfs_write":       {do: writing},
	"vfs_open":        {do: runs("/bin/cat /proc/uptime")},
	"vfs_create":      {do: calling},
	"vfs_unlink":      {do: calling},
	"vfs_symlink":     {do: calling},
	"vfs_rename":      {do: calling},
	"vfs_mkdir":       {do: calling},
	"vfs_rmdir":       {do: calling},
	"vfs_readlink":    {do: calling},
	"vfs_fsync":       {do: calling},
	"vfs_statx":       {do: calling},
	"ksys_read":       {do: runs("/bin/cat /proc/uptime")},
	"ksys_write":      {do: runs("/bin/cat /proc/uptime")},
	"do_sys_open":     {do: opening},
	"do_sys_openat2":  {do: opening},
	"kernel_clone":    {do: runs("/bin/cat /proc/uptime")},
	"_do_fork":        {do: runs("/bin/cat /proc/uptime")},
	"sched_fork":      {do: runs("/bin/cat /proc/uptime")},
	"bprm_execve":     {do: runs(`/bin/sh -c "/bin/true; /bin/true"`)},
	"do_exit":         {do: runs("/bin/true")},
	"do_group_exit":   {do: runs(`/bin/sh -c "exit 7"`, 7<<8)},
	"schedule":        {do: runs("/bin/true")},
	"wake_up_process": {do: runs("/bin/true")},
	"kmalloc":         {kept, allocating},
	"__kmalloc":       {kept, allocating},
	"handle_mm_fault": {do: runs("/bin/true")},
	"exc_page_fault":  {do: runs("/bin/true")},
	"do_nanosleep":    {do: calling},
	"cap_capable":     {do: calling},
}

// linuxNames: each name of Linux's can be probed, is hit when what it stands for happens, and its arguments
// are where C has them.
func linuxNames(t *suites.T) {
	t.OneProcessor()
	t.NeedPrograms()
	for _, l := range kallsyms.LinuxNames() {
		if sym, err := kallsyms.Resolve(l.Name); err != nil || sym.Name != l.Func {
			t.Errorf("%s is %q, %v; want %s", l.Name, sym.Name, err, l.Func)
		}
		h, ok := happens[l.Name]
		if !ok {
			// The ends of code and data are not hit, data is not, and memory is full in the tests with bpftrace.
			if !strings.HasPrefix(l.Name, "_s") && !strings.HasPrefix(l.Name, "_e") && l.Name != "avenrun" && l.Name != "oom_kill_process" {
				t.Errorf("nobody tests %s", l.Name)
			}
			continue
		}
		p := load(t, arguments)
		value := make([]byte, 56)
		binary.LittleEndian.PutUint64(value[40:], h.first)
		t.Must(p.maps[0].Update(0, key4(0), value, 0))
		link := p.attach(t, l.Name)
		want := h.do(t)
		link.Close()
		got := p.seen(t, 7)
		p.close()
		if got[0] == 0 {
			t.Errorf("%s was not hit", l.Name)
		}
		for i, arg := range want {
			if got[1+i] != arg {
				t.Errorf("%s: argument %d is %#x, want %#x", l.Name, i, got[1+i], arg)
			}
		}
		if len(want) != 0 && len(want) < l.Args {
			t.Errorf("%s: %d of %d arguments are tested", l.Name, len(want), l.Args)
		}
	}
}

// mixedNames: one program at a name of Linux's and at ours finds the first argument of each.
func mixedNames(t *suites.T) {
	p := load(t, arguments)
	link := p.attach(t, "vfs_read", "sonde/kernel/vfs.Close", "vfs_write")
	want := writing(t) // which closes the file, where C's first argument is none
	link.Close()
	got := p.seen(t, 7)
	if got[0] < 2 || got[1] == want[0] || len(link.Places()) != 3 || link.Ledger().Handled != got[0]+p.Recursion() {
		t.Errorf("%x, %+v", got, link.Ledger())
	}
	p.close()
}

// runs is a line of the shell, which does not count itself.
func runs(line string, args ...uint64) func(*suites.T) []uint64 {
	return func(*suites.T) []uint64 {
		suites.Script(io.Discard, line)
		return args
	}
}

// word of a pointer.
func addressOf[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

var buffer [99]byte

func reading(t *suites.T) []uint64 {
	f, err := vfs.Open("/proc/uptime", os.O_RDONLY)
	t.Must(err)
	defer vfs.Close(f)
	_, err = vfs.Read(f, buffer[:], nil)
	t.Must(err)
	return []uint64{addressOf(f), addressOf(&buffer[0]), uint64(len(buffer))}
}

func writing(t *suites.T) []uint64 {
	f, err := vfs.Open("/dev/null", os.O_WRONLY)
	t.Must(err)
	defer vfs.Close(f)
	_, err = vfs.Write(f, buffer[:], nil)
	t.Must(err)
	return []uint64{addressOf(f), addressOf(&buffer[0]), uint64(len(buffer))}
}

// kept is how many bytes allocating allocates.
const kept = 54321

var keeps []byte

func allocating(*suites.T) []uint64 {
	keeps = make([]byte, kept)
	return []uint64{kept}
}

// calls is what a program makes of system calls, with the addresses of its strings.
type calls struct{ code, data []byte }

const dataAt = suites.ProgramAt + 0x800

func (c *calls) text(s string) uint32 {
	at := dataAt + len(c.data)
	c.data = append(append(c.data, s...), 0)
	return uint32(at)
}

func (c *calls) call(number uint32, args ...uint32) {
	for i, v := range append([]uint32{number}, args...) {
		c.code = append(c.code, [][]byte{{0xb8}, {0xbf}, {0xbe}, {0xba}, {0x41, 0xba}}[i]...) // AX DI SI DX R10
		c.code = binary.LittleEndian.AppendUint32(c.code, v)
	}
	c.code = append(c.code, 0x0f, 0x05)
}

// Linux's numbers of system calls.
const (
	nNanosleep, nSetuid, nExitGroup                                              = 35, 105, 231
	nRename, nMkdir, nRmdir, nCreat, nUnlink, nReadlink, nStat, nFsync, nSymlink = 82, 83, 84, 85, 87, 89, 4, 74, 88
)

// calling runs a program that makes one call of each.
func calling(t *suites.T) []uint64 {
	var c calls
	dir, file, other, link := c.text("/tmp/linux_dir"), c.text("/tmp/linux_file"), c.text("/tmp/linux_other"), c.text("/tmp/linux_link")
	c.call(nMkdir, dir, 0755)
	c.call(nRmdir, dir)
	c.call(nCreat, file, 0644)
	c.call(nFsync, 0)
	c.call(nRename, file, other)
	c.call(nStat, other, suites.ProgramData)
	c.call(nReadlink, c.text("/proc/self/exe"), suites.ProgramData, 100)
	c.call(nSymlink, other, link)
	c.call(nUnlink, link)
	c.call(nUnlink, other)
	c.call(nSetuid, 0)
	c.call(nNanosleep, suites.ProgramData+0x800, 0) // no time
	c.run(t)
	return nil
}

// opening runs a program that opens a file: the arguments are the current directory, the address of the
// name, flags and mode.
func opening(t *suites.T) []uint64 {
	const nOpenat, cwd = 257, -100
	var c calls
	name := c.text("/tmp/linux_none")
	c.call(nOpenat, cwd&0xffffffff, name, 0x80000, 0600)
	c.run(t)
	return []uint64{cwd & 0xffffffff, uint64(name), 0x80000, 0600}
}

func (c *calls) run(t *suites.T) {
	c.call(nExitGroup, 0)
	const path = "/tmp/linux_calls"
	code := make([]byte, dataAt-suites.ProgramAt)
	copy(code, c.code)
	suites.WriteProgram(t, path, append(code, c.data...))
	defer vfs.Remove(path)
	if status := suites.WaitProgram(t, suites.StartProgram(t, path, nil)); status != 0 {
		t.Errorf("the program ends with %x", status)
	}
	if _, err := vfs.Stat("/tmp/linux_other"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("its file is left: %v", err)
	}
}

// tailsOfLinux: a program that another continues as at a name of Linux's finds arguments where C has them, and at one
// of ours where Go has them.
func tailsOfLinux(t *suites.T) {
	next, err := program.NewMap(bpf.MapSpec{Name: "next", Type: bpf.ProgArray, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	t.Must(err)
	first, err := program.Load(&bpf.Program{Name: "first", Type: bpf.Kprobe, Insns: assembled(t, "r2 = map[idx:0]\nr3 = 0\ncall 12\nr0 = 0\nexit"), Maps: []*bpf.MapSpec{&next.Spec}}, []*program.Map{next}, nil)
	t.Must(err)
	p := load(t, arguments)
	t.Must(next.PutProg(0, p.Prog))
	for place, ours := range map[string]bool{"vfs_read": false, "sonde/kernel/vfs.Read": true} {
		link, err := first.AttachTo(nil, place)
		t.Must(err)
		want := reading(t)
		link.Close()
		got := p.seen(t, 7)
		if same := slices.Equal(got[1:4], want); got[0] != 1 || same == ours {
			t.Errorf("%s: it ran %d times with %x, want %x of C", place, got[0], got[1:4], want)
		}
		t.Must(p.maps[0].Update(0, key4(0), make([]byte, 56), 0))
	}
	first.Close()
	next.Close()
	p.close()
}
