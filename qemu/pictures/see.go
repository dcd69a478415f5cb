package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/qemu/machine"
)

// What the kernel has said of itself.
type seen struct {
	step, jump, back hit   // by a step, by a jump, of a return probe
	endings          []hit // of breakpoints, without a step
	way              way
	boot             []stage
	memory           []section
	layout, maps     []string // lines of /sys/kernel/debug/layout, and of a program's /proc/PID/maps
	call             call
	ledger           []string // lines of /sys/kernel/debug/kprobes/stats
}

// A hit is what glass -j prints, as far as it is drawn.
type hit struct {
	Place, File, Tier string
	Line              int
	Original          []struct{ Bytes, Asm string }
	Frames            []struct {
		Stage, Says, Text string
		IP                struct{ Is, Asm, Bytes string }
	}
}

// A way is what glass -o -j prints.
type way struct {
	Place string
	CPUs  int
	Steps []step
}

type step struct {
	T          int64 // ns since the first
	CPU        int
	Step, Says string
	Text       string // the bytes that it has written
}

// A stage is a line of /sys/kernel/debug/boot.
type stage struct {
	name string
	at   time.Duration
}

// The scripts. A command that needs a second hit reads a file, which reads twice. The last places of the first script
// have an ending each: a push, a conditional jump, a jump, a stack check.
const (
	hits = `cat /sys/kernel/debug/boot
grep Kernel /proc/iomem
for kind in step jump return; do glass -t $kind -j vfs.Read cat /proc/version; done
sysctl -w debug.kprobes_optimization=0
for at in vfs.Read+0xa vfs.Read+0x4; do glass -j $at cat /proc/version; done
glass -j bench.targetJmp bench -n 1 e > /tmp/hit; grep "^{" /tmp/hit
glass -j vfs.Read cat /proc/version`
	ofWay = "glass -o -j vfs.Read"
)

// ofPrograms is what is asked of a program, after lines that say what.
const ofPrograms = `
echo == layout; cat /sys/kernel/debug/layout
echo == maps; myprog -n 10000 -every 10ms > /dev/null & sleep 0.1; cat /proc/$!/maps; kill $!; wait
echo == call; strace -f -o /tmp/calls -e write myprog -n 1; cat /tmp/calls
echo == kernel; bt -q -e 'kprobe:console.(*Pipe).Write { printf("%s", kstack); exit(); }' -c 'myprog -n 1'
echo == program; bt -q -e 'kprobe:console.(*Pipe).Write { printf("%s", ustack); exit(); }' -c 'myprog -n 1'`

// ofLedger is about a return probe with room for two calls, on a function that calls itself.
const ofLedger = `
echo == ledger; insmod kretprobe_example 'func=shell.(*Shell).stmt' maxactive=2; if true; then if true; then true; fi; fi
cat /sys/kernel/debug/kprobes/stats; rmmod kretprobe_example`

// see boots the image twice: on one processor whose clock counts instructions, and on two.
func see(image string) (s seen, err error) {
	lines, err := say(machine.Config{Image: image, Accel: machine.Counted, Script: hits + ofPrograms + ofLedger})
	if err != nil {
		return s, err
	}
	parts := partsOf("== ", lines)
	s.layout, s.maps, s.ledger, s.call = parts["layout"], parts["maps"], parts["ledger"], readCall(parts["call"], parts["kernel"], parts["program"])
	if len(s.layout) == 0 || len(s.maps) == 0 || len(s.call.kernel) == 0 || len(s.call.program) == 0 || s.call.says == "" {
		return s, fmt.Errorf("the kernel does not say what was asked of a program: %q", parts)
	}
	var recorded []string
	for _, line := range parts[""] {
		if strings.HasPrefix(line, "{") {
			recorded = append(recorded, line)
		} else if m, ok := parseSection(line); ok {
			s.memory = append(s.memory, m)
		} else if st, ok := parseStage(line); ok {
			s.boot = append(s.boot, st)
		}
	}
	s.endings = make([]hit, 4)
	of := []any{&s.step, &s.jump, &s.back, &s.endings[0], &s.endings[1], &s.endings[2], &s.endings[3]}
	if len(recorded) != len(of) || len(s.boot) == 0 || len(s.memory) == 0 {
		return s, fmt.Errorf("the kernel does not say what was asked: %q", lines)
	}
	if lines, err = say(machine.Config{Image: image, SMP: 2, Script: ofWay}); err != nil {
		return s, err
	}
	if len(lines) != 1 {
		return s, fmt.Errorf("the kernel does not say what was asked: %q", lines)
	}
	for i, text := range append(recorded, lines[0]) {
		if err := json.Unmarshal([]byte(text), append(of, &s.way)[i]); err != nil {
			return s, fmt.Errorf("%w in %q", err, text)
		}
	}
	return s, nil
}

// partsOf are the lines that follow those that begin with a mark, by what these say; "": those before the first.
func partsOf(mark string, lines []string) map[string][]string {
	parts, now := map[string][]string{}, ""
	for _, line := range lines {
		if name, ok := strings.CutPrefix(line, mark); ok {
			now = name
			continue
		}
		parts[now] = append(parts[now], line)
	}
	return parts
}

// say returns the lines that the script prints.
func say(c machine.Config) ([]string, error) {
	c.Timeout = machine.Patience(5 * time.Minute)
	r, err := machine.Run(context.Background(), c)
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("%q ends with status %d", c.Script, r.Status)
	}
	return strings.Split(strings.TrimSpace(string(r.Stdout)), "\n"), err
}

// parseStage reads CODE SECONDS NAME.
func parseStage(line string) (s stage, ok bool) {
	f := strings.Fields(line)
	if len(f) < 3 {
		return s, false
	}
	code, err := strconv.Atoi(f[0])
	seconds, err2 := strconv.ParseFloat(f[1], 64)
	if err != nil || err2 != nil || code == 0 {
		return s, false
	}
	return stage{name: strings.Join(f[2:], " "), at: time.Duration(seconds * float64(time.Second))}, true
}
