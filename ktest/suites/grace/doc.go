// Package grace tests that a probe's memory is not reused, and no jump is written, while a
// CPU is in a probe's slot, detour or region. Each case holds a CPU there, by an interrupt,
// and then starts what only a grace period can delay until the CPU has left. Package stop
// tests grace periods themselves.
package grace
