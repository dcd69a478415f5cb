package syscall

import (
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/device"
	"sonde/linux/elf"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/linux/vdso"
)

// ELF returns the Load for ELF files and scripts, in address spaces of m with v (nil: without).
func ELF(m *space.Machine, v *vdso.VDSO) Load {
	return func(p Program) (proc.Image, error) {
		s, err := m.New()
		if err != nil {
			return proc.Image{}, err
		}
		loaded := false
		defer func() {
			if !loaded {
				s.Release()
			}
		}()
		img, err := loadInto(s, v, p)
		loaded = err == nil
		return img, err
	}
}

// fileName returns the absolute path of a program's file, for /proc/PID/exe.
func fileName(f elf.File) (string, error) {
	if f, ok := f.(*vfs.File); ok && f.Place() != nil {
		return f.Place().Path()
	}
	return "", nil
}

// loadInto loads a program. Its file and its interpreter's cannot be written to during that; the
// program's file stays protected until the program ends.
func loadInto(s *space.Space, v *vdso.VDSO, p Program) (proc.Image, error) {
	var opened []*vfs.File
	defer func() {
		for _, f := range opened {
			f.Text().Allow()
			vfs.Close(f)
		}
	}()
	if err := p.File.Text().Deny(); err != nil {
		return proc.Image{}, err
	}
	defer p.File.Text().Allow()
	o := elf.Options{Args: p.Args, Env: p.Env, MaxStrings: StringsMost, HWCap: System.HWCap, HWCap2: System.HWCap2}
	o.Open = func(path string) (elf.File, error) {
		f, err := p.Open(path)
		if err != nil {
			return nil, err
		}
		if err := f.Text().Deny(); err != nil {
			vfs.Close(f)
			return nil, err
		}
		opened = append(opened, f)
		return f, nil
	}
	if v != nil {
		o.VDSO = v.Map
	}
	device.Random(o.Random[:])
	prog, err := elf.Load(s, p.File, p.Path, o)
	if err != nil {
		return proc.Image{}, err
	}
	if f, ok := prog.File.(*vfs.File); ok {
		if err := s.Runs(f.Text()); err != nil {
			return proc.Image{}, err
		}
	}
	exe, err := fileName(prog.File)
	return proc.Image{Space: s, IP: prog.IP, SP: prog.SP, Path: prog.Path, Exe: exe, Layout: prog.Layout}, err
}
