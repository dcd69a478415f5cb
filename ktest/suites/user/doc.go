// Package user tests ring 3: that programs keep their registers, that what they do is
// reported as events, that they cannot harm the kernel, and that the machine keeps working
// while they run. Its code for ring 3 is in code_amd64.s, in an address space made by hand.
package user
