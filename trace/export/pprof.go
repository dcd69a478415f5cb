package export

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"

	"sonde/kallsyms"
	"sonde/trace/out"
)

// profile is pprof's: stacks with numbers. It is written as a whole at the end.
type profile struct {
	w         io.Writer
	m         message // samples, and the functions and locations that they have named so far
	texts     map[string]uint64
	table     []string
	functions map[[2]string]uint64 // by name and file: the number of the function and of its location
	mappings  map[string]uint64    // by file: its number
}

func newProfile(w io.Writer) *profile {
	p := &profile{w: w, texts: map[string]uint64{}, functions: map[[2]string]uint64{}, mappings: map[string]uint64{}}
	p.text("")
	return p
}

// text returns the number of a string.
func (p *profile) text(s string) uint64 {
	if n, ok := p.texts[s]; ok {
		return n
	}
	n := uint64(len(p.table))
	p.texts[s], p.table = n, append(p.table, s)
	return n
}

// mapping returns the number of what is mapped where a frame is: a program's file, or the kernel.
func (p *profile) mapping(file string) uint64 {
	if file == "" {
		file = "[kernel]"
	}
	if id := p.mappings[file]; id != 0 {
		return id
	}
	id := uint64(len(p.mappings) + 1)
	p.mappings[file] = id
	var m message
	m.number(1, id)
	m.number(5, p.text(file))
	m.number(7, 1) // it has the names of functions
	p.m.bytes(3, m)
	return id
}

// location returns the number of a frame's location.
func (p *profile) location(at kallsyms.Named) uint64 {
	name := frameName(at)
	key := [2]string{name, at.File}
	if id := p.functions[key]; id != 0 {
		return id
	}
	id := uint64(len(p.functions) + 1)
	p.functions[key] = id
	var f, l, line message
	f.number(1, id)
	f.number(2, p.text(name))
	f.number(3, p.text(name))
	line.number(1, id)
	l.number(1, id)
	l.number(2, p.mapping(at.File))
	l.bytes(4, line)
	p.m.bytes(5, f)
	p.m.bytes(4, l)
	return id
}

func (p *profile) Stack(s *out.StackCount) error {
	var sample message
	var at []uint64
	for _, f := range slices.Backward(s.Frames) { // the program's own file is the first mapping
		at = append(at, p.location(f))
	}
	slices.Reverse(at) // the leaf first
	sample.packed(1, at)
	sample.packed(2, []uint64{uint64(s.N)})
	for i, text := range s.Labels {
		var l message
		l.number(1, p.text([]string{"key", "key2", "key3", "key4", "more"}[min(i, 4)]))
		l.number(2, p.text(text))
		sample.bytes(3, l)
	}
	p.m.bytes(2, sample)
	return nil
}

func (p *profile) Event(*Event) error           { return nil }
func (p *profile) Point(*out.SeriesPoint) error { return nil }

func (p *profile) Close() error {
	var kind message
	kind.number(1, p.text("events"))
	kind.number(2, p.text("count"))
	p.m.bytes(1, kind)
	for _, s := range p.table {
		p.m.text(6, s)
	}
	return gzip(p.w, p.m)
}

// gzip writes data as gzip's blocks that are not compressed: what compresses is too large for the kernel.
func gzip(w io.Writer, data []byte) error {
	const most = 1<<16 - 1
	b := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	for rest := data; ; {
		n := min(len(rest), most)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		b = binary.LittleEndian.AppendUint16(append(b, last), uint16(n))
		b = append(binary.LittleEndian.AppendUint16(b, ^uint16(n)), rest[:n]...)
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(data))
	_, err := w.Write(binary.LittleEndian.AppendUint32(b, uint32(len(data))))
	return err
}
