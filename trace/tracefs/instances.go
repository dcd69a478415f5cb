package tracefs

import (
	"errors"
	"slices"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// instancesFolder has the instances; making a folder makes one. It implements vfs.Maker.
type instancesFolder struct{ ctl.Dir }

func instancesDir() vfs.Node {
	return instancesFolder{folder(func() (names []string) {
		for _, i := range more {
			names = append(names, i.name)
		}
		return names
	}, func(name string) vfs.Node {
		for _, i := range more {
			if i.name == name {
				return i.dir()
			}
		}
		return nil
	})}
}

// mostInstances bounds what instances can take.
const mostInstances = 64

// Make makes an instance.
//
// Errors: EEXIST; ENOMEM there are too many.
func (instancesFolder) Make(name string) error {
	mu.Lock()
	defer mu.Unlock()
	switch {
	case slices.ContainsFunc(more, func(i *instance) bool { return i.name == name }):
		return syscall.EEXIST
	case len(more) >= mostInstances:
		return refusal.New(syscall.ENOMEM, "there are %d instances already", mostInstances)
	}
	if err := room(defaultSize * numCPU()); err != nil {
		return err
	}
	more = append(more, newInstance(name))
	return nil
}

// Unmake removes an instance, with the events that are enabled for it.
//
// Errors: ENOENT.
func (instancesFolder) Unmake(name string) error {
	mu.Lock()
	defer mu.Unlock()
	at := slices.IndexFunc(more, func(i *instance) bool { return i.name == name })
	if at < 0 {
		return syscall.ENOENT
	}
	i := more[at]
	more = slices.Delete(more, at, at+1)
	return i.close()
}

// close gives up all that an instance has.
func (i *instance) close() (err error) {
	var c change
	var dropped []*trigger
	err = i.setFork(false)
	for e, s := range i.states {
		dropped = append(dropped, s.triggers...)
		s.triggers = nil
		if e == printEvent {
			continue
		}
		s.on, s.wanted = false, 0
		err = errors.Join(err, s.arm(&c))
	}
	c.complete()
	for _, t := range dropped {
		if t.hist != nil {
			t.hist.close()
		}
	}
	i.Lock()
	defer i.Unlock()
	if s := i.states[printEvent]; s != nil {
		s.free()
	}
	i.buffer.ring, i.gone, i.cpus, i.spare = nil, true, nil, nil
	closeMaps(i.maps)
	i.maps, i.states = nil, map[*event]*state{}
	return err
}
