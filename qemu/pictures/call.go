package main

import (
	"regexp"
	"slices"
	"strings"

	"sonde/qemu/draw"
)

// A call is a system call, as the kernel has told of it: the stacks in the kernel and in the program, the outermost
// function first, and what strace says.
type call struct {
	kernel, program []string
	says            string
}

var (
	frameLine = regexp.MustCompile(`^ {4}(\S.*)\+\d+$`)
	number    = regexp.MustCompile(`\[\d+\]`)
)

// readCall reads the lines of strace, and of stacks.
func readCall(calls, kernel, program []string) (c call) {
	stack := func(lines []string) (functions []string) {
		for _, line := range lines {
			if m := frameLine.FindStringSubmatch(line); m != nil {
				functions = append(functions, strings.TrimSuffix(m[1], ".abi0"))
			}
		}
		slices.Reverse(functions)
		return functions
	}
	c.kernel, c.program = stack(kernel), stack(program)
	if from := slices.IndexFunc(c.program, func(f string) bool { return strings.HasPrefix(f, "main.") }); from > 0 {
		c.program = c.program[from:] // what begins every program of Go is left out
	}
	for _, line := range calls {
		if at := strings.Index(line, "write(1, "); at >= 0 && strings.Contains(line, " = ") {
			c.says = number.ReplaceAllString(line[at:], "[PID]")
		}
	}
	return c
}

// What is done in the functions that have a note.
var (
	programNotes = map[string]string{
		"main.myprog": "prints to the output, descriptor 1",
		"internal/runtime/syscall/linux.Syscall6": "RAX is the call, RDI, RSI and RDX are its arguments",
	}
	kernelNotes = map[string]string{
		"proc.(*Thread).run":        "a goroutine is the thread's whole life",
		"proc.(*Thread).steps":      "user.Run has returned: SystemCall",
		"proc.(*Thread).SystemCall": "tells engines, such as strace",
		"syscall.Handle":            "finds call 1 in the table",
		"syscall.write":             "finds the open file of descriptor 1",
		"syscall.(*mover).transfer": "copies the text from the program, by its page tables",
		"vfs.Write":                 "every write to a file comes here",
		"shell.(*stream).WriteAt":   "the command's output",
		"console.(*Pipe).Write":     "writes each byte to the device",
	}
)

// drawCall draws the functions of a system call, each below its caller: the program's, and below them the kernel's.
// Arrows lead into the kernel, and back.
func drawCall(c call) *draw.Drawing {
	const step, left, note, wide = 18, 30, 490, 860
	d := draw.New("A system call", 900, c.says)
	y := 30 + 2*draw.Row
	ring := func(title string, functions []string, notes map[string]string) {
		d.Rect(20, y, wide, (len(functions)+2)*draw.Row, "band")
		y += draw.Row
		d.Text(left, y, "head", title)
		for i, f := range functions {
			y += draw.Row
			d.Text(left+i*step, y, "step", f)
			d.Text(note, y, "faint", notes[f])
		}
		y += draw.Row
	}
	ring("ring 3: the program", c.program, programNotes)
	d.Leads(left+20, y, left+20, y+3*draw.Row)
	d.Text(left+40, y+draw.Row, "trap", "SYSCALL goes where LSTAR says; RCX and R11 keep RIP and the flags;")
	d.Text(left+40, y+2*draw.Row, "trap", "the rest of the registers is stored in the thread's Context")
	d.Leads(wide-20, y+3*draw.Row, wide-20, y)
	result := c.says[strings.LastIndex(c.says, " ")+1:]
	d.Text(wide-230, y+draw.Row+draw.Row/2, "jump", "SYSRET, with "+result+" in RAX")
	y += 3 * draw.Row
	ring("ring 0: the kernel, in Go", c.kernel, kernelNotes)
	d.Height = y + draw.Row
	return d
}
