// Command pocketbase answers the store's question, is this purchase code good,
// as an application built on PocketBase: its rows are records of collections,
// its route is one of PocketBase's router. The benchmark compares the store
// with it.
//
// Usage: pocketbase [-records] [-log] OUT LINES
//
// OUT is a folder for the data, LINES a file of import lines; it is read unless
// an earlier run has filled OUT. The first and only line on standard output is
// the address.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations" // the tables that PocketBase itself needs
)

func main() {
	records := flag.Bool("records", false, "look up by the record API and expand, in place of one SQL join")
	log := flag.Bool("log", false, "keep PocketBase's log of requests, which it writes to a database of its own")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: pocketbase [-records] [-log] OUT LINES")
		os.Exit(2)
	}
	lookUp := byJoin
	if *records {
		lookUp = byRecords
	}
	if err := run(flag.Arg(0), flag.Arg(1), lookUp, *log); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase peer:", err)
		os.Exit(1)
	}
}

func run(out, lines string, look lookUp, log bool) error {
	if err := fillOnce(out, lines); err != nil {
		return err
	}
	app, err := open(filepath.Join(out, "data"))
	if err != nil {
		return err
	}
	defer func() { _ = app.ResetBootstrapState() }()
	if !log {
		app.Settings().Logs.MaxDays = 0
	}
	return serve(app, look)
}

func open(dir string) (core.App, error) {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: dir})
	if err := app.Bootstrap(); err != nil {
		return nil, err
	}
	return app, app.RunAllMigrations()
}

// fillOnce fills the folder unless it holds the file "filled".
func fillOnce(out, lines string) error {
	filled, data := filepath.Join(out, "filled"), filepath.Join(out, "data")
	_, err := os.Stat(filled)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	in, err := os.Open(lines)
	if err != nil {
		return err
	}
	defer in.Close()
	app, err := open(data)
	if err != nil {
		return err
	}
	if err := fill(app, in); err != nil {
		return err
	}
	if err := app.ResetBootstrapState(); err != nil {
		return err
	}
	return os.WriteFile(filled, nil, 0o600)
}

// serve prints the address and serves until SIGTERM, or until standard input
// ends when that is a pipe.
func serve(app core.App, look lookUp) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		e.Listener, e.InstallerFunc = listener, nil
		e.Router.POST("/api/purchases/validation", validate(look))
		if err := e.Next(); err != nil {
			return err
		}
		go func() {
			<-ended()
			_ = e.Server.Close()
		}()
		_, err := fmt.Printf("http://%s\n", listener.Addr())
		return err
	})
	return apis.Serve(app, apis.ServeConfig{HttpAddr: listener.Addr().String()})
}

func ended() <-chan os.Signal {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	if in, err := os.Stdin.Stat(); err == nil && in.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			end <- syscall.SIGTERM
		}()
	}
	return end
}
