//go:build tamago && !noprobe

package shell

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// bpfMaps prints one map, or all.
func bpfMaps(c *Context, args []string) error {
	all, err := bpfNamed(program.Maps(), bpfMapOf, args)
	if err != nil {
		return err
	}
	for _, m := range all {
		s := m.Spec
		fmt.Fprintf(c.Out, "%d: %s  name %s  flags %#x\n\tkey %dB  value %dB  max_entries %d  memlock %dB  lost %d%s\n",
			m.ID, s.Type, s.Name, s.Flags, s.KeySize, s.ValueSize, s.MaxEntries, m.Bytes(), m.Lost(),
			ids("  prog_ids ", usersOf(m), func(p *program.Prog) int { return p.ID }))
		if err := printPins(c.Out, m); err != nil {
			return err
		}
	}
	return nil
}

// usersOf returns the programs that use a map.
func usersOf(m *program.Map) []*program.Prog {
	return slices.DeleteFunc(program.Programs(), func(p *program.Prog) bool { return !slices.Contains(p.Maps(), m) })
}

// onMap makes a command of a function that does something with the map that is named, and keeps it meanwhile.
func onMap(do func(c *Context, m *program.Map, args []string) error) func(*Context, []string) error {
	return func(c *Context, args []string) error {
		m, rest, err := bpfMapOf(args)
		if err == nil {
			err = program.Hold(m)
		}
		if err != nil {
			return err
		}
		defer program.Release(m)
		return do(c, m, rest)
	}
}

// onFreeMap is onMap for changes, which may not be made in a map that is frozen.
func onFreeMap(do func(m *program.Map, args []string) error) func(*Context, []string) error {
	return onMap(func(_ *Context, m *program.Map, args []string) error {
		end, err := m.Change()
		if err != nil {
			return err
		}
		defer end()
		return do(m, args)
	})
}

// bpfDumpMap prints what is in a map.
func bpfDumpMap(c *Context, m *program.Map, args []string) error {
	if err := bpfEnd(args, nil); err != nil {
		return err
	}
	if m.Ring() != nil {
		return printRecords(c.Out, m)
	}
	return dumpMap(c.Out, m)
}

// dumpMap prints the keys of a map with their values.
func dumpMap(out io.Writer, m *program.Map) (err error) {
	n := 0
	for cpu := range m.Tables() {
		m.Range(cpu, func(key, value []byte) bool {
			n++
			err = printEntry(out, m, cpu, key, value)
			return err == nil
		})
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "Found %d elements\n", n)
	}
	return err
}

func printEntry(out io.Writer, m *program.Map, cpu int, key, value []byte) error {
	at := ""
	if m.Tables() > 1 {
		at = fmt.Sprintf(" (CPU %02d)", cpu)
	}
	_, err := fmt.Fprintf(out, "key: %s  value%s: %s\n", data(key), at, data(value))
	return err
}

// data prints bytes, and up to 8 of them as a number, too.
func data(b []byte) string {
	if len(b) > 8 {
		return fmt.Sprintf("% x", b)
	}
	var whole [8]byte
	copy(whole[:], b)
	return fmt.Sprintf("% x (%d)", b, binary.LittleEndian.Uint64(whole[:]))
}

// printRecords takes all records that are in a ring.
func printRecords(out io.Writer, m *program.Map) error {
	for {
		rec, ok := m.Take(nil)
		if !ok {
			return nil
		}
		if _, err := fmt.Fprintf(out, "%d.%09d CPU %d  % x\n", rec.When/1e9, rec.When%1e9, rec.CPU, rec.Data); err != nil {
			return err
		}
	}
}

// bpfData takes a word and size bytes off args.
func bpfData(word string, size int, args []string) (b []byte, rest []string, err error) {
	if len(args) < 2 || args[0] != word {
		return nil, nil, Usagef("give %s and its %d bytes, as in %s hex %s", word, size, word, strings.TrimSpace(strings.Repeat("00 ", min(size, 8))))
	}
	args = args[1:]
	base := 0
	if args[0] == "hex" {
		base, args = 16, args[1:]
	}
	end := slices.IndexFunc(args, func(s string) bool { _, err := strconv.ParseUint(s, base, 64); return err != nil })
	if end < 0 {
		end = len(args)
	}
	words, rest := args[:end], args[end:]
	if len(words) == 1 && base == 0 && size <= 8 {
		n, err := strconv.ParseUint(words[0], 0, 64)
		if err != nil || size < 8 && n>>(8*size) != 0 {
			return nil, nil, refusal.New(syscall.EINVAL, "%s: %s has more than %d bytes", word, words[0], size)
		}
		return binary.LittleEndian.AppendUint64(nil, n)[:size], rest, nil
	}
	for _, w := range words {
		n, err := strconv.ParseUint(w, base, 8)
		if err != nil {
			return nil, nil, refusal.New(syscall.EINVAL, "%s: %q is no byte", word, w)
		}
		b = append(b, byte(n))
	}
	if len(b) != size {
		return nil, nil, refusal.New(syscall.EINVAL, "%s: these are %d bytes (%s), and the map's have %d", word, len(b), hex.EncodeToString(b), size)
	}
	return b, rest, nil
}

func bpfLookup(c *Context, m *program.Map, args []string) error {
	key, rest, err := bpfData("key", int(m.Spec.KeySize), args)
	if err := bpfEnd(rest, err); err != nil {
		return err
	}
	value := make([]byte, m.Spec.ValueSize)
	return onAnyTable(m, func(cpu int) error {
		err := m.Lookup(cpu, key, value)
		if err == nil {
			printEntry(c.Out, m, cpu, key, value)
		}
		return err
	})
}

// onAnyTable calls f for each table of a map. The error is that of the last one, if none has what is wanted.
func onAnyTable(m *program.Map, f func(cpu int) error) (err error) {
	done := false
	for cpu := range m.Tables() {
		err = f(cpu)
		done = done || err == nil
	}
	if done {
		return nil
	}
	return err
}

func bpfUpdate(m *program.Map, args []string) error {
	key, rest, err := bpfData("key", int(m.Spec.KeySize), args)
	if err != nil {
		return err
	}
	value, rest, err := bpfData("value", int(m.Spec.ValueSize), rest)
	how := uint64(program.Any)
	if err == nil && len(rest) > 0 {
		i := slices.Index([]string{"any", "noexist", "exist"}, rest[0])
		if i < 0 {
			return Usagef("%q is none of any, noexist, exist", rest[0])
		}
		how, rest = uint64(i), rest[1:]
	}
	if err := bpfEnd(rest, err); err != nil {
		return err
	}
	for cpu := range m.Tables() {
		if err := m.Update(cpu, key, value, how); err != nil {
			return err
		}
	}
	return nil
}

func bpfDelete(m *program.Map, args []string) error {
	key, rest, err := bpfData("key", int(m.Spec.KeySize), args)
	if err := bpfEnd(rest, err); err != nil {
		return err
	}
	return onAnyTable(m, func(cpu int) error { return m.Delete(cpu, key) })
}
