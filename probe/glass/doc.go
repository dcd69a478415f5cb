// Package glass keeps what a camera records of one hit: a frame for each transition, with registers,
// stack and bytes, made where the transition happens.
//
// A Film belongs to one camera. It decides which hit is recorded (Claim), and has the memory for it,
// taken when the film is made: recording allocates nothing, takes no lock and stores no pointer. The
// kinds of probes write the frames (kprobes/camera_trap.go); package shell/replay turns them into text.
//
// Package kernel/tape does the same for the machine: what each CPU does while code is changed.
//
// One hit is recorded, on one CPU at a time; an interrupt within it may add frames, so Next is atomic.
// Frames beyond the memory are counted.
package glass
