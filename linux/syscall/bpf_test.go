package syscall

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	sys "syscall"
	"testing"

	"sonde/bpf"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proctest"
	"sonde/probe/program"
)

const nBPF = 321

// Commands, and where in the memory of a player what lies.
const (
	cmdMapCreate, cmdLookup, cmdUpdate, cmdDelete, cmdNext, cmdProgLoad = 0, 1, 2, 3, 4, 5
	cmdTake, cmdFreeze, cmdLookupBatch, cmdTakeBatch                    = 21, 22, 24, 25
	cmdUpdateBatch, cmdDeleteBatch                                      = 26, 27
	cmdPin, cmdGet, cmdRun, cmdProgNext, cmdMapNext, cmdMapByID         = 6, 7, 10, 11, 12, 14
	cmdInfo, cmdLoadBTF, cmdBTFByID, cmdLink, cmdDetach                 = 15, 18, 19, 28, 34

	bpfAt, keyAt, valueAt, nextAt = proctest.Data + 0x100, proctest.Data + 0x1000, proctest.Data + 0x2000, proctest.Data + 0x3000
	logAt, insnsAt, licenseAt     = proctest.Data + 0x4000, proctest.Data + 0x8000, proctest.Data + 0x9000
)

// arg is an argument of bpf(2): a number at an offset of union bpf_attr.
type arg struct {
	off   int
	value uint64
	wide  bool
}

func a32(off int, v uint64) arg { return arg{off, v, false} }
func a64(off int, v uint64) arg { return arg{off, v, true} }

// bpfCallOf makes a call of bpf(2).
func bpfCallOf(p *player, cmd uint64, args ...arg) int64 {
	attr := make([]byte, 144)
	for _, a := range args {
		if a.wide {
			binary.LittleEndian.PutUint64(attr[a.off:], a.value)
		} else {
			binary.LittleEndian.PutUint32(attr[a.off:], uint32(a.value))
		}
	}
	p.Poke(bpfAt, attr)
	return p.Call(nBPF, cmd, bpfAt, uint64(len(attr)))
}

// newMapOf makes a map and returns its descriptor.
func newMapOf(t *testing.T, p *player, kind bpf.MapType, key, value, entries, flags uint64, more ...arg) uint64 {
	t.Helper()
	fd := bpfCallOf(p, cmdMapCreate, append(more, a32(0, uint64(kind)), a32(4, key), a32(8, value), a32(12, entries), a32(16, flags))...)
	if fd < 0 {
		t.Fatalf("map of type %s: %d", kind, fd)
	}
	return uint64(fd)
}

func element(p *player, cmd, fd, flags uint64) int64 {
	return bpfCallOf(p, cmd, a32(0, fd), a64(8, keyAt), a64(16, valueAt), a64(24, flags))
}

// TestBPFElements goes through the commands for one entry, with each kind of map that has keys.
func TestBPFElements(t *testing.T) {
	before := program.InUse()
	run(t, func(p *player) {
		for _, kind := range []bpf.MapType{bpf.Hash, bpf.PerCPUHash, bpf.LRUHash, bpf.LRUPerCPUHash, bpf.Array, bpf.PerCPUArray} {
			fd := newMapOf(t, p, kind, 4, 8, 10, 0)
			array := kind == bpf.Array || kind == bpf.PerCPUArray
			seen := map[uint32]bool{}
			for i := range uint32(10) {
				p.Poke32(keyAt, i)
				value := bytes.Repeat([]byte{byte(i + 1), 0, 0, 0, 0, 0, 0, 0}, 4)
				p.Poke(valueAt, value)
				if !array {
					want(t, p, "lookup of nothing", element(p, cmdLookup, fd, 0), errno(sys.ENOENT))
					want(t, p, "update of nothing", element(p, cmdUpdate, fd, program.Exist), errno(sys.ENOENT))
				}
				want(t, p, "update", element(p, cmdUpdate, fd, 0), 0)
				want(t, p, "update again", element(p, cmdUpdate, fd, program.NoExist), errno(sys.EEXIST))
				p.Poke(valueAt, make([]byte, len(value)))
				want(t, p, "lookup", element(p, cmdLookup, fd, 0), 0)
				n := 8
				if kind == bpf.PerCPUHash || kind == bpf.LRUPerCPUHash || kind == bpf.PerCPUArray {
					n = len(value)
				}
				if got := p.Peek(valueAt, n); !bytes.Equal(got, value[:n]) {
					t.Errorf("%s: %x", kind, got)
				}
			}
			p.Poke32(keyAt, 99)
			for next := bpfCallOf(p, cmdNext, a32(0, fd), a64(16, keyAt)); next == 0; next = bpfCallOf(p, cmdNext, a32(0, fd), a64(8, keyAt), a64(16, keyAt)) {
				seen[p.Peek32(keyAt)] = true
			}
			if len(seen) != 10 {
				t.Errorf("%s: %d keys", kind, len(seen))
			}
			p.Poke32(keyAt, 3)
			if array {
				want(t, p, "delete", element(p, cmdDelete, fd, 0), errno(sys.EINVAL))
				p.Poke32(keyAt, 10)
				want(t, p, "beyond", element(p, cmdUpdate, fd, 0), errno(sys.E2BIG))
			} else {
				want(t, p, "delete", bpfCallOf(p, cmdDelete, a32(0, fd), a64(8, keyAt)), 0)
				want(t, p, "delete again", bpfCallOf(p, cmdDelete, a32(0, fd), a64(8, keyAt)), errno(sys.ENOENT))
				p.Poke32(keyAt, 4)
				want(t, p, "take", element(p, cmdTake, fd, 0), 0)
				want(t, p, "taken", int64(p.Peek(valueAt, 1)[0]), 5)
				want(t, p, "take again", element(p, cmdTake, fd, 0), errno(sys.ENOENT))
			}
		}
	})
	if n := program.InUse(); n != before {
		t.Errorf("%d bytes of maps are left by a process that has ended", n-before)
	}
}

// TestBPFQueues: values without keys are pushed, looked at and taken.
func TestBPFQueues(t *testing.T) {
	run(t, func(p *player) {
		for kind, first := range map[bpf.MapType]uint64{bpf.Queue: 1, bpf.Stack: 2} {
			fd := newMapOf(t, p, kind, 0, 8, 2, 0)
			entry := func(cmd uint64) int64 { return bpfCallOf(p, cmd, a32(0, fd), a64(16, valueAt)) }
			for i := range uint64(2) {
				p.Poke64(valueAt, i+1)
				want(t, p, "push", entry(cmdUpdate), 0)
			}
			want(t, p, "push into a full one", entry(cmdUpdate), errno(sys.E2BIG))
			want(t, p, "peek", entry(cmdLookup), 0)
			want(t, p, "pop", entry(cmdTake), 0)
			want(t, p, "first", int64(p.Peek64(valueAt)), int64(first))
			want(t, p, "a key", element(p, cmdLookup, fd, 0), errno(sys.EINVAL))
		}
	})
}

// TestBPFBatch copies more entries than one batch has.
func TestBPFBatch(t *testing.T) {
	run(t, func(p *player) {
		fd := newMapOf(t, p, bpf.Hash, 4, 8, 100, 0)
		batch := func(cmd, in, count uint64) int64 {
			return bpfCallOf(p, cmd, a64(0, in), a64(8, nextAt), a64(16, keyAt), a64(24, valueAt), a32(32, count), a32(36, fd))
		}
		for i := range uint64(50) {
			p.Poke32(keyAt+4*i, uint32(i))
			p.Poke64(valueAt+8*i, i*i)
		}
		want(t, p, "update", batch(cmdUpdateBatch, 0, 50), 0)
		for _, cmd := range []uint64{cmdLookupBatch, cmdTakeBatch} {
			seen, in := map[uint32]uint64{}, uint64(0)
			for {
				r := batch(cmd, in, 20)
				in = nextAt
				for i := range uint64(p.Peek32(bpfAt + 32)) {
					seen[p.Peek32(keyAt+4*i)] = p.Peek64(valueAt + 8*i)
				}
				if r != 0 {
					want(t, p, "the last", r, errno(sys.ENOENT))
					break
				}
			}
			for i := range uint32(50) {
				if seen[i] != uint64(i)*uint64(i) {
					t.Errorf("command %d: %d is at %d", cmd, seen[i], i)
				}
			}
		}
		want(t, p, "nothing is left", bpfCallOf(p, cmdNext, a32(0, fd), a64(16, keyAt)), errno(sys.ENOENT))
		p.Poke32(keyAt, 1)
		want(t, p, "delete", batch(cmdDeleteBatch, 0, 1), errno(sys.ENOENT))
		want(t, p, "flags", bpfCallOf(p, cmdLookupBatch, a32(36, fd), a64(48, 1)), errno(sys.EINVAL))
	})
}

// TestBPFRefuses: what is wrong gets Linux's error, by which libraries find out what there is.
func TestBPFRefuses(t *testing.T) {
	run(t, func(p *player) {
		fd := newMapOf(t, p, bpf.Array, 4, 8, 1, 0)
		want(t, p, "a command", bpfCallOf(p, 99), errno(sys.EINVAL))
		want(t, p, "an argument", bpfCallOf(p, cmdLookup, a32(0, fd), a64(32, 1)), errno(sys.EINVAL))
		p.Poke(bpfAt, append(make([]byte, 200), 1))
		want(t, p, "bytes behind", p.Call(nBPF, cmdLookup, bpfAt, 201), errno(sys.E2BIG))
		want(t, p, "zeroes behind", p.Call(nBPF, cmdLookup, bpfAt, 200), errno(sys.EFAULT))
		want(t, p, "too many bytes", p.Call(nBPF, cmdLookup, bpfAt, 4097), errno(sys.E2BIG))
		want(t, p, "no memory", p.Call(nBPF, cmdLookup, 8, 144), errno(sys.EFAULT))
		want(t, p, "no descriptor", element(p, cmdLookup, 77, 0), errno(sys.EBADF))
		want(t, p, "no descriptor to tell of", bpfCallOf(p, cmdInfo, a32(0, 77), a32(4, 88), a64(8, valueAt)), errno(sys.EBADFD))
		want(t, p, "no map", element(p, cmdLookup, uint64(p.Call(nEventfd2, 0, 0)), 0), errno(sys.EINVAL))
		want(t, p, "a type", bpfCallOf(p, cmdMapCreate, a32(0, 15), a32(4, 4), a32(8, 4), a32(12, 1)), errno(sys.EINVAL))
		want(t, p, "flags", bpfCallOf(p, cmdMapCreate, a32(0, 2), a32(4, 4), a32(8, 4), a32(12, 1), a32(16, 1)), errno(sys.EINVAL))
		want(t, p, "a name", bpfCallOf(p, cmdMapCreate, a32(0, 2), a32(4, 4), a32(8, 4), a32(12, 1), a32(28, '/')), errno(sys.EINVAL))
		want(t, p, "no key", bpfCallOf(p, cmdLookup, a32(0, fd), a64(8, 8), a64(16, valueAt)), errno(sys.EFAULT))
		read := newMapOf(t, p, bpf.Array, 4, 8, 1, 8)
		want(t, p, "write", element(p, cmdUpdate, read, 0), errno(sys.EPERM))
		for _, flags := range []uint64{8, 16} { // made for reading only, for writing only
			h := newMapOf(t, p, bpf.Hash, 4, 8, 1, flags)
			want(t, p, "take", element(p, cmdTake, h, 0), errno(sys.EPERM))
			want(t, p, "take many", bpfCallOf(p, cmdTakeBatch, a64(8, nextAt), a64(16, keyAt), a64(24, valueAt), a32(32, 1), a32(36, h)), errno(sys.EPERM))
		}
		maps := program.Maps()
		here := maps[slices.IndexFunc(maps, func(m *program.Map) bool { return m.Spec.Type == bpf.Array && m.Spec.MaxEntries == 1 })]
		end, err := here.Change()
		want(t, p, "freeze what is being changed", bpfCallOf(p, cmdFreeze, a32(0, fd)), errno(sys.EBUSY))
		if end(); err != nil {
			t.Error(err)
		}
		want(t, p, "freeze", bpfCallOf(p, cmdFreeze, a32(0, fd)), 0)
		if _, err := here.Change(); !errors.Is(err, sys.EPERM) {
			t.Errorf("a change by the kernel of what is frozen: %v", err)
		}
		want(t, p, "freeze again", bpfCallOf(p, cmdFreeze, a32(0, fd)), errno(sys.EBUSY))
		want(t, p, "write what is frozen", element(p, cmdUpdate, fd, 0), errno(sys.EPERM))
		want(t, p, "read what is frozen", element(p, cmdLookup, fd, 0), 0)
	})
}

// TestBPFMappedPages: of a ring, a process can write to the page of the reader only, whatever it does to the mapping.
func TestBPFMappedPages(t *testing.T) {
	const nMmap, nMremap, nRepage, page = 9, 25, 216, 4096
	run(t, func(p *player) {
		fd := newMapOf(t, p, bpf.RingBuf, 0, 0, page, 0)
		at := p.Call(nMmap, 0, page, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_SHARED, fd, 0)
		if at < 0 {
			t.Fatal(at)
		}
		want(t, p, "the next page", p.Call(nMmap, 0, page, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_SHARED, fd, page), errno(sys.EPERM))
		want(t, p, "a larger mapping", p.Call(nMremap, uint64(at), page, 2*page, abi.MREMAP_MAYMOVE), errno(sys.EFAULT))
		want(t, p, "another page", p.Call(nRepage, uint64(at), page, 0, 1, 0), errno(sys.EINVAL))
	})
}

// TestBPFFrozenValues: what a program reads in a frozen map that it cannot write to is known, as of .rodata; else it
// may be anything.
func TestBPFFrozenValues(t *testing.T) {
	run(t, func(p *player) {
		const program = "r1 = map[fd:%d][0]+0\n r1 = *(u64 *)(r1 +8)\n r2 = map[fd:%d][0]+0\n r2 += r1\n r0 = *(u8 *)(r2 +0)\n exit"
		values := newMapOf(t, p, bpf.Array, 4, 16, 1, 0)
		for _, c := range []struct {
			flags  uint64
			freeze bool
			index  byte
			want   int64
		}{
			{uint64(bpf.ReadOnlyProgram), true, 15, 0}, {uint64(bpf.ReadOnlyProgram), true, 16, errno(sys.EACCES)},
			{uint64(bpf.ReadOnlyProgram), false, 15, errno(sys.EACCES)}, {0, true, 15, errno(sys.EACCES)},
		} {
			constants := newMapOf(t, p, bpf.Array, 4, 16, 1, c.flags)
			p.Poke(keyAt, make([]byte, 4))
			p.Poke(valueAt, []byte{0, 0, 0, 0, 0, 0, 0, 1, c.index, 0, 0, 0, 0, 0, 0, 0})
			want(t, p, "update", element(p, cmdUpdate, constants, 0), 0)
			if c.freeze {
				want(t, p, "freeze", bpfCallOf(p, cmdFreeze, a32(0, constants)), 0)
			}
			got := loadProgram(t, p, fmt.Sprintf(program, constants, values), "GPL", 0, 0)
			if min(got, 0) != c.want {
				t.Errorf("%+v: %d", c, got)
			}
		}
	})
}

// loadProgram loads a program with a log of size bytes.
func loadProgram(t *testing.T, p *player, text, license string, level, size uint64, more ...arg) int64 {
	t.Helper()
	insns, err := bpf.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	p.Poke(insnsAt, bpf.Encode(insns))
	p.PokeString(licenseAt, license)
	args := append([]arg{a32(0, uint64(bpf.Kprobe)), a32(4, uint64(len(insns))), a64(8, insnsAt), a64(16, licenseAt), a32(24, level), a32(28, size)}, more...)
	if size > 0 {
		args = append(args, a64(32, logAt))
	}
	return bpfCallOf(p, cmdProgLoad, args...)
}

// TestBPFLoads: a program refers to maps by descriptors, and keeps them.
func TestBPFLoads(t *testing.T) {
	programs, maps := len(program.Programs()), len(program.Maps())
	run(t, func(p *player) {
		m := newMapOf(t, p, bpf.Array, 4, 8, 1, 0)
		text := strings.ReplaceAll("r1 = map[fd:FD]\nr2 = r10\nr2 += -4\n*(u32 *)(r10 - 4) = 0\ncall 1\nr0 = 0\nexit", "FD", string(rune('0'+m)))
		fd := loadProgram(t, p, text, "GPL", 1, 4096)
		if fd < 0 {
			t.Fatalf("%d: %s", fd, p.Peek(logAt, 500))
		}
		if log := string(p.Peek(logAt, 4000)); !strings.Contains(log, "processed 7 insns") {
			t.Errorf("%s", log)
		}
		want(t, p, "close", p.Call(nClose, m), 0)
		if n := len(program.Maps()); n != maps+1 {
			t.Errorf("%d maps: the program has lost its own", n-maps)
		}
		want(t, p, "close", p.Call(nClose, uint64(fd)), 0)
		if n := len(program.Maps()) + len(program.Programs()); n != maps+programs {
			t.Errorf("%d are left", n-maps-programs)
		}
	})
}

// TestBPFLogs: the log says why, in Linux's errors if there is no room for it.
func TestBPFLogs(t *testing.T) {
	run(t, func(p *player) {
		const bad = "r0 = r5\nexit"
		want(t, p, "load", loadProgram(t, p, bad, "GPL", 1, 4096), errno(sys.EACCES))
		if log := p.Peek(logAt, 200); !bytes.Contains(log, []byte("R5 !read_ok")) {
			t.Errorf("%s", log)
		}
		size := p.Peek32(bpfAt + 140)
		want(t, p, "no room", loadProgram(t, p, bad, "GPL", 1, 128), errno(sys.ENOSPC))
		want(t, p, "size", int64(p.Peek32(bpfAt+140)), int64(size))
		if log := p.Peek(logAt, 128); log[127] != 0 || !bytes.Contains(log, []byte("mark_read 0")) {
			t.Errorf("the end is missing: %q", log)
		}
		want(t, p, "the first bytes", loadProgram(t, p, bad, "GPL", 1|8, 128), errno(sys.ENOSPC))
		if log := p.Peek(logAt, 128); !bytes.HasPrefix(log, []byte("func#0 @0")) {
			t.Errorf("%q", log)
		}
		want(t, p, "level", loadProgram(t, p, bad, "GPL", 0, 4096), errno(sys.EINVAL))
		want(t, p, "a log that is too short", loadProgram(t, p, bad, "GPL", 1, 127), errno(sys.EINVAL))
		want(t, p, "a type", loadProgram(t, p, bad, "GPL", 1, 4096, a32(0, 29)), errno(sys.EINVAL))
		if log := p.Peek(logAt, 200); !bytes.HasPrefix(log, []byte("a program of type 29 is not there\n\x00")) { // bpftool looks for words that the log may have had before
			t.Errorf("%s", log)
		}
		want(t, p, "a helper", loadProgram(t, p, "call 9999\nexit", "GPL", 0, 0), errno(sys.EINVAL))
		want(t, p, "a licence", loadProgram(t, p, "r1 = 0\ncall 35\nexit", "MIT", 0, 0), errno(sys.EINVAL))
		want(t, p, "a map", loadProgram(t, p, "r1 = map[fd:99]\nr0 = 0\nexit", "GPL", 0, 0), errno(sys.EBADF))
		want(t, p, "no instructions", bpfCallOf(p, cmdProgLoad, a32(0, 2), a64(8, insnsAt), a64(16, licenseAt)), errno(sys.E2BIG))
		want(t, p, "a type", bpfCallOf(p, cmdProgLoad, a32(0, 3), a32(4, 1), a64(8, insnsAt), a64(16, licenseAt)), errno(sys.EINVAL))
	})
}

// TestBPFDescriptors: /proc tells of what kind a descriptor is, as Linux does.
func TestBPFDescriptors(t *testing.T) {
	run(t, func(p *player) {
		m, l := newMapOf(t, p, bpf.Hash, 4, 8, 3, 0), uint64(loadProgram(t, p, "r0 = 0\nexit", "GPL", 0, 0))
		process, _ := p.World.Table.Find(2)
		for fd, name := range map[uint64]string{m: "anon_inode:bpf-map", l: "anon_inode:bpf-prog"} {
			f, err := process.Resources().(*Files).Descriptors().Get(int(fd))
			if err != nil || f.Name() != name {
				t.Fatalf("%v, %v", f, err)
			}
			var b strings.Builder
			f.Handle().(vfs.Describer).Describe(&b)
			if !strings.Contains(b.String(), "_type:\t") || !strings.Contains(b.String(), "memlock:\t") {
				t.Errorf("%s", b.String())
			}
		}
	})
}
