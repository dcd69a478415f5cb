package syscall

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	sys "syscall"
	"testing"

	"sonde/bpf"
	"sonde/bpf/btf"
	"sonde/kernel/abi"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// TestBPFNumbers: each object has a number by which others find it, and tells what it is.
func TestBPFNumbers(t *testing.T) {
	run(t, func(p *player) {
		m := newMapOf(t, p, bpf.Hash, 4, 8, 3, 1, a32(28, 'm'))
		id, last := uint32(0), uint32(0)
		for bpfCallOf(p, cmdMapNext, a32(0, uint64(id))) == 0 {
			id = p.Peek32(bpfAt + 4)
			last = id
		}
		want(t, p, "info", bpfCallOf(p, cmdInfo, a32(0, m), a32(4, 88), a64(8, valueAt)), 0)
		for i, v := range []uint32{1, last, 4, 8, 3, 1, 'm'} {
			if got := p.Peek32(valueAt + 4*uint64(i)); got != v {
				t.Errorf("word %d is %d, want %d", i, got, v)
			}
		}
		again := bpfCallOf(p, cmdMapByID, a32(0, uint64(last)))
		want(t, p, "update", element(p, cmdUpdate, m, 0), 0)
		want(t, p, "close", p.Call(nClose, m), 0)
		want(t, p, "lookup by another descriptor", element(p, cmdLookup, uint64(again), 0), 0)
		want(t, p, "close", p.Call(nClose, uint64(again)), 0)
		want(t, p, "what is gone", bpfCallOf(p, cmdMapByID, a32(0, uint64(last))), errno(sys.ENOENT))
		want(t, p, "no number", bpfCallOf(p, cmdMapNext, a32(0, 1<<31-1)), errno(sys.EINVAL))
	})
}

// TestBPFProgramInfo: lists are as long as the process has room for, and their lengths are told.
func TestBPFProgramInfo(t *testing.T) {
	run(t, func(p *player) {
		m := newMapOf(t, p, bpf.Array, 4, 8, 1, 0)
		fd := loadProgram(t, p, strings.ReplaceAll("r1 = map[fd:FD]\nr0 = 0\nexit", "FD", string(rune('0'+m))), "GPL", 0, 0, a32(48, 'n'))
		info := make([]byte, 232)
		binary.LittleEndian.PutUint32(info[20:], 16) // xlated_prog_len
		binary.LittleEndian.PutUint64(info[32:], nextAt)
		binary.LittleEndian.PutUint32(info[52:], 5) // nr_map_ids
		binary.LittleEndian.PutUint64(info[56:], keyAt)
		p.Poke(valueAt, info)
		want(t, p, "info", bpfCallOf(p, cmdInfo, a32(0, uint64(fd)), a32(4, 232), a64(8, valueAt)), 0)
		b := p.Peek(valueAt, 232)
		word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
		if word(0) != 2 || word(20) != 32 || word(52) != 1 || b[64] != 'n' || word(16) == 0 || word(84) != 1 {
			t.Errorf("%x", b)
		}
		insns, _ := bpf.Decode(p.Peek(nextAt, 16))
		if id := p.Peek32(keyAt); insns[0].Src() != bpf.MapFD || uint32(insns[0].Imm) != id {
			t.Errorf("%+v, and the map is %d", insns, id)
		}
		p.Poke(valueAt+232, []byte{1})
		want(t, p, "more", bpfCallOf(p, cmdInfo, a32(0, uint64(fd)), a32(4, 233), a64(8, valueAt)), errno(sys.E2BIG))
		want(t, p, "a run", bpfCallOf(p, cmdRun, a32(0, uint64(fd))), -524)
		want(t, p, "a link of nothing", bpfCallOf(p, cmdLink, a32(0, uint64(fd)), a32(4, 99), a32(8, 41)), errno(sys.EBADF))
		want(t, p, "a link of a file", bpfCallOf(p, cmdLink, a32(0, uint64(fd)), a32(4, m), a32(8, 41)), errno(sys.EBADF))
		want(t, p, "a program for other links", bpfCallOf(p, cmdLink, a32(0, uint64(fd)), a32(8, 42)), errno(sys.EINVAL))
		want(t, p, "a kind of link", bpfCallOf(p, cmdLink, a32(0, uint64(fd)), a32(8, 9)), errno(sys.EINVAL))
		want(t, p, "no link", bpfCallOf(p, cmdDetach, a32(0, uint64(fd))), errno(sys.EINVAL))
	})
}

// mountPins makes /sys/fs/bpf, once for all runs of a test.
var mountPins = sync.OnceValue(func() error { return program.MountPins(vfs.Root) })

// TestBPFPins: a file keeps an object beyond the process that has made it.
func TestBPFPins(t *testing.T) {
	if err := mountPins(); err != nil {
		t.Fatal(err)
	}
	pin := func(p *player, cmd, fd uint64, path string) int64 {
		p.PokeString(keyAt, path)
		return bpfCallOf(p, cmd, a64(0, keyAt), a32(8, fd))
	}
	run(t, func(p *player) {
		m := newMapOf(t, p, bpf.Array, 4, 8, 1, 0)
		p.Poke32(keyAt, 0)
		p.Poke64(valueAt, 77)
		want(t, p, "update", element(p, cmdUpdate, m, 0), 0)
		want(t, p, "pin", pin(p, cmdPin, m, "/sys/fs/bpf/kept"), 0)
		want(t, p, "pin again", pin(p, cmdPin, m, "/sys/fs/bpf/kept"), errno(sys.EEXIST))
		want(t, p, "statfs", p.Call(137, keyAt, nextAt), 0)
		if magic := p.Peek64(nextAt); magic != 0xcafe4a11 {
			t.Errorf("the file system is %#x: libraries pin to 0xcafe4a11 alone", magic)
		}
		want(t, p, "elsewhere", pin(p, cmdPin, m, "/kept"), errno(sys.EINVAL))
	})
	run(t, func(p *player) {
		fd := pin(p, cmdGet, 0, "/sys/fs/bpf/kept")
		p.Poke32(keyAt, 0)
		want(t, p, "lookup", element(p, cmdLookup, uint64(fd), 0), 0)
		want(t, p, "what another process has put there", int64(p.Peek64(valueAt)), 77)
		want(t, p, "nothing", pin(p, cmdGet, 0, "/sys/fs/bpf/none"), errno(sys.ENOENT))
		p.PokeString(keyAt, "/sys/fs/bpf/kept")
		want(t, p, "remove", p.Call(87, keyAt), 0)
	})
	if n := program.InUse(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// TestBPFTypes: BTF is loaded, found by number, and describes maps.
func TestBPFTypes(t *testing.T) {
	b := btf.NewBuilder()
	number := b.Add(btf.Type{Kind: btf.Int, Name: "int", Size: 4, Bits: 32})
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	run(t, func(p *player) {
		p.Poke(nextAt, data)
		fd := bpfCallOf(p, cmdLoadBTF, a64(0, nextAt), a32(16, uint64(len(data))))
		want(t, p, "info", bpfCallOf(p, cmdInfo, a32(0, uint64(fd)), a32(4, 32), a64(8, valueAt)), 0)
		id := uint64(p.Peek32(valueAt + 12))
		want(t, p, "length", int64(p.Peek32(valueAt+8)), int64(len(data)))
		m := newMapOf(t, p, bpf.Hash, 4, 4, 1, 0, a32(48, uint64(fd)), a32(52, uint64(number)), a32(56, uint64(number)))
		want(t, p, "close", p.Call(nClose, uint64(fd)), 0)
		again := bpfCallOf(p, cmdBTFByID, a32(0, id))
		if again < 0 {
			t.Errorf("the map does not keep its types: %d", again)
		}
		want(t, p, "close", p.Call(nClose, uint64(again)), 0)
		want(t, p, "close", p.Call(nClose, m), 0)
		want(t, p, "what is gone", bpfCallOf(p, cmdBTFByID, a32(0, id)), errno(sys.ENOENT))
		p.Poke(nextAt, []byte{1})
		want(t, p, "no types", bpfCallOf(p, cmdLoadBTF, a64(0, nextAt), a32(16, uint64(len(data))), a32(20, 1000), a64(8, logAt), a32(24, 1)), errno(sys.EINVAL))
		if log := p.Peek(logAt, 100); !bytes.Contains(log, []byte("BTF")) {
			t.Errorf("%q", log)
		}
	})
}

// TestBPFLines: what a program says of its lines is about instructions that it has, and can be asked for.
func TestBPFLines(t *testing.T) {
	b := btf.NewBuilder()
	b.Add(btf.Type{Kind: btf.Int, Name: "int", Size: 4, Bits: 32})
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	run(t, func(p *player) {
		p.Poke(nextAt, data)
		types := uint64(bpfCallOf(p, cmdLoadBTF, a64(0, nextAt), a32(16, uint64(len(data)))))
		load := func(pc uint32) int64 {
			p.Poke(valueAt, binary.LittleEndian.AppendUint32(nil, pc))
			return loadProgram(t, p, "r0 = 0\nexit", "GPL", 0, 0, a32(72, types), a32(92, 16), a64(96, valueAt), a32(104, 1))
		}
		want(t, p, "a line behind the end", load(2), errno(sys.EINVAL))
		fd := load(1)
		info := make([]byte, 232)
		binary.LittleEndian.PutUint64(info[160:], keyAt)
		binary.LittleEndian.PutUint32(info[168:], 1)
		p.Poke(valueAt, info)
		want(t, p, "info", bpfCallOf(p, cmdInfo, a32(0, uint64(fd)), a32(4, 232), a64(8, valueAt)), 0)
		if p.Peek32(keyAt) == 0 {
			t.Error("the line has no code")
		}
	})
}

// TestBPFMemoryIsCounted: the maps of a process count against RLIMIT_MEMLOCK, which can be raised.
func TestBPFMemoryIsCounted(t *testing.T) {
	run(t, func(p *player) {
		large := func() int64 { return bpfCallOf(p, cmdMapCreate, a32(0, 2), a32(4, 4), a32(8, 8), a32(12, 5<<20/8)) }
		first := large()
		want(t, p, "beyond the limit", large(), errno(sys.EPERM))
		want(t, p, "close", p.Call(nClose, uint64(first)), 0)
		if again := large(); again < 0 {
			t.Errorf("after the first was closed: %d", again)
		}
		want(t, p, "raise", limitTo(p, 0, abi.RLIMIT_MEMLOCK, ^uint64(0)), 0)
		if more := large(); more < 0 {
			t.Errorf("after the limit was raised: %d", more)
		}
	})
}

// TestBPFLogsWhatIsNotThere: once, whoever asks again.
func TestBPFLogsWhatIsNotThere(t *testing.T) {
	run(t, func(p *player) {
		for range 3 {
			want(t, p, "a type", bpfCallOf(p, cmdMapCreate, a32(0, 201), a32(4, 4), a32(8, 4), a32(12, 1)), errno(sys.EINVAL))
			want(t, p, "a command", bpfCallOf(p, 33), errno(sys.EINVAL))
		}
	})
	var log strings.Builder
	if err := printk.Dmesg(&log, printk.LevelDebug); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"asks for a map of type 201, which is not there", "asks for ITER_CREATE, which is not there"} {
		if strings.Count(log.String(), text) != 1 {
			t.Errorf("the log does not say %q once:\n%s", text, &log)
		}
	}
}
