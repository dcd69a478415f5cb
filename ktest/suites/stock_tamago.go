//go:build tamago

package suites

import (
	"bytes"

	"sonde/arch/amd64/paging"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/kernel/module"
	"sonde/kernel/text"
	"sonde/kernel/vfs"
	"sonde/kprobes"
)

// pristine is the kernel's text before the cases.
var pristine []byte

func prepareStock() {
	if pristine == nil {
		pristine = bytes.Clone(kernelText())
	}
}

func init() {
	counts = append(counts,
		// Page-table pages: they come from a region that only shrinks, so any
		// mapping a case made shows here.
		count{name: "pages", now: func() int { return int(mm.Tables.Next / paging.PageSize) }},
		count{name: "frames", now: frames},
		count{name: "slots", now: func() int { return kprobes.Slots().Used() }},
		count{name: "modules", now: func() int { return len(module.Loaded()) }},
		// Bytes of text that differ: a probe that is still armed is one.
		count{name: "text", now: TextChanged},
	)
}

// frames returns how many page frames are in use, without those of files' contents: what has been
// read of an archive stays.
func frames() int {
	return frame.Kernel.Stats().Used - vfs.Root.Frames()
}

// TextChanged returns how many bytes of kernel text are not as before the first
// case.
func TextChanged() (n int) {
	now := kernelText()
	if bytes.Equal(now, pristine) {
		return 0
	}
	for i := range now {
		if now[i] != pristine[i] {
			n++
		}
	}
	return n
}

func kernelText() []byte { return text.Bytes(mm.Text.Start, mm.Text.End-mm.Text.Start) }
