// Package machine is what user probes need of the machine: its CPUs, and the memory and registers of the
// thread that is in a hit.
package machine
