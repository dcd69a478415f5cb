// Package inspect lets people look at the machine: PCI devices, processor registers,
// physical memory. Accessing what is not there returns an error instead of crashing.
//
// Only commands of the shell use it.
package inspect
