// Package glass tests cameras: each transition of a recorded hit, of each kind of probe, follows from the
// one before it, and its bytes are those in memory. rules_tamago.go has what must hold of a frame.
package glass
