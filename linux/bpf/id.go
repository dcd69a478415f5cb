package sysbpf

import (
	"slices"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// Commands for numbers: *_GET_NEXT_ID has start_id 0, next_id 4; *_GET_FD_BY_ID the number 0, open_flags 8.

const nextIDAt = 4

func mapNextID(c *call) (uint64, error)  { return c.nextID(idsOf(program.Maps(), mapID)) }
func progNextID(c *call) (uint64, error) { return c.nextID(idsOf(program.Programs(), progID)) }
func linkNextID(c *call) (uint64, error) { return c.nextID(idsOf(program.Links(), linkID)) }
func btfNextID(c *call) (uint64, error)  { return c.nextID(btfIDs()) }

func mapID(m *program.Map) int   { return m.ID }
func progID(p *program.Prog) int { return p.ID }
func linkID(l *program.Link) int { return l.ID }

func idsOf[T any](all []T, id func(T) int) (ids []int) {
	for _, o := range all {
		ids = append(ids, id(o))
	}
	slices.Sort(ids)
	return ids
}

// nextID gives the lowest number above one.
func (c *call) nextID(ids []int) (uint64, error) {
	start := c.u32(0)
	if start >= 1<<31-1 {
		return 0, refusal.New(syscall.EINVAL, "%d is not a number of an object", start)
	}
	i, _ := slices.BinarySearch(ids, int(start)+1)
	if i == len(ids) {
		return 0, refusal.New(syscall.ENOENT, "no object has a number above %d", start)
	}
	return 0, c.put32(nextIDAt, uint32(ids[i]))
}

// held returns the object with a number, which the caller holds then.
//
// Errors: ENOENT.
func held[T program.Object](c *call, all []T, id func(T) int) (o T, err error) {
	want := int(c.u32(0))
	i := slices.IndexFunc(all, func(o T) bool { return id(o) == want })
	if i >= 0 && program.Hold(all[i]) == nil {
		return all[i], nil
	}
	return o, refusal.New(syscall.ENOENT, "no object has the number %d", want)
}

func mapByID(c *call) (uint64, error) {
	flags := c.u32(8)
	if flags&^(readOnly|writeOnly) != 0 || flags == readOnly|writeOnly {
		return 0, refusal.New(syscall.EINVAL, "flags %#x of a descriptor are not known", flags)
	}
	m, err := held(c, program.Maps(), mapID)
	if err != nil {
		return 0, err
	}
	return c.installMap(m, fileFlag(flags))
}

func progByID(c *call) (uint64, error) {
	p, err := held(c, program.Programs(), progID)
	if err != nil {
		return 0, err
	}
	return c.installProg(p)
}

func linkByID(c *call) (uint64, error) {
	l, err := held(c, program.Links(), linkID)
	if err != nil {
		return 0, err
	}
	return c.installLink(foundLink, l, nil)
}

func btfFDByID(c *call) (uint64, error) {
	b, err := btfByID(int(c.u32(0)))
	if err != nil {
		return 0, err
	}
	return c.installBTF(b)
}
