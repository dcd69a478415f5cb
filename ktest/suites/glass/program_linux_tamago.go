//go:build tamago && !nolinux

package glass

import (
	"bytes"
	"encoding/binary"

	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
	"sonde/probe/glass"
)

func init() {
	suites.Add("glass/watched_word_of_a_program", watchedProgram)
	suites.Add("glass/watched_program_dies", watchedProgramDies)
}

// countTo is a program that counts to 9 in the word at ProgramData, and exits.
var countTo = []byte{
	0x6a, 0x2a, // PUSHQ $42
	0x48, 0xff, 0x04, 0x25, 0x00, 0x20, 0x40, 0x00, // INCQ word
	0x48, 0x83, 0x3c, 0x25, 0x00, 0x20, 0x40, 0x00, 9, // CMPQ word, $9
	0x72, 0xed, // JB to the INCQ
	0xb8, 0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05, // exit_group(0)
}

// filmProgram records hit want of the program's word, and returns the process's number.
func filmProgram(t *suites.T, film *glass.Film, code []byte, handler kwatch.UserHandler) (pid int) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, code)
	defer vfs.Remove(path)
	var reg int
	var camera *kwatch.Camera
	suites.WaitProgram(t, suites.StartProgram(t, path, func(p *proc.Process) {
		var err error
		pid = p.PID
		reg, err = kwatch.RegisterKwatchUser(p, suites.ProgramData, 8, kwatch.Write, handler)
		t.Must(err)
		camera, err = kwatch.RegisterCamera(reg, film)
		t.Must(err)
	}))
	t.Until("the recording is over", film.Done) // a goroutine learns that the program has ended
	kwatch.UnregisterCamera(camera)
	kwatch.UnregisterKwatch(reg)
	return pid
}

// watchedProgram: each frame has the thread's registers, code and stack.
func watchedProgram(t *suites.T) {
	film, err := glass.New(5, -1)
	t.Must(err)
	defer film.Close()
	hits, tid := 0, 0
	pid := filmProgram(t, film, countTo, func(h *kwatch.Hit, th *proc.Thread) { hits, tid = hits+1, th.TID })
	frames, lost := film.Recorded()
	stagesAre(t, frames, glass.Watched, glass.Accessed, glass.Enters, glass.Returned, glass.GoesOn)
	if a := &frames[1]; hits != 9 || lost != 0 || a.Note != [2]uint64{4, 5} || a.Probe != suites.ProgramAt+10 {
		t.Errorf("%d hits, %d lost; %d -> %d by the instruction in front of %#x", hits, lost, a.Note[0], a.Note[1], a.Probe)
	}
	for i := range frames {
		f := &frames[i]
		if int(f.PID) != pid || int(f.TID) != tid || f.Regs[ip] != suites.ProgramAt+10 || !bytes.Equal(f.Code[:9], countTo[10:19]) {
			t.Errorf("frame %d: process %d, thread %d, IP %#x, code % x", i+1, f.PID, f.TID, f.Regs[ip], f.Code)
		}
		if f.Words == 0 || f.Stack[0] != 42 {
			t.Errorf("frame %d: %d words of the stack, %d on top", i+1, f.Words, f.Stack[0])
		}
	}
}

// watchedProgramDies: it ends before the hit that is waited for, or in it.
func watchedProgramDies(t *suites.T) {
	film, err := glass.New(100, -1)
	t.Must(err)
	defer film.Close()
	filmProgram(t, film, countTo, func(*kwatch.Hit, *proc.Thread) {})
	if frames, _ := film.Recorded(); !film.Done() || len(frames) != 0 || film.Seen() != 9 {
		t.Errorf("over %v, %d frames, %d hits", film.Done(), len(frames), film.Seen())
	}
	crash := bytes.Clone(countTo)
	binary.LittleEndian.PutUint16(crash[19:], 0x0b0f)
	again, err := glass.New(1, -1)
	t.Must(err)
	defer again.Close()
	filmProgram(t, again, crash, func(*kwatch.Hit, *proc.Thread) { panic("a watchpoint's handler") })
	frames, _ := again.Recorded()
	stagesAre(t, frames, glass.Watched, glass.Accessed, glass.Enters, glass.Abandoned, glass.GoesOn)
	if !again.Done() || frames[3].Why[0] == 0 {
		t.Errorf("over %v; why %q", again.Done(), frames[3].Why[:])
	}
}
