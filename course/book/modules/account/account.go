//go:build tamago

// Package account has a variable that more code writes than its name is in: chapter 12.
package account

import (
	"sonde/kernel/module"
	"sonde/kernel/printk"
)

var (
	balance int64
	n       int
)

func init() {
	module.Register(&module.Module{
		Name:   "account",
		Doc:    "pay 7 into an account, n times, and look at the balance",
		Params: module.Params{"n": module.Int(&n, "how often").Within(1, 1000)},
		Init:   start,
		Exit:   func() {},
	})
}

func start() error {
	balance = 0
	for range n {
		pay(7)
	}
	tidy(&balance)
	printk.Info("account: %d payments of 7, and the balance is %d", n, balance)
	return nil
}

//go:noinline
func pay(sum int64) { balance += sum }

// tidy rounds down.
//
//go:noinline
func tidy(sum *int64) { *sum -= *sum % 10 }
