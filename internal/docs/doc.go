// Package docs holds the tests of the pages: the files, tests, stories and Go names that they
// mention must exist, their Go must compile, and each block of output must name the test that
// compares it with a run. Comments must not name files that do not exist either. Nothing else
// would tell when a page or a comment becomes untrue.
package docs
