package program

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"strings"

	"sonde/kernel/vfs"
)

// The files in which distributions keep what they strip from programs: the symbol table and the DWARF. A program names its
// file by its build-id, or by a name and a sum over the file's bytes.
//
// Source: Debugging with GDB, "Debugging Information in Separate Files".
const (
	debugFolder   = "/usr/lib/debug"
	buildIDHeader = 16 // of the note: three numbers, and "GNU"
)

// OpenFile is Open for a program with a path: if it has no symbol table, that of the file with its debug information is read.
//
// Errors: those of Open.
func OpenFile(file *vfs.File) (*File, error) {
	o, err := readObject(file)
	if err != nil {
		return nil, notProgram(err)
	}
	f := &File{elf: o}
	if at := file.Place(); at != nil && len(o.symbols(secSymbols)) == 0 {
		if where, err := at.Path(); err == nil {
			f.split = o.splitFile(where)
		}
	}
	f.readAll()
	return f, nil
}

// splitFile returns the path of the file with the debug information of the program at a path; "": there is none.
func (o *object) splitFile(where string) string {
	id := o.buildID()
	if len(id) > 1 {
		at := fmt.Sprintf("%s/.build-id/%x/%x.debug", debugFolder, id[:1], id[1:])
		if withObject(at, func(d *object) bool { return bytes.Equal(d.buildID(), id) }) {
			return at
		}
	}
	link := o.data(o.section(".gnu_debuglink"))
	name, _, found := strings.Cut(string(link), "\x00")
	if !found || name == "" || path.Base(name) != name || len(link) < 4 {
		return ""
	}
	sum, folder := le.Uint32(link[len(link)-4:]), path.Dir(where)
	for _, at := range []string{path.Join(folder, name), path.Join(folder, ".debug", name), path.Join(debugFolder, folder, name)} {
		if at != where && withObject(at, func(d *object) bool { return d.sum() == sum }) {
			return at
		}
	}
	return ""
}

// buildID returns what identifies a build; nil: nothing.
func (o *object) buildID() []byte {
	note := o.data(o.section(".note.gnu.build-id"))
	if len(note) <= buildIDHeader || string(note[12:16]) != "GNU\x00" {
		return nil
	}
	n := min(uint64(le.Uint32(note[4:])), uint64(len(note)-buildIDHeader))
	return note[buildIDHeader:][:n]
}

// sum is the checksum of the whole file.
func (o *object) sum() uint32 {
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(o.file, 0, 1<<62)); err != nil {
		return 0
	}
	return h.Sum32()
}

// withObject calls f with the ELF file at a path, and returns its result; false: there is none.
func withObject(path string, f func(*object) bool) bool {
	file, err := vfs.Open(path, vfs.O_RDONLY|vfs.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer vfs.Close(file)
	o, err := readObject(file)
	return err == nil && f(o)
}
