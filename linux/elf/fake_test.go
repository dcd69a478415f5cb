package elf

import (
	"bytes"
	"encoding/binary"
	"io"
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/linux/space"
)

// fakeFile is a file in memory, with its page cache.
type fakeFile struct {
	*bytes.Reader
	content []byte
	pool    *frame.Pool
	pages   map[uint64]frame.Frame
	holds   int
}

func newFile(pool *frame.Pool, content []byte) *fakeFile {
	return &fakeFile{Reader: bytes.NewReader(content), content: content, pool: pool, pages: map[uint64]frame.Frame{}}
}

func (f *fakeFile) Size() int64                     { return int64(len(f.content)) }
func (f *fakeFile) Backing() (backing.Store, error) { return f, nil }
func (f *fakeFile) Hold()                           { f.holds++ }
func (f *fakeFile) Drop()                           { f.holds-- }
func (f *fakeFile) Ident() backing.Ident            { return backing.Ident{Name: "fake", Inode: 1} }

func (f *fakeFile) Frame(n uint64) (frame.Frame, error) {
	if n*page >= uint64(len(f.content)) {
		return frame.None, backing.ErrBus
	}
	if f.pages[n] == frame.None {
		c, err := f.pool.Alloc()
		if err != nil {
			return frame.None, err
		}
		copy(f.pool.Bytes(c), f.content[n*page:])
		f.pages[n] = c
	}
	f.pool.Ref(f.pages[n])
	return f.pages[n], nil
}

func (f *fakeFile) close() {
	for _, c := range f.pages {
		f.pool.Put(c)
	}
	clear(f.pages)
}

// fakeMachine has files by path.
type fakeMachine struct {
	space.Machine
	files map[string]*fakeFile
}

func newMachine() *fakeMachine {
	m := &fakeMachine{files: map[string]*fakeFile{}}
	m.Frames = frame.NewPool(new(frame.Memory))
	m.Programs = space.Window{Start: 64 << 10, End: 0x7fff_ffff_f000}
	m.RAM = 1 << 30
	return m
}

func (m *fakeMachine) add(path string, content []byte) *fakeFile {
	m.files[path] = newFile(m.Frames, content)
	return m.files[path]
}

func (m *fakeMachine) open(path string) (File, error) {
	if f := m.files[path]; f != nil {
		return f, nil
	}
	return nil, syscall.ENOENT
}

// start loads a program into a new space.
func (m *fakeMachine) start(t testing.TB, path string, args ...string) (*space.Space, Program, error) {
	t.Helper()
	s, err := m.New()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(s, m.files[path], path, Options{Open: m.open, Args: args, Env: []string{"HOME=/", "A="}, Random: [16]byte{1, 2, 15: 16}, HWCap: 0xabc, HWCap2: 2})
	return s, p, err
}

// end releases s and fails the test if it leaves anything.
func (m *fakeMachine) end(t testing.TB, s *space.Space) {
	t.Helper()
	s.Release()
	cached := 0
	for path, f := range m.files {
		if f.holds != 0 {
			t.Errorf("%s is still held %d times", path, f.holds)
		}
		cached += len(f.pages)
	}
	if used := m.Frames.Stats().Used - cached; used != 0 {
		t.Errorf("%d frames are left", used)
	}
}

// program describes an ELF file; the zero values of its fields are replaced by good ones.
type program struct {
	kind     uint16
	entry    uint64
	segments []segment
	interp   string
	size     int // of the file; what is not header is its offset's low byte
}

// text is where the usual program's first segment is; it has another with data.
const text = 0x400000

func usual() program {
	return program{kind: abi.ET_EXEC, entry: text + 0x200, size: 0x3000, segments: []segment{
		{Type: abi.PT_LOAD, Flags: 5, Offset: 0, VAddr: text, FileSize: 0x1800, MemSize: 0x1800, Align: page},
		{Type: abi.PT_LOAD, Flags: 6, Offset: 0x1800, VAddr: text + 0x3800, FileSize: 0x900, MemSize: 0x3000, Align: page},
	}}
}

func pie() program {
	p := usual()
	p.kind, p.entry = abi.ET_DYN, 0x200
	for i := range p.segments {
		p.segments[i].VAddr -= text
	}
	return p
}

func (p program) build() []byte {
	b := make([]byte, p.size)
	for i := range b {
		b[i] = byte(i/page)<<4 | byte(i)&15
	}
	if p.interp != "" {
		copy(b[0xf00:], p.interp+"\x00")
		p.segments = append([]segment{{Type: abi.PT_INTERP, Offset: 0xf00, FileSize: uint64(len(p.interp) + 1)}}, p.segments...)
	}
	le := binary.LittleEndian
	clear(b[:headerSize])
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], p.kind)
	le.PutUint16(b[18:], abi.EM_X86_64)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], p.entry)
	le.PutUint64(b[32:], headerSize)
	le.PutUint16(b[52:], headerSize)
	le.PutUint16(b[54:], segmentSize)
	le.PutUint16(b[56:], uint16(len(p.segments)))
	var w bytes.Buffer
	binary.Write(&w, le, p.segments)
	copy(b[headerSize:], w.Bytes())
	return b
}

var _ io.ReaderAt = (*fakeFile)(nil)
