// Package load is the module that the labs of the course are graded with: functions to probe, and
// workloads that call them a known number of times.
//
//	insmod work do=calls,Letter,1000,2    Letter is called 1000 times, by 2 goroutines
//	rmmod work
//
// What a workload did goes to the log, for students, and to an I/O port of its own, for the grader:
// whatever a student's module prints, it does not get there by accident. The package is linked into
// kernels that the grader builds, and into no other.
package load
