package explain

import (
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/kprobes"
	"sonde/optprobe"
)

// Place is a place in the code.
type Place struct {
	kprobes.Description
	Fn   optprobe.Function // as the image has it
	Live []byte            // what stands there now, as far as the region goes
	On   bool              // debug.kprobes-optimization

	// Name returns the symbol that addr lies in and where it begins; "": none.
	Name func(addr uint64) (name string, base uint64)

	// What the function takes and gives, and where: p []uint8 BX CX DI. Signed: it is known.
	Args, Results []string
	Signed        bool

	// Set by Judge.
	Size int                 // of the region, in bytes
	Why  []optprobe.Obstacle // why no jump can replace it
	scan optprobe.Scan

	Layout Layout // of the detour that the probe has or would get; zero if there can be none
}

// Layout is a detour from its first instruction on.
type Layout struct {
	Entry  uint64 // where the jump leads
	Resume uint64 // where the copy begins
	Slow   uint64 // where the code begins that has the program in it, if there is any
	Fused  uint64 // where that is entered
	Past   uint64 // where it ends
	Apart  []byte // it, if it is no part of Code
	Len    uint64 // bytes of the function that the copy executes or the jump replaces
	Code   []byte
}

// Judge makes the safety check, which says how long the region is.
func (p *Place) Judge() {
	p.scan.Read(p.Fn)
	p.Size, p.Why = p.scan.Explain(nil, p.off())
}

// off is the offset in the function.
func (p *Place) off() int { return int(uint64(p.Addr) - p.Fn.Addr) }

// region returns the region's original bytes.
func (p *Place) region() []byte { return p.Fn.Code[p.off():][:p.Size] }

// asm returns the instruction that code begins with, at address addr, as text.
func (p *Place) asm(addr uint64, code []byte) (insn.Inst, string) {
	f := listing.Function{Addr: p.Fn.Addr, Size: uint64(len(p.Fn.Code)), Name: p.Name}
	return f.Asm(addr, code)
}

// against is all that stands against a jump, always or at the moment.
func (p *Place) against() (all []string) {
	for _, o := range p.Why {
		all = append(all, o.String())
	}
	for _, s := range p.blockers() {
		all = append(all, "at the moment: "+s)
	}
	return all
}

// blockers are what keeps the jump out at the moment and may change.
func (p *Place) blockers() (list []string) {
	if !p.On {
		list = append(list, "sysctl debug.kprobes-optimization is 0")
	}
	if p.NoJump != "" {
		list = append(list, p.NoJump)
	}
	for _, n := range p.Near {
		if d := uint64(n.Addr - p.Addr); n.Addr > p.Addr && d < max(uint64(p.Size), p.Layout.Len) {
			list = append(list, "another probe is at "+listing.Offset(int(n.Addr-p.Func)))
		}
	}
	return list
}

// verdict says in a line how the place is or would be hit.
func (p *Place) verdict() string {
	blocked := len(p.blockers()) > 0
	switch {
	case len(p.Probes) == 0 && len(p.Why) == 0 && !blocked:
		return "Not probed. A probe here would be hit by a JUMP."
	case len(p.Probes) == 0:
		return "Not probed. A probe here would be hit by an INT3: see WHY NOT."
	case p.Fused:
		return "Probed and hit by a JUMP to the program itself: [OPTIMIZED], fused."
	case p.Stub != nil:
		return "Probed and hit by an INT3 that leads to the program itself: fused. No jump: see WHY NOT."
	case p.Jumped && p.Unfit != "":
		return "Probed and hit by a JUMP: [OPTIMIZED]. Not fused: " + p.Unfit + "."
	case p.Jumped:
		return "Probed and hit by a JUMP: [OPTIMIZED]."
	case !p.Armed:
		return "Probed, but not armed: all its probes are disabled."
	case len(p.Why) > 0 || blocked:
		return "Probed and hit by an INT3: see WHY NOT."
	}
	return "Probed and hit by an INT3. The optimizer makes it a jump in its next round."
}
