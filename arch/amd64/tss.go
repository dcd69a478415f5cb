package amd64

// TSSSize is the size of a TSS without an I/O bitmap.
const TSSSize = 104

// Word64 is a 64-bit field that is only 4-byte aligned in a TSS, which Go
// cannot say with a uint64.
type Word64 struct{ Lo, Hi uint32 }

// Set stores v.
func (w *Word64) Set(v uint64) { w.Lo, w.Hi = uint32(v), uint32(v>>32) }

// Get loads the field.
func (w *Word64) Get() uint64 { return uint64(w.Lo) | uint64(w.Hi)<<32 }

// TSS is the 64-bit task-state segment in memory. It must not cross a page boundary: entry pages
// are mapped one by one.
//
// Source: Intel SDM vol. 3A, "Task Management in 64-bit Mode".
type TSS struct {
	_    uint32
	RSP  [3]Word64 // stacks of rings 0 to 2
	_    [2]uint32
	IST  [7]Word64 // IST[0] is the manual's IST1
	_    [2]uint32
	_    uint16
	IOPB uint16 // TSSSize or more: no I/O bitmap, ports are for ring 0 only
}

// SetIST stores the top of interrupt stack n, 1 to 7 as in a Gate; others are
// ignored.
func (t *TSS) SetIST(n int, top uint64) {
	if n >= 1 && n <= len(t.IST) {
		t.IST[n-1].Set(top)
	}
}
