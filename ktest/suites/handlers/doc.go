// Package handlers tests handlers that break the rules: each violation, in each kind of
// handler, must end with the handler abandoned, its probe disabled and the reason logged
// once, and leave everything else working. It also tests faults that a fault-handler fixes,
// and faults of the probed code itself.
package handlers
