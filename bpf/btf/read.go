package btf

import (
	"bytes"
	"encoding/binary"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

const (
	magic      = 0xeB9F
	version    = 1
	headerSize = 24
)

// notSupported is Linux's ENOTSUPP, which package syscall does not name. Programs see it as 524.
const notSupported = syscall.Errno(524)

// Read reads a section that is ready to be loaded: every section of variables has its size.
//
// Errors: EINVAL, EEXIST for a type that contains itself, E2BIG for what exceeds a limit,
// ENOTSUPP (524) for another version of the format. The text names the type, what was found, and
// what was wanted. data is not kept.
//
// Source: Linux, Documentation/bpf/btf.rst, "BPF_BTF_LOAD".
func Read(data []byte) (*Table, error) { return read(data, false) }

// ReadObject reads the section .BTF of an object file. What only a loader fills in may be missing:
// the sizes of sections, offsets of their variables, names of parameters. It may have variables
// that are defined elsewhere.
//
// Errors: as Read.
func ReadObject(data []byte) (*Table, error) { return read(data, true) }

func read(data []byte, object bool) (*Table, error) {
	types, names, err := split(data)
	if err != nil {
		return nil, err
	}
	t := &Table{names: map[string][]ID{}, strings: string(names), object: object}
	if err := t.decodeAll(types); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	for i := range t.types {
		if x := &t.types[i]; x.Name != "" && x.Kind != DeclTag && x.Kind != TypeTag {
			t.names[x.Name] = append(t.names[x.Name], ID(i))
		}
	}
	return t, nil
}

// split checks the header, and returns the types and the strings.
func split(data []byte) (types, names []byte, err error) {
	body, err := afterHeader(data, "BTF", headerSize, headerSize)
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxSection {
		return nil, nil, refusal.New(syscall.E2BIG, "BTF: %d bytes, more than %d", len(data), maxSection)
	}
	word := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(data[at:])) }
	typeOff, typeLen, strOff, strLen := word(8), word(12), word(16), word(20)
	switch {
	case typeOff%4 != 0:
		return nil, nil, refusal.New(syscall.EINVAL, "BTF: the types begin at offset %d, which is not a multiple of 4", typeOff)
	case typeOff != 0 || strOff != typeLen:
		return nil, nil, refusal.New(syscall.EINVAL, "BTF: types at %d to %d, strings at %d: expected the types behind the header, and the strings behind them",
			typeOff, typeOff+typeLen, strOff)
	case strOff+strLen != uint64(len(body)):
		return nil, nil, refusal.New(syscall.EINVAL, "BTF: the strings end at %d, but %d bytes follow the header", strOff+strLen, len(body))
	case strLen == 0 || strLen > maxNameOff+1:
		return nil, nil, refusal.New(syscall.EINVAL, "BTF: the strings have %d bytes: expected 1 to %d", strLen, maxNameOff+1)
	}
	types, names = body[:typeLen], body[strOff:]
	if names[0] != 0 || names[len(names)-1] != 0 {
		return nil, nil, refusal.New(syscall.EINVAL, "BTF: the strings begin with byte %#02x and end with %#02x: expected 0 in both places",
			names[0], names[len(names)-1])
	}
	if typeLen == 0 {
		return nil, nil, refusal.New(syscall.EINVAL, "BTF: there are no types")
	}
	return types, names, nil
}

// afterHeader checks the part of a header that .BTF and .BTF.ext share, and returns what follows
// the header. least is how long the header is at least, known what is known of it.
func afterHeader(data []byte, what string, least, known int) ([]byte, error) {
	if len(data) < least {
		return nil, refusal.New(syscall.EINVAL, "%s: %d bytes: the header alone takes %d", what, len(data), least)
	}
	found, length := binary.LittleEndian.Uint16(data), binary.LittleEndian.Uint32(data[4:])
	switch {
	case found == magic>>8|magic&0xFF<<8:
		return nil, refusal.New(syscall.EINVAL, "%s: it is big-endian; only little-endian can be read", what)
	case found != magic:
		return nil, refusal.New(syscall.EINVAL, "%s: it begins with %#04x: expected %#04x", what, found, magic)
	case data[2] != version || data[3] != 0:
		return nil, refusal.New(notSupported, "%s: version %d, flags %#x: expected version %d and no flags", what, data[2], data[3], version)
	case uint64(length) < uint64(least) || uint64(length) > uint64(len(data)):
		return nil, refusal.New(syscall.EINVAL, "%s: the header says that it has %d bytes: expected %d to %d", what, length, least, len(data))
	}
	if len(bytes.Trim(data[min(known, int(length)):length], "\x00")) > 0 {
		return nil, refusal.New(syscall.E2BIG, "%s: the header has fields that are not known", what)
	}
	return data[length:], nil
}

// text returns the string at an offset, cut after limit bytes.
func (t *Table) text(offset uint32, limit int) (s string, whole, ok bool) {
	if int64(offset) >= int64(len(t.strings)) {
		return "", false, false
	}
	rest := t.strings[offset:]
	if len(rest) > limit+1 {
		rest = rest[:limit+1]
	}
	end := strings.IndexByte(rest, 0)
	if end < 0 {
		return rest[:limit], false, true
	}
	return rest[:end], true, true
}
