package program

import (
	"strconv"
	"strings"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
)

// Assemble makes a program of text: instructions in the notation of package bpf, and before them a line
// for each map, whose index is its place:
//
//	map NAME TYPE KEYBYTES VALUEBYTES ENTRIES
//
// The maps are the caller's to close.
//
// Errors: EINVAL the text, with the line; those of NewMap.
func Assemble(name, text string) (p *bpf.Program, maps []*Map, err error) {
	defer func() {
		if err != nil {
			for _, m := range maps {
				m.Close()
			}
			p, maps = nil, nil
		}
	}()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "map" {
			continue
		}
		lines[i] = ""
		s, err := specOf(fields[1:])
		if err != nil {
			return nil, maps, refusal.New(syscall.EINVAL, "line %d: %v", i+1, err)
		}
		m, err := NewMap(s)
		if err != nil {
			return nil, maps, err
		}
		maps = append(maps, m)
	}
	insns, err := bpf.Assemble(strings.Join(lines, "\n"))
	if err != nil {
		return nil, maps, refusal.New(syscall.EINVAL, "%v", err)
	}
	p = &bpf.Program{Name: name, Type: bpf.Kprobe, Insns: insns}
	for _, m := range maps {
		p.Maps = append(p.Maps, &m.Spec)
	}
	return p, maps, nil
}

// kinds are the maps that can be written in a program's text.
var kinds = []bpf.MapType{bpf.Hash, bpf.Array, bpf.PerCPUHash, bpf.PerCPUArray, bpf.LRUHash, bpf.LRUPerCPUHash, bpf.LPMTrie, bpf.Queue, bpf.Stack, bpf.StackTrace,
	bpf.PerfEventArray, bpf.RingBuf, bpf.ProgArray}

func specOf(fields []string) (s bpf.MapSpec, err error) {
	if len(fields) != 5 {
		return s, refusal.New(syscall.EINVAL, "give map NAME TYPE KEYBYTES VALUEBYTES ENTRIES")
	}
	s.Name = fields[0]
	var names []string
	for _, k := range kinds {
		if names = append(names, k.String()); k.String() == fields[1] {
			s.Type = k
		}
	}
	if s.Type == 0 {
		return s, refusal.New(syscall.EINVAL, "%q is not a type of map: give one of %s", fields[1], strings.Join(names, ", "))
	}
	for i, to := range []*uint32{&s.KeySize, &s.ValueSize, &s.MaxEntries} {
		n, err := strconv.ParseUint(fields[2+i], 10, 32)
		if err != nil {
			return s, refusal.New(syscall.EINVAL, "%q is not a number of bytes or entries", fields[2+i])
		}
		*to = uint32(n)
	}
	return s, nil
}
