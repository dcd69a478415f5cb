package cpio

import "strings"

// Is reports whether an archive begins here.
func Is(data []byte) bool {
	return len(data) >= len(magic) && (string(data[:len(magic)]) == magic || string(data[:len(magic)]) == magicSum)
}

// Read returns the entries of the archive at the start of data, and the archive's length in bytes,
// trailer included. The entries' Data are parts of data.
//
// Errors: ErrFormat, with the place and the reason.
func Read(data []byte) (list []Entry, size int, err error) {
	r := reader{data: data}
	for {
		e, err := r.entry()
		if err != nil {
			return nil, 0, err
		}
		if e.Name == trailer {
			return list, min(align(r.at), len(data)), nil
		}
		list = append(list, e)
	}
}

// reader is a position in an archive.
type reader struct {
	data []byte
	at   int
}

func (r *reader) entry() (e Entry, err error) {
	r.at = align(r.at)
	start := r.at
	head, err := r.take(headSize, "header")
	if err != nil {
		return e, err
	}
	if !Is(head) {
		return e, corrupt(start, "no entry begins here, but %.6q", head)
	}
	var f [fields]uint32
	for i := range f {
		text := head[len(magic)+8*i:][:8]
		v, ok := hex(text)
		if !ok {
			return e, corrupt(start, "%q is not a number", text)
		}
		f[i] = v
	}
	e = Entry{
		Ino: f[fieldIno], Mode: f[fieldMode], UID: f[fieldUID], GID: f[fieldGID], Links: f[fieldLinks],
		Time: f[fieldTime], Device: [2]uint32{f[fieldMajor], f[fieldMinor]},
	}
	if e.Name, err = r.name(start, f[fieldName]); err != nil {
		return e, err
	}
	if e.Data, err = r.contents(f[fieldSize], e.Name); err != nil {
		return e, err
	}
	if string(head[:len(magic)]) == magicSum && sum(e.Data) != f[fieldSum] {
		return e, corrupt(start, "%s: its sum is wrong", e.Name)
	}
	return e, nil
}

// name reads the name, which ends with a zero byte.
func (r *reader) name(start int, size uint32) (string, error) {
	if size < 2 || size > maxName {
		return "", corrupt(start, "a name of %d bytes", size)
	}
	b, err := r.take(int(size), "name")
	if err != nil {
		return "", err
	}
	name := string(b[:size-1])
	if b[size-1] != 0 || strings.IndexByte(name, 0) >= 0 {
		return "", corrupt(start, "the name %q does not end where it should", b)
	}
	return name, nil
}

// contents reads the contents that follow a name.
func (r *reader) contents(size uint32, name string) ([]byte, error) {
	r.at = min(align(r.at), len(r.data))
	return r.take(int(size), "contents of "+name)
}

func (r *reader) take(n int, what string) ([]byte, error) {
	if r.at > len(r.data) || n > len(r.data)-r.at {
		return nil, corrupt(r.at, "it ends within the %s", what)
	}
	b := r.data[r.at : r.at+n : r.at+n]
	r.at += n
	return b, nil
}

// hex reads eight digits.
func hex(text []byte) (v uint32, ok bool) {
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return v, true
}

func sum(data []byte) (s uint32) {
	for _, c := range data {
		s += uint32(c)
	}
	return s
}
