package mutants

// selects are defects in select, poll and the ends of pipes.
var selects = []Mutant{
	{
		Name: "closed-pipe-not-readable", File: "linux/syscall/poll.go",
		Old: "\t{poll.In, poll.In | poll.Hup | poll.Err},", New: "\t{poll.In, poll.In | poll.Err},",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select waits for ever at a pipe that nobody writes to",
	},
	{
		Name: "broken-pipe-not-readable", File: "linux/syscall/poll.go",
		Old: "\t{poll.In, poll.In | poll.Hup | poll.Err},", New: "\t{poll.In, poll.In | poll.Hup},",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select does not report an error to a reader",
	},
	{
		Name: "hang-up-is-writable", File: "linux/syscall/poll.go",
		Old: "\t{poll.Out, poll.Out | poll.Err},", New: "\t{poll.Out, poll.Out | poll.Err | poll.Hup},",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select says of a hung-up descriptor that it can be written to",
	},
	{
		Name: "full-pipe-without-readers-not-writable", File: "kernel/vfs/pipe/pipe.go",
		Old: "\tif w.readers == 0 {\n\t\tev |= poll.Out | poll.Err\n\t}", New: "",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select of a full pipe whose reader has gone waits for ever",
	},
	{
		Name: "reader-goes-and-writer-sleeps", File: "kernel/vfs/pipe/pipe.go",
		Old: "\tr.leave(&r.readers)\n\tr.queue.Notify(poll.Out | poll.Err)", New: "\tr.leave(&r.readers)",
		By:  host("linux/syscall", "TestCloseWakesTheOtherEnd"),
		Why: "a writer to a full pipe is not woken when its last reader closes",
	},
	{
		Name: "writer-goes-and-reader-sleeps", File: "kernel/vfs/pipe/pipe.go",
		Old: "\tw.leave(&w.writers)\n\tw.queue.Notify(poll.In | poll.Hup)", New: "\tw.leave(&w.writers)",
		By:  host("linux/syscall", "TestCloseWakesTheOtherEnd"),
		Why: "a reader of a pipe is not woken when its last writer closes",
	},
	{
		Name: "select-of-no-file-waits", File: "linux/syscall/poll.go",
		Old: "\t\tif err != nil {\n\t\t\treturn 0, err\n\t\t}\n\t\tw.Source = sourceOf(t, f)", New: "\t\tif err != nil {\n\t\t\tcontinue\n\t\t}\n\t\tw.Source = sourceOf(t, f)",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select of a closed descriptor is not EBADF",
	},
	{
		Name: "select-leaves-old-bits", File: "linux/syscall/poll.go",
		Old: "\tvar sets [3]fdSet\n\tfor j, fd := range fds {", New: "\tsets := asked\n\tfor j, fd := range fds {",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select leaves bits of files that have nothing",
	},
	{
		Name: "select-counts-files", File: "linux/syscall/poll.go",
		Old: "\t\t\t\tsets[i][fd/64] |= bit\n\t\t\t\tbits++", New: "\t\t\t\tsets[i][fd/64] |= bit\n\t\t\t\tbits = uint64(j + 1)",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select counts a file in two sets once",
	},
	{
		Name: "hang-up-must-be-asked-for", File: "kernel/poll/poll.go",
		Old: "const always = Err | Hup", New: "const always = Err",
		By:  host("kernel/poll", "TestHangUpsAndErrorsWakeEverybody"),
		Why: "poll without events does not report a hang-up",
	},
	{
		Name: "poll-tells-what-nobody-asked-for", File: "kernel/poll/wait.go",
		Old: "\t\tif w.Got = w.Source.Poll() & (w.Events | always); w.Got != 0 {", New: "\t\tif w.Got = w.Source.Poll(); w.Got != 0 {",
		By:  host("kernel/poll", "TestManyTellsWhoGotWhat"),
		Why: "poll returns for events that were not asked for",
	},
	{
		Name: "timeout-without-a-last-look", File: "kernel/poll/wait.go",
		Old: "\t\tcase <-late:\n\t\t\treturn look(wants), nil", New: "\t\tcase <-late:\n\t\t\treturn 0, nil",
		By:  host("kernel/poll", "TestTimeoutLooksOnceMore"),
		Why: "what comes at the last moment is not reported",
	},
}
