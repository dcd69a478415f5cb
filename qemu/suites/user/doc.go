// Package user tests ring 3: that programs keep their registers, that what they do comes
// back as events, that they can do nothing to the kernel, and that the machine goes on
// while they run. Its code for ring 3 is in code_amd64.s, in an address space made by
// hand.
package user
