package replay

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/listing"
	"sonde/probe/glass"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	funcAt   = 0xffffffff84101a20
	callerAt = 0xffffffff84100046
	trampAt  = 0xffffffff841fc800
	handler  = 0xffffffff84300000
	slotAt   = 0xffffffff85000000
	resumeAt = 0xffffffff85100382
	stackAt  = 0xffffffc000217548
)

// names are the symbols of the takes.
var names = []struct {
	name string
	base uint64
	size uint64
}{
	{"sonde/kernel/vfs.Read", funcAt, 0x1be}, {"sonde/kernel/vfs.(*File).ReadWait", callerAt - 0x46, 0x100},
	{"sonde/kprobes.trampoline", trampAt, 0x400}, {"sonde/examples.handlerPre", handler, 0x40},
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// take is a take of vfs.Read without frames.
func take() *Take {
	return &Take{
		Addr: funcAt, Func: funcAt, FuncSize: 0x1be, Slot: slotAt, Hit: 2, Complete: true, Explain: "TIERS\n\t\"quoted\"",
		Original: unhex("493b6610 0f867e010000 55 4889e5 488d"),
		Symbol: func(addr uint64) (string, uint64, bool) {
			for _, n := range names {
				if addr-n.base < n.size {
					return n.name, n.base, true
				}
			}
			return "", 0, false
		},
		Line: func(addr uint64) (string, int) {
			if addr-funcAt < 0x1be {
				return "kernel/vfs/io.go", 17
			}
			return "", 0
		},
		Nanos:    func(tsc uint64) int64 { return int64(tsc) },
		Accessor: func(ip uint64) uint64 { return ip - 4 },
	}
}

// add appends a frame, with the registers of the one before, changed by change.
func (t *Take) add(stage glass.Stage, ns uint64, text string, change func(f *glass.Frame)) {
	f := glass.Frame{Has: glass.HasRegs | glass.HasText | glass.HasCode, Words: 2}
	if n := len(t.Frames); n > 0 {
		f = t.Frames[n-1]
	} else {
		for i := range f.Regs {
			f.Regs[i] = uint64(i)
		}
		f.Regs[sp], f.Regs[glass.IP], f.Regs[glass.Flags] = stackAt, funcAt+1, 0x212
		f.Stack = [glass.StackWords]uint64{callerAt, 0x1001}
	}
	f.Stage, f.Time, f.CPU, f.Goroutine, f.Note = stage, f.Time+ns, 1, 23, [2]uint64{}
	copy(f.Text[:], unhex(text))
	if change != nil {
		change(&f)
	}
	t.Frames = append(t.Frames, f)
}

const (
	int3Text = "cc3b66100f867e0100005548 89e5488d"
	jumpText = "e9c3099d01867e0100005548 89e5488d"
)

// stepped is a hit by INT3 with a single step.
func stepped() *Take {
	t := take()
	t.add(glass.Trapped, 0, int3Text, nil)
	t.add(glass.Enters, 300, int3Text, func(f *glass.Frame) { f.Handler = handler })
	t.add(glass.Returned, 12_345, int3Text, func(f *glass.Frame) { f.Handler = handler })
	t.add(glass.ToStep, 400, int3Text, func(f *glass.Frame) {
		f.Regs[glass.IP], f.Regs[glass.Flags] = slotAt, 0x112
		copy(f.Code[:], unhex("493b6610e91b1a10ff"))
	})
	t.add(glass.Stepped, 700, int3Text, func(f *glass.Frame) {
		f.Regs[glass.IP], f.Regs[glass.Flags] = slotAt+4, 0x106
		copy(f.Code[:], unhex("e91b1a10ff"))
	})
	t.add(glass.PutBack, 200, int3Text, func(f *glass.Frame) {
		f.Regs[glass.IP], f.Regs[glass.Flags] = funcAt+4, 0x206
		copy(f.Code[:], unhex("0f867e010000"))
	})
	return t
}

// returned is a hit by a jump of a return probe, with a nested hit and an abandoned handler, not over.
func returned() *Take {
	t := take()
	t.Resume, t.Back, t.Complete, t.Lost = resumeAt, funcAt+10, false, 3
	t.add(glass.Jumped, 0, jumpText, nil)
	t.add(glass.Replaced, 500, jumpText, func(f *glass.Frame) { f.Note, f.Stack[0] = [2]uint64{stackAt, callerAt}, trampAt })
	t.add(glass.Nested, 100, jumpText, func(f *glass.Frame) { f.Has, f.Note[0] = 0, callerAt })
	t.Frames[2].Goroutine = 0
	t.add(glass.ToDetour, 100, jumpText, func(f *glass.Frame) {
		*f = t.Frames[1]
		f.Stage, f.Time, f.Note, f.Regs[glass.IP] = glass.ToDetour, 700, [2]uint64{}, resumeAt
		copy(f.Code[:], unhex("55 4889e5"))
	})
	t.add(glass.Trampoline, 15_700, jumpText, func(f *glass.Frame) {
		f.Regs[glass.IP], f.Regs[0], f.Regs[sp], f.Has = trampAt, 0x1234, stackAt+8, f.Has&^glass.HasCode
		f.Stack = [glass.StackWords]uint64{0x1001, 0x1002}
	})
	t.add(glass.Abandoned, 900, jumpText, func(f *glass.Frame) {
		f.Handler, f.Note[0] = handler, glass.Return
		copy(f.Why[:], "channel operation: send")
	})
	return t
}

// watched is a hit of a watchpoint, which an instruction of vfs.Read has caused.
func watched() *Take {
	t := take()
	t.Addr, t.Watch, t.Slot, t.Original = 0xffffffff86000010, "w@vfs.count:8", 0, nil
	behind := func(f *glass.Frame) {
		f.Has &^= glass.HasText
		f.Handler, f.Regs[glass.IP] = handler, funcAt+14
		copy(f.Code[:], unhex("4889e5"))
	}
	t.add(glass.Watched, 0, int3Text, func(f *glass.Frame) { behind(f); f.Note = [2]uint64{5, 2} })
	t.add(glass.Accessed, 200, int3Text, func(f *glass.Frame) {
		behind(f)
		f.Note, f.Probe = [2]uint64{0x10, 0x11}, funcAt+14
	})
	t.add(glass.Enters, 100, int3Text, func(f *glass.Frame) { behind(f); f.Note[0] = glass.Watch })
	t.add(glass.Returned, 300, int3Text, func(f *glass.Frame) { behind(f); f.Note[1] = glass.Watch })
	t.add(glass.GoesOn, 100, int3Text, behind)
	return t
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", path, got, want)
	}
}

// takes are all that is printed in tests; without frames there is nothing to show, but nothing breaks.
var takes = map[string]*Take{"stepped": stepped(), "returned": returned(), "watched": watched(), "empty": take()}

func TestText(t *testing.T) {
	for name, take := range takes {
		var b, slide, json bytes.Buffer
		rec := take.Recording()
		for _, err := range []error{rec.WriteText(&b), rec.WriteSlide(&slide), rec.WriteJSON(&json)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		golden(t, name+".txt", b.Bytes())
		golden(t, name+".slide", slide.Bytes())
		golden(t, name+".json", json.Bytes())
		for line := range strings.Lines(b.String() + slide.String()) {
			if len(line) > listing.Width+1 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
				t.Errorf("%s: not plain text of %d columns: %q", name, listing.Width, line)
			}
		}
		if n := strings.Count(slide.String(), "\n"); n > listing.Height {
			t.Errorf("%s: a slide of %d lines", name, n)
		}
	}
}

// TestEachStageHasWords: in JSON and in the text.
func TestEachStageHasWords(t *testing.T) {
	schema, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for s := glass.Trapped; s <= glass.Leaves; s++ {
		tk := take()
		tk.add(s, 0, int3Text, nil)
		f := tk.Recording().Frames[0]
		if f.Says == "" || f.Stage == "" || seen[f.Stage] || !bytes.Contains(schema, []byte(`"`+f.Stage+`"`)) {
			t.Errorf("stage %d: %q, %q", s, f.Stage, f.Says)
		}
		seen[f.Stage] = true
	}
	if len(stages) != int(glass.Leaves)+1 {
		t.Errorf("%d stages have words", len(stages))
	}
}

// TestOnlyWhatChanges: registers, bytes and stack are shown when they change.
func TestOnlyWhatChanges(t *testing.T) {
	rec := stepped().Recording()
	if n := len(rec.Frames[0].Regs); n != glass.NumRegs {
		t.Errorf("%d registers in the first frame", n)
	}
	for i, want := range []int{glass.NumRegs, 0, 0, 2, 2, 2} {
		f := &rec.Frames[i]
		if len(f.Regs) != want || (f.Text != nil) != (i == 0) || (f.Stack != nil) != (i == 0) {
			t.Errorf("frame %d: %v, text %v, stack %v", i+1, f.Regs, f.Text, f.Stack)
		}
	}
}

func TestTiers(t *testing.T) {
	for _, name := range tierNames[1:] {
		if tier, err := ParseTier(name); err != nil || tierNames[tier] != name {
			t.Errorf("%s: %v, %v", name, tier, err)
		}
	}
	for _, bad := range []string{"", "Step", "trap"} {
		if _, err := ParseTier(bad); err == nil || !strings.Contains(err.Error(), "int3, boost, step") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestEventProgram: what a program has changed is what differs from the frame before it.
func TestEventProgram(t *testing.T) {
	const program = 0xffffffff85700000
	k := take()
	symbol := k.Symbol
	k.Symbol = func(addr uint64) (string, uint64, bool) {
		if addr == program {
			return "bpf_prog_counts [bpf]", program, true
		}
		return symbol(addr)
	}
	run := func(f *glass.Frame) { f.Handler = program }
	k.add(glass.Trapped, 0, int3Text, nil)
	k.add(glass.Enters, 300, int3Text, run)
	k.add(glass.Returned, 300, int3Text, run)
	k.add(glass.Enters, 300, int3Text, run)
	k.add(glass.Returned, 300, int3Text, func(f *glass.Frame) { f.Regs[0], f.Stack[1], f.Handler = 7, 7, program })
	var says []string
	for _, f := range k.Recording().Frames[1:] {
		says = append(says, f.Says)
	}
	const name = "event program bpf_prog_counts "
	want := []string{name + "entered", name + "has run, and changed nothing here", name + "entered", name + "has run, and changed AX, the stack"}
	if !slices.Equal(says, want) {
		t.Errorf("%q", says)
	}
}
