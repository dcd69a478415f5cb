package vdso

import (
	"unsafe"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/linux/space"
)

// A VDSO is the object and its data, which all programs share. It is never freed.
type VDSO struct{ data, object page }

// page is the content of one page: a backing.Store.
type page struct {
	name  string
	pool  *frame.Pool
	frame frame.Frame
}

// New makes the pages. See Object about release.
//
// Errors: frame.ErrNoMemory.
func New(pool *frame.Pool, d Data, release uint32) (*VDSO, error) {
	data, err := newPage(pool, "[vvar]", unsafe.Slice((*byte)(unsafe.Pointer(&d)), unsafe.Sizeof(d)))
	if err != nil {
		return nil, err
	}
	object, err := newPage(pool, "[vdso]", Object(release))
	if err != nil {
		pool.Put(data.frame)
		return nil, err
	}
	return &VDSO{data, object}, nil
}

func newPage(pool *frame.Pool, name string, content []byte) (page, error) {
	f, err := pool.Alloc()
	if err == nil {
		copy(pool.Bytes(f), content)
	}
	return page{name, pool, f}, err
}

// Map maps the pages into s, and returns the address of the object.
//
// Errors: those of Space.Map.
func (v *VDSO) Map(s *space.Space) (uint64, error) {
	at, err := s.Map(0, 2*pageSize, space.Read, 0, &v.data, 0)
	if err != nil {
		return 0, err
	}
	return s.Map(at+pageSize, pageSize, space.Read|space.Exec, space.Fixed, &v.object, 0)
}

func (p *page) Frame(n uint64) (frame.Frame, error) {
	if n != 0 {
		return frame.None, backing.ErrBus
	}
	p.pool.Ref(p.frame)
	return p.frame, nil
}

func (p *page) Hold() {}
func (p *page) Drop() {}

// Ident implements backing.Store: the name is Linux's.
func (p *page) Ident() backing.Ident { return backing.Ident{Name: p.name} }
