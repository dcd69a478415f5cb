package shell

var falseCommand = &Command{
	Name: "false",
	Help: "fail",
	Run:  func(*Context, []string) error { return Status(statusError) },
}
