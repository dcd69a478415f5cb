package sysbpf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"sync"
	"syscall"

	"sonde/kernel/printk"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

// Process is what a call needs of the process that makes it.
type Process interface {
	// In and Out copy from and to its memory. Errors: EFAULT.
	In(b []byte, addr uint64) error
	Out(addr uint64, b []byte) error
	// Hold returns the file of a descriptor, which the caller closes. Errors: EBADF.
	Hold(fd int) (*vfs.File, error)
	// Install gives a file a descriptor, which exec closes. Errors: EMFILE; the file is closed then.
	Install(f *vfs.File) (uint64, error)
	// Charge counts the bytes of a map that the process makes, until the function that is returned is called.
	// Errors: EPERM it may not have so many.
	Charge(n int) (release func(), err error)
	// Path returns the path at an address in full, which needs not exist.
	Path(addr uint64) (string, error)
	// Name is the process's, for the log.
	Name() string
	// Wanted reports whether the process has something else to do: a call that takes long ends then.
	Wanted() bool
}

// attrSize is how many bytes of union bpf_attr are known.
const attrSize = 144

// pageSize bounds what a process says the size of its arguments is.
const pageSize = 4096

// call is a call that is being made.
type call struct {
	Process
	attr [attrSize]byte // arguments, by offset in union bpf_attr
	at   uint64         // where they are in the process
	size int            // bytes that the process has given
}

// command is one of the first argument's values.
type command struct {
	name string
	end  int // bytes of the arguments that it knows
	run  func(c *call) (uint64, error)
}

// commands are by Linux's numbers. Those without a function are not there.
//
// Source: Linux, uapi/linux/bpf.h, enum bpf_cmd.
var commands = [...]command{
	0: {"MAP_CREATE", 72, mapCreate}, 1: {"MAP_LOOKUP_ELEM", 32, onMap(forRead, mapLookup)}, 2: {"MAP_UPDATE_ELEM", 32, onMap(forWrite, mapUpdate)},
	3: {"MAP_DELETE_ELEM", 16, onMap(forWrite, mapDelete)}, 4: {"MAP_GET_NEXT_KEY", 24, onMap(forRead, mapNextKey)}, 5: {"PROG_LOAD", 144, progLoad},
	6: {"OBJ_PIN", 16, objPin}, 7: {"OBJ_GET", 16, objGet}, 10: {"PROG_TEST_RUN", 76, onProgram(0, progRun)},
	11: {"PROG_GET_NEXT_ID", 8, progNextID}, 12: {"MAP_GET_NEXT_ID", 8, mapNextID}, 13: {"PROG_GET_FD_BY_ID", 4, progByID},
	14: {"MAP_GET_FD_BY_ID", 12, mapByID}, 15: {"OBJ_GET_INFO_BY_FD", 16, objInfo}, 17: {"RAW_TRACEPOINT_OPEN", 12, onProgram(8, linkRaw)},
	19: {"BTF_GET_FD_BY_ID", 4, btfFDByID}, 23: {"BTF_GET_NEXT_ID", 8, btfNextID},
	28: {"LINK_CREATE", 64, onProgram(0, linkCreate)}, 29: {"LINK_UPDATE", 16, linkUpdate}, 30: {"LINK_GET_FD_BY_ID", 4, linkByID},
	31: {"LINK_GET_NEXT_ID", 8, linkNextID}, 32: {"ENABLE_STATS", 4, enableStats}, 34: {"LINK_DETACH", 4, linkDetach},
	18: {"BTF_LOAD", 32, btfLoad}, 21: {"MAP_LOOKUP_AND_DELETE_ELEM", 32, onMap(forBoth, mapTake)}, 22: {"MAP_FREEZE", 4, onMap(forAny, mapFreeze)},
	24: {"MAP_LOOKUP_BATCH", batchEnd, mapLookupBatch}, 25: {"MAP_LOOKUP_AND_DELETE_BATCH", batchEnd, mapTakeBatch},
	26: {"MAP_UPDATE_BATCH", batchEnd, onEntries((*batch).updateOne)}, 27: {"MAP_DELETE_BATCH", batchEnd, onEntries((*batch).removeOne)},
	8: {name: "PROG_ATTACH"}, 9: {name: "PROG_DETACH"}, 16: {name: "PROG_QUERY"}, 20: {name: "TASK_FD_QUERY"},
	33: {name: "ITER_CREATE"}, 35: {name: "PROG_BIND_MAP"}, 36: {name: "TOKEN_CREATE"},
}

// Call executes the command cmd with the size bytes of arguments at attr.
//
// Context: goroutine of the process.
// Errors: EINVAL the command, or an argument that it does not know; E2BIG there is more than is known here, and
// it is not 0; EFAULT; those of the command.
func Call(p Process, cmd int, attr uint64, size int) (uint64, error) {
	c := &call{Process: p, at: attr, size: size}
	if err := c.read(); err != nil {
		return 0, err
	}
	if cmd < 0 || cmd >= len(commands) || commands[cmd].run == nil {
		return 0, c.missing(cmp.Or(CommandName(cmd), fmt.Sprintf("command %d", cmd)))
	}
	if !zero(c.attr[commands[cmd].end:]) {
		return 0, refusal.New(syscall.EINVAL, "%s: an argument behind byte %d is not known", commands[cmd].name, commands[cmd].end)
	}
	return commands[cmd].run(c)
}

// CommandName is Linux's name of a command without BPF_, also of one that is not there; "" if there is none.
func CommandName(cmd int) string {
	if cmd < 0 || cmd >= len(commands) {
		return ""
	}
	return commands[cmd].name
}

// read copies the arguments.
func (c *call) read() error {
	if c.size < 0 || c.size > pageSize {
		return refusal.New(syscall.E2BIG, "%d bytes of arguments: at most %d are read", c.size, pageSize)
	}
	all := make([]byte, c.size)
	if err := c.In(all, c.at); err != nil {
		return err
	}
	if n := copy(c.attr[:], all); !zero(all[n:]) {
		return refusal.New(syscall.E2BIG, "arguments behind byte %d are not known", attrSize)
	}
	return nil
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// u32, u64 and fd return the argument at an offset.
func (c *call) u32(off int) uint32 { return binary.LittleEndian.Uint32(c.attr[off:]) }
func (c *call) u64(off int) uint64 { return binary.LittleEndian.Uint64(c.attr[off:]) }
func (c *call) fd(off int) int     { return int(int32(c.u32(off))) }

// put32 stores a result among the arguments in the process, if it has given so many.
func (c *call) put32(off int, v uint32) error {
	if off+4 > c.size {
		return nil
	}
	return c.Out(c.at+uint64(off), binary.LittleEndian.AppendUint32(nil, v))
}

// in copies n bytes of the process. The caller has bounded n.
func (c *call) in(addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	return b, c.In(b, addr)
}

// nameMost is how many bytes a name has, with the zero at its end.
const nameMost = 16

// name returns the name at an offset.
//
// Errors: EINVAL it has no end, or other than letters, digits, _ and .
func (c *call) name(off int) (string, error) {
	b := c.attr[off : off+nameMost]
	for i, ch := range b {
		switch {
		case ch == 0 && zero(b[i:]):
			return string(b[:i]), nil
		case ch != '_' && ch != '.' && (ch < '0' || ch > '9') && (ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z'):
			return "", refusal.New(syscall.EINVAL, "%q is not a name: give letters, digits, _ and .", b)
		}
	}
	return "", refusal.New(syscall.EINVAL, "%q is not a name: at most %d bytes", b, nameMost-1)
}

// said is what was asked for and is not there: each is said once, and no more than so many.
var said struct {
	sync.Mutex
	all map[string]bool
}

const saidMost = 128

// missing says once that something is not there, and returns EINVAL.
func (c *call) missing(what string) error {
	if isNew(what) {
		printk.Info("bpf: %s asks for %s, which is not there", c.Name(), what)
	}
	return refusal.New(syscall.EINVAL, "%s is not there", what)
}

// isNew notes what was asked for, and reports whether it is to be said.
func isNew(what string) bool {
	said.Lock()
	defer said.Unlock()
	if said.all[what] || len(said.all) == saidMost {
		return false
	}
	if said.all == nil {
		said.all = map[string]bool{}
	}
	said.all[what] = true
	return true
}

// done is the result of a command that returns only an error.
func done(err error) (uint64, error) { return 0, err }
