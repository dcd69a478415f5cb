package program

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
)

// TestRingsInMaps: a record of a ring buffer that a process has made ends as such, also if the ring was found in a
// map; and no map has rings of both kinds in it.
func TestRingsInMaps(t *testing.T) {
	const text = `
	r2 = r10
	r2 += -4
	*(u32 *)(r2 + 0) = 0
	r1 = map[idx:0]
	call 1
	if r0 == 0 goto out
	r1 = r0
	r2 = 8
	r3 = 0
	call 131
	if r0 == 0 goto out
	r1 = r0
	r2 = 0
	call 132
out:	r0 = 0
	exit`
	spec := bpf.MapSpec{Name: "ring", Type: bpf.RingBuf, MaxEntries: 4096}
	ours := newMap(t, spec)
	theirs, err := NewProcessMap(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	outer, err := NewProcessMap(bpf.MapSpec{Name: "outer", Type: bpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 1, Inner: &spec}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	if err := outer.Put(key4(0), ours); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a ring of the kernel in a process's map: %v", err)
	}
	if err := outer.Put(key4(0), theirs); err != nil {
		t.Error(err)
	}
	p := mustLoad(t, bpf.Kprobe, text, outer)
	defer p.Close()
	submit := slices.IndexFunc(p.Checked.Insns, func(in bpf.Insn) bool {
		return in.Class() == bpf.JMP && in.Operation() == bpf.Call && in.Imm == submitRecord
	})
	if h, err := p.helper(submit, submitRecord); err != nil || h.Entry != goabi.CodeOf(helpSubmitShared) {
		t.Errorf("the record ends as one of the kernel's rings: %v", err)
	}
	if _, err := loadText(t, bpf.Kprobe, text, outer, ours); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a program with rings of both kinds: %v", err)
	}
}
