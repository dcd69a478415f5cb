//go:build tamago && !nolinux

package bpf

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/program_on_each_kind_in_processes", eachKindInProcesses)
	suites.Add("bpf/who_is_hit", whoIsHit)
	suites.Add("bpf/memory_of_processes", userMemory)
	suites.Add("bpf/stacks_of_processes", userStacks)
	suites.Add("bpf/signals_from_programs", signals)
}

// signals: a program sends the process that it hits SIGTERM, before that continues: in its function, in its system
// call, in the kernel's function, and in one that then sleeps. No program does so unless the sysctl allows it.
func signals(t *suites.T) {
	t.NeedPrograms()
	const text = "r1 = 15\ncall 109\nr0 = 0\nexit"
	p, maps, err := program.Assemble("signal", text)
	t.Must(err)
	if _, err := program.Load(p, maps, nil); err == nil || !strings.Contains(err.Error(), "kernel.bpf_unsafe") {
		t.Errorf("a program that sends signals: %v", err)
	}
	t.Must(program.Unsafe.Set("1"))
	defer program.Unsafe.Set("0")
	for place, command := range map[string]string{
		"/bin/sh:syscall.write": "echo x", "ret:/bin/sh:syscall.write": "echo x", "sys:write": "echo x", "sonde/linux/syscall.write": "echo x", "sys:nanosleep": "sleep 5",
	} {
		p := load(t, text)
		l := p.attach(t, place)
		if status := suites.Script(io.Discard, `/bin/sh -c "`+command+`; echo y" > /dev/null`); status != 128+15 {
			t.Errorf("%s: status %d, want %d", place, status, 128+15)
		}
		l.Close()
		p.close()
	}
}

// userStacks: where a process is, and who called: the same in its function and where it calls the kernel,
// but for the function's own frame.
func userStacks(t *suites.T) {
	if suites.Programs == nil {
		t.Skipf("this machine cannot run programs")
	}
	stacks := map[string][]uint64{}
	for _, place := range []string{"/bin/sh:syscall.write", "sys:write", "sonde/linux/syscall.write"} {
		p := load(t, `
			map seen array 4 88 1
			r6 = map[idx:0][0]+0
			r2 = r6
			r2 += 8
			r3 = 80
			r4 = 256
			call 67
			*(u64 *)(r6 + 0) = r0
			r0 = 0
			exit`)
		l := p.attach(t, place)
		suites.Script(io.Discard, `/bin/sh -c "echo x" > /dev/null`)
		l.Close()
		got := p.seen(t, 11)
		if got[0] < 24 || got[0] > 80 || got[1] < 0x1000 {
			t.Errorf("%s: %x", place, got)
		}
		stacks[place] = got
		p.close()
	}
	function, call, kernel := stacks["/bin/sh:syscall.write"], stacks["sys:write"], stacks["sonde/linux/syscall.write"]
	if !slices.Contains(call[1:], function[3]) || call[1] != kernel[1] || call[3] != kernel[3] {
		t.Errorf("in the function %x, in the system call %x, in the kernel %x", function, call, kernel)
	}
}

// userMemory: what a process writes, read where it calls its own function, and where it calls the kernel.
func userMemory(t *suites.T) {
	if suites.Programs == nil {
		t.Skipf("this machine cannot run programs")
	}
	for place, register := range map[string]string{"sys:write": "104", "/bin/sh:syscall.write": "40"} { // SI; Go's second
		p := load(t, `
			map seen array 4 48 1
			r6 = *(u64 *)(r1 + `+register+`)
			r1 = r10
			r1 += -8
			r2 = 1
			r3 = r6
			call 112
			r2 = *(u8 *)(r10 - 8)
			if r2 != 97 goto out
			r1 = map[idx:0][0]+0
			r2 = 8
			r3 = r6
			call 112
			r7 = map[idx:0][0]+32
			*(u64 *)(r7 + 0) = r0
			r1 = map[idx:0][0]+8
			r2 = 5
			r3 = r6
			call 114
			*(u64 *)(r7 + 8) = r0
			r1 = map[idx:0][0]+16
			r2 = 8
			r3 = 4096
			call 112
			r1 = map[idx:0][0]+24
			r2 = 8
			r3 = r6
			call 4
		out:	r0 = 0
			exit`)
		l := p.attach(t, place)
		suites.Script(io.Discard, `/bin/sh -c "echo abcdefghijk" > /dev/null`)
		l.Close()
		value := make([]byte, 48)
		t.Must(p.maps[0].Lookup(0, key4(0), value))
		if got := string(value[:32]); got != "abcdefghabcd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00abcdefgh" || value[32] != 0 || value[40] != 5 {
			t.Errorf("%s: %q, results %d and %d", place, got, int8(value[32]), value[40])
		}
		p.close()
	}
}

// eachKindInProcesses: some of these places call their handlers in goroutines, at times or always.
func eachKindInProcesses(t *suites.T) {
	t.OneMachine()
	t.NeedPrograms()
	for _, places := range [][]string{{"sys:write"}, {"ret:sys:write"}, {"/bin/sh:syscall.write"}, {"ret:/bin/sh:syscall.write"}, {"sys:write", "/bin/sh:syscall.write", pkg + "square"}} {
		p := load(t, count)
		l := p.attach(t, places...)
		if status := suites.Script(io.Discard, `/bin/sh -c "for i in 1 2 3 4 5 6 7 8 9; do echo x; done" > /dev/null`); status != 0 {
			t.Errorf("%s: status %d", places[0], status)
		}
		l.Close()
		p.balance(t, l, 9)
		p.close()
	}
}

// whoIsHit: a process has its number and name, in its function, in its system call, and in the kernel's
// function that does what it asks for.
func whoIsHit(t *suites.T) {
	t.OneProcessor()
	t.NeedPrograms()
	for _, place := range []string{"sys:write", "/bin/sh:syscall.write", "ret:/bin/sh:syscall.write", "sonde/linux/syscall.write"} {
		p := load(t, `
			map seen array 4 24 1
			call 14
			r6 = r0
			r1 = r10
			r1 += -16
			r2 = 16
			call 16
			r1 = map[idx:0][0]+0
			*(u64 *)(r1 + 0) = r6
			r2 = *(u64 *)(r10 - 16)
			*(u64 *)(r1 + 8) = r2
			r2 = *(u64 *)(r10 - 8)
			*(u64 *)(r1 + 16) = r2
			r0 = 0
			exit`)
		l := p.attach(t, place)
		for range 3 {
			if status := suites.Script(io.Discard, `/bin/sh -c "for i in 1 2 3; do echo x; done" > /dev/null`); status != 0 {
				t.Errorf("%s: status %d", place, status)
			}
			value := make([]byte, 24)
			t.Must(p.maps[0].Lookup(0, key4(0), value))
			ids := binary.LittleEndian.Uint64(value)
			if comm := strings.TrimRight(string(value[8:]), "\x00"); comm != "sh" || ids>>32 == 0 || uint32(ids) < uint32(ids>>32) || uint32(ids) > 0x10000 {
				t.Errorf("%s: %q, process %d, thread %d", place, comm, ids>>32, uint32(ids))
			}
		}
		l.Close()
		p.close()
	}
}
