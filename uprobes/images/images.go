// Package images keeps what the files of probed programs say about their code, those used last.
//
// Context: goroutine, with the lock of package uprobes held.
package images

import (
	"errors"
	"slices"
	"syscall"

	"sonde/arch/amd64/prologue"
	"sonde/kernel/mm/backing"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/program"
	"sonde/linux/space"
)

// Image is what a program's file says about its code.
type Image struct {
	*program.File
	opened *vfs.File
	ident  backing.Ident
	exits  map[uint64]exitsOrNot // results so far, by address
}

// images are those used last, the newest at the end: probes come in groups, and the callers
// of a function are in few files. Guarded by the lock of package uprobes.
var images []*Image

const manyImages = 4

// Of returns the image of the file at path if the file is still the one with that
// ident; nil: nothing is known.
func Of(path string, ident backing.Ident) *Image {
	for _, im := range images {
		if im.ident == ident {
			return im
		}
	}
	opened, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return nil
	}
	im := &Image{opened: opened}
	if im.ident, err = IdentOf(opened); err != nil || im.ident != ident {
		vfs.Close(opened)
		return nil
	}
	if im.File, err = program.OpenFile(opened); err != nil {
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

// Close forgets all images.
func Close() {
	for _, im := range images {
		vfs.Close(im.opened)
	}
	images = nil
}

// At returns the image of the file that is mapped at addr, and what to add to the
// file's addresses; nil: nothing is known.
func At(s *space.Space, addr uint64) (im *Image, bias uint64) {
	a, ok := s.At(addr)
	if !ok {
		return nil, 0
	}
	return In(a)
}

// In is At for an address in an area.
func In(a space.Area) (im *Image, bias uint64) {
	if len(a.Ident.Name) == 0 || a.Ident.Name[0] != '/' {
		return nil, 0
	}
	if im = Of(a.Ident.Name, a.Ident); im == nil {
		return nil, 0
	}
	bias, ok := im.Bias(a.Start, a.Offset)
	if !ok {
		return nil, 0
	}
	return im, bias
}

// Begins returns an error if it is known that no instruction begins at addr.
//
// Errors: EILSEQ.
func (im *Image) Begins(addr uint64) error {
	if im == nil {
		return nil
	}
	err := im.Boundary(addr)
	if errors.Is(err, program.ErrNoFunction) {
		return nil
	}
	return err
}

// CheckAt returns the stack check of the Go function that begins at addr, or the zero
// Check.
func (im *Image) CheckAt(addr uint64) prologue.Check {
	if im == nil || !im.Go() {
		return prologue.Check{}
	}
	s, off, ok := im.At(addr)
	if !ok || off != 0 {
		return prologue.Check{}
	}
	return im.Check(s)
}

// GoReturns returns the return instructions of the Go function that begins at addr. ok is
// false if it is not a Go function; then the trampoline can be used.
//
// Go's runtime walks and moves stacks, and throws if it finds a return address that is in
// no function.
//
// Errors: EINVAL no function begins there; EOPNOTSUPP it does not return; EILSEQ.
func (im *Image) GoReturns(addr, bias uint64) (at []uint64, ok bool, err error) {
	if im == nil || !im.Go() {
		return nil, false, nil
	}
	s, off, found := im.At(addr - bias)
	switch {
	case !found || !s.Go:
		return nil, false, nil
	case off != 0:
		return nil, true, refusal.New(syscall.EINVAL, "%s+%#x is not the beginning of a function", s.Name, off)
	}
	returns, _, err := im.Returns(s)
	if err == nil && len(returns) == 0 {
		err = refusal.New(syscall.EOPNOTSUPP, "%s has no return instruction", s.Name)
	}
	for _, r := range returns {
		at = append(at, r+bias)
	}
	return at, true, err
}

// IdentOf says which file f is. It needs no lock.
//
// Errors: ENODEV f is not a regular file; EBADF it is closed.
func IdentOf(f *vfs.File) (backing.Ident, error) {
	b, err := f.Backing()
	switch {
	case errors.Is(err, syscall.ENODEV), err == nil && b == nil: // nil: /dev/zero
		return backing.Ident{}, refusal.New(syscall.ENODEV, "%s is not a regular file", f.Name())
	case err != nil:
		return backing.Ident{}, err
	}
	return b.Ident(), nil
}
