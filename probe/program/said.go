package program

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"unsafe"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/ring"
)

// maxSaid is how long a text can be that a program says, with the byte at its end.
const maxSaid = 256

// saying is a record of what a program says.
type saying struct {
	ids  uint64 // process and thread, as helper 14 has them
	comm [16]byte
	size uint64
	text [maxSaid]byte
}

// said is the ring of what programs say, for as long as the kernel runs: nil until a program can say
// something.
var (
	said     atomic.Pointer[ring.Ring]
	sayingMu sync.Mutex // held by the code that makes it
)

const saidSpace = 64 << 10 // bytes for each CPU

// canSay makes the ring, if there is none.
func canSay() error {
	sayingMu.Lock()
	defer sayingMu.Unlock()
	if said.Load() != nil {
		return nil
	}
	r, err := ring.New(cpus(), saidSpace)
	if err == nil {
		said.Store(r)
	}
	return err
}

// Said takes the oldest text that a program has said, as a line of trace_pipe without what ends it; false:
// there is none.
func Said() (line string, ok bool) {
	r := said.Load()
	if r == nil {
		return "", false
	}
	rec, ok := r.Take(nil)
	if !ok {
		return "", false
	}
	s := *(*saying)(unsafe.Pointer(unsafe.SliceData(rec.Data))) // Safe because: say writes no others
	comm := s.comm[:]
	for len(comm) > 0 && comm[len(comm)-1] == 0 {
		comm = comm[:len(comm)-1]
	}
	return fmt.Sprintf("%16s-%-7d [%03d] %5d.%06d: bpf_trace_printk: %s", comm, uint32(s.ids), rec.CPU, rec.When/1e9, rec.When%1e9/1e3, bytes.TrimSuffix(s.text[:s.size], []byte("\n"))), true
}

// Unsaid is how many texts were lost, since nothing read those before.
func Unsaid() uint64 {
	if r := said.Load(); r != nil {
		return r.Ledger().Lost
	}
	return 0
}

// Mount makes files under dir, usually /sys/kernel/debug/bpf: reading said takes what programs have said,
// ledger tells what became of their hits, cost what they have cost while they were metered.
func Mount(tree *vfs.FS, dir string) error {
	return tree.BindAll(dir, map[string]vfs.Node{"said": ctl.Print(writeSaid), "ledger": ctl.Print(writeLedger), "cost": ctl.Print(writeCost)})
}

func writeSaid(w io.Writer) {
	for line, ok := Said(); ok; line, ok = Said() {
		fmt.Fprintln(w, line)
	}
	if n := Unsaid(); n > 0 {
		fmt.Fprintf(w, "# lost since boot: %d\n", n)
	}
}
