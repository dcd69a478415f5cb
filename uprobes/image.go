package uprobes

import (
	"errors"
	"slices"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/kernel/mm/backing"
	"sonde/kernel/probe"
	"sonde/kernel/vfs"
	"sonde/linux/program"
	"sonde/linux/space"
)

// image is what a program's file says about its code.
type image struct {
	*program.File
	opened *vfs.File
	ident  backing.Ident
	exits  map[uint64]exitsOrNot // results so far, by address
}

// images are those used last, the newest at the end: probes come in groups, and the callers
// of a function are in few files. Guarded by mu.
var images []*image

const manyImages = 4

// imageOf returns the image of the file at path if the file is still the one with that
// ident; nil: nothing is known. mu held.
func imageOf(path string, ident backing.Ident) *image {
	for _, im := range images {
		if im.ident == ident {
			return im
		}
	}
	opened, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return nil
	}
	im := &image{opened: opened}
	if b, err := opened.Backing(); err == nil {
		im.ident = b.Ident()
	}
	if im.ident != ident {
		vfs.Close(opened)
		return nil
	}
	if im.File, err = program.Open(opened); err != nil {
		vfs.Close(opened)
		return nil
	}
	if len(images) == manyImages {
		vfs.Close(images[0].opened)
		images = slices.Delete(images, 0, 1)
	}
	images = append(images, im)
	return im
}

// closeImages forgets all images. mu held.
func closeImages() {
	for _, im := range images {
		vfs.Close(im.opened)
	}
	images = nil
}

// idle forgets the images if nothing is probed.
func idle() {
	mu.Lock()
	defer mu.Unlock()
	if len(tasks) == 0 && len(files) == 0 {
		closeImages()
	}
}

// imageAt returns the image of the file that is mapped at addr, and what to add to the
// file's addresses; nil: nothing is known. mu held.
func imageAt(s *space.Space, addr uint64) (im *image, bias uint64) {
	a, ok := s.At(addr)
	if !ok {
		return nil, 0
	}
	return imageIn(a)
}

// imageIn is imageAt for an address in an area. mu held.
func imageIn(a space.Area) (im *image, bias uint64) {
	if len(a.Ident.Name) == 0 || a.Ident.Name[0] != '/' {
		return nil, 0
	}
	if im = imageOf(a.Ident.Name, a.Ident); im == nil {
		return nil, 0
	}
	bias, ok := im.Bias(a.Start, a.Offset)
	if !ok {
		return nil, 0
	}
	return im, bias
}

// boundary returns an error if it is known that no instruction begins at addr.
//
// Errors: EILSEQ.
func (im *image) boundary(addr uint64) error {
	if im == nil {
		return nil
	}
	err := im.Boundary(addr)
	if errors.Is(err, program.ErrNoFunction) {
		return nil
	}
	return err
}

// checkAt returns the stack check of the Go function that begins at addr, or the zero
// Check.
func (im *image) checkAt(addr uint64) prologue.Check {
	if im == nil || !im.Go() {
		return prologue.Check{}
	}
	s, off, ok := im.At(addr)
	if !ok || off != 0 {
		return prologue.Check{}
	}
	return im.Check(s)
}

// goReturns returns the return instructions of the Go function that begins at addr. ok is
// false if it is not a Go function; then the trampoline can be used.
//
// Go's runtime walks and moves stacks, and throws if it finds a return address that is in
// no function.
//
// Errors: EINVAL no function begins there; EOPNOTSUPP it does not return; EILSEQ.
func goReturns(im *image, addr, bias uint64) (at []uint64, ok bool, err error) {
	if im == nil || !im.Go() {
		return nil, false, nil
	}
	s, off, found := im.At(addr - bias)
	switch {
	case !found || !s.Go:
		return nil, false, nil
	case off != 0:
		return nil, true, probe.Refuse(syscall.EINVAL, "uprobes: %s+%#x is not the beginning of a function", s.Name, off)
	}
	returns, _, err := im.Returns(s)
	if err == nil && len(returns) == 0 {
		err = probe.Refuse(syscall.EOPNOTSUPP, "uprobes: %s has no return instruction", s.Name)
	}
	for _, r := range returns {
		at = append(at, r+bias)
	}
	return at, true, err
}

// hitReturn says that a return instruction of a Go function has been executed.
func (m *member) hitReturn(th *thread, r *amd64.Regs) {
	in := UretprobeInstance{RetAddr: r.IP, RP: m.ret}
	m.count(probe.Entered)
	m.call(th, func() { m.ret.Handler(&in, r) })
}
