package tracefs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"sonde/kallsyms"
)

// appendRecord appends a record as a line of trace. Called with mu held.
func appendRecord(to []byte, r record) []byte {
	comm, body := cString(r.data[:recordAt]), r.data[recordAt:]
	if len(body) < commonSize {
		return to
	}
	if comm == "swapper" {
		comm = "<idle>"
	}
	pid := int32(binary.LittleEndian.Uint32(body[4:]))
	to = fmt.Appendf(to, "%16s-%-7d [%03d] ..... %5d.%06d: ", comm, pid, r.cpu, r.when/1e9, r.when%1e9/1e3)
	id := r.id()
	if id == stackID {
		return appendStack(append(to, "<stack trace>\n"...), body)
	}
	e := byID(id)
	if e == nil {
		return append(to, "Unknown type "+strconv.Itoa(id)+"\n"...)
	}
	return append(e.appendBody(to, body), '\n')
}

func cString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

// appendBody appends an event's name and its fields.
func (e *event) appendBody(to, body []byte) []byte {
	switch {
	case e == printEvent:
		return append(append(to, "tracing_mark_write: "...), strings.TrimSuffix(cString(body[16:]), "\n")...)
	case e.system == "syscalls" && len(e.probes) == 0:
		return e.appendCall(to, body)
	}
	to = append(append(to, e.name...), ':')
	fields := e.fields
	if len(e.probes) > 0 {
		user := e.probes[0].user
		switch e.kind() {
		case 'p':
			to = append(append(append(to, " ("...), place(fields[0].number(body, 0), user, true)...), ')')
			fields = fields[1:]
		case 'r':
			to = append(append(append(to, " ("...), place(fields[1].number(body, 0), user, true)...), " <- "...)
			to = append(append(to, place(fields[0].number(body, 0), user, false)...), ')')
			fields = fields[2:]
		}
	}
	for i := range fields {
		to = append(append(append(to, ' '), fields[i].Name...), '=')
		to = fields[i].append(to, body, len(e.probes) > 0)
	}
	return to
}

// appendCall appends a system call as Linux prints one.
func (e *event) appendCall(to, body []byte) []byte {
	name := strings.Replace(strings.Replace(e.name, "sys_enter_", "sys_", 1), "sys_exit_", "sys_", 1)
	to = append(to, name...)
	if strings.HasPrefix(e.name, "sys_exit_") {
		return fmt.Appendf(to, " -> %#x", e.fields[len(e.fields)-1].number(body, 0))
	}
	to = append(to, '(')
	for i := range e.fields[1:] {
		if i > 0 {
			to = append(to, ", "...)
		}
		to = fmt.Appendf(to, "%s: %x", e.fields[1+i].Name, e.fields[1+i].number(body, 0))
	}
	return append(to, ')')
}

// number is the i-th number of a field.
func (f *field) number(body []byte, i int) uint64 {
	size := f.Size / max(1, f.Count)
	at := f.Offset + i*size
	if at+size > len(body) {
		return 0
	}
	var word [8]byte
	copy(word[:], body[at:at+size])
	v := binary.LittleEndian.Uint64(word[:])
	if f.Signed && size < 8 {
		shift := 64 - 8*size
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

// string is a field's text; false: it could not be read.
func (f *field) string(body []byte, i int) (string, bool) {
	at, room := f.at, f.room
	if f.Loc {
		where := uint32(0)
		if f.Offset+4*i+4 <= len(body) {
			where = binary.LittleEndian.Uint32(body[f.Offset+4*i:])
		}
		if at, room = int(where&0xffff), int(where>>16); room == 0 {
			return "", false
		}
	}
	if at > len(body) {
		return "", false
	}
	return cString(body[at:min(len(body), at+room)]), true
}

// append appends a field's value. quoted says how texts of probes are.
func (f *field) append(to, body []byte, quoted bool) []byte {
	if f.Count > 0 {
		to = append(to, '{')
	}
	for i := range max(1, f.Count) {
		if i > 0 {
			to = append(to, ',')
		}
		if !f.text {
			to = f.appendNumber(to, f.number(body, i))
			continue
		}
		switch text, ok := f.string(body, i); {
		case !ok:
			to = append(to, "(fault)"...)
		case quoted:
			to = append(append(append(to, '"'), text...), '"')
		default:
			to = append(to, text...)
		}
	}
	if f.Count > 0 {
		to = append(to, '}')
	}
	return to
}

func (f *field) appendNumber(to []byte, v uint64) []byte {
	switch f.base {
	case 's':
		return strconv.AppendInt(to, int64(v), 10)
	case 'x':
		return append(append(to, "0x"...), strconv.FormatUint(v, 16)...)
	case 'c':
		return append(to, '\'', byte(v), '\'')
	case 'p':
		return append(to, place(v, false, true)...)
	}
	return strconv.AppendUint(to, v, 10)
}

// place names an address: NAME+0xOFFSET/0xSIZE of the kernel, a number of a program.
func place(addr uint64, user, offset bool) string {
	if table := kallsyms.Kernel(); !user && table != nil {
		if name, off, size, ok := table.Lookup(addr); ok {
			if name = inC(addr-off, name); !offset {
				return name
			}
			return fmt.Sprintf("%s+%#x/%#x", name, off, size)
		}
	}
	return fmt.Sprintf("%#x", addr)
}

// cNames are the names that tools know, by address: Linux's where there is one, or else that which C allows.
var cNames = sync.OnceValue(func() map[uint64]string {
	all := map[uint64]string{}
	for _, a := range kallsyms.Kernel().Aliases() {
		if old := all[a.Symbol.Addr]; old == "" || a.Linux && !isLinux(old) {
			all[a.Symbol.Addr] = a.Name
		}
	}
	return all
})

func isLinux(name string) bool { _, ok := kallsyms.Linux(name); return ok }

func inC(addr uint64, name string) string {
	if c := cNames()[addr]; c != "" {
		return c
	}
	return name
}

// appendStack appends a stack, a line for each call.
func appendStack(to, body []byte) []byte {
	for at := commonSize; at+8 <= len(body); at += 8 {
		addr := binary.LittleEndian.Uint64(body[at:])
		if addr == 0 {
			break
		}
		name, _, _ := strings.Cut(place(addr, false, true), "/")
		to = append(append(append(to, " => "...), name...), '\n')
	}
	return to
}

const traceHead = `#
# entries-in-buffer/entries-written: %d/%d   #P:%d
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
`

// text is what the file trace says of records. Called with mu held.
func text(records []record, written uint64) []byte {
	to := append([]byte("# tracer: nop\n"), fmt.Sprintf(traceHead, len(records), written, numCPU())...)
	for _, r := range records {
		to = appendRecord(to, r)
	}
	return to
}
