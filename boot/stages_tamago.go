//go:build tamago

package main

import (
	"io"

	"sonde/kernel/console"
	"sonde/kernel/cpu"
	"sonde/kernel/flight"
	"sonde/kernel/vfs/ctl"
)

// The stages of the boot. Each shows its code on all consoles if GRUB has loaded the kernel, and
// always on port 0x80, which some boards display: docs/boards.md.
const (
	stageEntered = 1 + iota
	stageLoader
	stageACPI
	stageLAPIC
	stageMemory
	stageTraps
	stageClock
	stageCPUs
	stageGo
	stageFiles
	stageProbes
	stageConsole
	stages
)

const postPort = 0x80

// reached is when each stage was reached, by the TSC.
var reached [stages]uint64

// stageNames say what is there from each stage on.
var stageNames = [stages]string{
	stageEntered: "64-bit mode", stageLoader: "the loader's information", stageACPI: "ACPI tables", stageLAPIC: "local APIC",
	stageMemory: "page tables", stageTraps: "traps", stageClock: "clock", stageCPUs: "other processors", stageGo: "Go runtime",
	stageFiles: "files", stageProbes: "probes, programs", stageConsole: "console's interrupts",
}

// writeStages prints a line for each stage that was reached: its code, the time by the clock of the log,
// in seconds, and its name.
func writeStages(w io.Writer) {
	for code, name := range stageNames {
		if tsc := reached[code]; tsc != 0 {
			us := cpu.Duration(tsc).Microseconds()
			ctl.Line(w, "%02d %5d.%06d %s", code, us/1e6, us%1e6, name)
		}
	}
}

// stage reports that the boot has reached a stage.
func stage(code uint8) {
	cpu.Out8(postPort, code)
	flight.Main.Stage(code)
	reached[code] = cpu.Rdtsc()
	if !showStages {
		return
	}
	text := [...]byte{'0' + code/10, '0' + code%10, ' '}
	console.Write(text[:])
	if code == stageGo { // the log takes over
		console.WriteString("\n")
		showStages = false
	}
}

// showStages is whether consoles show stages: a loader for boards is in use.
var showStages bool
