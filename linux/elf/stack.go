package elf

import (
	"encoding/binary"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/linux/space"
)

// Entries of the auxiliary vector.
// Source: System V ABI, AMD64 supplement, "Process Initialization"; Linux, getauxval(3).
const (
	atNull     = 0
	atPhdr     = 3
	atPhent    = 4
	atPhnum    = 5
	atPagesz   = 6
	atBase     = 7
	atFlags    = 8
	atEntry    = 9
	atUID      = 11
	atEUID     = 12
	atGID      = 13
	atEGID     = 14
	atPlatform = 15
	atHWCap    = 16
	atClockTck = 17
	atSecure   = 23
	atRandom   = 25
	atHWCap2   = 26
	atExecfn   = 31
	atSysinfo  = 33 // AT_SYSINFO_EHDR: the vDSO
)

const (
	defaultStrings = 2 << 20
	maxString      = 128 << 10 // of one string, as in Linux
	stackSpare     = 128 << 10 // of the stack is mapped at once; the rest grows
)

// A image is the initial stack, made from its top down.
type image struct {
	top uint64
	b   []byte // what is below top, in reverse order
}

// at is the address of what was pushed last.
func (m *image) at() uint64 { return m.top - uint64(len(m.b)) }

func (m *image) push(p []byte) uint64 {
	for i := len(p) - 1; i >= 0; i-- {
		m.b = append(m.b, p[i])
	}
	return m.at()
}

func (m *image) pushString(s string) uint64 { return m.push(append([]byte(s), 0)) }

// pushStrings pushes them so that the first is lowest, and returns their addresses.
func (m *image) pushStrings(all []string) []uint64 {
	at := make([]uint64, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		at[i] = m.pushString(all[i])
	}
	return at
}

// pushWords pushes them so that the first is lowest.
func (m *image) pushWords(all ...uint64) {
	for i := len(all) - 1; i >= 0; i-- {
		m.push(binary.LittleEndian.AppendUint64(nil, all[i]))
	}
}

// makeStack maps the stack and writes what a program finds there: the number of
// arguments, pointers to them, to the environment, the auxiliary vector, and above
// these what they point to.
func (p *Program) makeStack(s *space.Space, h *header, m mapped, base uint64, execfn string, o Options) error {
	if err := checkStrings(p.Args, o.Env, o.MaxStrings); err != nil {
		return err
	}
	im := &image{top: s.Top()}
	im.pushWords(0)
	name := im.pushString(execfn)
	p.EnvEnd = name
	env := im.pushStrings(o.Env)
	p.EnvStart, p.ArgEnd = im.at(), im.at()
	args := im.pushStrings(p.Args)
	p.ArgStart = im.at()
	platform := im.pushString("x86_64")
	random := im.push(o.Random[:])
	phdr := h.phdr
	if phdr != 0 {
		phdr += m.bias
	}
	auxv := []uint64{
		atSysinfo, p.vdso, atHWCap, o.HWCap, atPagesz, page, atClockTck, 100,
		atPhdr, phdr, atPhent, segmentSize, atPhnum, uint64(h.segments),
		atBase, base, atFlags, 0, atEntry, m.entry,
		atUID, 0, atEUID, 0, atGID, 0, atEGID, 0, atSecure, 0,
		atRandom, random, atHWCap2, o.HWCap2, atExecfn, name, atPlatform, platform, atNull, 0,
	}
	// The stack pointer is a multiple of 16.
	words := 1 + len(args) + 1 + len(env) + 1 + len(auxv)
	im.push(make([]byte, im.at()%16+uint64(words)%2*8))
	im.pushWords(auxv...)
	for _, w := range auxv {
		p.Auxv = binary.LittleEndian.AppendUint64(p.Auxv, w)
	}
	im.pushWords(append(env, 0)...)
	im.pushWords(append(args, 0)...)
	im.pushWords(uint64(len(args)))
	p.SP, p.StackStart = im.at(), im.at()
	return im.write(s, h.stackFlags)
}

// write maps the stack and copies the image into it.
func (m *image) write(s *space.Space, flags uint32) error {
	size := roundUp(uint64(len(m.b))) + stackSpare
	prot := space.Read | space.Write
	if flags&1 != 0 {
		prot |= space.Exec
	}
	if _, err := s.Map(m.top-size, size, prot, space.NoReplace|space.GrowsDown, nil, 0); err != nil {
		return err
	}
	b := make([]byte, len(m.b))
	for i, c := range m.b {
		b[len(b)-1-i] = c
	}
	_, err := s.CopyOut(m.at(), b)
	return err
}

// checkStrings refuses more than fits.
func checkStrings(args, env []string, most uint64) error {
	if most == 0 {
		most = defaultStrings
	}
	total := uint64(0)
	for _, list := range [][]string{args, env} {
		for _, one := range list {
			if len(one) >= maxString {
				return refusal.New(syscall.E2BIG, "an argument of %d bytes", len(one))
			}
			total += uint64(len(one)) + 1 + 8
		}
	}
	if total > most {
		return refusal.New(syscall.E2BIG, "arguments and environment take %d bytes, more than %d", total, most)
	}
	return nil
}
