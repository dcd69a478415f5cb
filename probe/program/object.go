package program

import (
	"errors"
	"fmt"
	"syscall"

	"sonde/bpf"
	"sonde/bpf/btf"
	"sonde/bpf/object"
	"sonde/bpf/verify"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/types"
)

// A Set is the programs and maps of one object file.
type Set struct {
	Maps   []*Map
	Progs  []*Prog
	Places []string // of each program
}

// LoadObject loads all programs of an object file that clang has made, with their maps.
//
// Errors: those of object.Read, NewMap and Load. A program that needs what the kernel does not have says
// so.
func LoadObject(data []byte) (*Set, error) {
	o, err := object.Read(data, kernelTypes)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	if err := s.load(o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Set) load(o *object.Object) error {
	made := map[*object.Map]*Map{}
	for _, m := range o.Maps {
		one, err := newMapOf(m)
		if err != nil {
			return err
		}
		made[m], s.Maps = one, append(s.Maps, one)
	}
	for _, p := range o.Programs {
		prog, err := loadOf(p, made)
		if err != nil {
			return err
		}
		_, place, _ := object.Place(p.Section) // object.Read has read it
		s.Progs, s.Places = append(s.Progs, prog), append(s.Places, place)
	}
	return nil
}

// kernelTypes is what programs find of the kernel's types.
func kernelTypes() (*btf.Table, error) {
	data, err := types.BTF()
	if err != nil {
		return nil, err
	}
	return btf.Read(data)
}

// newMapOf makes a map, with the value that the object gives it.
func newMapOf(o *object.Map) (*Map, error) {
	m, err := NewMap(o.MapSpec)
	if err == nil && o.Value != nil {
		if err = m.Update(0, make([]byte, o.KeySize), o.Value, Any); err != nil {
			m.Close()
		}
	}
	return m, err
}

// loadOf loads a program, under as much of its name as there is room for.
func loadOf(o *object.Func, made map[*object.Map]*Map) (*Prog, error) {
	p := o.Program
	p.Name = p.Name[:min(len(p.Name), maxName)]
	var maps []*Map
	p.Maps = nil
	for _, m := range o.Uses {
		maps, p.Maps = append(maps, made[m]), append(p.Maps, &made[m].Spec)
	}
	prog, err := Load(&p, maps, nil)
	var refused *verify.Error
	if errors.As(err, &refused) && o.Missing[refused.PC] != "" {
		return nil, refusal.New(syscall.EACCES, "program %s: instruction %d%s: %s", o.Name, refused.PC, lineOf(refused.Line), o.Missing[refused.PC])
	}
	return prog, err
}

func lineOf(l *bpf.Line) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", l.File, l.Number)
}

// Attach attaches each program to what its section names, all or none. None runs until all are attached.
//
// Errors: those of Prog.Attach and Hold, with the program.
func (s *Set) Attach(owner string) (err error) {
	var c grace.Change
	for i := 0; i < len(s.Progs) && err == nil; i++ {
		err = s.Progs[i].join(&c, owner, s.Places[i])
	}
	if c.Complete(); err != nil {
		s.Detach()
		return err
	}
	return s.hold(false)
}

// join attaches a program that does not run yet. What is left to do comes after c.
func (p *Prog) join(c *grace.Change, owner, place string) error {
	sites, err := attach.ParseSites(place)
	if err == nil {
		err = p.Hold(true)
	}
	if err == nil {
		_, err = p.Begin(c, sites, &Options{Options: attach.Options{Owner: owner}})
	}
	if err != nil {
		return fmt.Errorf("program %s: %w", p.Checked.Program.Name, err)
	}
	return nil
}

// Detach ends what Attach did. None runs any more when the first one is detached; links that a file stands
// for stay, and their programs run on.
func (s *Set) Detach() {
	s.hold(true)
	Detach(s.Progs)
	for _, p := range s.Progs {
		if len(p.Links()) > 0 {
			p.Hold(false)
		}
	}
}

func (s *Set) hold(on bool) (err error) {
	for _, p := range s.Progs {
		err = errors.Join(err, p.Hold(on))
	}
	return err
}

// Close gives all of it up, as Prog.Close and Map.Close do.
func (s *Set) Close() {
	CloseAll(s.Progs)
	for _, m := range s.Maps {
		m.Close()
	}
}
