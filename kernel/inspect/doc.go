// Package inspect looks at the machine for people: PCI devices, registers of the processor,
// physical memory. What is not there gives an error, not a crash.
//
// Nothing in the kernel uses it but commands of the shell.
package inspect
