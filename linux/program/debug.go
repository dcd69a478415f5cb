package program

import (
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// maxDebug is how many bytes Debug reads at most.
const maxDebug = 32 << 20

// Debug returns the sections in which compilers describe a program: those whose names begin with ".debug_", and
// ".gnu_debuglink", which names the file that has them.
//
// Those of a file that has them for the program come in its place.
//
// Errors: EFBIG they are larger than 32 MiB; EOPNOTSUPP they are compressed.
func (f *File) Debug() (all map[string][]byte, err error) {
	if f.split != "" && withObject(f.split, func(o *object) bool {
		all, err = o.debug()
		return true
	}) {
		return all, err
	}
	return f.elf.debug()
}

func (o *object) debug() (map[string][]byte, error) {
	all, total := map[string][]byte{}, uint64(0)
	for i := range o.sections {
		s := &o.sections[i]
		if !strings.HasPrefix(s.name, ".debug_") && s.name != ".gnu_debuglink" || s.kind == secNoBits {
			continue
		}
		if s.flags&secCompressed != 0 {
			return nil, refusal.New(syscall.EOPNOTSUPP, "its section %s is compressed: objcopy --decompress-debug-sections unpacks it", s.name)
		}
		if s.size > maxDebug || total+s.size > maxDebug {
			return nil, refusal.New(syscall.EFBIG, "what its compiler says of it has more than %d MiB", maxDebug>>20)
		}
		total += s.size
		all[s.name] = o.data(s)
	}
	return all, nil
}
